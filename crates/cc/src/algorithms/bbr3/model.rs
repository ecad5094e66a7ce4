//! The model of the path: bandwidth, what ACKs run ahead of it, and the bounds by losses.

use super::{Bbr3, MaxFilter, State};
use crate::{Ack, RateSample, Repair, Window};
use bentpipe_units::{Segments, Time};
use std::collections::VecDeque;

/// Rounds that `extra_acked` is the maximum of, once the pipe has been full.
const EXTRA_ACKED_ROUNDS: u64 = 10;
/// ACKs with losses in a round that end startup (`BBRStartupFullLossCnt`).
const FULL_LOSSES: u32 = 6;

/// What losses bound: infinite where there is no bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) bw_shortterm: f64,
    pub(super) inflight_shortterm: Segments,
    pub(super) inflight_longterm: Segments,
}

impl Bounds {
    pub(super) const NONE: Bounds = Bounds {
        bw_shortterm: f64::INFINITY,
        inflight_shortterm: f64::INFINITY,
        inflight_longterm: f64::INFINITY,
    };

    /// `ResetShortTermModel`.
    pub(super) const fn reset_short_term(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// The wider of each.
    pub(super) const fn at_least(&self, other: &Bounds) -> Bounds {
        Bounds {
            bw_shortterm: self.bw_shortterm.max(other.bw_shortterm),
            inflight_shortterm: self.inflight_shortterm.max(other.inflight_shortterm),
            inflight_longterm: self.inflight_longterm.max(other.inflight_longterm),
        }
    }
}

/// Losses in the order in which they were found, and what a round of losses delivered.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    /// Delivered so far, and lost, of the last round trip.
    list: VecDeque<(Segments, Segments)>,
    /// ACKs of this round that found losses.
    found: u32,
    /// `is_loss_in_round`, `loss_round_delivered`, `loss_round_start`.
    in_round: bool,
    round_end: Segments,
    pub(super) round_start: bool,
    /// Of this round: the largest bandwidth, and the most delivered in a sample.
    bw_latest: f64,
    inflight_latest: Segments,
}

impl Losses {
    /// `NoteLoss`; true for the first loss of a round.
    pub(super) fn note(&mut self, delivered: Segments, lost: Segments) -> bool {
        if lost <= 0.0 {
            return false;
        }
        self.list.push_back((delivered, lost));
        self.found += 1;
        let first = !self.in_round;
        if first {
            self.round_end = delivered;
        }
        self.in_round = true;
        first
    }

    /// Lost since a packet was sent when `prior` segments had been delivered: `RS.lost`, which is
    /// `C.lost - P.lost` (`HandleLostPacket`). `OnPacketSent` sets `P.lost` to `C.lost` at the
    /// sending, so that what the ACK itself had found lost by which the packet was released, and
    /// which counted as many delivered, is not among it.
    fn since(&mut self, prior: Segments) -> Segments {
        while self.list.front().is_some_and(|&(at, _)| at <= prior) {
            self.list.pop_front();
        }
        self.list.iter().map(|&(_, lost)| lost).sum()
    }

    /// `UpdateLatestDeliverySignals`.
    fn take_sample(&mut self, sample: &RateSample, bw: f64, delivered: Segments) {
        self.round_start = sample.prior_delivered >= self.round_end;
        if self.round_start {
            self.round_end = delivered;
        }
        self.bw_latest = self.bw_latest.max(bw);
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
    }

    /// `AdvanceLatestDeliverySignals`.
    fn advance(&mut self, sample: &RateSample, bw: f64) {
        if self.round_start {
            (self.bw_latest, self.inflight_latest) = (bw, sample.delivered);
        }
    }

    /// `ResetCongestionSignals`.
    pub(super) const fn reset(&mut self) {
        self.in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
    }

    pub(super) const fn forget_round(&mut self) {
        self.in_round = false;
    }
}

/// `UpdateACKAggregation`: how far ACKs run ahead of the bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    began_at: Option<Time>,
    acked: Segments,
    most: MaxFilter,
}

