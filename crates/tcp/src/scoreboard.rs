//! The sender's record of every segment between the acknowledged and the next
//! new one: what was selectively acknowledged, lost, sent again.
//!
//! Every operation is amortised O(log n) or better in the number of segments
//! in flight, with windows of 100,000 segments in mind: runs of selectively
//! acknowledged segments are skipped by pointers that compress as they are
//! followed, the edge below which holes are lost and the next hole to fill
//! only move up, and counters give the flight without a walk.

mod timed;

pub(crate) use timed::View;

use bentpipe_cc::Head;
use bentpipe_units::Time;
use std::collections::VecDeque;

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// Sent again since it was last found lost, and counted in flight for that.
const RETRANSMITTED: u8 = 4;

/// One segment in the record.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    sent_at: Time,
    /// From a sacked segment, how far up the search for an unsacked one goes
    /// on.
    skip: u32,
    len: u16,
    flags: u8,
    transmissions: u8,
}

/// What an acknowledgement covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Acked {
    /// Segments removed by the cumulative acknowledgement.
    pub(crate) segments: u32,
    /// Of those, the ones not selectively acknowledged before.
    pub(crate) delivered: u32,
    /// When the newest of those was sent; `None` if one of them was sent more
    /// than once: what lay above it waited for that (Karn's rule).
    pub(crate) sent_once_at: Option<Time>,
    /// The last segment. What lay below does not matter here.
    pub(crate) last: Option<Head>,
}

/// A segment that an acknowledgement covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Covered {
    pub(crate) start: u64,
    /// One past its last byte.
    pub(crate) end: u64,
    /// When it was sent last, and how often it was sent.
    pub(crate) sent_at: Time,
    pub(crate) transmissions: u8,
    /// It was not selectively acknowledged before.
    pub(crate) newly: bool,
}

impl Covered {
    #[inline]
    fn of(s: &Segment) -> Covered {
        Covered {
            start: s.start,
            end: s.start + u64::from(s.len),
            sent_at: s.sent_at,
            transmissions: s.transmissions,
            newly: s.flags & SACKED == 0,
        }
    }
}

/// How holes are found lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossRule {
    /// At least three segments above are selectively acknowledged (RFC 6675
    /// with full segments).
    ThreeAbove,
    /// It lies at least three segments below the highest selectively
    /// acknowledged one (FACK).
    Forward,
}

/// A segment to send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    pub(crate) index: usize,
    pub(crate) start: u64,
    pub(crate) len: u16,
}

/// The record. Segments are numbered from 0 over the whole connection;
/// `base` is the number of the first in the ring.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Segment>,
    base: u64,
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    /// One past the highest selectively acknowledged segment.
    forward: u64,
    /// Unsacked segments below this number have been marked lost.
    edge: u64,
    /// Sacked segments at or above `edge`.
    sacked_above_edge: u32,
    /// No hole below this number waits to be sent again.
    next_hole: u64,
    /// Retransmissions that are watched: the segment, and the number of the
    /// first that was new after it, which rises.
    watched: VecDeque<(u64, u64)>,
}

impl Scoreboard {
    /// Records a new segment.
    pub(crate) fn push(&mut self, start: u64, len: u16, now: Time) {
        self.segments.push_back(Segment {
            start,
            sent_at: now,
            skip: 0,
            len,
            flags: 0,
            transmissions: 1,
        });
    }

    /// Segments recorded.
    pub(crate) fn outstanding(&self) -> usize {
        self.segments.len()
    }

    /// The first segment recorded.
    pub(crate) fn head(&self) -> Option<Head> {
        self.segments.front().map(|s| Head {
            sent_at: s.sent_at,
            transmissions: u32::from(s.transmissions),
        })
    }

    /// Segments believed to be in the network ("pipe").
    pub(crate) fn flight(&self) -> usize {
        (self.segments.len() + self.retransmitted as usize)
            - self.sacked as usize
            - self.lost as usize
    }

    /// Segments selectively acknowledged.
    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments sent again and under way.
    pub(crate) fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// True if a segment has been found lost.
    pub(crate) fn any_lost(&self) -> bool {
        self.lost > 0
    }

    /// Removes what `acknowledgement` covers.
    pub(crate) fn acknowledge(&mut self, acknowledgement: u64) -> Acked {
        self.acknowledge_with(acknowledgement, |_| {})
    }

