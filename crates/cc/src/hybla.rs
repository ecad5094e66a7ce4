//! TCP Hybla: the window of a fast reference connection on a long path.
//!
//! Sources: Caini & Firrincieli 2004 (the laws); Caini & Firrincieli 2006,
//! sec. IV (the parts: SACK, timestamps, Hoe's estimate, packet spacing,
//! recovery fix). With rho = max(RTT / RTT0, 1), an ACK adds
//! - 2^rho - 1 segments in slow start,
//! - rho^2 / cwnd segments in congestion avoidance while cwnd is below the
//!   estimated bandwidth-delay product, 1 / cwnd above it (the gate).
//!
//! The cut at a loss is the standard one.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | rtt0 | 25 ms (papers, Linux; ns-3: 50 ms) | round-trip time |
//! | gate | hoe | `off` as Linux and ns-3; `delivery-rate` |
//! | doubling_limit | true | until Hoe's estimate is there, an ACK adds no more than cwnd |
//! | start_window | transport | `rho`: cwnd = rho at the start, as Linux |
//! | count | segments | `acks`: the step of congestion avoidance once per ACK |
//!
//! Left open, and the reading chosen:
//! - Which RTT is in rho: the smallest sample of the connection.
//! - The initial window: the transport's. The continuous law implies rho.
//! - At RTT 600 ms rho is 24 and one ACK adds 2^24 - 1 segments: cwnd jumps to
//!   ssthresh, and Hoe's estimate, which sets that, needs the third ACK. Until
//!   then an ACK at most doubles cwnd (`doubling_limit`). Growth stops at
//!   ssthresh in slow start and at the receive window everywhere.
//! - The estimated bandwidth-delay product: Hoe's bandwidth x the smallest RTT
//!   or, with `delivery-rate`, the largest delivery rate of the last ten rounds
//!   x the smallest RTT. While there is no estimate the gate is open.
//! - The laws count one ACK per segment; with delayed ACKs the step of
//!   congestion avoidance is multiplied by the segments acknowledged.

use crate::{Ack, Hoe, Window};
use bentpipe_units::math;
use bentpipe_units::{Duration, Segments};

/// An ACK never adds more than 2^30 - 1 segments.
const MAX_EXPONENT: f64 = 30.0;

/// The number of rounds whose largest delivery rate counts.
const RATE_ROUNDS: usize = 10;

/// rho and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rho {
    rtt0: Duration,
    /// The RTT of `rho`.
    rtt: Duration,
    rho: f64,
}

impl Rho {
    const fn new(rtt0: Duration) -> Rho {
        Rho {
            rtt0,
            rtt: Duration::MAX,
            rho: 1.0,
        }
    }

    /// Takes over a new smallest RTT; true if rho has changed.
    #[inline]
    fn update(&mut self, min_rtt: Duration) -> bool {
        if min_rtt == self.rtt || min_rtt == Duration::MAX {
            return false;
        }
        self.rtt = min_rtt;
        // The reference RTT is at least 1 us by its range; never divide by 0.
        let rtt0 = self.rtt0.max(Duration::from_nanos(1));
        self.rho = (min_rtt.as_nanos() as f64 / rtt0.as_nanos() as f64).max(1.0);
        true
    }
}

/// Hybla's slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyblaStart {
    rho: Rho,
    /// 2^rho - 1.
    step: Segments,
    doubling_limit: bool,
    start_at_rho: bool,
    started: bool,
}

impl HyblaStart {
    /// Hybla's slow start with reference RTT `rtt0`; see the module for
    /// `doubling_limit` and for `start_at_rho`, the initial window rho.
    #[must_use]
    pub const fn new(rtt0: Duration, doubling_limit: bool, start_at_rho: bool) -> HyblaStart {
        HyblaStart {
            rho: Rho::new(rtt0),
            step: 1.0,
            doubling_limit,
            start_at_rho,
            started: false,
        }
    }

    /// The normalised round-trip time.
    #[must_use]
    pub const fn rho(&self) -> f64 {
        self.rho.rho
    }

    /// 2^rho - 1, segments per ACK.
    #[must_use]
    pub const fn step(&self) -> Segments {
        self.step
    }