impl Aggregation {
    /// `extra_acked`.
    pub(super) const fn extra(&self) -> Segments {
        self.most.get()
    }

    pub(super) const fn restart(&mut self, now: Time) {
        self.began_at = Some(now);
    }

    /// `delivered` segments at `now`, where `bw` segments per second were expected.
    fn update(&mut self, now: Time, (delivered, cwnd): (Segments, Segments), bw: f64) -> Segments {
        let began = *self.began_at.get_or_insert(now);
        let mut expected = bw * now.since(began).as_secs();
        if self.acked <= expected {
            (self.acked, expected) = (0.0, 0.0);
            self.began_at = Some(now);
        }
        self.acked += delivered;
        (self.acked - expected).min(cwnd)
    }
}

impl Bbr3 {
    /// `UpdateModelAndState`.
    pub(super) fn update_model_and_state(
        &mut self,
        ack: &Ack,
        repair: Repair,
        window: &mut Window,
    ) {
        self.delivered = ack.delivered_after(self.delivered);
        self.round_start = false;
        self.losses.round_start = false;
        if self.losses.note(self.delivered, ack.lost) {
            self.remember_bounds();
        }
        let sample = ack.rate_sample.filter(|s| !s.interval.is_zero());
        if let Some(sample) = sample {
            let bw = sample.delivered / sample.interval.as_secs();
            self.handle_lost(ack, &sample, window);
            self.losses.take_sample(&sample, bw, self.delivered);
            self.update_max_bw(&sample, bw);
            self.adapt_to_congestion(window);
            self.update_aggregation(ack, window);
            self.check_full(&sample, bw);
            self.check_startup_high_loss(&sample, repair);
        }
        self.update_state(ack, sample.as_ref(), window);
        if let Some(sample) = sample {
            self.losses
                .advance(&sample, sample.delivered / sample.interval.as_secs());
        }
        // BoundBWForModel.
        self.bw = self.max_bw().min(self.bounds.bw_shortterm);
    }

    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// `AdvanceMaxBwFilter`: a cycle without samples leaves the last one in force.
    pub(super) fn advance_max_bw(&mut self) {
        if self.max_bw[1] > 0.0 {
            self.max_bw = [self.max_bw[1], 0.0];
        }
    }

    /// `UpdateMaxBw` and `UpdateRound`.
    fn update_max_bw(&mut self, sample: &RateSample, bw: f64) {
        if sample.prior_delivered >= self.round_end {
            self.start_round();
            self.rounds += 1;
            self.rounds_since_probe += 1.0;
            self.round_start = true;
        }
        if bw >= self.max_bw() || !sample.app_limited {
            self.max_bw[1] = self.max_bw[1].max(bw);
        }
    }

    /// `StartRound`.
    pub(super) const fn start_round(&mut self) {
        self.round_end = self.delivered;
    }

    fn update_aggregation(&mut self, ack: &Ack, window: &Window) {
        let extra = self
            .aggregation
            .update(ack.now, (ack.delivered, window.cwnd), self.bw);
        let rounds = if self.full.reached {
            EXTRA_ACKED_ROUNDS
        } else {
            1
        };
        self.aggregation.most.update(rounds, self.rounds, extra);
    }

    /// `SaveStateUponLoss`, without the window.
    pub(super) const fn remember_bounds(&mut self) {
        self.undo = self.bounds;
        self.undo_state = None;
    }

    /// `AdaptLowerBoundsFromCongestion`: once a round, what losses outside of probing leave
    /// of the bounds, but not less than was delivered.
    fn adapt_to_congestion(&mut self, window: &Window) {
        if !self.losses.round_start {
            return;
        }
        let probes = matches!(self.state, State::Startup | State::Refill | State::Up);
        if !probes && self.losses.in_round {
            let beta = self.settings.beta;
            let max_bw = self.max_bw();
            let bounds = &mut self.bounds;
            // InitLowerBounds.
            if bounds.bw_shortterm.is_infinite() {
                bounds.bw_shortterm = max_bw;
            }
            if bounds.inflight_shortterm.is_infinite() {
                bounds.inflight_shortterm = window.cwnd;
            }
            // LossLowerBounds.
            bounds.bw_shortterm = self.losses.bw_latest.max(beta * bounds.bw_shortterm);
            bounds.inflight_shortterm = self
                .losses
                .inflight_latest
                .max(beta * bounds.inflight_shortterm);
        }
        self.losses.in_round = false;
    }

