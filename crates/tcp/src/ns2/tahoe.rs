//! `Agent/TCP`, which is Tahoe: a loss sets cwnd to one segment, and sending goes
//! back to the first unacknowledged one.

use super::agent::{Action, Agent, DUPLICATES};
use crate::packet::Transmit;
use crate::sender_core::Core;
use bentpipe_cc::Ack;
use bentpipe_units::Time;

impl Agent {
    pub(super) fn on_tahoe_ack<T: Transmit>(
        &mut self,
        s: &mut Core,
        ack: &Ack,
        number: i64,
        out: &mut T,
    ) -> Option<usize> {
        if number > self.last_ack {
            self.new_ack_and_grow(s, ack, number);
        } else if ack.duplicate {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES {
                if self.may_retransmit() {
                    self.recover = self.maxseq;
                    self.reduce(s, ack.now);
                    self.restart_from_head(s, ack.now);
                } else if self.last_action == Action::Echo {
                    self.last_action = Action::DuplicateAcks;
                    self.restart_from_head(s, ack.now);
                }
            } else if self.duplicates < DUPLICATES && s.options.limited_transmit {
                self.send_one(s, ack.now, out);
            }
        }
        Some(usize::MAX)
    }

    /// cwnd is one segment, and sending goes back to the first
    /// unacknowledged one.
    pub(super) fn restart_from_head(&mut self, s: &mut Core, now: Time) {
        s.window.cwnd = 1.0;
        self.cursor = self.highest_ack + 1;
        self.timed = None;
        Self::set_timer(s, now);
    }
}
