//! Variation of the delay that keeps the order of packets.
//!
//! A packet arrives its propagation delay and a draw after the end of its
//! transmission, no earlier than that end, and no earlier than the packet before
//! it on the same route: jitter bunches packets and never reorders them. What
//! packets wait for the one before them comes on top of the distribution, so that
//! a draw for each packet of a fast flow delays nearly all of them by the largest
//! draws. Where the cause of the variation lasts (a scheduler's frame, a beam),
//! `holds` lets it last, and packets that are sent together arrive together.
//!
//! Names and shapes follow netem (`tc-netem(8)`), with three differences. The
//! deviation that is asked for is the one that is got: netem's tables of Pareto's
//! distribution are scaled by its variance. A correlation changes no distribution:
//! a normal process of first order, x' = r x + sqrt(1 - r^2) n, is turned into the
//! distribution by its quantiles, where netem averages uniform numbers, which
//! narrows what it draws. And order is kept, where netem reorders.

use bentpipe_random::Stream;
use bentpipe_units::{Duration, Ratio, Time};
use std::sync::Arc;

/// Probability beyond which the tail of Pareto's distribution is cut: where the
/// generator of netem's tables begins. The largest delay is 46 deviations.
const TAIL: f64 = 1.0 / 65_536.0;

/// Mean and deviation of Pareto's distribution of shape 3 from 1 on, cut at
/// [`TAIL`]: 3/2 - e^(2/3)/2, and the root of 3 - 2 e^(1/3) less the square of that.
const PARETO: [f64; 2] = [1.499_692_402_087_428, 0.837_446_366_191_431_9];

/// Deviation of a quarter of a normal number and three quarters of that Pareto's at
/// the same quantile.
const PARETO_NORMAL: f64 = 0.942_027_973_433_569;

/// How the delay of a link varies from packet to packet.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct JitterSettings {
    /// What is added to the link's delay, or taken off.
    pub distribution: DelayDistribution,
    /// Correlation of a draw with the one before it.
    pub correlation: Ratio,
    /// How long a draw holds, from a multiple of this time to the next; zero:
    /// for a packet.
    pub holds: Duration,
}

/// A distribution of delays around, or above, the delay of a link.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum DelayDistribution {
    /// Evenly within this on both sides.
    Uniform {
        /// The largest difference.
        spread: Duration,
    },
    /// Normal with mean zero.
    Normal {
        /// Standard deviation.
        deviation: Duration,
    },
    /// Pareto's of shape 3, moved to mean zero: never much below the link's delay,
    /// with a long tail above.
    Pareto {
        /// Standard deviation.
        deviation: Duration,
    },
    /// A quarter normal and three quarters Pareto's, as netem's `paretonormal`.
    ParetoNormal {
        /// Standard deviation.
        deviation: Duration,
    },
    /// netem's tables: equally likely values, in deviations and ascending.
    Table {
        /// At least two, ascending.
        values: Arc<[f64]>,
        /// What 1 stands for.
        deviation: Duration,
    },
    /// Delays to add, ascending, with the same number of draws between each two
    /// of them: the first is the smallest, the last the largest.
    Quantiles {
        /// At least two, ascending.
        delays: Arc<[Duration]>,
    },
}

impl JitterSettings {
    /// A draw of its own, independent of all others, for each packet.
    #[must_use]
    pub const fn new(distribution: DelayDistribution) -> JitterSettings {
        JitterSettings {
            distribution,
            correlation: Ratio::ZERO,
            holds: Duration::ZERO,
        }
    }

    /// The half width of a uniform variation whose draws are independent and for one
    /// packet each, which is what simple formats of traces have.
    #[must_use]
    pub fn spread(&self) -> Option<Duration> {
        let simple = self.correlation == Ratio::ZERO && self.holds.is_zero();
        match self.distribution {
            DelayDistribution::Uniform { spread } if simple => Some(spread),
            _ => None,
        }
    }
}

/// Seconds of whole nanoseconds: draws are exact to them.
const NANOS: f64 = 1e9;

impl DelayDistribution {
    /// The draw, in nanoseconds, of a normal number.
    fn of_normal(&self, normal: f64) -> f64 {
        match self {
            DelayDistribution::Normal { deviation } => normal * nanos(*deviation),
            DelayDistribution::ParetoNormal { deviation } => {
                let pareto = pareto(share_above(normal));
                (0.25 * normal + 0.75 * pareto) / PARETO_NORMAL * nanos(*deviation)
            }
            _ => self.of_share(share_below(normal)),
        }
    }