    /// The same; `each` hears of every segment.
    #[inline]
    pub(crate) fn acknowledge_with(
        &mut self,
        acknowledgement: u64,
        mut each: impl FnMut(Covered),
    ) -> Acked {
        let mut acked = Acked::default();
        let mut again = false;
        while let Some(&s) = self.segments.front() {
            if s.start + u64::from(s.len) > acknowledgement {
                break;
            }
            self.segments.pop_front();
            self.base += 1;
            acked.segments += 1;
            acked.last = Some(Head {
                sent_at: s.sent_at,
                transmissions: u32::from(s.transmissions),
            });
            each(Covered::of(&s));
            if s.flags & SACKED != 0 {
                self.sacked -= 1;
            } else {
                acked.delivered += 1;
                self.lost -= u32::from(s.flags & LOST != 0);
                self.retransmitted -= u32::from(s.flags & RETRANSMITTED != 0);
                again |= s.transmissions > 1;
                acked.sent_once_at = (!again).then_some(s.sent_at);
            }
        }
        if self.edge < self.base {
            self.edge = self.base;
            self.sacked_above_edge = self.sacked;
        }
        self.next_hole = self.next_hole.max(self.base);
        self.forward = self.forward.max(self.base);
        acked
    }

    /// The index of the first segment that starts at or after `sequence`.
    pub(crate) fn index_of(&self, sequence: u64) -> usize {
        let Some(first) = self.segments.front() else {
            return 0;
        };
        if sequence <= first.start {
            return 0;
        }
        // Segments are nearly always of one size: guess, then search.
        let guess = ((sequence - first.start) / u64::from(first.len.max(1))) as usize;
        if self
            .segments
            .get(guess)
            .is_some_and(|s| s.start == sequence)
        {
            return guess;
        }
        self.segments.partition_point(|s| s.start < sequence)
    }

    /// The index of the first unsacked segment at or above `index`; the length
    /// of the ring if there is none.
    fn next_unsacked(&mut self, index: usize) -> usize {
        let mut end = index;
        while let Some(s) = self.segments.get(end) {
            if s.flags & SACKED == 0 {
                break;
            }
            end += s.skip as usize;
        }
        // Compress: everything on the way points to the end from now on.
        let mut at = index;
        while at < end {
            let s = &mut self.segments[at];
            let skip = s.skip as usize;
            s.skip = (end - at) as u32;
            at += skip;
        }
        end.min(self.segments.len())
    }

    /// Marks the segments inside [`start`, `end`) selectively acknowledged and
    /// returns how many were not before, and when the newest of those that was
    /// sent only once was sent.
    pub(crate) fn sack(&mut self, start: u64, end: u64) -> (u32, Option<Time>) {
        self.sack_with(start, end, |_, _| {})
    }

    /// The same; `each` hears of every segment that was not before, by its
    /// place among those outstanding.
    #[inline]
    pub(crate) fn sack_with(
        &mut self,
        start: u64,
        end: u64,
        mut each: impl FnMut(usize, Covered),
    ) -> (u32, Option<Time>) {
        let mut newly = 0;
        let mut sent_once_at = None;
        let mut index = self.index_of(start);
        loop {
            index = self.next_unsacked(index);
            let Some(s) = self.segments.get_mut(index) else {
                break;
            };
            if s.start + u64::from(s.len) > end {
                break;
            }
            let covered = Covered::of(s);
            self.lost -= u32::from(s.flags & LOST != 0);
            self.retransmitted -= u32::from(s.flags & RETRANSMITTED != 0);
            s.flags = SACKED;
            s.skip = 1;
            if s.transmissions == 1 {
                sent_once_at = sent_once_at.max(Some(s.sent_at));
            }
            self.sacked += 1;
            newly += 1;
            each(index, covered);
            let number = self.base + index as u64;
            self.sacked_above_edge += u32::from(number >= self.edge);
            self.forward = self.forward.max(number + 1);
            index += 1;
        }
        (newly, sent_once_at)
    }

    /// Marks lost what `rule` says, given all selective acknowledgements so
    /// far; returns how many holes became lost.
    pub(crate) fn find_lost(&mut self, rule: LossRule) -> u32 {
        let mut newly = 0;
        while let Some(s) = self.segments.get_mut((self.edge - self.base) as usize) {
            let is_sacked = s.flags & SACKED != 0;
            let moves = match rule {
                LossRule::ThreeAbove => self.sacked_above_edge >= 3 + u32::from(is_sacked),
                LossRule::Forward => self.edge + 3 < self.forward,
            };
            if !moves {
                break;
            }
            if is_sacked {
                self.sacked_above_edge -= 1;
            } else if s.flags & LOST == 0 {
                s.flags |= LOST;
                self.lost += 1;
                newly += 1;
            }
            self.edge += 1;
        }
        newly
    }

