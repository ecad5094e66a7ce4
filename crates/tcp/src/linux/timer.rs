//! The timer, which has three purposes, one at a time, and the retransmission timeout.
//!
//! Source: RFC 6298; RFC 8985, section 6.3 and 7.2 (the timers of RACK and of the probe). As in
//! Linux, an ACK that advances restarts the timeout, a probe or the wait for reordering replaces
//! it, and when it is restored it counts from the sending of the first unacknowledged segment.
//!
//! A timeout marks as lost the first segment and those sent more than a round trip ago; the window
//! becomes the remaining flight plus one segment.

use super::wheel::expiry;
use super::{Linux, State};
use crate::packet::Transmit;
use crate::sender_core::Core;
use bentpipe_units::{Duration, Time};

/// Meaning of the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The retransmission timeout, or the next window probe.
    Retransmission,
    /// A tail loss probe.
    Probe,
    /// The end of a reordering window.
    Reordering,
}

impl Linux {
    pub(super) fn await_probe(&mut self, s: &mut Core, now: Time, wait: Duration) {
        self.timer = Timer::Probe;
        s.timer.deadline = expiry(s.options.kernel().tick, now, now + wait);
    }

    pub(super) fn await_reordering(&mut self, s: &mut Core, now: Time, wait: Duration) {
        self.timer = Timer::Reordering;
        s.timer.deadline = expiry(s.options.kernel().tick, now, now + wait);
    }

    /// The timeout counts from now.
    pub(super) fn restart_timeout(&mut self, s: &mut Core, now: Time) {
        self.timer = Timer::Retransmission;
        s.restart_timer(now);
        s.timer.deadline = expiry(s.options.kernel().tick, now, s.timer.deadline);
    }

    /// Back to the timeout; in place of another timer it counts from the first
    /// segment.
    pub(super) fn rearm(&mut self, s: &mut Core, now: Time) {
        let replaces = self.timer != Timer::Retransmission && s.timer.deadline != Time::MAX;
        let head = Linux::head_sent_at(s).filter(|_| replaces);
        self.timer = Timer::Retransmission;
        s.restart_timer(now);
        let mut due = s.timer.deadline;
        if let Some(head) = head {
            let soonest = now + Duration::from_millis(1);
            due = (head + s.rtt.rto()).max(soonest);
        }
        s.timer.deadline = expiry(s.options.kernel().tick, now, due);
    }

    /// An ACK moved the timers: a probe, or else the timeout.
    pub(super) fn reset_timer(&mut self, s: &mut Core, now: Time) {
        if !self.schedule_probe(s, now, true) {
            self.rearm(s, now);
        }
    }

    /// The timer ran out.
    pub(super) fn on_timer<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        if s.board.outstanding() == 0 {
            self.timer = Timer::Retransmission;
            s.probe_window(now, out);
            return;
        }
        match self.timer {
            Timer::Retransmission => self.on_timeout(s, now, out),
            Timer::Probe => self.send_probe(s, now, out),
            Timer::Reordering => self.on_reordering(s, now, out),
        }
        s.note_max_cwnd();
    }

    /// What was waited for has not come.
    fn on_reordering<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        let before = s.board.flight();
        self.find_lost(s, now);
        if before != s.board.flight() {
            if self.state != State::Recovery {
                self.enter_recovery(s, now, false);
                self.reduce(s, 1, false);
            }
            self.resend_lost(s, now, out);
        }
        if self.timer != Timer::Retransmission {
            self.rearm(s, now);
        }
    }

    fn on_timeout<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        s.counters.timeouts += 1;
        self.enter_loss(s, now);
        self.timeouts += 1;
        let first = s.board.first_number();
        if let Some(view) = s.board.view(first) {
            self.resend(s, now, first, &view, out);
        }
        if !std::mem::take(&mut s.window.actions.keeps_rto) {
            s.rtt.back_off();
        }
        s.take_requests();
        self.restart_timeout(s, now);
        // A window that the congestion control owns may let more leave.
        self.resend_lost(s, now, out);
        self.write(s, now, false, out);
    }

    fn enter_loss(&mut self, s: &mut Core, now: Time) {
        // A window that was reduced for this already is reduced no more.
        let first = self.state <= State::Disorder
            || self.high <= s.snd.una
            || (self.state == State::Loss && self.timeouts == 0);
        let is_new = self.state < State::Recovery;
        self.lose_overdue(s, now);
        if first {
            self.undo.remember(s, self.is_reducing());
            self.begin_undo(s);
        }
        let before = s.window.cwnd;
        let timeout = s.timeout(now, Linux::window(s) as f64, first);
        s.cc.on_timeout(&timeout, &mut s.window);
        // The kernel sets this before it calls the control, which may set more.
        let least = (s.board.flight() + 1) as f64;
        s.window.cwnd = s.window.cwnd.max(least);
        s.note_reduction(before);
        self.rack
            .forget_reordering_after(self.state, s.board.sacked());
        self.state = State::Loss;
        self.high = s.snd.next;
        self.probe.end();
        s.headers.cwr_pending = true;
        self.doubts_timeout = is_new || self.timeouts > 0;
    }
}
