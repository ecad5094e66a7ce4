//! Finding segments lost, and taking that back.

use super::{LOST, RETRANSMITTED, SACKED, Scoreboard};
use bentpipe_units::Time;

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

impl Scoreboard {
    /// Marks lost what `rule` says, given all selective acknowledgements so
    /// far; returns how many holes became lost.
    #[inline(always)]
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
        let resent = self.resent.get_or_insert_default();
        resent.watched.push_back((self.base + index as u64, next));
    }

    /// The index of a watched segment that is still missing although three
    /// segments sent after its retransmission are selectively acknowledged. It
    /// is not watched any more.
    pub(crate) fn lost_again(&mut self) -> Option<usize> {
        let resent = self.resent.as_mut()?;
        while let Some(&(number, next)) = resent.watched.front() {
            if self.forward < next + 3 {
                return None;
            }
            resent.watched.pop_front();
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

    /// Marks one such segment lost; `None` if there is none.
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

    /// Marks the segments from byte `start` to `end` lost that `may_be` accepts,
    /// given when each was last sent and whether that was a retransmission;
    /// returns how many are to be sent again for it.
    pub(crate) fn lose_range(
        &mut self,
        start: u64,
        end: u64,
        may_be: impl Fn(Time, bool) -> bool,
    ) -> u32 {
        let first = self.index_of(start);
        let mut newly = 0;
        for index in first..self.segments.len() {
            let s = &mut self.segments[index];
            if s.start >= end {
                break;
            }
            let resent = s.flags & RETRANSMITTED != 0;
            let waits = s.flags & LOST != 0 && !resent;
            if s.flags & SACKED != 0 || waits || !may_be(s.sent_at, resent) {
                continue;
            }
            self.retransmitted -= u32::from(resent);
            self.lost += u32::from(s.flags & LOST == 0);
            s.flags = LOST;
            self.next_hole = self.next_hole.min(self.base + index as u64);
            newly += 1;
        }
        newly
    }

    fn forget_watched(&mut self) {
        if let Some(resent) = &mut self.resent {
            resent.watched.clear();
        }
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

    /// After a timeout: everything not selectively acknowledged is lost and none of it is in flight
    /// again. With `forget`, what was selectively acknowledged is lost too.
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
        self.forget_watched();
        self.next_hole = self.base;
        self.edge = self.base + self.segments.len() as u64;
        self.sacked_above_edge = 0;
    }

    /// Marks everything lost that is neither selectively acknowledged nor in flight again.
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
        self.forget_watched();
    }
}