    /// Watches the retransmission of the segment at `index`, which has just left.
    pub(crate) fn watch(&mut self, index: usize) {
        let next = self.base + self.segments.len() as u64;
        self.watched.push_back((self.base + index as u64, next));
    }

    /// The index of a watched segment that is still missing although three
    /// segments sent after its retransmission are selectively acknowledged. It
    /// is not watched any more.
    pub(crate) fn lost_again(&mut self) -> Option<usize> {
        while let Some(&(number, next)) = self.watched.front() {
            if self.forward < next + 3 {
                return None;
            }
            self.watched.pop_front();
            let index = number.checked_sub(self.base).map(|index| index as usize);
            if let Some(index) = index
                && let Some(s) = self.segments.get(index)
                && s.flags & SACKED == 0
            {
                return Some(index);
            }
        }
        None
    }

    /// Takes one such segment for lost. `None` if there is none.
    pub(crate) fn lose_again(&mut self) -> Option<()> {
        let index = self.lost_again()?;
        let s = &mut self.segments[index];
        self.retransmitted -= u32::from(s.flags & RETRANSMITTED != 0);
        self.lost += u32::from(s.flags & LOST == 0);
        s.flags = LOST;
        self.next_hole = self.next_hole.min(self.base + index as u64);
        Some(())
    }

    /// Marks the first segment lost (duplicate ACKs without SACK). True if it
    /// was not before.
    pub(crate) fn lose_head(&mut self) -> bool {
        self.lose(0)
    }

    /// Takes the segments from byte `start` to `end` for lost, those that were
    /// sent again as well, if `may_be` by the time that they were sent last; how
    /// many are to be sent again for it.
    pub(crate) fn lose_range(
        &mut self,
        start: u64,
        end: u64,
        may_be: impl Fn(Time) -> bool,
    ) -> u32 {
        let first = self.index_of(start);
        let mut newly = 0;
        for index in first..self.segments.len() {
            let s = &mut self.segments[index];
            if s.start >= end {
                break;
            }
            let waits = s.flags & (LOST | RETRANSMITTED) == LOST;
            if s.flags & SACKED != 0 || waits || !may_be(s.sent_at) {
                continue;
            }
            self.retransmitted -= u32::from(s.flags & RETRANSMITTED != 0);
            self.lost += u32::from(s.flags & LOST == 0);
            s.flags = LOST;
            self.next_hole = self.next_hole.min(self.base + index as u64);
            newly += 1;
        }
        newly
    }

    fn lose(&mut self, index: usize) -> bool {
        match self.segments.get_mut(index) {
            Some(s) if s.flags & (SACKED | LOST) == 0 => {
                s.flags |= LOST;
                self.lost += 1;
                self.next_hole = self.next_hole.min(self.base + index as u64);
                true
            }
            _ => false,
        }
    }

    /// After a timeout: everything not selectively acknowledged is lost and
    /// nothing of it is under way again. With `forget`, what was selectively
    /// acknowledged is lost too.
    pub(crate) fn lose_all(&mut self, forget: bool) {
        if forget {
            self.sacked = 0;
            self.forward = self.base;
        }
        for s in &mut self.segments {
            if forget || s.flags & SACKED == 0 {
                s.flags = LOST;
                s.skip = 0;
            }
        }
        self.lost = self.segments.len() as u32 - self.sacked;
        self.retransmitted = 0;
        self.watched.clear();
        self.next_hole = self.base;
        self.edge = self.base + self.segments.len() as u64;
        self.sacked_above_edge = 0;
    }

    /// The timeout was spurious: nothing is lost that was not sent again.
    pub(crate) fn unlose_all(&mut self) {
        for s in &mut self.segments {
            if s.flags & (LOST | RETRANSMITTED) == LOST {
                s.flags &= !LOST;
            }
        }
        self.lost = self.retransmitted;
        self.edge = self.base;
        self.next_hole = self.base;
        self.sacked_above_edge = self.sacked;
    }

    /// The lowest lost segment that is not under way again.
    pub(crate) fn next_lost(&mut self) -> Option<Hole> {
        if self.lost == self.retransmitted {
            return None;
        }
        let mut index = (self.next_hole - self.base) as usize;
        loop {
            index = self.next_unsacked(index);
            let s = self.segments.get(index)?;
            if s.flags & (LOST | RETRANSMITTED) == LOST {
                self.next_hole = self.base + index as u64;
                return Some(Hole {
                    index,
                    start: s.start,
                    len: s.len,
                });
            }
            index += 1;
        }
    }

