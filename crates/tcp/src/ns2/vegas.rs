//! `Agent/TCP/Vegas`, around the congestion control `vegas`.
//!
//! What a round trip means for the window, the fine timer and the cut are the algorithm's. In
//! addition to what all agents share, the agent adds:
//!
//! - Its first packet is a full segment where the others send a SYN, and the
//!   window is one segment until the second ACK.
//! - Every ACK whose last segment was sent only once gives the algorithm a round
//!   trip, apart from the one that is timed in ticks.
//! - A duplicate ACK is a loss when it is the third or finds the first segment
//!   overdue, unless `recover`, set by a timeout, forbids it. The window becomes
//!   what the cut left plus the duplicates, if there was a cut; each further
//!   duplicate adds one; the first ACK that advances takes that back and sets
//!   ssthresh to 2, if there were more than three. Recovery ends there.
//! - The timer backs off at a fast retransmit, too.
//! - An overdue segment after an ACK that advances goes at once and counts as
//!   the third duplicate. With nothing outstanding that is the next new segment,
//!   which the cursor then sends a second time.
//! - One or two duplicate ACKs send nothing (no limited transmit).
//! - A timeout counts the same with nothing outstanding: cwnd 2.
//!
//! Left out: ns-2 counts how often a segment was sent in a ring as long as the
//! window, and forgets to clear it where an ACK of several segments passes the
//! end of the ring. At a window of 20 that makes cuts deeper than meant.

use super::agent::{Action, Agent, DUPLICATES};
use crate::packet::Transmit;
use crate::sender_core::Core;
use bentpipe_cc::{Ack, Head};
use bentpipe_units::Time;

impl Agent {
    /// Represents the first unacknowledged segment when there is none: overdue.
    pub(super) const NO_HEAD: Head = Head {
        sent_at: Time::ZERO,
        transmissions: 0,
    };

    /// Takes an ACK up to `number`; how many segments may then go.
    pub(super) fn on_vegas_ack<T: Transmit>(
        &mut self,
        s: &mut Core,
        ack: &Ack,
        number: i64,
        out: &mut T,
    ) -> Option<usize> {
        // The algorithm has seen the ACK; all that it asks for is this.
        let overdue = std::mem::take(&mut s.window.actions).retransmit_head;
        if number > self.last_ack {
            if self.last_ack == 0 {
                s.window.cwnd = self.initial_window;
            }
            if self.duplicates > DUPLICATES && s.window.cwnd > self.cut_to {
                s.window.cwnd = self.cut_to;
                s.window.ssthresh = 2.0;
            }
            self.new_ack(s, ack, number);
            s.cc.on_ack(ack, &mut s.window);
            if overdue {
                self.duplicates = DUPLICATES;
                if self.exists(s, number + 1) {
                    self.output(s, ack.now, number + 1, out);
                }
            }
        } else if ack.duplicate {
            self.duplicates += 1;
            if overdue || self.duplicates == DUPLICATES {
                self.lost_vegas(s, ack, out);
            } else if self.duplicates > DUPLICATES {
                s.window.cwnd += 1.0;
            }
        }
        (self.duplicates == 0 || self.duplicates >= DUPLICATES).then_some(usize::MAX)
    }

    fn lost_vegas<T: Transmit>(&mut self, s: &mut Core, ack: &Ack, out: &mut T) {
        if self.highest_ack <= self.recover && self.last_action == Action::Timeout {
            return;
        }
        self.last_action = Action::DuplicateAcks;
        self.recover = self.maxseq;
        s.counters.recoveries += 1;
        let mut loss = self.loss(s, ack.now, false);
        loss.flight = self.window(s) as f64;
        loss.head = ack.head;
        // A cut shows by a window that is no longer 0.
        let before = std::mem::replace(&mut s.window.cwnd, 0.0);
        s.cc.on_loss(&loss, &mut s.window);
        if s.window.cwnd > 0.0 {
            s.note_reduction(before);
            self.cut_to = s.window.cwnd;
            s.window.cwnd += f64::from(self.duplicates);
        } else {
            s.window.cwnd = before;
        }
        s.rtt.back_off();
        Self::set_timer(s, ack.now);
        self.timed = None;
        let head = self.last_ack + 1;
        if self.exists(s, head) {
            self.output(s, ack.now, head, out);
        }
        if ack.head.is_some_and(|head| head.transmissions == 1) {
            self.duplicates = DUPLICATES;
        }
    }
}
