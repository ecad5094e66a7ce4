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
    /// What was recorded again and is not in `bins` yet.
    again: Again,
}

/// Falls of the backlog that are like the last ones: a link that is idle after
/// each packet falls by the same every time, and a full queue falls within a bin.
/// Counting them takes no search for bins.
#[derive(Clone, Copy, Debug, Default)]
struct Again {
    /// The last fall from one bin to another, nanoseconds, and how many more
    /// times it came.
    start: u64,
    end: u64,
    times: i64,
    /// The bin of the last fall within one, where it ends, and the time that was
    /// spent in it since.
    bin: usize,
    floor: u64,
    ceiling: u64,
    partly: u64,
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
            let again = &mut self.again;
            if start == again.start && end == again.end {
                again.times += 1;
            } else if end >= again.floor && start < again.ceiling {
                again.partly += start - end;
            } else {
                self.fall(start, end);
            }
        }
        self.recorded_until = now;
        self.backlog = backlog;
    }

    /// Records a fall that is not like the last ones.
    #[inline(never)]
    fn fall(&mut self, start: u64, end: u64) {
        let (high, floor, log_width) = bin_of(start);
        // Most links are never backlogged enough to need many bins.
        if self.bins.len() <= high {
            self.bins.resize(high + 1, Bin::default());
        }
        if end >= floor {
            self.settle();
            self.again.bin = high;
            self.again.floor = floor;
            self.again.ceiling = floor.saturating_add(1 << log_width);
            self.bins[high].partly += start - end;
        } else {
            if self.again.times > 0 {
                self.settle();
            }
            (self.again.start, self.again.end) = (start, end);
            self.cross(start, end, 1);
        }
    }

    /// Records a fall from one bin to another that came so many times.
    #[inline]
    fn cross(&mut self, start: u64, end: u64, times: i64) {
        let (high, high_floor, _) = bin_of(start);
        let (low, low_floor, log_width) = bin_of(end);
        let each = times.unsigned_abs();
        self.bins[low + 1].step += times;
        self.bins[low].partly += (low_floor + (1 << log_width) - end) * each;
        self.bins[high].step -= times;
        self.bins[high].partly += (start - high_floor) * each;
    }

    /// Puts into `bins` what was recorded again.
    fn settle(&mut self) {
        let Again {
            start,
            end,
            times,
            bin,
            partly,
            ..
        } = self.again;
        if times > 0 {
            self.cross(start, end, times);
            self.again.times = 0;
        }
        if partly > 0 {
            self.bins[bin].partly += partly;
            self.again.partly = 0;
        }
    }

    /// Records so many times again what was recorded since it was as `earlier`.
    pub fn repeat(&mut self, earlier: &DelayHistogram, times: u64) {
        self.settle();
        let mut before = earlier.clone();
        before.settle();
        before.bins.resize(self.bins.len(), Bin::default());
        for (bin, before) in self.bins.iter_mut().zip(&before.bins) {
            bin.step += (bin.step - before.step) * times as i64;
            bin.partly += (bin.partly - before.partly) * times;
        }
        self.idle += self.idle.saturating_sub(before.idle) * times;
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
    pub fn quantile(&mut self, quantile: f64) -> Duration {
        self.settle();
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

    /// Falls that come again, in turns with others, count as if each were new.
    #[test]
    fn falls_that_come_again_count_each() {
        let mut again = DelayHistogram::new();
        let (mut now, mut times, mut idle) = (0, vec![0u128; 4_000], 0);
        let mut backlog = 0u64;
        for i in 0..5_000u64 {
            // In turns the same falls to zero, a hovering queue and longer falls.
            let (passed, next) = match i / 7 % 4 {
                0 => (2_000_000, 1_200_000),
                1 => (12_000, 400_000_000 - i),
                2 => (900_000, backlog + 900_001),
                _ => (i * 1_009 % 3_000_000, i * 7_919 % 5_000_000),
            };
            now += passed;
            let end = backlog.saturating_sub(passed);
            idle += u128::from(passed.saturating_sub(backlog));
            for (index, time) in times.iter_mut().enumerate().skip(bin_of(end).0) {
                let (floor, ceiling) = (floor_of(index), floor_of(index + 1));
                if floor >= backlog {
                    break;
                }
                *time += u128::from(ceiling.min(backlog) - floor.max(end));
            }
            again.record(Time::from_nanos(now), Duration::from_nanos(next));
            backlog = next;
        }
        again.settle();
        let got: Vec<u128> = again.times().collect();
        assert_eq!(got, times[..got.len()]);
        assert_eq!(times[got.len()..].iter().sum::<u128>(), 0);
        assert_eq!(u128::from(again.idle.as_nanos()), idle);
    }

    /// What is recorded once and repeated is what is recorded as often.
    #[test]
    fn what_repeats_counts_as_if_recorded() {
        let period = |h: &mut DelayHistogram, start: u64| {
            for (at, backlog) in [(0, 30_000_000), (2_000_000, 90_000_000), (70_000_000, 500)] {
                h.record(Time::from_nanos(start + at), Duration::from_nanos(backlog));
            }
        };
        let mut all = DelayHistogram::new();
        let mut some = DelayHistogram::new();
        let mut earlier = None;
        for i in 0..12u64 {
            period(&mut all, i * 200_000_000);
            if i < 5 {
                earlier = Some(some.clone());
                period(&mut some, i * 200_000_000);
            }
        }
        if let Some(earlier) = earlier {
            some.repeat(&earlier, 7);
        }
        all.settle();
        assert!(some.times().eq(all.times()));
        assert_eq!(some.idle, all.idle);
        assert_eq!(some.quantile(0.95), all.quantile(0.95));
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
        let mut ms = |quantile| h.quantile(quantile).as_secs() * 1e3;
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
