//! The sender's record of every segment between the acknowledged and the next
//! new one: what was selectively acknowledged, lost, sent again.
//!
//! Every operation is amortised O(log n) or better in the number of segments
//! in flight, with windows of 100,000 segments in mind: runs of selectively
//! acknowledged segments are skipped by pointers that compress as they are
//! followed, the edge below which holes are lost and the next hole to fill
//! only move up, and counters give the flight without a walk.

mod holes;
mod loss;
mod order;
mod timed;

pub(crate) use holes::Hole;
pub(crate) use loss::LossRule;
pub(crate) use timed::View;

use bentpipe_cc::Head;
use bentpipe_units::Time;
use order::Order;
use std::collections::VecDeque;

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// Sent again since it was last found lost, and counted in flight for that.
const RETRANSMITTED: u8 = 4;
/// Found lost by time and not sent again since: see `order`.
const PASSED: u8 = 8;

/// One segment in the record.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    sent_at: Time,
    /// From a sacked segment, how far up the search for an unsacked one goes
    /// on. Of another one, which transmission was its last, where `order` counts
    /// them; zero is the first.
    skip: u32,
    len: u16,
    flags: u8,
    transmissions: u8,
}

impl Segment {
    /// One past its last byte.
    #[inline]
    fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    #[inline]
    fn head(&self) -> Head {
        Head {
            sent_at: self.sent_at,
            transmissions: u32::from(self.transmissions),
        }
    }
}

/// The segments that an acknowledgement covered.
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
            end: s.end(),
            sent_at: s.sent_at,
            transmissions: s.transmissions,
            newly: s.flags & SACKED == 0,
        }
    }
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
    /// Below this number no segment that was sent once is looked at by a [walk](Scoreboard::walk).
    first_of_walk: u64,
    /// What only retransmissions leave; most connections never have any.
    resent: Option<Box<Resent>>,
}

/// The record of retransmissions.
#[derive(Clone, Debug, Default)]
struct Resent {
    /// Those that are watched: the segment, and the number of the first that was new after it,
    /// which rises.
    watched: VecDeque<(u64, u64)>,
    order: Order,
}

impl Scoreboard {
    /// Records a new segment.
    #[inline]
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

    /// Segments sent and not yet acknowledged cumulatively.
    #[inline]
    pub(crate) fn outstanding(&self) -> usize {
        self.segments.len()
    }

    /// The first segment recorded.
    #[inline]
    pub(crate) fn head(&self) -> Option<Head> {
        self.segments.front().map(Segment::head)
    }

    /// Segments believed to be in the network ("pipe").
    #[inline]
    pub(crate) fn flight(&self) -> usize {
        (self.segments.len() + self.retransmitted as usize)
            - self.sacked as usize
            - self.lost as usize
    }

    /// Segments selectively acknowledged.
    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Retransmitted segments in flight.
    pub(crate) fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// True if a segment has been found lost.
    pub(crate) fn any_lost(&self) -> bool {
        self.lost > 0
    }

    /// True if nothing is selectively acknowledged or lost.
    #[inline]
    pub(crate) fn is_clean(&self) -> bool {
        self.sacked | self.lost == 0
    }

    /// Removes what `acknowledgement` covers.
    #[inline]
    pub(crate) fn acknowledge(&mut self, acknowledgement: u64) -> Acked {
        if self.is_clean() {
            return self.acknowledge_clean(acknowledgement);
        }
        self.acknowledge_with(acknowledgement, |_| {})
    }

    /// Fast path of the above, for [`Scoreboard::is_clean`].
    #[inline(always)]
    pub(crate) fn acknowledge_clean(&mut self, acknowledgement: u64) -> Acked {
        let mut acked = Acked::default();
        let mut again = false;
        while let Some(s) = self.segments.front() {
            if s.end() > acknowledgement {
                break;
            }
            acked.segments += 1;
            again |= s.transmissions > 1;
            acked.sent_once_at = (!again).then_some(s.sent_at);
            acked.last = Some(s.head());
            self.segments.pop_front();
        }
        acked.delivered = acked.segments;
        self.base += u64::from(acked.segments);
        if self.edge < self.base {
            self.edge = self.base;
            self.sacked_above_edge = 0;
        }
        self.next_hole = self.next_hole.max(self.base);
        self.forward = self.forward.max(self.base);
        acked
    }

    /// As above, and calls `each` with every segment.
    #[inline]
    pub(crate) fn acknowledge_with(
        &mut self,
        acknowledgement: u64,
        mut each: impl FnMut(Covered),
    ) -> Acked {
        let mut acked = Acked::default();
        let mut again = false;
        while let Some(&s) = self.segments.front() {
            if s.end() > acknowledgement {
                break;
            }
            self.segments.pop_front();
            self.base += 1;
            acked.segments += 1;
            acked.last = Some(s.head());
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

    /// The same; calls `each` with every segment that was not before and its
    /// index among those outstanding.
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
            if s.end() > end {
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

    /// Records another transmission of the segment at `index` without changing its state.
    pub(crate) fn sent_again(&mut self, index: usize, now: Time) {
        if let Some(s) = self.segments.get_mut(index) {
            s.sent_at = now;
            s.transmissions = s.transmissions.saturating_add(1);
        }
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
