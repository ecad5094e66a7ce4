//! What a congestion control asks of the sender besides moving the window.

use crate::Recovery;
use crate::packet::Transmit;
use crate::sender::{Sender, State};
use bentpipe_cc::{Ack, Actions};
use bentpipe_units::Time;

impl Sender {
    /// Does what the congestion control asked for while it looked at `ack`.
    pub(crate) fn perform_actions<T: Transmit>(&mut self, now: Time, ack: &Ack, out: &mut T) {
        self.take_requests();
        let actions = std::mem::take(&mut self.window.actions);
        if actions.limits_rate
            && let Some(rate) = &mut self.rate
        {
            rate.limit(self.board.flight());
        }
        if actions.repeat_all {
            self.repeat_all(now, ack, out);
        } else if actions.retransmit_head && self.recovery != Recovery::Snack {
            // What an ACK names is under way again already.
            self.retransmit_head(now, ack, out);
        }
    }

    /// The first unacknowledged segment goes again. Outside recovery this is
    /// how a loss is found: recovery begins.
    fn retransmit_head<T: Transmit>(&mut self, now: Time, ack: &Ack, out: &mut T) {
        match self.state {
            State::Open => {
                self.board.lose_head();
                self.enter_recovery(now, ack, out);
            }
            State::Recovery => {
                // A partial ACK may just have sent it.
                if self.board.head().is_some_and(|head| head.sent_at == now) {
                    return;
                }
                if let Some(hole) = self.board.first() {
                    self.resend(now, hole, out);
                }
            }
            // After a timeout everything goes again anyway.
            State::Loss => {}
        }
    }

    /// Everything outstanding goes again, as the window lets it.
    fn repeat_all<T: Transmit>(&mut self, now: Time, ack: &Ack, out: &mut T) {
        if self.state == State::Open {
            self.board.lose_head();
            self.enter_recovery(now, ack, out);
        }
        if self.state == State::Recovery {
            self.board.lose_unsent_again();
        }
    }

    /// True if the congestion control asks for something.
    #[inline]
    pub(crate) fn has_actions(&self) -> bool {
        !Actions::is_none(&self.window.actions)
    }
}
