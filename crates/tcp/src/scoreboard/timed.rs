//! The record as a sender sees it that finds losses by time: segments by their
//! number in the connection, and each for itself.

use super::{LOST, PASSED, RETRANSMITTED, SACKED, Scoreboard};
use bentpipe_units::Time;

/// The current state of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// Its place among those outstanding.
    pub(crate) index: usize,
    pub(crate) start: u64,
    pub(crate) len: u16,
    /// When it was sent last, and how often it was sent.
    pub(crate) sent_at: Time,
    pub(crate) transmissions: u8,
    pub(crate) sacked: bool,
    /// Found lost and not sent again since.
    pub(crate) waits: bool,
}

impl View {
    /// One past the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
}

impl Scoreboard {
    /// The number of the first segment recorded.
    pub(crate) fn first_number(&self) -> u64 {
        self.base
    }

    /// Segments found lost, those sent again since included.
    pub(crate) fn lost(&self) -> u32 {
        self.lost
    }

    /// Segment `number` of the connection; `None` where it is not recorded.
    pub(crate) fn view(&self, number: u64) -> Option<View> {
        let index = usize::try_from(number.checked_sub(self.base)?).ok()?;
        self.segments.get(index).map(|s| View {
            index,
            start: s.start,
            len: s.len,
            sent_at: s.sent_at,
            transmissions: s.transmissions,
            sacked: s.flags & SACKED != 0,
            waits: s.flags & (LOST | RETRANSMITTED) == LOST,
        })
    }

    /// Takes segment `number` for lost, its retransmission as well; true if it
    /// is to be sent again for that.
    pub(crate) fn lose_number(&mut self, number: u64) -> bool {
        let Some(view) = self.view(number) else {
            return false;
        };
        if view.sacked || view.waits {
            return false;
        }
        let s = &mut self.segments[view.index];
        self.retransmitted -= u32::from(s.flags & RETRANSMITTED != 0);
        self.lost += u32::from(s.flags & LOST == 0);
        s.flags = LOST | s.flags & PASSED;
        self.next_hole = self.next_hole.min(number);
        true
    }
}
