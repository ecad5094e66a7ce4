//! The scoreboard of TCP/Linux of ns-2: the segments up to the highest one that was
//! selectively acknowledged (`scoreboard1.cc`), as runs of one state each.
//!
//! The rules, in our words:
//!
//! - A segment that was sent once is lost when it lies more than four below the
//!   highest selectively acknowledged one.
//! - One that was sent again is lost again when something that was new at that
//!   time has been selectively acknowledged, or when a retransmission more than
//!   four later has arrived.
//! - An ACK is evaluated over the whole record only if it brings a higher
//!   selective acknowledgement or shows that a retransmission arrived. Otherwise
//!   the evaluation ends behind its last block, and only what was found lost up
//!   to there is sent again.

use std::collections::VecDeque;

/// How far below the highest selectively acknowledged segment a lost one is at
/// least (`dupack_threshold` + 1).
const REORDERING: i64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Sacked,
    Lost,
    /// Sent again as the `id`-th retransmission, when `next` was the next new
    /// segment. Such a run has one segment.
    Resent {
        next: i64,
        id: i64,
    },
}

#[derive(Clone, Copy, Debug)]
struct Run {
    first: i64,
    last: i64,
    state: State,
}

impl Run {
    fn len(&self) -> i64 {
        self.last - self.first + 1
    }
}

/// Result of processing an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AckSummary {
    /// Something was selectively acknowledged.
    pub(super) sacked: bool,
    /// Something was found lost.
    pub(super) lost: bool,
    /// A retransmission is among what was acknowledged: no round trip.
    pub(super) ambiguous: bool,
}

/// The runs, from the first unacknowledged segment up.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    runs: VecDeque<Run>,
    /// Index at which the search for a segment to retransmit continues; `None` if there is nothing.
    next: Option<usize>,
    /// Highest selectively acknowledged segment.
    forward: i64,
    lost: i64,
    sacked: i64,
    /// Retransmissions so far, and the latest of those that arrived.
    ids: i64,
    arrived: Option<i64>,
}

impl Blocks {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Segments that are not in flight: lost or selectively acknowledged.
    pub(super) fn away(&self) -> i64 {
        self.lost + self.sacked
    }

    pub(super) fn sacked(&self) -> i64 {
        self.sacked
    }

    pub(super) fn clear(&mut self) {
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        *self = Blocks {
            runs,
            ..Blocks::default()
        };
    }

    /// Takes off what is acknowledged up to `ack`; true if a retransmission
    /// later than all before it has arrived.
    fn clean(&mut self, ack: i64, news: &mut AckSummary) -> bool {
        let mut later = false;
        while let Some(run) = self.runs.front_mut() {
            if run.first > ack {
                break;
            }
            let gone = run.last.min(ack) - run.first + 1;
            match run.state {
                State::Sacked => self.sacked -= gone,
                State::Lost => self.lost -= gone,
                State::Resent { id, .. } => {
                    news.ambiguous = true;
                    if self.arrived < Some(id) {
                        self.arrived = Some(id);
                        later = true;
                    }
                }
                State::InFlight => {}
            }
            if run.last > ack {
                run.first = ack + 1;
                break;
            }
            self.runs.pop_front();
            self.next = match self.next {
                Some(0) if self.runs.is_empty() => None,
                next => next.map(|i| i.saturating_sub(1)),
            };
        }
        later
    }

    /// Takes an ACK up to `ack` with selectively acknowledged ranges, each the
    /// first segment in it and the first above it.
    pub(super) fn update(&mut self, ack: i64, ranges: &mut [(i64, i64)]) -> AckSummary {
        let mut news = AckSummary::default();
        let mut thorough = self.clean(ack, &mut news);
        if self.runs.is_empty() {
            self.clear();
            thorough = false;
        }
        if !thorough && ranges.is_empty() {
            return news;
        }
        ranges.sort_by_key(|r| r.0);
        if let Some(&(_, above)) = ranges.last()
            && self.forward < above - 1
        {
            self.forward = above - 1;
            thorough = true;
        }
        let known = self.runs.back().map_or(ack, |run| run.last);
        if self.runs.is_empty() || (thorough && known < self.forward) {
            self.append(known + 1, self.forward, State::InFlight);
        }
        self.look_through(ranges, thorough, &mut news);
        news
    }

    fn append(&mut self, first: i64, last: i64, state: State) {
        if first <= last {
            self.runs.push_back(Run { first, last, state });
        }
    }

    fn look_through(&mut self, ranges: &[(i64, i64)], mut thorough: bool, news: &mut AckSummary) {
        self.next = None;
        let edge = self.forward - REORDERING;
        let (mut at, mut range) = (0, 0);
        while at < self.runs.len() && (range < ranges.len() || thorough) {
            if self.runs[at].state != State::Sacked {
                while range < ranges.len() && ranges[range].1 <= self.runs[at].first {
                    range += 1;
                }
                match ranges.get(range) {
                    Some(&(from, above)) if from <= self.runs[at].last => {
                        if from > self.runs[at].first {
                            self.split(at, from);
                            self.judge(at, edge, news);
                        } else {
                            if above <= self.runs[at].last {
                                self.split(at, above);
                            }
                            thorough |= self.mark_sacked(at, news);
                        }
                    }
                    _ => self.judge(at, edge, news),
                }
            }
            at = self.merged(at) + 1;
        }
    }

