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

use super::Counted;
use super::newreno::Halve;
use crate::declaration::{
    Control, Described, LossRecovery, TransportDefaults, WindowPacing, of_slots,
};
use crate::hoe::HoeRound;
use crate::parameter::{flag, parameters, time, word, word_of, words};
use crate::slot::{CongestionAvoidance, Parts, SlowStart};
use crate::{Ack, Hoe, Window};
use bentpipe_units::math;
use bentpipe_units::{Duration, Segments};

/// The control `hybla`.
pub(crate) fn hybla() -> Control<Parts<HyblaStart, HyblaAvoidance, Halve, HoeRound>> {
    of_slots(Described {
        name: "hybla",
        on_linux: Some("hybla-linux"),
        summary: "grows like a connection of RTT0, whatever the round-trip time",
        source: "Caini & Firrincieli 2004; Caini & Firrincieli 2006, sec. IV",
        open: "RTT in rho: the smallest; initial window: the transport's; before Hoe's estimate \
               an ACK at most doubles cwnd; gate: Hoe's bandwidth x smallest RTT; with delayed \
               ACKs the step of congestion avoidance counts segments",
        transport: TransportDefaults {
            summary: "grows as if the RTT were 25 ms: SACK, timestamps, pacing, Hoe's estimate, \
                      recovery fix",
            source: "Caini & Firrincieli 2004 and 2006, section IV",
            recovery: Some(LossRecovery::Sack),
            timestamps: Some(true),
            recovery_fix: Some(true),
            pacing: Some(WindowPacing {
                gain: 1.0,
                initial_burst: 10,
            }),
            ..TransportDefaults::NEW
        },
        settles: true,
        ..Described::NEW
    })
}

/// The default of the parameter `rtt0`, and what it may be.
pub(crate) const RTT0: Duration = Duration::from_millis(25);
pub(crate) const RTT0_RANGE: (Duration, Duration) =
    (Duration::from_micros(1), Duration::from_secs(60));

words! {
    /// The initial window of [`HyblaStart`].
    pub enum StartWindow {
        /// The transport's.
        Transport = "transport",
        /// rho (Linux).
        Rho = "rho",
    }
}

parameters! {
    /// Settings of [`HyblaStart`].
    pub struct HyblaStartParameters {
        rtt0: Duration = time(RTT0, RTT0_RANGE),
            "RTT of the reference connection (papers and Linux 25 ms, ns-3 50 ms)";
        doubling_limit: bool = flag(true),
            "an ACK adds no more than cwnd while Hoe's estimate is not there";
        start_window: StartWindow = word(), "initial window: the transport's, or rho (Linux)";
    }
}

words! {
    /// Where the fast growth of congestion avoidance ends.
    pub enum Gate {
        /// At Hoe's estimate of the bandwidth-delay product.
        Hoe = "hoe",
        /// At the largest delivery rate of the last ten rounds x smallest RTT.
        DeliveryRate = "delivery-rate",
        /// Never (Linux, ns-3).
        Off = "off",
    }
}

parameters! {
    /// Settings of [`HyblaAvoidance`].
    pub struct HyblaAvoidanceParameters {
        rtt0: Duration = time(RTT0, RTT0_RANGE),
            "RTT of the reference connection (papers and Linux 25 ms, ns-3 50 ms)";
        gate: Gate = word(), "the bandwidth-delay product up to which cwnd grows by rho^2";
        count: Counted = word_of(&["segments", "acks"]),
            "what a step of congestion avoidance counts";
    }
}

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

/// Slow start that grows by 2^rho - 1 per acknowledged segment.
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

    #[inline]
    fn update(&mut self, min_rtt: Duration) {
        if self.rho.update(min_rtt) {
            self.step = math::exp2(self.rho.rho.min(MAX_EXPONENT)) - 1.0;
        }
    }
}

fills! { HyblaStart, "hybla", "2^rho - 1 segments per ACK",
    |p: HyblaStartParameters| {
        HyblaStart::new(p.rtt0, p.doubling_limit, p.start_window == StartWindow::Rho)
    }
}

impl SlowStart for HyblaStart {
    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        let Some(rtt) = rtt else { return };
        self.update(rtt);
        if self.start_at_rho {
            window.cwnd = self.rho.rho;
        }
        self.started = true;
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
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
    fn on_ack(&mut self, ack: &Ack, window: &mut Window, estimate_pending: bool) {
        let mut step = self.step;
        if estimate_pending && self.doubling_limit {
            step = step.min(window.cwnd);
        }
        let ceiling = window.ssthresh.min(ack.receive_window).max(window.cwnd);
        window.cwnd = (window.cwnd + step).min(ceiling);
    }

    fn stops_at_ssthresh(&self) -> bool {
        true
    }
}

/// Congestion avoidance that grows by rho^2 per window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyblaAvoidance {
    rho: Rho,
    /// Where the fast growth ends.
    pub gate: Gate,
    /// The unit of a step.
    pub count: Counted,
    rates: RateMaximum,
}

impl HyblaAvoidance {
    /// Hybla's congestion avoidance with reference RTT `rtt0`.
    #[must_use]
    pub const fn new(rtt0: Duration, gate: Gate, count: Counted) -> HyblaAvoidance {
        HyblaAvoidance {
            rho: Rho::new(rtt0),
            gate,
            count,
            rates: RateMaximum::NEW,
        }
    }
}

fills! { HyblaAvoidance, "hybla", "rho^2 segments per round trip",
    |p: HyblaAvoidanceParameters| HyblaAvoidance::new(p.rtt0, p.gate, p.count)
}

impl CongestionAvoidance for HyblaAvoidance {
    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        self.rho.update(ack.min_rtt);
        if self.gate == Gate::DeliveryRate {
            self.rates.on_sample(ack);
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window, hoe: Option<&Hoe>) {
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
        let ceiling = ack.receive_window.max(window.cwnd);
        window.cwnd = (window.cwnd + self.count.of(ack) * gain / window.cwnd).min(ceiling);
    }

    fn needs_estimate(&self) -> bool {
        self.gate == Gate::Hoe
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