    /// `IsInflightTooHigh`, of the packet that `sample` is of.
    pub(super) fn is_inflight_too_high(&mut self, sample: &RateSample) -> bool {
        let lost = self.losses.since(sample.prior_delivered);
        lost > self.settings.loss_threshold * sample.prior_flight.max(1.0)
    }

    /// `HandleLostPacket`, where what the ACK shows to be lost is the packet.
    fn handle_lost(&mut self, ack: &Ack, sample: &RateSample, window: &Window) {
        if ack.lost <= 0.0 || !self.is_probe_sample || !self.is_inflight_too_high(sample) {
            return;
        }
        // InflightAtLoss: where within it the losses passed the threshold.
        let threshold = self.settings.loss_threshold;
        let before = (sample.prior_flight - ack.lost).max(0.0);
        let lost_before = self.losses.since(sample.prior_delivered) - ack.lost;
        let prefix = (threshold * before - lost_before) / (1.0 - threshold).max(f64::EPSILON);
        let at_loss = before + prefix.min(ack.lost);
        // HandleInflightTooHigh.
        self.probe_too_high = true;
        self.is_probe_sample = false;
        if !sample.app_limited {
            let target = self.settings.beta * self.target_inflight(window);
            self.bounds.inflight_longterm = at_loss.max(target);
        }
        if self.state == State::Up {
            self.undo_state = Some(State::Up);
            self.enter_down(ack.now);
        }
    }

    /// `CheckStartupHighLoss`.
    fn check_startup_high_loss(&mut self, sample: &RateSample, repair: Repair) {
        if !self.losses.round_start {
            return;
        }
        let found = std::mem::take(&mut self.losses.found);
        if self.state == State::Startup
            && !self.full.reached
            && repair == Repair::Recovery
            && found >= FULL_LOSSES
            && self.is_inflight_too_high(sample)
        {
            self.undo_state = Some(State::Startup);
            (self.full.now, self.full.reached) = (true, true);
            let product = self.product(self.bw, 1.0);
            self.bounds.inflight_longterm = product.max(self.losses.inflight_latest);
        }
    }

    /// `TargetInflight`.
    pub(super) fn target_inflight(&self, window: &Window) -> Segments {
        self.product(self.bw, 1.0).min(window.cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_since_a_packet_was_sent() {
        let mut losses = Losses::default();
        assert!(losses.note(10.0, 2.0));
        assert!(!losses.note(20.0, 0.0));
        assert!(!losses.note(30.0, 3.0), "the round has a loss already");
        assert_eq!((losses.round_end, losses.found), (10.0, 2));
        assert_eq!(losses.since(9.0), 5.0);
        // Sent by the very ACK that found the first two.
        assert_eq!(losses.since(10.0), 3.0);
        assert_eq!(losses.since(29.0), 3.0);
        assert_eq!(losses.since(30.0), 0.0);
    }

    #[test]
    fn acks_ahead_of_the_bandwidth_are_extra() {
        use bentpipe_units::Duration;
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut aggregation = Aggregation::default();
        // 1000 segments/s expected; 20 at once every 20 ms.
        assert_eq!(aggregation.update(at(0), (20.0, 1e6), 1000.0), 20.0);
        assert_eq!(aggregation.update(at(10), (20.0, 1e6), 1000.0), 30.0);
        assert_eq!(aggregation.update(at(10), (20.0, 35.0), 1000.0), 35.0);
        // Below the expected rate the interval begins anew.
        assert_eq!(aggregation.update(at(100), (5.0, 1e6), 1000.0), 5.0);
    }
}
