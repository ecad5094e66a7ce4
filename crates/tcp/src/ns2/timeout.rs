//! The retransmission timer of the agents, and the actions that a congestion control requests
//! besides changing the window.

use super::agent::{Action, Agent};
use super::kind::{Kind, Westwood};
use crate::packet::Transmit;
use crate::sender_core::Core;
use bentpipe_cc::{Ack, Timeout};
use bentpipe_units::Time;

impl Agent {
    /// What the congestion control asked for.
    pub(super) fn perform_actions<T: Transmit>(&mut self, s: &mut Core, ack: &Ack, out: &mut T) {
        s.take_requests();
        let actions = std::mem::take(&mut s.window.actions);
        if !(actions.repeat_all || actions.retransmit_head) || self.highest_ack == self.maxseq {
            return;
        }
        let recovering = self.recovering || self.inflation > 0;
        if !recovering && self.may_retransmit() {
            match self.kind {
                Kind::Tahoe => {
                    self.recover = self.maxseq;
                    self.reduce(s, ack.now);
                    self.restart_from_head(s, ack.now);
                }
                Kind::Reno | Kind::NewReno | Kind::Westwood => {
                    self.fast_retransmit(s, ack.now, out);
                }
                Kind::Sack1 => self.enter_sack1(s, ack.now, out),
                Kind::Vegas => {}
            }
        } else if actions.retransmit_head {
            self.output(s, ack.now, self.highest_ack + 1, out);
        }
        if actions.repeat_all {
            self.recovering = false;
            self.inflation = 0;
            self.duplicates = 0;
            s.board.forget_sacks();
            self.cursor = self.highest_ack + 1;
            self.timed = None;
        }
    }

    /// The retransmission timer ran out.
    pub(super) fn timed_out<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        // Bari's agent leaves both to the next ACK that advances.
        let keeps = self.westwood == Some(Westwood::Bari) && self.kind == Kind::NewReno;
        if self.kind != Kind::Tahoe && !keeps {
            self.duplicates = 0;
        }
        if !keeps {
            self.inflation = 0;
        }
        self.cut_to = 0.0;
        self.recovering = false;
        self.timed_out = true;
        self.next_hole = 0;
        self.last_ack = self.highest_ack;
        s.board.forget_sacks();
        s.window.cwnd = s.window.cwnd.max(1.0);
        self.recover = self.maxseq;
        s.headers.cwr_pending = true;
        let idle = self.highest_ack == self.maxseq;
        if idle && self.kind != Kind::Vegas {
            s.window.cwnd = 1.0;
        } else {
            if self.last_action == Action::Echo {
                s.window.cwnd = 1.0;
            } else {
                s.counters.timeouts += 1;
                let timeout = Timeout {
                    outstanding: self.exact_window(s),
                    min_rtt: self.smallest,
                    ..s.timeout(now, self.exact_window(s), true)
                };
                s.reduce_after_timeout(&timeout);
            }
            if !std::mem::take(&mut s.window.actions.keeps_rto) {
                s.rtt.back_off();
            }
            s.take_requests();
        }
        Self::set_timer(s, now);
        self.last_action = Action::Timeout;
        self.cursor = self.highest_ack + 1;
        self.timed = None;
        self.send_at_most(s, now, usize::MAX, out);
        if self.highest_ack == self.maxseq {
            // Idle. The next timeout would find nothing to change, and what is
            // sent before it sets the timer again.
            s.timer.deadline = Time::MAX;
        }
        s.begin_probes(now, out);
    }
}
