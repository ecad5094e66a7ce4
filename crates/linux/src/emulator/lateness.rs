//! How late packets left: the time of the write less the model's time, in a
//! histogram of bins that grow with the value, each an eighth of a factor of
//! two, so that a quantile is true within 9%.

use bentpipe_units::Duration;

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

/// The bin of a value: its exponent and the three bits after the first.
#[inline]
fn bin(ns: u64) -> usize {
    let exponent = ns.max(1).ilog2();
    if exponent < FINE {
        return ns as usize;
    }
    let fine = (ns >> (exponent - FINE)) & ((1 << FINE) - 1);
    (((exponent - FINE + 1) as usize) << FINE) + fine as usize
}

/// The largest value of a bin.
fn top(bin: usize) -> u64 {
    if bin < 2 << FINE {
        return bin as u64;
    }
    let exponent = (bin >> FINE) as u32 - 1;
    let fine = (bin & ((1 << FINE) - 1)) as u64;
    (((1 << FINE) + fine + 1) << exponent).wrapping_sub(1)
}

impl Histogram {
    #[inline]
    pub(super) fn record(&mut self, late: Duration) {
        self.bins[bin(late.as_nanos())] += 1;
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
                return Duration::from_nanos(top(bin)).min(self.max);
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
    /// On the mean.
    pub mean: Duration,
    /// Half of them were no later than this.
    pub p50: Duration,
    /// 99% were no later than this.
    pub p99: Duration,
    /// 99.9% were no later than this.
    pub p999: Duration,
    /// The latest.
    pub max: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bin_holds_its_values(ns in any::<u64>()) {
            let top = top(bin(ns));
            prop_assert!(top >= ns);
            prop_assert!(top - ns <= ns / 8);
        }
    }

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
