//! What is sent of a bonded connection: pieces that wait, are under way over a subflow, or have
//! arrived; they are kept until all before them has, too, so that another subflow can carry them.

use super::frame::Acknowledgement;
use bytes::Bytes;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The number of a subflow.
pub(super) type Index = usize;

/// When and over which subflow a piece has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    by: Index,
    left: Instant,
    /// When it is to arrive.
    arrives: Instant,
    /// When it should long have been acknowledged.
    overdue: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits, for another subflow than this one where there is another.
    Waits { not: Option<Index> },
    /// It is under way; `again` where it left a second time because a subflow was idle.
    Sent { sent: Sent, again: bool },
    /// It has arrived.
    Arrived,
}

#[derive(Debug)]
struct Piece {
    offset: u64,
    bytes: Bytes,
    /// What counts it as held. QUIC has the bytes without it: those that wait in an association that has
    /// gone must not keep the others from carrying more.
    hold: Bytes,
    state: State,
}

impl Piece {
    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}

/// Times that hold for what leaves over a subflow now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) now: Instant,
    /// Time until it arrives.
    pub(super) delay: Duration,
    /// Time after which it should have been acknowledged.
    pub(super) patience: Duration,
}

/// The sending direction.
#[derive(Debug)]
pub(super) struct Outgoing {
    pieces: VecDeque<Piece>,
    /// Offset of what is pushed next.
    end: u64,
    /// Bytes that wait.
    waiting: u64,
    /// Offset up to which the other box takes bytes.
    limit: u64,
    /// It ends at `end`; over which subflow that was said, and whether it has arrived.
    finished: bool,
    said: Option<Sent>,
    complete: bool,
}

impl Outgoing {
    /// A direction in which the other box takes so many bytes at the start.
    pub(super) fn new(window: u64) -> Outgoing {
        Outgoing {
            pieces: VecDeque::new(),
            end: 0,
            waiting: 0,
            limit: window,
            finished: false,
            said: None,
            complete: false,
        }
    }

    /// Adds bytes at its end. `hold` is dropped when they have arrived.
    pub(super) fn push(&mut self, bytes: Bytes, hold: Bytes) {
        if bytes.is_empty() {
            return;
        }
        let offset = self.end;
        self.end += bytes.len() as u64;
        self.waiting += bytes.len() as u64;
        let state = State::Waits { not: None };
        self.pieces.push_back(Piece {
            offset,
            bytes,
            hold,
            state,
        });
    }

    /// Nothing more is pushed.
    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    /// Bytes that wait.
    pub(super) const fn waiting(&self) -> u64 {
        self.waiting
    }

    /// All of it has arrived, and that it ends.
    pub(super) const fn is_complete(&self) -> bool {
        self.complete
    }

    /// The direction has ended before its time: nothing of it is sent any more.
    pub(super) fn abandon(&mut self) {
        self.pieces.clear();
        self.waiting = 0;
        self.complete = true;
    }

    /// Where the first piece is that subflow `by` may take after `skip` bytes that wait are left to
    /// others.
    fn place(&self, by: Index, skip: u64, alone: bool) -> Option<(usize, u64)> {
        let mut left = skip;
        for (at, piece) in self.pieces.iter().enumerate() {
            if piece.offset >= self.limit {
                return None;
            }
            let State::Waits { not } = piece.state else {
                continue;
            };
            let length = piece.bytes.len() as u64;
            match not {
                // The others do not take it.
                Some(other) if other != by => return Some((at, 0)),
                Some(_) if !alone => continue,
                _ if left >= length => {
                    left -= length;
                    continue;
                }
                _ => {}
            }
            let begin = piece.offset + left;
            return (begin < self.limit).then_some((at, left));
        }
        None
    }

    /// Whether there is something for subflow `by`, `alone` where it is the only one that works.
    pub(super) fn has(&self, by: Index, skip: u64, alone: bool) -> bool {
        self.place(by, skip, alone).is_some()
    }

    /// Takes at most `most` bytes for subflow `by`, after `skip` bytes that are left to others.
    pub(super) fn take(
        &mut self,
        by: Index,
        skip: u64,
        alone: bool,
        most: usize,
        times: Times,
    ) -> Option<(u64, Bytes)> {
        let (at, left) = self.place(by, skip, alone)?;
        let at = self.split(at, left);
        let piece = self.pieces.get(at)?;
        let length = (piece.bytes.len() as u64)
            .min(most as u64)
            .min(self.limit - piece.offset);
        if self.split(at, length) == at {
            return None;
        }
        let piece = self.pieces.get_mut(at)?;
        self.waiting -= length;
        piece.state = State::Sent {
            sent: Sent::new(by, times),
            again: false,
        };
        Some((piece.offset, piece.bytes.clone()))
    }

    /// Takes at most `most` bytes that another subflow has under way and this idle one would deliver
    /// before it does: the end of a transfer must not wait for the slower one.
    pub(super) fn take_again(
        &mut self,
        by: Index,
        most: usize,
        times: Times,
    ) -> Option<(u64, Bytes)> {
        let sooner = times.now + times.delay;
        let at = self.pieces.iter().position(|piece| {
            matches!(piece.state, State::Sent { sent, again: false }
                if sent.by != by && sent.arrives > sooner)
        })?;
        let length = (self.pieces.get(at)?.bytes.len()).min(most) as u64;
        self.split(at, length);
        let piece = self.pieces.get_mut(at)?;
        piece.state = State::Sent {
            sent: Sent::new(by, times),
            again: true,
        };
        Some((piece.offset, piece.bytes.clone()))
    }

