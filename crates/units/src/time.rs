//! Instants and spans of simulated or real time, in whole nanoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize)]
pub struct Time(u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than every instant of a run; used for "never".
    pub const MAX: Time = Time(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    #[must_use]
    pub const fn from_nanos(ns: u64) -> Time {
        Time(ns)
    }

    /// Nanoseconds since the start.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for printing and for laws written in seconds.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The span from `earlier` to this instant; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// 0 ns.
    pub const ZERO: Duration = Duration(0);
    /// Longer than every run.
    pub const MAX: Duration = Duration(u64::MAX);

    /// A span of `ns` nanoseconds.
    #[must_use]
    pub const fn from_nanos(ns: u64) -> Duration {
        Duration(ns)
    }

    /// A span of `us` microseconds.
    #[must_use]
    pub const fn from_micros(us: u64) -> Duration {
        Duration(us * 1_000)
    }

    /// A span of `ms` milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Duration {
        Duration(ms * 1_000_000)
    }

    /// A span of `s` whole seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s * 1_000_000_000)
    }

    /// A span of `s` seconds rounded to the nearest nanosecond; negative and
    /// non-numbers give zero, more than 584 years give [`Duration::MAX`].
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Duration {
        // `as` saturates and maps NaN to zero: exactly what is wanted here.
        Duration((s * 1e9 + 0.5) as u64)
    }

    /// Value in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds, rounded down.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Value in seconds, as a floating-point number.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// True for a span of no length.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The difference, or zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// This span times a fraction, rounded to the nearest nanosecond.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Duration {
        Duration((self.0 as f64 * factor + 0.5) as u64)
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, d: Duration) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, d: Duration) -> Duration {
        Duration(self.0.saturating_add(d.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Sub for Duration {
    type Output = Duration;
    /// Saturates at zero instead of panicking.
    fn sub(self, d: Duration) -> Duration {
        self.saturating_sub(d)
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, n: u64) -> Duration {
        Duration(self.0.saturating_mul(n))
    }
}

impl Div<u64> for Duration {
    type Output = Duration;
    fn div(self, n: u64) -> Duration {
        Duration(self.0 / n)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::MAX {
            f.write_str("never")
        } else {
            write!(f, "{:.9}s", self.as_secs())
        }
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Time::MAX + Duration::from_secs(1), Time::MAX);
        assert_eq!(
            Duration::from_secs(1) - Duration::from_secs(2),
            Duration::ZERO
        );
        assert_eq!(
            Time::from_nanos(5).since(Time::from_nanos(9)),
            Duration::ZERO
        );
    }

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Duration::from_secs_f64(0.511).as_nanos(), 511_000_000);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(1e30), Duration::MAX);
    }
}
