//! The model of the path and the states that follow from it: bandwidth, bounds by
//! losses, the smallest RTT, and the cycle of probing.

use super::{
    BANDWIDTH_CYCLES, Bbr3, FULL_GROWTH, FULL_LOSSES, FULL_ROUNDS, LEAST_WINDOW, MOST_ROUNDS, State,
};
use crate::{Ack, RateSample, Window};
use bentpipe_units::{Duration, Segments, Time, math};
use std::collections::VecDeque;

/// Losses in the order in which they were found, by what had been delivered then.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    /// Delivered so far, and lost, of the last round trip.
    list: VecDeque<(Segments, Segments)>,
    /// Of this round trip: losses, and how many ACKs found some.
    pub(super) in_round: Segments,
    pub(super) found: f64,
}

impl Losses {
    pub(super) fn note(&mut self, delivered: Segments, lost: Segments) {
        if lost > 0.0 {
            self.list.push_back((delivered, lost));
            self.in_round += lost;
            self.found += 1.0;
        }
    }

    /// Lost since a packet was sent when `prior` segments had been delivered.
    fn since(&mut self, prior: Segments) -> Segments {
        while self.list.front().is_some_and(|&(at, _)| at < prior) {
            self.list.pop_front();
        }
        self.list.iter().map(|&(_, lost)| lost).sum()
    }

    fn begin_round(&mut self) {
        (self.in_round, self.found) = (0.0, 0.0);
    }
}

impl Bbr3 {
    pub(super) fn update_model(&mut self, ack: &Ack, window: &Window) {
        self.delivered += ack.delivered;
        self.losses.note(self.delivered, ack.lost);
        self.round_start = false;
        let Some(sample) = ack.rate_sample.filter(|s| !s.interval.is_zero()) else {
            return;
        };
        if sample.prior_delivered >= self.round_end {
            self.round_end = self.delivered;
            self.round_start = true;
            self.rounds_since_probe += 1.0;
        }
        let bw = sample.delivered / sample.interval.as_secs();
        if !sample.app_limited || bw >= self.bandwidth.get() {
            self.bandwidth.update(BANDWIDTH_CYCLES, self.cycle, bw);
        }
        self.bound_by_losses(&sample, bw, window);
        self.watch_loss(ack, &sample);
        self.check_full(&sample, bw);
    }

    /// A round with losses outside of probing lowers what the
    /// model allows, but not below what was delivered.
    fn bound_by_losses(&mut self, sample: &RateSample, bw: f64, window: &Window) {
        self.bw_latest = self.bw_latest.max(bw);
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        if !self.round_start {
            return;
        }
        let probes = matches!(self.state, State::Startup | State::Refill | State::Up);
        if !probes && self.losses.in_round > 0.0 {
            let beta = self.settings.beta;
            if self.bw_lo.is_infinite() {
                self.bw_lo = self.bandwidth.get();
            }
            if self.inflight_lo.is_infinite() {
                self.inflight_lo = window.cwnd;
            }
            self.bw_lo = self.bw_latest.max(beta * self.bw_lo);
            self.inflight_lo = self.inflight_latest.max(beta * self.inflight_lo);
        }
        (self.bw_latest, self.inflight_latest) = (bw, sample.delivered);
    }

    pub(super) fn reset_short_term(&mut self) {
        (self.bw_lo, self.inflight_lo) = (f64::INFINITY, f64::INFINITY);
    }

    /// `inflight_hi` falls to what was in flight when too much was
    /// lost, and rises with what probing delivers without that.
    fn watch_loss(&mut self, ack: &Ack, sample: &RateSample) {
        let flight = sample.prior_flight.max(1.0);
        let lost = self.losses.since(sample.prior_delivered);
        if lost > self.settings.loss_threshold * flight {
            if self.probes {
                self.probes = false;
                let target = self.product(self.bw(), 1.0) * self.settings.beta;
                self.inflight_hi = flight.max(target).max(LEAST_WINDOW);
                if self.state == State::Up {
                    self.enter_down(ack.now);
                }
            }
            return;
        }
        if self.inflight_hi.is_finite() {
            self.inflight_hi = self.inflight_hi.max(sample.prior_flight);
            if self.state == State::Up && ack.cwnd_limited {
                self.raise_bound(ack);
            }
        }
    }

    fn raise_bound(&mut self, ack: &Ack) {
        self.raised += ack.delivered;
        if self.raised >= self.per_raise {
            let steps = math::floor(self.raised / self.per_raise);
            self.raised -= steps * self.per_raise;
            self.inflight_hi += steps;
        }
        if self.round_start {
            self.raise_slope(self.inflight_hi);
        }
    }

    /// One, two, four, ... segments a round, from `window` on.
    fn raise_slope(&mut self, window: Segments) {
        let steps = f64::from(1u32 << self.raise_rounds);
        self.raise_rounds = (self.raise_rounds + 1).min(30);
        self.per_raise = (window / steps).max(1.0);
    }

    /// The bandwidth has grown by less than a quarter in three rounds; in startup a
    /// round of losses says so, too.
    fn check_full(&mut self, sample: &RateSample, bw: f64) {
        if !self.full_now && self.round_start && !sample.app_limited {
            if bw >= self.full_bw * FULL_GROWTH {
                self.full_bw = bw;
                self.full_rounds = 0;
            } else {
                self.full_rounds += 1;
                self.full_now = self.full_rounds >= FULL_ROUNDS;
            }
        }
        if self.state == State::Startup && self.round_start && !self.full {
            let lost = self.losses.in_round;
            let part = self.settings.loss_threshold * (lost + sample.delivered);
            if self.losses.found >= FULL_LOSSES && lost > part {
                self.full_now = true;
                let target = self.product(self.bandwidth.get(), 1.0);
                self.inflight_hi = target.max(self.inflight_latest);
            }
        }
        self.full |= self.full_now;
        if self.round_start {
            self.losses.begin_round();
        }
    }