    /// The lowest hole below the highest selective acknowledgement that was
    /// not found lost and not sent again (RFC 6675, NextSeg rule 3).
    pub(crate) fn next_doubtful(&mut self) -> Option<Hole> {
        let mut index = (self.next_hole.max(self.edge) - self.base) as usize;
        loop {
            index = self.next_unsacked(index);
            if self.base + index as u64 >= self.forward {
                return None;
            }
            let s = self.segments.get(index)?;
            if s.flags & RETRANSMITTED == 0 {
                return Some(Hole {
                    index,
                    start: s.start,
                    len: s.len,
                });
            }
            index += 1;
        }
    }

    /// The segment at `index`.
    pub(crate) fn segment(&self, index: usize) -> Option<Hole> {
        self.segments.get(index).map(|s| Hole {
            index,
            start: s.start,
            len: s.len,
        })
    }

    /// Records another transmission of the segment at `index`, without a say
    /// about the earlier ones.
    pub(crate) fn sent_again(&mut self, index: usize, now: Time) {
        if let Some(s) = self.segments.get_mut(index) {
            s.sent_at = now;
            s.transmissions = s.transmissions.saturating_add(1);
        }
    }

    /// The index of the first segment from `index` on that is not selectively
    /// acknowledged and lies below one that is.
    pub(crate) fn next_below_forward(&mut self, index: usize) -> Option<usize> {
        if self.sacked == 0 || self.base + index as u64 >= self.forward {
            return None;
        }
        let index = self.next_unsacked(index);
        (self.base + (index as u64) < self.forward).then_some(index)
    }

    /// Forgets every selective acknowledgement.
    pub(crate) fn forget_sacks(&mut self) {
        if self.sacked > 0 {
            for s in &mut self.segments {
                s.flags &= !SACKED;
            }
        }
        self.sacked = 0;
        self.sacked_above_edge = 0;
        self.forward = self.base;
        self.edge = self.base;
        self.watched.clear();
    }

    /// The first segment at or above `sequence` that is not selectively
    /// acknowledged; from the lowest on again where there is none. A copy of it
    /// is about to go, so that its acknowledgement tells no RTT.
    pub(crate) fn copy_from(&mut self, sequence: u64) -> Option<Hole> {
        let mut index = self.index_of(sequence);
        index = self.next_unsacked(index);
        if index >= self.segments.len() {
            index = self.next_unsacked(0);
        }
        let s = self.segments.get_mut(index)?;
        s.transmissions = s.transmissions.saturating_add(1);
        Some(Hole {
            index,
            start: s.start,
            len: s.len,
        })
    }

    /// The first segment, whatever became of it.
    pub(crate) fn first(&self) -> Option<Hole> {
        self.segments.front().map(|s| Hole {
            index: 0,
            start: s.start,
            len: s.len,
        })
    }

    /// Takes everything for lost that is neither selectively acknowledged nor
    /// under way again.
    pub(crate) fn lose_unsent_again(&mut self) {
        for s in &mut self.segments {
            if s.flags & (SACKED | LOST) == 0 {
                s.flags |= LOST;
                self.lost += 1;
            }
        }
        self.next_hole = self.base;
        self.edge = self.base + self.segments.len() as u64;
        self.sacked_above_edge = 0;
    }

    /// The last segment, if it is neither selectively acknowledged nor under
    /// way again (RFC 6675, NextSeg rule 4).
    pub(crate) fn last(&self) -> Option<Hole> {
        let index = self.segments.len().checked_sub(1)?;
        let s = self.segments[index];
        (s.flags & (SACKED | RETRANSMITTED) == 0).then_some(Hole {
            index,
            start: s.start,
            len: s.len,
        })
    }

    /// Records that the segment at `index` was sent again.
    pub(crate) fn resent(&mut self, index: usize, now: Time) {
        if let Some(s) = self.segments.get_mut(index) {
            s.sent_at = now;
            s.transmissions = s.transmissions.saturating_add(1);
            if s.flags & RETRANSMITTED == 0 {
                // What is sent again counts once: as the retransmission.
                self.lost += u32::from(s.flags & LOST == 0);
                s.flags |= LOST | RETRANSMITTED;
                self.retransmitted += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
