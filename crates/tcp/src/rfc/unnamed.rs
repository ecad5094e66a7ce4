//! What duplicate ACKs tell where nothing is selectively acknowledged: that one more segment above
//! the first missing one has arrived, but not which.
//!
//! Source: RFC 6582, section 3.2, and the count that Linux makes of it (`tcp_add_reno_sack`,
//! `tcp_remove_reno_sacks`, `tcp_reset_reno_sack`, `tcp_limit_reno_sacked`):
//!
//! - A duplicate ACK adds one. At least one segment must be missing, and all that are taken for
//!   lost: the count never exceeds what is outstanding besides these.
//! - A partial ACK in recovery removes what it acknowledges less one: the hole itself was not
//!   counted.
//! - The end of recovery and a timeout set it to zero, and so does an ACK that advances outside of
//!   recovery.
//! - On Linux an ACK that advances delivers what it acknowledges less this count, one segment at
//!   least: the others were delivered by the duplicates.
//! - While a timeout is repaired, duplicate ACKs count only once new data have been sent; before,
//!   they are of what was sent needlessly again.

use super::{Rfc, State};
use crate::profile::StackKind;
use crate::sender_core::Core;

impl Rfc {
    /// Segments that have arrived above the first missing one.
    pub(super) fn arrived_unnamed(&self) -> u32 {
        // An ACK that advances outside of recovery resets only the number of duplicates.
        if self.state == State::Open && self.duplicate_acks == 0 {
            0
        } else {
            self.unnamed
        }
    }

    /// A duplicate ACK has come, which `duplicate_acks` counts already.
    pub(super) fn add_unnamed(&mut self, s: &Core) {
        if self.state == State::Open && self.duplicate_acks == 1 {
            self.unnamed = 0;
        }
        self.unnamed = self.unnamed.saturating_add(1);
        self.limit_unnamed(s);
    }

    /// A partial ACK has acknowledged so many segments.
    pub(super) fn remove_unnamed(&mut self, s: &Core, acked: f64) {
        let besides_the_hole = (acked as u32).saturating_sub(1);
        self.unnamed = self.unnamed.saturating_sub(besides_the_hole);
        self.limit_unnamed(s);
    }

    /// Segments that an ACK of `acked` segments, or a duplicate one, shows to have arrived. Of what
    /// it acknowledges, duplicates have counted all but the hole.
    pub(super) fn delivered_unnamed(&self, acked: u32, duplicate: bool) -> u32 {
        if acked > 0 {
            acked.saturating_sub(self.arrived_unnamed()).max(1)
        } else {
            u32::from(duplicate)
        }
    }

    fn limit_unnamed(&mut self, s: &Core) {
        let outstanding = s.board.outstanding() as u32;
        let missing = s.board.lost().max(1);
        self.unnamed = self.unnamed.min(outstanding.saturating_sub(missing));
    }

    /// An ACK while a timeout is repaired.
    pub(super) fn count_in_loss(&mut self, s: &Core, duplicate: bool, advances: bool) {
        if advances {
            self.unnamed = 0;
        } else if duplicate && s.snd.next > self.recover {
            self.add_unnamed(s);
        } else {
            return;
        }
        // Linux lets what has arrived make room in the window (`tcp_process_loss`).
        if s.rules.stack == StackKind::Linux {
            self.inflation = f64::from(self.unnamed);
        }
    }
}
