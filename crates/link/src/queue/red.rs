//! Random early detection, gentle RED and Adaptive RED.
//!
//! Source: S. Floyd, V. Jacobson, "Random Early Detection Gateways for
//! Congestion Avoidance", IEEE/ACM ToN 1(4), 1993; S. Floyd, "Recommendation
//! on using the gentle_ variant of RED", 2000; S. Floyd, R. Gummadi,
//! S. Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of
//! RED's Active Queue Management", 2001. Where they leave a choice, the
//! behaviour is that of ns-2.35 (its `Queue/RED`), the simulator of the papers
//! that are reproduced here.
//!
//! Parameters and defaults: [`RedSettings`]; the names of ns-2 are `thresh_`
//! (minimum), `maxthresh_`, `q_weight_`, `linterm_` (1 / `max_p`), `gentle_`,
//! `wait_`, `setbit_` (ecn), `mark_p_` (`mark_below`), `bytes_` and
//! `queue_in_bytes_` (mode), `mean_pktsize_`, `targetdelay_`, `interval_`,
//! `alpha_`, `beta_`, `bottom_` and `top_`.
//!
//! What the papers leave open and how it is read here, after ns-2:
//! - The queue that an arriving packet finds does not count the packet in
//!   transmission, nor itself. A `limit_` of n packets is a limit of n here;
//!   a drop-tail `limit_` of n in ns-2 lets n - 1 wait and is n - 1 here.
//! - An idle time counts as the number of mean packets that the link could
//!   have sent in it, rounded down.
//! - Nothing is dropped early while fewer than two packets (or no byte) wait,
//!   and the first packet above the minimum is never.
//! - `wait`: after a drop, the probability is zero for the first 1 / p packets
//!   and p / (2 - count p) after them, which spreads drops evenly from 1 / p
//!   to 2 / p; without it p / (1 - count p).
//! - In byte mode the count is in whole mean packets and the probability in
//!   proportion to the packet's size.
//! - Adaptive: `max_p` is looked at on arrivals, when the interval has passed
//!   since it last changed; the band is the middle fifth between the
//!   thresholds; one step may pass `bottom` or `top`. The slope of the gentle
//!   region stays that of the first `max_p`.
//!
//! Worked example: thresholds 5 and 15, `max_p` 0.1, gentle: an average of 10
//! gives 0.05, one of 20 gives 0.1 + 0.9 x 5 / 15 = 0.4.

mod settings;

pub use settings::{AdaptiveSettings, RedMode, RedPreset, RedSettings};

use super::fifo::{AdmissionRule, FifoRule};
use super::{Decision, QueueContext, QueueKind, QueueState, Rule};
use crate::{Limit, PacketMeta};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Time, math};

impl QueueKind for RedSettings {
    const DECIDES_ON_ARRIVAL: bool = true;

    fn name(&self) -> &'static str {
        if self.adaptive.is_some() {
            "adaptive RED"
        } else {
            "RED"
        }
    }

    fn limit(&self) -> Limit {
        self.effective_limit()
    }

    fn rule(&self, link: &QueueContext<'_>) -> Option<Rule> {
        Some(Rule::Red(Box::new(Red::new(self, link))))
    }
}

/// The state of a RED queue.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    limit: Limit,
    mode: RedMode,
    mean_packet: f64,
    /// Thresholds in the unit of the average.
    minimum: f64,
    maximum: f64,
    weight: f64,
    gentle: bool,
    wait: bool,
    ecn: bool,
    mark_below: Option<f64>,
    /// Mean packets a second that the link can send.
    packet_rate: f64,
    /// Probability in the gentle region: slope and value at an average of 0.
    gentle_line: (f64, f64),
    adaptive: Option<Adaptive>,
    max_p: f64,
    average: f64,
    /// Packets and bytes since the last drop.
    count: u64,
    count_bytes: u64,
    /// The last packet, too, met an average above the minimum.
    above: bool,
    stream: Stream,
}

#[derive(Clone, Copy, Debug)]
struct Adaptive {
    interval: Duration,
    alpha: f64,
    beta: f64,
    bottom: f64,
    top: f64,
    changed_at: Time,
}

impl AdmissionRule for Red {
    type Settings = RedSettings;

    fn new(settings: &RedSettings, link: &QueueContext<'_>) -> Red {
        let QueueContext {
            rate,
            one_way_delay,
            seed,
            name,
            ..
        } = *link;
        let s = settings;
        let mean_packet = s.mean_packet.as_f64().max(1.0);
        let packet_rate = s.packet_rate(rate);
        let (minimum, maximum) = s.thresholds(rate);
        let weight = s
            .weight
            .unwrap_or_else(|| automatic_weight(packet_rate, one_way_delay));
        let unit = match s.mode {
            RedMode::Packets => 1.0,
            RedMode::Bytes => mean_packet,
        };
        let maximum = maximum * unit;
        let max_p = s.max_p.get();
        Red {
            limit: s.effective_limit(),
            mode: s.mode,
            mean_packet,
            minimum: minimum * unit,
            maximum,
            weight: weight.clamp(0.0, 1.0),
            gentle: s.gentle,
            wait: s.wait,
            ecn: s.ecn,
            mark_below: s.mark_below,
            packet_rate,
            gentle_line: ((1.0 - max_p) / maximum, 2.0 * max_p - 1.0),
            adaptive: s.adaptive.map(|a| Adaptive {
                interval: a.interval,
                alpha: a.alpha,
                beta: a.beta,
                bottom: a
                    .bottom
                    .unwrap_or_else(|| (80_000.0 / rate.bps_f64()).min(0.01)),
                top: a.top,
                changed_at: Time::ZERO,
            }),
            max_p,
            average: 0.0,
            count: 0,
            count_bytes: 0,
            above: false,
            stream: Stream::new(seed, &format!("queue {name}")),
        }
    }