    fn reset_full(&mut self) {
        (self.full_bw, self.full_rounds, self.full_now) = (0.0, 0, false);
    }

    pub(super) fn update_state(&mut self, ack: &Ack, window: &mut Window) {
        let now = ack.now;
        if self.state == State::Startup && self.full {
            self.state = State::Drain;
        }
        let drained = ack.flight <= self.inflight(self.bandwidth.get(), 1.0, window);
        match self.state {
            State::Drain if drained => self.enter_down(now),
            State::Down if self.is_time_to_probe(now, window) => self.enter_refill(),
            State::Down if drained && ack.flight <= self.with_headroom() => {
                self.state = State::Cruise;
            }
            State::Cruise if self.is_time_to_probe(now, window) => self.enter_refill(),
            State::Refill if self.round_start => self.enter_up(now, window),
            State::Up => {
                let lasted = now.since(self.cycle_began) > self.min_rtt;
                let high = ack.flight > self.inflight(self.bandwidth.get(), 1.25, window);
                if lasted && (self.full_now || (high && self.inflight_hi.is_infinite())) {
                    self.enter_down(now);
                }
            }
            _ => {}
        }
        self.update_min_rtt(ack, window);
    }

    /// Probing ends: what it drove into the queue drains.
    fn enter_down(&mut self, now: Time) {
        self.reset_short_term();
        self.state = State::Down;
        self.probes = false;
        self.cycle += 1;
        self.cycle_began = now;
        self.rounds_since_probe = (self.random.bits() % 2) as f64;
        self.wait = Duration::from_millis(2000 + self.random.bits() % 1000);
        self.raise_rounds = 0;
    }

    /// Two to three seconds, or the rounds in which Reno would fill the path.
    fn is_time_to_probe(&self, now: Time, window: &Window) -> bool {
        let reno = self.product(self.bw(), 1.0).min(window.cwnd);
        now.since(self.cycle_began) > self.wait || self.rounds_since_probe >= reno.min(MOST_ROUNDS)
    }

    fn enter_refill(&mut self) {
        self.reset_short_term();
        self.raise_rounds = 0;
        self.state = State::Refill;
        self.round_end = self.delivered;
    }

    fn enter_up(&mut self, now: Time, window: &Window) {
        self.state = State::Up;
        self.probes = true;
        self.cycle_began = now;
        self.raised = 0.0;
        self.reset_full();
        self.full_bw = self.bandwidth.get();
        self.round_end = self.delivered;
        self.raise_slope(window.cwnd);
    }

    /// The smallest RTT of 10 s, probed where none as small was seen
    /// for 5 s.
    fn update_min_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let now = ack.now;
        let probed_at = *self.probe_rtt_min_at.get_or_insert(now);
        let seen_at = *self.min_rtt_at.get_or_insert(now);
        let expired = now.since(probed_at) > self.settings.probe_rtt_interval;
        let rtt = ack.rate_sample.and_then(|sample| sample.rtt).or(ack.rtt);
        if let Some(rtt) = rtt
            && (rtt <= self.probe_rtt_min || expired)
        {
            self.probe_rtt_min = rtt;
            self.probe_rtt_min_at = Some(now);
        }
        let old = now.since(seen_at) > self.settings.min_rtt_window;
        if self.probe_rtt_min <= self.min_rtt || old {
            self.min_rtt = self.probe_rtt_min;
            self.min_rtt_at = self.probe_rtt_min_at;
        }
        if expired && !self.restarts && self.state != State::ProbeRtt {
            self.save_window(window);
            self.state = State::ProbeRtt;
            self.probe_rtt_until = None;
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(ack, window);
        }
        if ack.delivered > 0.0 {
            self.restarts = false;
        }
    }

    fn probe_rtt(&mut self, ack: &Ack, window: &mut Window) {
        window.actions.limits_rate = true;
        let small = self.product(self.bw(), super::PROBE_RTT_WINDOW_GAIN);
        match self.probe_rtt_until {
            None if ack.flight <= small.max(LEAST_WINDOW) => {
                self.probe_rtt_until = Some(ack.now + self.settings.probe_rtt);
                self.probe_rtt_round_done = false;
                self.round_end = self.delivered;
            }
            None => {}
            Some(until) => {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done && ack.now > until {
                    self.probe_rtt_min_at = Some(ack.now);
                    window.cwnd = window.cwnd.max(self.prior_cwnd);
                    self.reset_short_term();
                    if self.full {
                        self.enter_down(ack.now);
                        self.state = State::Cruise;
                    } else {
                        self.state = State::Startup;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_since_a_packet_was_sent() {
        let mut losses = Losses::default();
        losses.note(10.0, 2.0);
        losses.note(20.0, 0.0);
        losses.note(30.0, 3.0);
        assert_eq!(losses.in_round, 5.0);
        assert_eq!(losses.since(10.0), 5.0);
        assert_eq!(losses.since(11.0), 3.0);
        assert_eq!(losses.since(31.0), 0.0);
    }
}
