//! UCLA's `Agent/TCP/Westwood`, which knows no fast recovery.
//!
//! Three duplicate ACKs in a row are a loss, whatever was found before: cwnd comes
//! down and the first unacknowledged segment goes again. Nothing inflates the
//! window, and the first two duplicates send nothing; an ACK that advances grows
//! it, partial or not, and begins a new count. After every ACK goes what the
//! window allows.

use super::agent::{Action, Agent, DUPLICATES};
use crate::packet::Transmit;
use crate::sender_core::Core;
use bentpipe_cc::Ack;

impl Agent {
    /// Takes an ACK up to `number`; how many segments may then go.
    pub(super) fn on_westwood_ack<T: Transmit>(
        &mut self,
        s: &mut Core,
        ack: &Ack,
        number: i64,
        out: &mut T,
    ) -> Option<usize> {
        if number > self.last_ack {
            if self.last_action == Action::DuplicateAcks {
                self.last_action = Action::Exited;
            }
            self.new_ack_and_grow(s, ack, number);
        } else if ack.duplicate {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES {
                self.fast_retransmit(s, ack.now, out);
            }
        }
        Some(usize::MAX)
    }
}