    /// Whether there is something of that kind.
    pub(super) fn has_again(&self, by: Index, now: Instant, delay: Duration) -> bool {
        self.pieces.iter().any(|piece| {
            matches!(piece.state, State::Sent { sent, again: false }
                if sent.by != by && sent.arrives > now + delay)
        })
    }

    /// Makes a piece begin `left` bytes after the beginning of the one at `at`, and returns where it is.
    fn split(&mut self, at: usize, left: u64) -> usize {
        let Some(piece) = self.pieces.get_mut(at).filter(|_| left > 0) else {
            return at;
        };
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        if left < piece.bytes.len() {
            let rest = Piece {
                offset: piece.offset + left as u64,
                bytes: piece.bytes.split_off(left),
                hold: piece.hold.clone(),
                state: piece.state,
            };
            self.pieces.insert(at + 1, rest);
        }
        at + 1
    }

    /// Takes the word that it ends, where all else has left.
    pub(super) fn take_end(&mut self, by: Index, times: Times) -> Option<u64> {
        if !self.has_end() {
            return None;
        }
        self.said = Some(Sent::new(by, times));
        Some(self.end)
    }

    /// Whether that is to be said.
    pub(super) const fn has_end(&self) -> bool {
        self.finished && !self.complete && self.said.is_none() && self.waiting == 0
    }

    /// Nothing more is pushed, or sent.
    pub(super) const fn is_finished(&self) -> bool {
        self.finished || self.complete
    }

    /// Takes an acknowledgement; false where it is of what was not sent.
    pub(super) fn acknowledge(&mut self, ack: &Acknowledgement) -> bool {
        let most = self.end + u64::from(self.finished);
        let last = ack.ranges.last().map_or(0, |(_, end)| *end);
        if ack.next > most || last > self.end {
            return false;
        }
        self.limit = self.limit.max(ack.limit);
        self.complete |= ack.next > self.end;
        let next = ack.next.min(self.end);
        while let Some(piece) = self.pieces.front() {
            if piece.end() <= next || piece.state == State::Arrived {
                if matches!(piece.state, State::Waits { .. }) {
                    self.waiting -= piece.bytes.len() as u64;
                }
                self.pieces.pop_front();
            } else if piece.offset < next {
                // It was cut differently when it left before.
                self.split(0, next - piece.offset);
            } else {
                break;
            }
        }
        for (begin, end) in &ack.ranges {
            self.arrived(*begin, *end);
        }
        true
    }

    fn arrived(&mut self, begin: u64, end: u64) {
        let mut at = self.pieces.partition_point(|piece| piece.end() <= begin);
        while let Some(piece) = self.pieces.get(at) {
            let (first, last) = (piece.offset, piece.end());
            if first >= end {
                return;
            }
            if piece.state != State::Arrived {
                if first < begin {
                    at = self.split(at, begin - first);
                    continue;
                }
                if end < last {
                    self.split(at, end - first);
                }
                let Some(piece) = self.pieces.get_mut(at) else {
                    return;
                };
                if matches!(piece.state, State::Waits { .. }) {
                    self.waiting -= piece.bytes.len() as u64;
                }
                piece.state = State::Arrived;
            }
            at += 1;
        }
    }

    /// What is overdue waits again, for another subflow. Returns by which it had left, and when the
    /// last of it had.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<(Index, Instant)> {
        self.again(|sent| sent.overdue <= now)
    }

    /// What a subflow that is gone has not delivered waits again.
    pub(super) fn lose(&mut self, by: Index) {
        self.again(|sent| sent.by == by);
    }

    fn again(&mut self, is_it: impl Fn(&Sent) -> bool) -> Vec<(Index, Instant)> {
        let mut late: Vec<(Index, Instant)> = Vec::new();
        let mut note = |sent: &Sent| match late.iter_mut().find(|(by, _)| *by == sent.by) {
            Some((_, left)) => *left = sent.left.max(*left),
            None => late.push((sent.by, sent.left)),
        };
        for piece in &mut self.pieces {
            if let State::Sent { sent, .. } = piece.state
                && is_it(&sent)
            {
                note(&sent);
                piece.state = State::Waits { not: Some(sent.by) };
                self.waiting += piece.bytes.len() as u64;
            }
        }
        if let Some(sent) = self.said.filter(|sent| !self.complete && is_it(sent)) {
            note(&sent);
            self.said = None;
        }
        late
    }

    /// When something becomes overdue next.
    pub(super) fn next_overdue(&self) -> Option<Instant> {
        let pieces = self.pieces.iter().filter_map(|piece| match piece.state {
            State::Sent { sent, .. } => Some(sent.overdue),
            _ => None,
        });
        let said = self.said.filter(|_| !self.complete);
        pieces.chain(said.map(|sent| sent.overdue)).min()
    }
}

impl Sent {
    fn new(by: Index, times: Times) -> Sent {
        Sent {
            by,
            left: times.now,
            arrives: times.now + times.delay,
            overdue: times.now + times.patience,
        }
    }
}

#[cfg(test)]
mod tests;
