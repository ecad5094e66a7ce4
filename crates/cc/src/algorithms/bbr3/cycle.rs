//! The states: from startup through drain into the cycle of probing, and the probe of the RTT.

use super::{Bbr3, State};
use crate::{Ack, RateSample, Window};
use bentpipe_units::{Duration, Segments, Time, math};

const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Rounds after which drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;
/// Rounds after which a probe comes in any case.
const MOST_ROUNDS: f64 = 63.0;

/// What the ACKs of now tell about a probe of the bandwidth (`ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The estimator of a full pipe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Full {
    bw: f64,
    count: u32,
    /// The bandwidth has stopped growing since the search began; and ever.
    pub(super) now: bool,
    pub(super) reached: bool,
}

impl Full {
    /// `ResetFullBW`.
    pub(super) const fn reset(&mut self) {
        (self.bw, self.count, self.now) = (0.0, 0, false);
    }

    /// The search begins anew from `bw`.
    const fn restart(&mut self, bw: f64) {
        self.reset();
        self.bw = bw;
    }
}

impl Bbr3 {
    /// `CheckFullBWReached`.
    pub(super) fn check_full(&mut self, sample: &RateSample, bw: f64) {
        let full = &mut self.full;
        if full.now || !self.round_start || sample.app_limited {
            return;
        }
        if bw >= full.bw * FULL_GROWTH {
            full.restart(bw);
            return;
        }
        full.count += 1;
        full.now = full.count >= FULL_ROUNDS;
        full.reached |= full.now;
    }

    /// From `CheckStartupDone` to `CheckProbeRTT`.
    pub(super) fn update_state(
        &mut self,
        ack: &Ack,
        sample: Option<&RateSample>,
        window: &mut Window,
    ) {
        if self.state == State::Startup && self.full.reached {
            self.state = State::Drain;
            self.drain_began = self.rounds;
        }
        // CheckDrainDone.
        if self.state == State::Drain
            && (ack.flight <= self.inflight(self.bw, 1.0, window)
                || self.rounds > self.drain_began + DRAIN_ROUNDS)
        {
            self.enter_down(ack.now);
        }
        if let Some(sample) = sample {
            self.update_cycle(ack, sample, window);
        }
        self.update_min_rtt(ack, window);
    }

