//! `Agent/TCP/Reno` and `Agent/TCP/Newreno`.
//!
//! In fast recovery duplicate ACKs inflate the window, by its own count
//! and not in cwnd; the sender then sends at most two segments per ACK. Reno
//! ends it with the first ACK that advances, Newreno with the one that covers
//! `recover`; that ACK grows the window like any other, and cwnd is what
//! recovery made of it. In between each partial ACK of Newreno sends the next
//! segment and takes what it acknowledged, less one, off the inflation; where
//! that does not suffice, off cwnd. Only the first of them restarts the timer
//! (`newreno_changes1_`, `partial_window_deflation_`).
//!
//! The `WestwoodNR` agents run it with both on, or off as in 2002: then each
//! partial ACK restarts the timer, ends the inflation and leaves cwnd alone. Their
//! inflation begins at the fourth duplicate, at one.

use super::agent::{Action, Agent, DUPLICATES};
use super::kind::Kind;
use crate::packet::Transmit;
use crate::sender_core::Core;
use bentpipe_cc::Ack;
use bentpipe_units::Time;

impl Agent {
    /// Takes an ACK up to `number`; how many segments may then go.
    pub(super) fn on_reno_ack<T: Transmit>(
        &mut self,
        s: &mut Core,
        ack: &Ack,
        number: i64,
        out: &mut T,
    ) -> Option<usize> {
        if number > self.last_ack {
            if self.is_partial(number) {
                self.partial_ack(s, ack, number, out);
            } else {
                self.full_ack(s, ack, number);
            }
        } else if ack.duplicate {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES {
                self.third_duplicate(s, ack.now, out);
            } else if self.duplicates > DUPLICATES {
                self.inflation += i64::from(self.last_action == Action::DuplicateAcks);
            } else if s.options.limited_transmit {
                self.send_one(s, ack.now, out);
            }
        }
        match (self.duplicates, self.kind) {
            (0, _) => Some(usize::MAX),
            (n, _) if n < DUPLICATES => None,
            (_, Kind::NewReno) => Some(2),
            _ => Some(usize::MAX),
        }
    }

    fn full_ack(&mut self, s: &mut Core, ack: &Ack, number: i64) {
        if self.last_action == Action::DuplicateAcks
            && (self.inflation > 0 || self.kind == Kind::Reno)
        {
            self.last_action = Action::Exited;
        }
        if self.inflation > 0 {
            self.inflation = 0;
            s.end_recovery(ack.now, (self.maxseq - number) as f64, ack.min_rtt);
        }
        self.first_partial = true;
        self.new_ack_and_grow(s, ack, number);
    }

    fn partial_ack<T: Transmit>(&mut self, s: &mut Core, ack: &Ack, number: i64, out: &mut T) {
        if self.first_partial || self.steady {
            self.first_partial = false;
            Self::set_timer(s, ack.now);
        }
        let acked = number - self.last_ack;
        if self.steady {
            self.inflation = 0;
        } else if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            s.window.cwnd = (s.window.cwnd - (acked - self.inflation) as f64).max(1.0);
            self.inflation = 1;
        }
        self.last_ack = number;
        self.highest_ack = number;
        self.cursor = self.cursor.max(number + 1);
        if self.timed.is_some_and(|(timed, _)| number >= timed) {
            self.timed = None;
            s.rtt.end_backoff();
        }
        if self.exists(s, number + 1) {
            self.output(s, ack.now, number + 1, out);
        }
    }

    fn third_duplicate<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        // Reno also allows it once more while the last reduction was one.
        let again = self.kind == Kind::Reno && self.last_action == Action::DuplicateAcks;
        if self.may_retransmit() || again {
            self.fast_retransmit(s, now, out);
        } else if s.headers.ecn && self.last_action == Action::Echo {
            // The mark reduced the window already.
            self.last_action = Action::DuplicateAcks;
            self.repair_head(s, now, out);
        }
    }

    pub(super) fn fast_retransmit<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.recover = self.maxseq;
        self.reduce(s, now);
        self.repair_head(s, now, out);
    }

    pub(super) fn repair_head<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        Self::set_timer(s, now);
        self.timed = None;
        if self.exists(s, self.last_ack + 1) {
            self.output(s, now, self.last_ack + 1, out);
        }
        self.inflation = match self.westwood {
            None => i64::from(DUPLICATES),
            Some(_) => 0,
        };
    }
}