    /// The draw, in nanoseconds, below which this share of all draws is.
    fn of_share(&self, share: f64) -> f64 {
        match self {
            DelayDistribution::Uniform { spread } => (2.0 * share - 1.0) * nanos(*spread),
            DelayDistribution::Pareto { deviation } => pareto(1.0 - share) * nanos(*deviation),
            DelayDistribution::Table { values, deviation } => {
                quantile(values, share, |value| *value) * nanos(*deviation)
            }
            DelayDistribution::Quantiles { delays } => quantile(delays, share, |d| nanos(*d)),
            // These are drawn from normal numbers.
            DelayDistribution::Normal { .. } | DelayDistribution::ParetoNormal { .. } => 0.0,
        }
    }

    fn needs_normal(&self) -> bool {
        matches!(
            self,
            DelayDistribution::Normal { .. } | DelayDistribution::ParetoNormal { .. }
        )
    }
}

fn nanos(time: Duration) -> f64 {
    time.as_secs() * NANOS
}

/// Pareto's distribution of shape 3 with mean 0 and deviation 1: the value that this
/// share of draws is above.
fn pareto(above: f64) -> f64 {
    (1.0 / libm::cbrt(above.max(TAIL)) - PARETO[0]) / PARETO[1]
}

/// The share of normal numbers below `x`.
fn share_below(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

fn share_above(x: f64) -> f64 {
    share_below(-x)
}

/// The value at `share` between ascending values, with straight lines between them.
pub(crate) fn quantile<T>(values: &[T], share: f64, value: impl Fn(&T) -> f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else {
        return 0.0;
    };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = (place as usize).min(last);
    let low = value(&values[below]);
    match values.get(below + 1) {
        Some(above) => low + (place - below as f64) * (value(above) - low),
        None => low,
    }
}

/// The variation of the delay of one link, with its own random stream.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    settings: Option<JitterSettings>,
    stream: Stream,
    /// The normal process behind correlated draws.
    state: Option<f64>,
    /// The draw that holds, nanoseconds, and the number of its time.
    held: (f64, u64),
}

impl Jitter {
    /// The variation of the link called `name` in the run with seed `seed`; without
    /// settings there is none but where the timeline asks for it.
    pub(crate) fn new(settings: Option<&JitterSettings>, seed: u64, name: &str) -> Jitter {
        Jitter {
            settings: settings.cloned(),
            stream: Stream::new(seed, &format!("jitter {name}")),
            state: None,
            held: (0.0, 0),
        }
    }

    /// `delay` as it is for the next packet, whose transmission ends at `at`. A `spread`
    /// of the timeline takes the place of the settings. To be called once for each packet
    /// that is transmitted, in order.
    pub(crate) fn vary(&mut self, delay: Duration, at: Time, spread: Option<Duration>) -> Duration {
        let more = match spread {
            Some(spread) if spread.is_zero() => 0.0,
            Some(spread) => (2.0 * self.stream.uniform() - 1.0) * nanos(spread),
            None => self.draw(at),
        };
        let size = Duration::from_nanos(libm::round(libm::fabs(more)) as u64);
        match more < 0.0 {
            true => delay.saturating_sub(size),
            false => delay + size,
        }
    }

    fn draw(&mut self, at: Time) -> f64 {
        let Some(settings) = &self.settings else {
            return 0.0;
        };
        let distribution = &settings.distribution;
        let mut steps = 1;
        if !settings.holds.is_zero() {
            let number = at.as_nanos() / settings.holds.as_nanos() + 1;
            if number == self.held.1 {
                return self.held.0;
            }
            steps = number - self.held.1;
            self.held.1 = number;
        }
        let correlation = settings.correlation.get();
        self.held.0 = if correlation > 0.0 {
            let kept = libm::pow(correlation, steps as f64);
            let fresh = self.stream.normal();
            let state = match self.state {
                Some(before) => kept * before + libm::sqrt(1.0 - kept * kept) * fresh,
                None => fresh,
            };
            self.state = Some(state);
            distribution.of_normal(state)
        } else if distribution.needs_normal() {
            distribution.of_normal(self.stream.normal())
        } else {
            distribution.of_share(self.stream.uniform())
        };
        self.held.0
    }
}

#[cfg(test)]
#[path = "jitter_tests.rs"]
mod tests;