    /// `IsInAProbeBWState`.
    pub(super) const fn is_probing_cycle(&self) -> bool {
        matches!(
            self.state,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    /// `UpdateProbeBWCyclePhase`.
    fn update_cycle(&mut self, ack: &Ack, sample: &RateSample, window: &Window) {
        if !self.full.reached || self.adapt_long_term(ack, sample, window) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe(ack.now, window) => {
                self.enter_refill();
            }
            State::Down if self.is_time_to_cruise(ack, window) => self.state = State::Cruise,
            State::Refill if self.round_start => {
                self.is_probe_sample = true;
                self.enter_up(sample, window);
            }
            State::Up if self.is_time_to_go_down(ack, sample, window) => {
                self.probe_too_high = false;
                self.enter_down(ack.now);
            }
            _ => {}
        }
    }

    /// `AdaptLongTermModel`; true where it has decided on a state.
    fn adapt_long_term(&mut self, ack: &Ack, sample: &RateSample, window: &Window) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            // The last sample of the probe has come.
            self.is_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_probing_cycle() {
                if !sample.app_limited {
                    self.advance_max_bw();
                }
                if self.probe_precautionary && !self.probe_too_high {
                    self.enter_refill();
                    return true;
                }
            }
        }
        if self.bounds.inflight_longterm.is_finite() && !self.is_inflight_too_high(sample) {
            let flight = sample.prior_flight;
            self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(flight);
            if self.state == State::Up {
                self.probe_inflight_upward(ack, window);
            }
        }
        false
    }

    /// `ProbeInflightLongtermUpward`.
    fn probe_inflight_upward(&mut self, ack: &Ack, window: &Window) {
        if !ack.cwnd_limited || window.cwnd < math::floor(self.bounds.inflight_longterm) {
            return;
        }
        self.raised += ack.delivered;
        if self.raised >= self.per_raise {
            let steps = math::floor(self.raised / self.per_raise);
            self.raised -= steps * self.per_raise;
            self.bounds.inflight_longterm += steps;
        }
        if self.round_start {
            self.raise_slope(window.cwnd);
        }
    }

    /// `RaiseInflightLongtermSlope`: one, two, four, ... segments a round.
    fn raise_slope(&mut self, cwnd: Segments) {
        let steps = f64::from(1u32 << self.raise_rounds);
        self.raise_rounds = (self.raise_rounds + 1).min(30);
        self.per_raise = (cwnd / steps).max(1.0);
    }

    /// `StartProbeBW_DOWN`: what probing drove into the queue drains.
    pub(super) fn enter_down(&mut self, now: Time) {
        self.losses.reset();
        self.per_raise = f64::INFINITY;
        // PickProbeWait.
        self.rounds_since_probe = (self.random.bits() % 2) as f64;
        self.wait = Duration::from_millis(2000 + self.random.bits() % 1000);
        self.cycle_began = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) const fn enter_refill(&mut self) {
        self.bounds.reset_short_term();
        (self.raise_rounds, self.raised) = (0, 0.0);
        self.probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn enter_up(&mut self, sample: &RateSample, window: &Window) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.full
            .restart(sample.delivered / sample.interval.as_secs());
        self.state = State::Up;
        self.raise_slope(window.cwnd);
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, ack: &Ack, window: &Window) -> bool {
        ack.flight <= self.inflight_with_headroom()
            && ack.flight <= self.inflight(self.max_bw(), 1.0, window)
    }

    /// `IsTimeToProbeBW`: two to three seconds, or the rounds in which Reno would fill the
    /// path.
    fn is_time_to_probe(&self, now: Time, window: &Window) -> bool {
        let reno = self.target_inflight(window);
        now.since(self.cycle_began) > self.wait || self.rounds_since_probe >= reno.min(MOST_ROUNDS)
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, ack: &Ack, sample: &RateSample, window: &Window) -> bool {
        let bound = self.bounds.inflight_longterm;
        if self.probe_too_high && ack.flight >= bound {
            self.probe_precautionary = true;
            return true;
        }
        // The window is whole segments of the bound.
        if ack.cwnd_limited && window.cwnd >= math::floor(bound) {
            // The bound limits the bandwidth: that it does not grow says nothing.
            self.full
                .restart(sample.delivered / sample.interval.as_secs());
            return false;
        }
        self.full.now
    }

    /// `UpdateMinRTT` and `CheckProbeRTT`: the smallest RTT of 10 s, probed where none
    /// smaller was seen for 5 s.
    fn update_min_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let now = ack.now;
        let probed_at = *self.probe_rtt_min_at.get_or_insert(now);
        let seen_at = *self.min_rtt_at.get_or_insert(now);
        let expired = now.since(probed_at) > self.settings.probe_rtt_interval;
        let rtt = ack.rate_sample.and_then(|sample| sample.rtt).or(ack.rtt);
        if let Some(rtt) = rtt
            && (rtt < self.probe_rtt_min || expired)
        {
            self.probe_rtt_min = rtt;
            self.probe_rtt_min_at = Some(now);
        }
        let old = now.since(seen_at) > self.settings.min_rtt_window;
        if self.probe_rtt_min < self.min_rtt || old {
            self.min_rtt = self.probe_rtt_min;
            self.min_rtt_at = self.probe_rtt_min_at;
        }
        if expired && !self.restarts && self.state != State::ProbeRtt {
            self.save_window(window);
            self.state = State::ProbeRtt;
            self.probe_rtt_until = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack, window);
        }
        if ack.delivered > 0.0 {
            self.restarts = false;
        }
    }

    /// `HandleProbeRTT`.
    fn handle_probe_rtt(&mut self, ack: &Ack, window: &mut Window) {
        // What is sent now shows a low rate by intention.
        window.actions.limits_rate = true;
        if self.probe_rtt_until.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(ack.now, window);
            }
        } else if ack.flight <= self.probe_rtt_window() {
            self.probe_rtt_until = Some(ack.now + self.settings.probe_rtt);
            self.probe_rtt_round_done = false;
            self.start_round();
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT`.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time, window: &mut Window) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.probe_rtt_min_at = Some(now);
        self.restore_window(window);
        self.bounds.reset_short_term();
        if self.full.reached {
            self.enter_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