    fn decide(&mut self, found: QueueState, meta: PacketMeta) -> Decision {
        let (length, holds_some) = match self.mode {
            RedMode::Packets => (found.packets as f64, found.packets > 1),
            RedMode::Bytes => (found.bytes as f64, found.bytes > 1),
        };
        self.estimate(&found, length);
        self.count = self.count.saturating_add(1);
        self.count_bytes = self.count_bytes.saturating_add(u64::from(meta.bytes));
        let mut decision = Decision::Accept;
        if self.average >= self.minimum && holds_some {
            let end = if self.gentle { 2.0 } else { 1.0 } * self.maximum;
            if self.mark_below.is_none() && self.average >= end {
                decision = Decision::DropForced;
            } else if !self.above {
                self.above = true;
                self.count = 1;
                self.count_bytes = u64::from(meta.bytes);
            } else {
                decision = self.early(meta);
            }
        } else {
            self.above = false;
        }
        // A transmitter that is free takes the packet whatever the limit.
        if found.idle_since.is_none() && self.is_full(&found) {
            decision = Decision::DropForced;
        }
        if decision == Decision::DropForced {
            self.count = 0;
            self.count_bytes = 0;
        }
        decision
    }
}

impl<P: Copy> FifoRule<P> for Red {}

impl Red {
    fn is_full(&self, found: &QueueState) -> bool {
        match self.limit {
            Limit::Packets(n) => found.packets >= u64::from(n),
            Limit::Bytes(n) => found.bytes >= n.get(),
        }
    }

    /// Brings the average up to a packet that finds `length`.
    fn estimate(&mut self, found: &QueueState, length: f64) {
        if let Some(since) = found.idle_since {
            let idle = found.now.since(since).as_secs();
            let packets = math::floor(self.packet_rate * idle);
            if packets > 0.0 {
                self.average *= math::pow(1.0 - self.weight, packets);
            }
        }
        self.average = self.average * (1.0 - self.weight) + self.weight * length;
        let part = 0.4 * (self.maximum - self.minimum);
        if let Some(a) = &mut self.adaptive
            && found.now.since(a.changed_at) > a.interval
        {
            if self.average < self.minimum + part && self.max_p > a.bottom {
                self.max_p *= a.beta;
                a.changed_at = found.now;
            } else if self.average > self.maximum - part && self.max_p < a.top {
                self.max_p += a.alpha.min(0.25 * self.max_p);
                a.changed_at = found.now;
            }
        }
    }

    /// Probability by the average alone.
    fn probability(&self) -> f64 {
        let p = if self.average < self.maximum {
            // Equal thresholds are a step at either of them.
            let span = self.maximum - self.minimum;
            let span = if span == 0.0 { 1.0 } else { span };
            (self.average - self.minimum) / span * self.max_p
        } else if self.gentle {
            self.gentle_line.0 * self.average + self.gentle_line.1
        } else {
            1.0
        };
        p.min(1.0)
    }

    /// Probability with the distance to the last drop and the packet's size.
    fn spread(&self, p: f64, bytes: u32) -> f64 {
        let count = match self.mode {
            RedMode::Packets => self.count as f64,
            RedMode::Bytes => math::floor(self.count_bytes as f64 / self.mean_packet),
        };
        let expected = count * p;
        let spread = if self.wait {
            if expected < 1.0 {
                0.0
            } else if expected < 2.0 {
                p / (2.0 - expected)
            } else {
                1.0
            }
        } else if expected < 1.0 {
            p / (1.0 - expected)
        } else {
            1.0
        };
        match self.mode {
            RedMode::Bytes if spread < 1.0 => {
                (spread * f64::from(bytes) / self.mean_packet).min(1.0)
            }
            _ => spread.min(1.0),
        }
    }

    fn early(&mut self, meta: PacketMeta) -> Decision {
        let p = self.probability();
        let spread = self.spread(p, meta.bytes);
        if spread <= 0.0 || (spread < 1.0 && !self.stream.chance(spread)) {
            return Decision::Accept;
        }
        self.count = 0;
        self.count_bytes = 0;
        let marks = self.ecn && meta.ecn_capable && self.mark_below.is_none_or(|most| p < most);
        if marks {
            Decision::Mark
        } else {
            Decision::DropEarly
        }
    }
}

/// The weight with which the average follows over ten round trips of 100 ms,
/// or of three times the link's delay if that is more.
fn automatic_weight(packet_rate: f64, one_way_delay: Duration) -> f64 {
    let round_trip = 3.0 * (one_way_delay.as_secs() + 1.0 / packet_rate);
    1.0 - math::exp(-1.0 / (10.0 * round_trip.max(0.1) * packet_rate))
}

#[cfg(test)]
mod ns2_tests;
#[cfg(test)]
mod tests;
