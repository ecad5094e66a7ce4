//! Reactions of the window to a loss, an ECN echo and a timeout.

use super::{DUPLICATE_THRESHOLD, Rfc, State};
use crate::options::Recovery;
use crate::packet::Transmit;
use crate::scoreboard::LossRule;
use crate::sender_core::Core;
use bentpipe_cc::Ack;
use bentpipe_units::{Time, math};

impl Rfc {
    /// A loss is found: the window is reduced and fast recovery begins.
    pub(super) fn enter_recovery<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.remember_for_undo(s);
        self.unnamed = self.arrived_unnamed();
        // A loss among what was in flight when a mark was echoed is the same
        // congestion (RFC 3168, section 6.1.2): it is repaired without a second
        // reduction.
        if s.snd.una >= self.echo_cut_until {
            s.reduce(&s.loss(now, self.reduction_base(s), false));
        }
        self.recover = s.snd.next;
        self.reduced_until = s.snd.next;
        self.impatient = false;
        self.rescued = false;
        s.headers.cwr_pending = true;
        s.counters.recoveries += 1;
        if s.options.recovery == Recovery::Tahoe {
            s.window.cwnd = 1.0;
            self.state = State::Loss;
            s.board.lose_all(true);
            return;
        }
        self.state = State::Recovery;
        if s.options.recovery == Recovery::Snack {
            // What the ACK named is sent once the ACK has been processed.
        } else if !s.options.recovery.uses_sack() {
            s.board.lose_head();
            self.inflation = f64::from(DUPLICATE_THRESHOLD);
        } else if s.rules.inflates_with_sack && !s.options.owns_window {
            s.window.cwnd += f64::from(DUPLICATE_THRESHOLD);
        }
        // The first hole is sent whatever the window is, unless the congestion
        // control sets window and rate.
        if !s.options.owns_window
            && s.options.recovery != Recovery::Snack
            && let Some(hole) = s.board.next_lost()
        {
            self.resend(s, now, hole, out);
        }
        s.restart_timer(now);
    }

    /// Finds retransmissions of this recovery that were lost; returns how many.
    pub(super) fn find_lost_again(&mut self, s: &mut Core) -> u32 {
        if s.options.recovery != Recovery::SackRepeat || self.state != State::Recovery {
            return 0;
        }
        std::iter::from_fn(|| s.board.lose_again()).count() as u32
    }

    /// How selective acknowledgements show that a hole is lost.
    pub(super) fn loss_rule(s: &Core) -> LossRule {
        if s.options.recovery == Recovery::Fack {
            LossRule::Forward
        } else {
            LossRule::ThreeAbove
        }
    }

    /// The segments that a reduction halves: what is unacknowledged (FlightSize
    /// of RFC 5681), without what limited transmit added; or the window in
    /// use, on hosts that halve that.
    ///
    /// Never more than cwnd: in a long SACK recovery what is unacknowledged
    /// grows to several windows, and a timeout at its end would otherwise
    /// raise ssthresh.
    fn reduction_base(&self, s: &Core) -> f64 {
        if s.rules.reduces_window {
            let receive_window = s.receive_window();
            let window = s.window.cwnd.min(receive_window).max(1.0);
            return if s.rules.whole_segments {
                math::floor(window)
            } else {
                window
            };
        }
        let flight = s.board.outstanding() as f64;
        // Limited transmit may have found nothing to send.
        let limited = if s.options.limited_transmit && self.state == State::Open {
            let above = flight - math::floor(s.window.cwnd);
            above.clamp(0.0, f64::from(self.duplicate_acks.min(2)))
        } else {
            0.0
        };
        (flight - limited).min(s.window.cwnd).max(1.0)
    }

    pub(super) fn leave_recovery(&mut self, s: &mut Core, now: Time, ack: &Ack) {
        self.state = State::Open;
        let duplicates = std::mem::take(&mut self.duplicate_acks);
        self.inflation = 0.0;
        if s.rules.inflates_with_sack && duplicates <= DUPLICATE_THRESHOLD {
            return;
        }
        s.end_recovery(now, s.board.flight() as f64, ack.min_rtt);
    }

    pub(super) fn on_congestion_echo(&mut self, s: &mut Core, now: Time) {
        // Once per window of data, and not while a loss is being repaired or
        // right after: that window was reduced already. The ACK of everything in
        // flight then may still echo the old mark, because CWR reaches the
        // receiver with the segment after it.
        let cut_already = self.reduced_until > 0 && s.snd.una <= self.reduced_until;
        if self.state != State::Open || cut_already {
            return;
        }
        s.reduce(&s.loss(now, self.reduction_base(s), true));
        self.reduced_until = s.snd.next;
        self.echo_cut_until = s.snd.next;
        s.headers.cwr_pending = true;
    }

    /// The retransmission timer ran out.
    pub(super) fn timed_out<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        if s.board.outstanding() == 0 {
            s.probe_window(now, out);
            return;
        }
        if self.state != State::Loss {
            self.remember_for_undo(s);
        }
        s.counters.timeouts += 1;
        let first = self.timed_out_una != Some(s.snd.una);
        self.timed_out_una = Some(s.snd.una);
        s.reduce_after_timeout(&s.timeout(now, self.reduction_base(s), first));
        if !std::mem::take(&mut s.window.actions.keeps_rto) {
            s.rtt.back_off();
        }
        self.state = State::Loss;
        self.recover = s.snd.next;
        self.reduced_until = s.snd.next;
        self.duplicate_acks = 0;
        self.unnamed = 0;
        self.inflation = 0.0;
        self.arrived = 0.0;
        s.headers.cwr_pending = true;
        s.board.lose_all(!s.options.recovery.uses_sack());
        s.timer.deadline = now + s.rtt.rto();
        s.take_requests();
        self.send_permitted(s, now, out);
    }
}
