//! Tail loss probes.
//!
//! Source: RFC 8985, section 7. When no ACK arrived for two smoothed round trips (and the largest
//! delay of an ACK on top where a single segment is outstanding), the sender sends a new segment,
//! or else retransmits the last one: its acknowledgement reveals losses before a timeout would.
//! Only one probe is outstanding at a time, and only while no loss is known.
//!
//! If the copy of a segment silently repaired a loss, the window is reduced nevertheless (section
//! 7.4).
//!
//! As in Linux the delay of an ACK counts as 200 ms, other probes wait 2 ms
//! longer, and a probe is no later than the timeout would be.

use super::rack::LEAST_TIMEOUT;
use super::{Linux, State};
use crate::packet::Transmit;
use crate::sender_core::Core;
use bentpipe_units::{Duration, Time};

/// The delay of an ACK that is allowed for.
const ACK_DELAY: Duration = Duration::from_millis(200);

/// The probe on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Probe {
    /// What was sent up to it is acknowledged by this byte.
    pub(super) end: Option<u64>,
    /// It is a copy.
    pub(super) is_copy: bool,
}

impl Probe {
    pub(super) fn end(&mut self) {
        self.end = None;
    }
}

impl Linux {
    /// True where a probe may be the next timer.
    pub(super) fn may_probe(&self, s: &Core) -> bool {
        s.options.kernel().tail_loss_probes && matches!(self.state, State::Open | State::Cwr)
    }

    /// Sets the timer to a probe, unless the state allows none; `from_now` if the
    /// timeout would count from now.
    pub(super) fn schedule_probe(&mut self, s: &mut Core, now: Time, from_now: bool) -> bool {
        let Some(head) = Linux::head_sent_at(s).filter(|_| self.may_probe(s)) else {
            return false;
        };
        let smoothed = s.rtt.smoothed();
        let mut wait = if smoothed.is_zero() {
            s.rules.initial_rto
        } else if s.board.outstanding() == 1 {
            smoothed * 2 + ACK_DELAY
        } else {
            smoothed * 2 + LEAST_TIMEOUT
        };
        let timeout = if from_now {
            s.rtt.rto()
        } else {
            (head + s.rtt.rto()).since(now)
        };
        if !timeout.is_zero() {
            wait = wait.min(timeout);
        }
        self.await_probe(s, now, wait);
        true
    }

    /// It is time for a probe.
    pub(super) fn send_probe<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        let sent = if self.probe.end.is_some() {
            false
        } else if s.next_new().is_some() {
            self.probe.is_copy = false;
            self.write(s, now, true, out) > 0
        } else {
            self.probe.is_copy = true;
            self.copy_last(s, now, out)
        };
        if sent {
            self.probe.end = Some(s.snd.next);
            self.restart_timeout(s, now);
        } else {
            self.rearm(s, now);
        }
    }

    fn copy_last<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) -> bool {
        let last = s.board.first_number() + s.board.outstanding() as u64;
        let Some(view) = last.checked_sub(1).and_then(|n| s.board.view(n)) else {
            return false;
        };
        if view.sacked {
            return false;
        }
        self.copy(s, now, last - 1, &view, out);
        true
    }

    /// What an ACK of everything below `acknowledgement` reveals about the probe; `quiet` if the
    /// ACK carries no other news.
    pub(super) fn judge_probe(
        &mut self,
        s: &mut Core,
        now: Time,
        acknowledgement: u64,
        duplicate_reported: bool,
        quiet: bool,
    ) {
        let Some(end) = self.probe.end.filter(|&end| acknowledgement >= end) else {
            return;
        };
        if !self.probe.is_copy || duplicate_reported {
            // New data, or the copy was needless.
            self.probe.end();
        } else if acknowledgement > end {
            // One of the two repaired a loss.
            self.begin_reduction(s, now, false);
            self.state = State::Cwr;
            self.end_reduction(s, now);
            self.keep_open(s);
        } else if quiet {
            // The original and the copy have both arrived.
            self.probe.end();
        }
    }
}