    #[inline]
    fn update(&mut self, min_rtt: Duration) {
        if self.rho.update(min_rtt) {
            self.step = math::exp2(self.rho.rho.min(MAX_EXPONENT)) - 1.0;
        }
    }

    pub(crate) fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        let Some(rtt) = rtt else { return };
        self.update(rtt);
        if self.start_at_rho {
            window.cwnd = self.rho.rho;
        }
        self.started = true;
    }

    #[inline]
    pub(crate) fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.update(ack.min_rtt);
        if !self.started && !ack.duplicate && self.rho.rtt != Duration::MAX {
            // No RTT from the handshake: the first ACK gives it.
            self.started = true;
            if self.start_at_rho && ack.cwnd_limited {
                window.cwnd = window.cwnd.max(self.rho.rho);
            }
        }
    }

    #[inline]
    pub(crate) fn on_ack(&self, ack: &Ack, window: &mut Window, estimate_pending: bool) {
        let mut step = self.step;
        if estimate_pending && self.doubling_limit {
            step = step.min(window.cwnd);
        }
        let ceiling = window.ssthresh.min(ack.receive_window).max(window.cwnd);
        window.cwnd = (window.cwnd + step).min(ceiling);
    }
}

/// Where the fast growth of congestion avoidance ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gate {
    /// Never (Linux, ns-3).
    Off,
    /// At Hoe's estimate of the bandwidth-delay product.
    #[default]
    Hoe,
    /// At the largest delivery rate of the last ten rounds x smallest RTT.
    DeliveryRate,
}

/// Hybla's congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyblaAvoidance {
    rho: Rho,
    /// Where the fast growth ends.
    pub gate: Gate,
    /// Multiply the step by the segments acknowledged.
    pub per_segment: bool,
    rates: RateMaximum,
}

impl HyblaAvoidance {
    /// Hybla's congestion avoidance with reference RTT `rtt0`.
    #[must_use]
    pub const fn new(rtt0: Duration, gate: Gate, per_segment: bool) -> HyblaAvoidance {
        HyblaAvoidance {
            rho: Rho::new(rtt0),
            gate,
            per_segment,
            rates: RateMaximum::NEW,
        }
    }

    #[inline]
    pub(crate) fn on_sample(&mut self, ack: &Ack) {
        self.rho.update(ack.min_rtt);
        if self.gate == Gate::DeliveryRate {
            self.rates.on_sample(ack);
        }
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Ack, window: &mut Window, hoe: Option<&Hoe>) {
        let product = match self.gate {
            Gate::Off => None,
            Gate::Hoe => hoe.and_then(|hoe| hoe.bandwidth_delay_product(ack.min_rtt)),
            Gate::DeliveryRate => self.rates.bandwidth_delay_product(ack),
        };
        let open = product.is_none_or(|product| window.cwnd < product);
        let gain = if open {
            self.rho.rho * self.rho.rho
        } else {
            1.0
        };
        let count = if self.per_segment { ack.acked } else { 1.0 };
        let ceiling = ack.receive_window.max(window.cwnd);
        window.cwnd = (window.cwnd + count * gain / window.cwnd).min(ceiling);
    }
}

/// The largest delivery rate of the last rounds, bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RateMaximum {
    rounds: [f64; RATE_ROUNDS],
    current: usize,
    maximum: f64,
}

impl RateMaximum {
    const NEW: RateMaximum = RateMaximum {
        rounds: [0.0; RATE_ROUNDS],
        current: 0,
        maximum: 0.0,
    };

    fn on_sample(&mut self, ack: &Ack) {
        if ack.round_start {
            self.current = (self.current + 1) % RATE_ROUNDS;
            self.rounds[self.current] = 0.0;
            self.maximum = self.rounds.iter().copied().fold(0.0, f64::max);
        }
        if let Some(rate) = ack.delivery_rate {
            let round = &mut self.rounds[self.current];
            *round = round.max(rate.bps_f64());
            self.maximum = self.maximum.max(*round);
        }
    }

    fn bandwidth_delay_product(&self, ack: &Ack) -> Option<Segments> {
        (self.maximum > 0.0 && ack.min_rtt != Duration::MAX)
            .then(|| self.maximum * ack.min_rtt.as_secs() / (8.0 * f64::from(ack.mss.max(1))))
    }
}
