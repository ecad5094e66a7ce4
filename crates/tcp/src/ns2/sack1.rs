//! `Agent/TCP/Sack1`.
//!
//! Only duplicate ACKs that report something new count. Recovery begins with
//! `pipe` at everything outstanding less three, and cwnd at half. Every ACK
//! takes one off it, a partial one another; every packet sent adds one, but the
//! first retransmission does not. While `pipe` is below cwnd rounded down, the
//! lowest segment goes that was not sent again yet, is not selectively
//! acknowledged and lies below one that is: no threshold is asked, and each
//! hole is filled once. New segments follow when there is none. Partial ACKs
//! restart the timer and end its back-off; nothing grows until the ACK after
//! the one that covers `recover`.
//!
//! With recovery `sack-repeat`, which ns-2's agent does not have, a hole is
//! filled again before any other once three segments sent after it are
//! selectively acknowledged.
//!
//! A timeout clears the SACK information, and duplicate ACKs are then ignored until one advances.
//! So does every ACK that advances outside recovery.

use super::agent::{Action, Agent, DUPLICATES};
use crate::options::Recovery;
use crate::packet::Transmit;
use crate::sender_core::Core;
use bentpipe_cc::Ack;
use bentpipe_units::{Time, math};

impl Agent {
    /// True if the selective acknowledgements of an ACK are read.
    pub(super) fn takes_sack(&self, advances: bool) -> bool {
        self.recovering || !advances
    }

    /// Takes an ACK up to `number`; how many segments may then go.
    pub(super) fn on_sack1_ack<T: Transmit>(
        &mut self,
        s: &mut Core,
        ack: &Ack,
        number: i64,
        out: &mut T,
    ) -> Option<usize> {
        // What an ACK that does not advance delivers, it selectively acknowledges.
        let news = ack.duplicate && ack.delivered > 0.0;
        if self.recovering {
            self.pipe -= 1;
            if number >= self.recover {
                self.leave_sack1(s, ack, number);
            } else if number > self.highest_ack {
                self.highest_ack = number;
                self.pipe -= 1;
                Self::set_timer(s, ack.now);
                s.rtt.end_backoff();
            } else if news && self.duplicates > 0 {
                self.duplicates += 1;
            }
            return Some(usize::MAX);
        }
        if number > self.last_ack {
            self.new_ack_and_grow(s, ack, number);
            self.timed_out = false;
            self.forget(s);
        } else if news && !self.timed_out {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES {
                self.third_sack(s, ack.now, out);
            } else if self.duplicates < DUPLICATES && s.options.limited_transmit {
                self.send_one(s, ack.now, out);
            }
        }
        (self.duplicates == 0).then_some(usize::MAX)
    }

    fn forget(&mut self, s: &mut Core) {
        s.board.forget_sacks();
        self.next_hole = 0;
    }

    fn leave_sack1(&mut self, s: &mut Core, ack: &Ack, number: i64) {
        self.recover = 0;
        self.recovering = false;
        self.new_ack(s, ack, number);
        self.timed_out = false;
        self.forget(s);
        s.end_recovery(ack.now, (self.maxseq - number) as f64, ack.min_rtt);
    }

    fn third_sack<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        if self.may_retransmit() {
            self.enter_sack1(s, now, out);
        } else if s.headers.ecn && self.last_action == Action::Echo {
            self.last_action = Action::DuplicateAcks;
            self.begin(s, now);
            self.output(s, now, self.last_ack + 1, out);
        }
    }

    pub(super) fn enter_sack1<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.recover = self.maxseq;
        self.begin(s, now);
        self.reduce(s, now);
        self.output(s, now, self.last_ack + 1, out);
    }

    fn begin(&mut self, s: &mut Core, now: Time) {
        self.pipe = self.maxseq - self.highest_ack - i64::from(DUPLICATES);
        Self::set_timer(s, now);
        self.timed = None;
        self.recovering = true;
        self.next_hole = self.next_hole.max(self.highest_ack + 2);
    }

    /// The segment to send next, if one may go.
    pub(super) fn next_of_sack1(&mut self, s: &mut Core) -> Option<i64> {
        let window = self.window(s);
        let open = if self.recovering {
            self.pipe < math::floor(s.window.cwnd) as i64
        } else {
            self.cursor <= self.last_ack + window
        };
        if !open {
            return None;
        }
        if self.recovering
            && s.options.recovery == Recovery::SackRepeat
            && let Some(index) = s.board.lost_again()
        {
            return Some(self.highest_ack + 1 + index as i64);
        }
        let from = self.next_hole.max(self.highest_ack + 1);
        let hole = s
            .board
            .next_below_forward((from - self.highest_ack - 1) as usize)
            .map(|index| self.highest_ack + 1 + index as i64);
        let limit = Self::limit(s);
        if let Some(hole) = hole {
            self.next_hole = hole;
            if self.recover == 0 || hole > self.highest_ack + limit {
                return None;
            }
            self.next_hole = hole + 1;
            return Some(hole);
        }
        let allowed = if self.recovering { limit } else { window };
        (self.cursor <= self.highest_ack + allowed && self.exists(s, self.cursor))
            .then_some(self.cursor)
    }
}
