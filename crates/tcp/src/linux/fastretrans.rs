//! The states of the sender, and the transitions between them.
//!
//! Recovery begins when a loss is detected and ends when all data outstanding at that time is
//! acknowledged; so does the state Loss after a timeout. Between the two ends of F-RTO (RFC 5682,
//! section 3.1) new segments are sent: if something that was not retransmitted is acknowledged
//! after the timeout, it was spurious.

use super::ack::AckSummary;
use super::{Linux, Resend, State};
use crate::sender_core::Core;
use bentpipe_units::Time;

impl Linux {
    /// Processes an ACK that does more than advance in the state Open
    /// (`tcp_fastretrans_alert`).
    pub(super) fn fastretrans(&mut self, s: &mut Core, now: Time, news: &mut AckSummary) -> Resend {
        if news.congestion_echo {
            self.undo.forget();
        }
        if self.state == State::Open {
            self.undo.resent_at = None;
        } else if s.snd.una >= self.high {
            match self.state {
                State::Cwr if s.snd.una != self.high => {
                    self.end_reduction(s, now);
                    self.state = State::Open;
                }
                State::Recovery => {
                    // What is undone keeps its window.
                    self.undo_recovery(s, news.echoed_timestamp);
                    self.end_reduction(s, now);
                }
                _ => {}
            }
        }
        match self.state {
            State::Recovery => {
                if news.advances && self.undo_partially(s, news.prior_una, news.echoed_timestamp) {
                    return Resend::Nothing;
                }
                if self.undo_reported(s) {
                    self.try_open(s, now, news);
                }
                self.identify_losses(s, now, news);
                if self.state != State::Recovery {
                    if s.board.lost() == 0 {
                        return Resend::Nothing;
                    }
                    self.enter_recovery(s, now, news.congestion_echo);
                }
            }
            State::Loss => {
                let resend = self.repair_timeout(s, news);
                self.identify_losses(s, now, news);
                if self.state != State::Open && !news.lost_again {
                    return resend;
                }
                if s.board.lost() == 0 {
                    self.try_open(s, now, news);
                    return resend;
                }
                self.enter_recovery(s, now, news.congestion_echo);
            }
            State::Open | State::Disorder | State::Cwr => {
                if self.state <= State::Disorder {
                    self.undo_reported(s);
                }
                self.identify_losses(s, now, news);
                if s.board.lost() == 0 {
                    self.try_open(s, now, news);
                    return Resend::Nothing;
                }
                self.enter_recovery(s, now, news.congestion_echo);
            }
        }
        Resend::Lost
    }

    fn identify_losses(&mut self, s: &mut Core, now: Time, news: &mut AckSummary) {
        if s.board.outstanding() == 0 {
            return;
        }
        let before = s.board.retransmitted();
        if self.look_for_losses(s, now) {
            news.sets_timer = false;
        }
        news.lost_again |= s.board.retransmitted() < before;
    }

    /// A loss is established.
    pub(super) fn enter_recovery(&mut self, s: &mut Core, now: Time, ecn: bool) {
        s.counters.recoveries += 1;
        self.undo.forget();
        self.begin_undo(s);
        if !self.is_reducing() {
            if !ecn {
                self.undo.remember(s, false);
            }
            self.begin_reduction(s, now, ecn);
        }
        self.state = State::Recovery;
    }

    fn try_open(&mut self, s: &mut Core, now: Time, news: &AckSummary) {
        if !Linux::any_resent(s) {
            self.undo.resent_at = None;
        }
        if news.congestion_echo && self.state < State::Cwr {
            self.undo.forget();
            self.undo.give_up();
            self.begin_reduction(s, now, true);
            self.state = State::Cwr;
        }
        if self.state != State::Cwr {
            self.keep_open(s);
        }
    }

    /// Open, or Disorder where something is amiss.
    pub(super) fn keep_open(&mut self, s: &mut Core) {
        let amiss = Linux::left_out(s) > 0 || Linux::any_resent(s);
        let state = if amiss { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.high = s.snd.next;
        }
    }

    /// An ACK while a timeout is repaired.
    fn repair_timeout(&mut self, s: &mut Core, news: &AckSummary) -> Resend {
        let recovered = s.snd.una >= self.high;
        if news.advances && self.undo_loss(s, news.echoed_timestamp, false) {
            return Resend::Nothing;
        }
        if self.doubts_timeout {
            if news.original && self.undo_loss(s, news.echoed_timestamp, true) {
                return Resend::Nothing;
            }
            if s.snd.next > self.high {
                if news.sacked > 0 || news.duplicate {
                    self.doubts_timeout = false;
                }
            } else if news.advances && !recovered {
                self.high = s.snd.next;
                if s.next_new().is_some() {
                    return Resend::New;
                }
                self.doubts_timeout = false;
            }
        }
        if recovered {
            self.undo_recovery(s, news.echoed_timestamp);
            return Resend::Nothing;
        }
        Resend::Lost
    }
}
