//! How long a packet would have waited, over all instants of a run.
//!
//! Bins are log-linear, as in an HDR histogram (G. Tene's HdrHistogram): 64 to an
//! octave from 131 us on, 1 us wide below. A recorded delay is therefore within
//! 1/64 of the true one whatever the queue's limit, and a quantile is
//! interpolated inside its bin. Libraries count single values; here each record is
//! a whole range of delays that is passed at a constant speed, which a difference
//! array holds in constant time.

use bentpipe_units::{Duration, LogLinear, Time};

/// log2 of the bins of an octave.
const FINE: u32 = 6;

/// log2 of the narrowest bin, in nanoseconds.
const UNIT: u32 = 10;

/// A range of delays: those from [`floor_of`] its index on.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    /// How many more times this bin was passed as a whole than the one below.
    step: i64,
    /// Time spent in it when it was passed in part, nanoseconds.
    partly: u64,
}

/// The distribution over time of a transmitter's backlog: the queueing delay
/// that a packet arriving at a random instant would meet.
///
/// Between two packets the backlog falls by one second per second, so every
/// value between its two ends is passed once. One step up in a difference
/// array where the fall ends and one down where it began record the bins that were
/// passed as a whole; what was passed of the bins at the two ends is added to
/// those.
#[derive(Clone, Debug, Default)]
pub struct DelayHistogram {
    /// As many bins as have been needed.
    bins: Vec<Bin>,
    recorded_until: Time,
    backlog: Duration,
    idle: Duration,
}

/// The bin of a delay of so many nanoseconds, its shortest delay, and log2 of its
/// width.
#[inline(always)]
fn bin_of(ns: u64) -> (usize, u64, u32) {
    let units = ns >> UNIT;
    let (index, octave) = LogLinear::<FINE>::bin_of(units);
    let log_width = octave + UNIT;
    (index, (units >> octave) << log_width, log_width)
}

/// The shortest delay of bin `index`, nanoseconds.
fn floor_of(index: usize) -> u64 {
    // The bin behind the last one begins where times end.
    u64::try_from(LogLinear::<FINE>::floor(index) << UNIT).unwrap_or(u64::MAX)
}

impl DelayHistogram {
    /// A histogram without a record.
    #[must_use]
    pub fn new() -> DelayHistogram {
        DelayHistogram::default()
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
            let (start, end) = (self.backlog.as_nanos(), end.as_nanos());
            let (high, high_floor, _) = bin_of(start);
            // Most links are never backlogged enough to need many bins.
            if self.bins.len() <= high {
                self.bins.resize(high + 1, Bin::default());
            }
            if end >= high_floor {
                self.bins[high].partly += start - end;
            } else {
                let (low, low_floor, log_width) = bin_of(end);
                self.bins[low + 1].step += 1;
                self.bins[low].partly += low_floor + (1 << log_width) - end;
                self.bins[high].step -= 1;
                self.bins[high].partly += start - high_floor;
            }
        }
        self.recorded_until = now;
        self.backlog = backlog;
    }

    /// The time spent at the delays of each bin, nanoseconds.
    fn times(&self) -> impl Iterator<Item = u128> + '_ {
        let mut passes = 0i64;
        self.bins.iter().enumerate().map(move |(index, bin)| {
            passes += bin.step;
            let width = floor_of(index + 1) - floor_of(index);
            u128::from(passes.unsigned_abs()) * u128::from(width) + u128::from(bin.partly)
        })
    }

    /// The delay that a share `quantile` (0 to 1) of all instants up to the
    /// last record stayed at or below.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Duration {
        let idle = u128::from(self.idle.as_nanos());
        let total = idle + self.times().sum::<u128>();
        let target = (total as f64 * quantile) as u128;
        if target <= idle {
            return Duration::ZERO;
        }
        let mut so_far = idle;
        for (index, time) in self.times().enumerate() {
            if time > 0 && so_far + time >= target {
                let (floor, ceiling) = (floor_of(index), floor_of(index + 1));
                let share = (target - so_far) as f64 / time as f64;
                let inside = (share * (ceiling - floor) as f64) as u64;
                return Duration::from_nanos(floor + inside);
            }
            so_far += time;
        }
        Duration::from_nanos(floor_of(self.bins.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_link_delays_nobody() {
        let mut h = DelayHistogram::new();
        h.record(Time::from_nanos(1_000_000_000), Duration::ZERO);
        assert_eq!(h.quantile(0.95), Duration::ZERO);
    }

    #[test]
    fn a_saw_tooth_spends_equal_time_at_every_delay() {
        // Ten times: backlog jumps to 100 ms and falls to zero in 100 ms.
        let mut h = DelayHistogram::new();
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
    fn a_link_that_never_sends_again_has_the_longest_delay() {
        let mut h = DelayHistogram::new();
        h.record(Time::ZERO, Duration::MAX);
        h.record(Time::from_nanos(1_000_000_000), Duration::MAX);
        assert!(h.quantile(0.95) > Duration::MAX / 2);
    }

    #[test]
    fn half_idle_halves_the_quantile() {
        // 100 ms of fall, then 100 ms idle: three quarters of the time the
        // delay is below 50 ms.
        let mut h = DelayHistogram::new();
        h.record(Time::ZERO, Duration::from_millis(100));
        h.record(Time::from_nanos(200_000_000), Duration::ZERO);
        let got = h.quantile(0.75).as_secs() * 1e3;
        assert!((got - 50.0).abs() < 0.5, "{got}");
    }

    #[test]
    fn bins_are_a_64th_of_their_delay_and_have_no_gaps() {
        for index in 0..3_000 {
            let (floor, ceiling) = (floor_of(index), floor_of(index + 1));
            let width = ceiling - floor;
            let place = (index, floor, width.ilog2());
            assert_eq!((bin_of(floor), bin_of(ceiling - 1)), (place, place));
            assert!(width == 1 << UNIT || width * 64 <= floor, "{index}");
        }
    }

    #[test]
    fn short_and_long_delays_are_told_apart_in_one_run() {
        // 99 s at 2 to 3 ms, hovering: a packet of 1 ms whenever it has fallen
        // to 2 ms. Then 1 s from 1000 s on.
        let mut h = DelayHistogram::new();
        for ms in 0..99_000u64 {
            h.record(Time::from_nanos(ms * 1_000_000), Duration::from_millis(3));
        }
        h.record(Time::from_nanos(99_000_000_000), Duration::from_secs(1000));
        h.record(Time::from_nanos(100_000_000_000), Duration::ZERO);
        let ms = |quantile| h.quantile(quantile).as_secs() * 1e3;
        assert!((ms(0.5) - 2.5).abs() < 0.05, "{}", ms(0.5));
        assert!((ms(0.95) - 2.96).abs() < 0.05, "{}", ms(0.95));
        assert!((ms(0.995) / 999.5e3 - 1.0).abs() < 0.01, "{}", ms(0.995));
    }

    #[test]
    fn a_queue_that_is_always_full_hovers_within_a_bin() {
        // At 1 s, packets of 12 us: far narrower than a bin.
        let mut h = DelayHistogram::new();
        let full = Duration::from_secs(1);
        for i in 0..100_000u64 {
            h.record(Time::from_nanos(i * 12_000), full);
        }
        for quantile in [0.05, 0.5, 0.95] {
            let got = h.quantile(quantile).as_secs();
            assert!((got - 1.0).abs() < 0.02, "{quantile}: {got}");
        }
    }
}
