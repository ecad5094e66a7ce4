//! Choosing the segment to send again.

use super::{LOST, RETRANSMITTED, SACKED, Scoreboard, Segment};

/// A segment to send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    pub(crate) index: usize,
    pub(crate) start: u64,
    pub(crate) len: u16,
}

impl Hole {
    fn of(index: usize, s: &Segment) -> Hole {
        Hole {
            index,
            start: s.start,
            len: s.len,
        }
    }
}

impl Scoreboard {
    /// The lowest lost segment that is not in flight again.
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
                return Some(Hole::of(index, s));
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
                return Some(Hole::of(index, s));
            }
            index += 1;
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

    /// The first segment at or above `sequence` that is not selectively
    /// acknowledged; where there is none, the lowest that is not. A copy of it is
    /// about to be sent, so that its acknowledgement gives no RTT sample.
    pub(crate) fn copy_from(&mut self, sequence: u64) -> Option<Hole> {
        let mut index = self.index_of(sequence);
        index = self.next_unsacked(index);
        if index >= self.segments.len() {
            index = self.next_unsacked(0);
        }
        let s = self.segments.get_mut(index)?;
        s.transmissions = s.transmissions.saturating_add(1);
        Some(Hole::of(index, s))
    }

    /// The first segment, whatever its state.
    pub(crate) fn first(&self) -> Option<Hole> {
        self.segments.front().map(|s| Hole::of(0, s))
    }

    /// The last segment, if it is neither selectively acknowledged nor under
    /// way again (RFC 6675, NextSeg rule 4).
    pub(crate) fn last(&self) -> Option<Hole> {
        let index = self.segments.len().checked_sub(1)?;
        let s = &self.segments[index];
        (s.flags & (SACKED | RETRANSMITTED) == 0).then_some(Hole::of(index, s))
    }

    /// The segment at `index`.
    pub(crate) fn segment(&self, index: usize) -> Option<Hole> {
        self.segments.get(index).map(|s| Hole::of(index, s))
    }
}
