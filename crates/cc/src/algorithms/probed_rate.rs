//! A sending rate that low-priority probes find, as RCS and TP-Planet have it: what
//! both need of a window and of the start.

use super::opening::Opening;
use crate::{Ack, CWND_LIMIT, ProbeContent, Window};
use bentpipe_units::{Duration, Rate, Segments};

/// The window leaves room for so many round trips of the rate, so that the rate
/// limits and not the window, also where a queue doubles the round trip.
const ROOM: f64 = 2.0;

/// A rate in segments a second.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProbedRate {
    pub(super) opening: Opening,
    /// Segments a second; zero before the start has found anything.
    pub(super) rate: f64,
    /// Segments delivered since the round trip began.
    delivered: Segments,
    /// The last round trip used at least half of the rate.
    pub(super) in_use: bool,
}

impl ProbedRate {
    /// A rate that a start with no more than `reach` dummies finds.
    pub(super) const fn new(reach: Segments) -> ProbedRate {
        ProbedRate {
            opening: Opening::new(ProbeContent::Copy, reach),
            rate: 0.0,
            delivered: 0.0,
            in_use: true,
        }
    }

    pub(super) fn rtt(&self) -> Duration {
        self.opening.rtt()
    }

    /// Segments that the rate sends in a round trip.
    pub(super) fn per_round_trip(&self) -> Segments {
        self.rate * self.rtt().as_secs()
    }

    /// Starts with a segment of data and dummies.
    pub(super) fn begin(&mut self, window: &mut Window) {
        self.rate = 0.0;
        window.pacing_rate = None;
        self.opening.begin(window);
    }

    /// Takes an ACK; true where it begins a round trip.
    pub(super) fn on_sample(&mut self, ack: &Ack, window: &mut Window) -> bool {
        self.opening.on_sample(ack, window);
        if ack.round_start {
            self.in_use = 2.0 * self.delivered >= self.per_round_trip();
            self.delivered = 0.0;
        }
        self.delivered += ack.delivered;
        // In the start each answer, and the ACK of each segment of data, indicates a segment that
        // the path can carry per round trip.
        if self.opening.grows() {
            self.add(f64::from(ack.probes) + ack.acked);
        }
        ack.round_start
    }

    /// The rate rises by `segments` a round trip.
    pub(super) fn add(&mut self, segments: Segments) {
        let rtt = self.rtt().as_secs();
        if rtt > 0.0 {
            self.rate = (self.rate + segments / rtt).min(CWND_LIMIT / rtt);
        }
    }

    /// Sets the spacing of packets, and a window that does not limit.
    pub(super) fn steer(&self, window: &mut Window) {
        let per_round_trip = self.per_round_trip().max(1.0);
        let rtt = self.rtt().as_secs();
        if rtt > 0.0 && self.rate > 0.0 {
            let bits = per_round_trip / rtt * f64::from(window.mss) * 8.0;
            window.pacing_rate = Some(Rate::from_bps_f64(bits.max(1.0)));
            window.cwnd = (ROOM * per_round_trip).clamp(2.0, CWND_LIMIT);
        }
    }
}
