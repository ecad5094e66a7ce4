//! The model of the path: its bandwidth, its smallest RTT, and the mode that
//! follows from them.

use super::{Bbr, CYCLE, FULL_GROWTH, FULL_ROUNDS, LEAST_WINDOW, Mode, policer};
use crate::{Ack, RateSample, Window};
use bentpipe_units::Time;

impl Bbr {
    pub(super) fn update_bandwidth(&mut self, ack: &Ack) {
        self.round_start = false;
        let Some(sample) = ack.rate_sample.filter(|s| !s.interval.is_zero()) else {
            return;
        };
        if sample.prior_delivered >= self.round_end {
            self.round_end = self.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserves = false;
        }
        self.sample_policer(ack.lost > 0.0, sample.app_limited, ack.mss);
        let rate = rate_of(&sample);
        if !sample.app_limited || rate >= self.bandwidth.get() {
            let window = self.settings.bandwidth_window;
            self.bandwidth.update(window, self.rounds, rate);
        }
    }

    pub(super) fn sample_policer(&mut self, losses: bool, app_limited: bool, mss: u32) {
        if !self.settings.policer {
            return;
        }
        let sees = policer::Sees {
            now: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            losses,
            app_limited,
            round_start: self.round_start,
            probes_bw: self.mode == Mode::ProbeBw,
            mss,
        };
        if self.policer.update(&sees) {
            self.enter_probe_bw();
        }
        if self.policer.rate().is_some() {
            self.pacing_gain = 1.0;
        }
    }

    pub(super) fn update_aggregation(&mut self, ack: &Ack, window: &Window) {
        if self.settings.aggregation && ack.delivered > 0.0 && ack.rate_sample.is_some() {
            let (bw, now) = (self.bw(), self.delivered_at);
            let (round_start, cwnd) = (self.round_start, window.cwnd);
            self.aggregation
                .update(now, ack.delivered, bw, round_start, cwnd);
        }
    }

    pub(super) fn update_cycle(&mut self, ack: &Ack, window: &Window) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let lasted = self.delivered_at.since(self.cycle_began) > self.min_rtt;
        let flight = ack.flight_before;
        let full = |gain| self.inflight(self.bandwidth.get(), gain, window);
        let next = if self.pacing_gain > 1.0 {
            // Until the flight shows the gain, or losses that it does not fit.
            lasted && (ack.lost > 0.0 || flight >= full(self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            lasted || flight <= full(1.0)
        } else {
            lasted
        };
        if next {
            self.next_in_cycle();
        }
    }

    pub(super) fn next_in_cycle(&mut self) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_began = self.delivered_at;
    }

    pub(super) fn check_full(&mut self, ack: &Ack) {
        let app_limited = ack.rate_sample.is_some_and(|sample| sample.app_limited);
        if self.full || !self.round_start || app_limited {
            return;
        }
        if self.bandwidth.get() >= FULL_GROWTH * self.full_bandwidth {
            self.full_bandwidth = self.bandwidth.get();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    pub(super) fn check_drain(&mut self, ack: &Ack, window: &mut Window) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight(self.bandwidth.get(), 1.0, window);
        }
        if self.mode == Mode::Drain
            && ack.flight <= self.inflight(self.bandwidth.get(), 1.0, window)
        {
            self.enter_probe_bw();
        }
    }

    pub(super) fn enter_probe_bw(&mut self) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - (self.random.bits() % 7) as usize;
        self.next_in_cycle();
    }

    pub(super) fn update_min_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let now = ack.now;
        let seen_at = *self.min_rtt_at.get_or_insert(now);
        let expired = now.since(seen_at) > self.settings.min_rtt_window;
        let rtt = ack.rate_sample.and_then(|sample| sample.rtt).or(ack.rtt);
        if let Some(rtt) = rtt
            && (rtt <= self.min_rtt || expired)
        {
            self.min_rtt = rtt;
            self.min_rtt_at = Some(now);
        }
        if expired && !self.restarts && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window(window);
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            // What is sent now shows a low rate by intention.
            window.actions.limits_rate = true;
            if self.probe_rtt_until.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(now, window);
                }
            } else if ack.flight <= LEAST_WINDOW {
                self.probe_rtt_until = Some(now + self.settings.probe_rtt);
                self.probe_rtt_round_done = false;
                self.round_end = self.delivered;
            }
        }
        if ack.delivered > 0.0 {
            self.restarts = false;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time, window: &mut Window) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt_at = Some(now);
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.full {
            self.enter_probe_bw();
        } else {
            self.mode = Mode::Startup;
        }
    }

    pub(super) fn update_gains(&mut self) {
        let high = self.settings.high_gain;
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (high, high),
            Mode::Drain => (1.0 / high, high),
            Mode::ProbeBw if self.policer.rate().is_some() => (1.0, self.settings.cwnd_gain),
            Mode::ProbeBw => (CYCLE[self.cycle], self.settings.cwnd_gain),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }
}

/// Delivery rate of a sample, segments per second.
fn rate_of(sample: &RateSample) -> f64 {
    sample.delivered / sample.interval.as_secs()
}
