//! How long a packet would have waited, over all instants of a run.

use bentpipe_units::{Duration, Time};

const BINS: usize = 2048;

/// The distribution over time of a transmitter's backlog: the queueing delay
/// that a packet arriving at a random instant would meet.
///
/// Between two packets the backlog falls by one second per second, so every
/// value between its two ends is passed once. One step up in a difference
/// array where the fall ends and one down where it began record the whole fall
/// in constant time; resolution is 1/2048 of the largest possible delay or
/// better.
#[derive(Clone, Debug)]
pub struct DelayHistogram {
    /// As many bins as have been needed.
    steps: Vec<i64>,
    /// log2 of the bin width in nanoseconds.
    shift: u32,
    recorded_until: Time,
    /// Backlog at `recorded_until`.
    backlog: Duration,
    idle: Duration,
}

impl DelayHistogram {
    /// A histogram for delays up to `longest`; longer ones count as that.
    #[must_use]
    pub fn new(longest: Duration) -> DelayHistogram {
        let per_bin = (longest.as_nanos() / (BINS as u64 - 2)).max(1);
        DelayHistogram {
            steps: Vec::new(),
            shift: 64 - per_bin.leading_zeros(),
            recorded_until: Time::ZERO,
            backlog: Duration::ZERO,
            idle: Duration::ZERO,
        }
    }

    fn bin(&self, delay: Duration) -> usize {
        ((delay.as_nanos() >> self.shift) as usize).min(BINS - 1)
    }

    /// When the backlog that was recorded last is gone.
    pub(crate) fn idle_from(&self) -> Time {
        self.recorded_until + self.backlog
    }

    /// Records up to `now`, when the backlog becomes `backlog`.
    pub fn record(&mut self, now: Time, backlog: Duration) {
        let passed = now.since(self.recorded_until);
        let end = self.backlog.saturating_sub(passed);
        self.idle += passed.saturating_sub(self.backlog);
        if end < self.backlog {
            // Bins (end, start] are passed once; partial bins at the two ends
            // cancel out over a run to within one bin.
            let (low, high) = (self.bin(end), self.bin(self.backlog));
            // Most links are never backlogged enough to need all bins.
            if self.steps.len() <= high {
                self.steps.resize(high + 1, 0);
            }
            self.steps[low] += 1;
            self.steps[high] -= 1;
        }
        self.recorded_until = now;
        self.backlog = backlog;
    }

    /// The delay that a share `quantile` (0 to 1) of all instants up to the
    /// last record stayed at or below.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Duration {
        let width = 1u64 << self.shift;
        let mut passes = 0i64;
        let mut busy_ns = 0u128;
        for step in &self.steps {
            passes += step;
            busy_ns += u128::from(passes.unsigned_abs()) * u128::from(width);
        }
        let idle_ns = u128::from(self.idle.as_nanos());
        let target = ((busy_ns + idle_ns) as f64 * quantile) as u128;
        if target <= idle_ns {
            return Duration::ZERO;
        }
        let mut so_far = idle_ns;
        passes = 0;
        for (i, step) in self.steps.iter().enumerate() {
            passes += step;
            so_far += u128::from(passes.unsigned_abs()) * u128::from(width);
            if so_far >= target {
                return Duration::from_nanos(width * (i as u64 + 1));
            }
        }
        Duration::from_nanos(width * BINS as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_link_delays_nobody() {
        let mut h = DelayHistogram::new(Duration::from_secs(1));
        h.record(Time::from_nanos(1_000_000_000), Duration::ZERO);
        assert_eq!(h.quantile(0.95), Duration::ZERO);
    }

    #[test]
    fn a_saw_tooth_spends_equal_time_at_every_delay() {
        // Ten times: backlog jumps to 100 ms and falls to zero in 100 ms.
        let mut h = DelayHistogram::new(Duration::from_millis(200));
        for i in 0..10u64 {
            h.record(
                Time::from_nanos(i * 100_000_000),
                Duration::from_millis(100),
            );
        }
        h.record(Time::from_nanos(1_000_000_000), Duration::ZERO);
        for (q, ms) in [(0.5, 50.0), (0.95, 95.0), (0.1, 10.0)] {
            let got = h.quantile(q).as_secs() * 1e3;
            assert!((got - ms).abs() < 0.5, "{q}: {got} ms for {ms} ms");
        }
    }

    #[test]
    fn half_idle_halves_the_quantile() {
        // 100 ms of fall, then 100 ms idle: three quarters of the time the
        // delay is below 50 ms.
        let mut h = DelayHistogram::new(Duration::from_millis(200));
        h.record(Time::ZERO, Duration::from_millis(100));
        h.record(Time::from_nanos(200_000_000), Duration::ZERO);
        let got = h.quantile(0.75).as_secs() * 1e3;
        assert!((got - 50.0).abs() < 0.5, "{got}");
    }
}
