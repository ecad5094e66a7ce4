//! Lateness of packets: the time of the write minus the model's time, in a histogram with eight
//! logarithmic bins per factor of two, so that a quantile is accurate to 9%.

use bentpipe_units::{Duration, LogLinear};

/// Bins to a factor of two.
const FINE: u32 = 3;

/// Enough for any number of nanoseconds.
const BINS: usize = 64 << FINE;

/// A distribution of lateness.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    bins: Box<[u64]>,
    count: u64,
    sum_ns: u128,
    max: Duration,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            bins: vec![0; BINS].into(),
            count: 0,
            sum_ns: 0,
            max: Duration::ZERO,
        }
    }
}

impl Histogram {
    #[inline]
    pub(super) fn record(&mut self, late: Duration) {
        self.bins[LogLinear::<FINE>::bin_of(late.as_nanos()).0] += 1;
        self.count += 1;
        self.sum_ns += u128::from(late.as_nanos());
        self.max = self.max.max(late);
    }

    /// No more than this share of all (0 to 1) is greater than what is
    /// returned.
    fn quantile(&self, quantile: f64) -> Duration {
        let rank = (quantile * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bin, count) in self.bins.iter().enumerate() {
            seen += count;
            if seen >= rank {
                let top = u64::try_from(LogLinear::<FINE>::floor(bin + 1) - 1).unwrap_or(u64::MAX);
                return Duration::from_nanos(top).min(self.max);
            }
        }
        self.max
    }

    pub(super) fn lateness(&self) -> Lateness {
        Lateness {
            packets: self.count,
            mean: Duration::from_nanos((self.sum_ns / u128::from(self.count.max(1))) as u64),
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            max: self.max,
        }
    }
}

/// How late packets left the emulator, against the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Of how many packets.
    pub packets: u64,
    /// Mean lateness.
    pub mean: Duration,
    /// Half of them were no later than this.
    pub p50: Duration,
    /// 99% were no later than this.
    pub p99: Duration,
    /// 99.9% were no later than this.
    pub p999: Duration,
    /// Maximum lateness.
    pub max: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_values() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.lateness(), Lateness::default());
        for us in 1..=1000 {
            histogram.record(Duration::from_micros(us));
        }
        let l = histogram.lateness();
        assert_eq!((l.packets, l.max), (1000, Duration::from_micros(1000)));
        for (found, us) in [(l.p50, 500), (l.p99, 990), (l.p999, 999)] {
            let wanted = Duration::from_micros(us);
            assert!(
                found >= wanted && found <= wanted + wanted / 8,
                "{found} {us}"
            );
        }
        assert_eq!(l.mean, Duration::from_nanos(500_500));
    }
}
