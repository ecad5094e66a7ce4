//! What a congestion control requests of the sender besides moving the window.

use super::{Rfc, State};
use crate::options::Recovery;
use crate::packet::Transmit;
use crate::sender_core::Core;
use bentpipe_units::Time;

impl Rfc {
    /// Performs what the congestion control requested.
    pub(super) fn perform_actions<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        s.take_requests();
        let actions = std::mem::take(&mut s.window.actions);
        if actions.limits_rate {
            s.limit_rate();
        }
        if actions.repeat_all {
            self.repeat_all(s, now, out);
        } else if actions.retransmit_head && s.options.recovery != Recovery::Snack {
            // What an ACK names has been sent again already.
            self.retransmit_head(s, now, out);
        }
    }

    /// Sends the first unacknowledged segment again. Outside recovery this
    /// begins one: it is a loss detected by the congestion control.
    fn retransmit_head<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        match self.state {
            State::Open => {
                s.board.lose_head();
                self.enter_recovery(s, now, out);
            }
            State::Recovery => {
                // A partial ACK may just have sent it.
                if s.board.head().is_some_and(|head| head.sent_at == now) {
                    return;
                }
                if let Some(hole) = s.board.first() {
                    self.resend(s, now, hole, out);
                }
            }
            // After a timeout everything is sent again anyway.
            State::Loss => {}
        }
    }

    /// Marks everything outstanding for retransmission, as the window allows.
    fn repeat_all<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        if self.state == State::Open {
            s.board.lose_head();
            self.enter_recovery(s, now, out);
        }
        if self.state == State::Recovery {
            s.board.lose_unsent_again();
        }
    }
}