    /// Cuts the run at `at` so that the next one begins with `number`.
    fn split(&mut self, at: usize, number: i64) {
        let run = self.runs[at];
        self.runs[at].last = number - 1;
        self.runs.insert(
            at + 1,
            Run {
                first: number,
                ..run
            },
        );
    }

    /// Joins the run at `at` to the one before where both are alike; its index
    /// then.
    fn merged(&mut self, at: usize) -> usize {
        if at == 0 || matches!(self.runs[at].state, State::Resent { .. }) {
            return at;
        }
        if self.runs[at - 1].state != self.runs[at].state {
            return at;
        }
        self.runs[at - 1].last = self.runs[at].last;
        self.runs.remove(at);
        if self.next == Some(at) {
            self.next = Some(at - 1);
        }
        at - 1
    }

    /// The run at `at` is selectively acknowledged; true if it was a
    /// retransmission.
    fn mark_sacked(&mut self, at: usize, news: &mut AckSummary) -> bool {
        let run = self.runs[at];
        let mut was_resent = false;
        match run.state {
            State::Lost => self.lost -= run.len(),
            State::Resent { id, .. } => {
                self.arrived = Some(id);
                news.ambiguous = true;
                was_resent = true;
            }
            State::InFlight | State::Sacked => {}
        }
        self.sacked += run.len();
        news.sacked = true;
        self.runs[at].state = State::Sacked;
        was_resent
    }

    /// Decides whether the run at `at`, of which this ACK says nothing, is lost.
    fn judge(&mut self, at: usize, edge: i64, news: &mut AckSummary) {
        let run = self.runs[at];
        let lost = match run.state {
            State::Resent { next, id } => {
                next <= self.forward
                    || self
                        .arrived
                        .is_some_and(|arrived| id + REORDERING < arrived)
            }
            State::InFlight => {
                if run.first <= edge && edge < run.last {
                    self.split(at, edge + 1);
                }
                run.first <= edge
            }
            State::Lost | State::Sacked => false,
        };
        if lost {
            self.runs[at].state = State::Lost;
            self.lost += self.runs[at].len();
            news.lost = true;
        }
        if self.runs[at].state == State::Lost && self.next.is_none() {
            self.next = Some(at);
        }
    }

    /// A timeout: all from `first` to `last` that is not selectively
    /// acknowledged is lost.
    pub(super) fn lose_all(&mut self, first: i64, last: i64) {
        let known = self.runs.back().map_or(first - 1, |run| run.last);
        self.append(known + 1, last, State::InFlight);
        let mut at = 0;
        while at < self.runs.len() {
            if self.runs[at].state != State::Sacked {
                self.runs[at].state = State::Lost;
            }
            at = self.merged(at) + 1;
        }
        let span = self.runs.iter().map(Run::len).sum::<i64>();
        self.lost = span - self.sacked;
        self.next = self.runs.iter().position(|run| run.state == State::Lost);
        (self.ids, self.arrived) = (0, None);
    }

    /// The segment to send again next, if there is one.
    pub(super) fn next_lost(&mut self) -> Option<i64> {
        while let Some(run) = self.runs.get(self.next?) {
            if run.state == State::Lost {
                return Some(run.first);
            }
            self.next = self.next.map(|i| i + 1);
        }
        self.next = None;
        None
    }

    /// What [`Blocks::next_lost`] said goes, while `next` is the next new
    /// segment.
    pub(super) fn resent(&mut self, next: i64) {
        let Some(at) = self.next else { return };
        let first = self.runs[at].first;
        if self.runs[at].last > first {
            self.split(at, first + 1);
        }
        self.runs[at].state = State::Resent { next, id: self.ids };
        self.ids += 1;
        self.lost -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(blocks: &mut Blocks, ack: i64, ranges: &[(i64, i64)]) -> AckSummary {
        blocks.update(ack, &mut ranges.to_vec())
    }

    #[test]
    fn lost_is_what_lies_more_than_four_below() {
        let mut blocks = Blocks::default();
        // 1 acknowledged; 2 and 3 missing.
        assert!(!update(&mut blocks, 1, &[(4, 5)]).lost);
        assert!(!update(&mut blocks, 1, &[(4, 6)]).lost);
        assert!(update(&mut blocks, 1, &[(4, 7)]).lost);
        assert_eq!(blocks.next_lost(), Some(2));
        assert_eq!((blocks.sacked(), blocks.away()), (3, 4));
        blocks.resent(7);
        assert_eq!(blocks.next_lost(), None);
        assert!(update(&mut blocks, 1, &[(4, 8)]).lost);
        // This marks 3 lost, and again 2, which was retransmitted when 7 was new.
        assert_eq!(blocks.next_lost(), Some(2));
        let news = update(&mut blocks, 2, &[(4, 8)]);
        assert!(!news.lost && !news.ambiguous);
        assert_eq!(blocks.next_lost(), Some(3));
    }

    #[test]
    fn a_timeout_loses_all_that_was_not_reported() {
        let mut blocks = Blocks::default();
        update(&mut blocks, 1, &[(4, 6)]);
        blocks.lose_all(2, 9);
        // 2, 3 and 6 to 9.
        assert_eq!((blocks.sacked(), blocks.away()), (2, 8));
        let mut sent = Vec::new();
        while let Some(number) = blocks.next_lost() {
            sent.push(number);
            blocks.resent(10);
        }
        assert_eq!(sent, [2, 3, 6, 7, 8, 9]);
        let news = update(&mut blocks, 5, &[]);
        assert!(news.ambiguous && !news.lost);
        assert_eq!(blocks.away(), 0);
    }
}
