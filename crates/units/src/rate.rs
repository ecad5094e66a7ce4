//! Rates in bits per second.

use crate::{Bytes, Duration};
use core::fmt;

/// A rate in whole bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize)]
pub struct Rate(u64);

impl Rate {
    /// No rate at all.
    pub const ZERO: Rate = Rate(0);

    /// A rate of `bps` bit/s.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// A rate of `mbps` Mbit/s (10^6 bit/s).
    #[must_use]
    pub const fn from_mbps(mbps: u64) -> Rate {
        Rate(mbps * 1_000_000)
    }

    /// A rate of `bps` bit/s rounded to whole bits; negatives give zero.
    #[must_use]
    pub fn from_bps_f64(bps: f64) -> Rate {
        Rate((bps + 0.5) as u64)
    }

    /// The rate that carries `bytes` in `time`; zero if `time` is zero.
    #[must_use]
    pub fn of(bytes: Bytes, time: Duration) -> Rate {
        if time.is_zero() {
            return Rate::ZERO;
        }
        let bits = u128::from(bytes.get()) * 8 * 1_000_000_000;
        Rate(u64::try_from(bits / u128::from(time.as_nanos())).unwrap_or(u64::MAX))
    }

    /// Value in bits per second.
    #[must_use]
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Bits per second as a float.
    #[must_use]
    pub fn bps_f64(self) -> f64 {
        self.0 as f64
    }

    /// The time to send `bytes` at this rate, rounded up to a nanosecond.
    /// [`Duration::MAX`] at rate zero.
    #[must_use]
    pub fn transmission_time(self, bytes: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // Packets fit the fast 64-bit path; whole files take the wide one.
        if bytes.get() <= u64::from(u32::MAX) / 2 {
            return Duration::from_nanos((bytes.get() * 8_000_000_000).div_ceil(self.0));
        }
        let ns = (u128::from(bytes.get()) * 8_000_000_000).div_ceil(u128::from(self.0));
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Bytes that this rate carries in `time`, rounded down: the
    /// bandwidth-delay product when `time` is a round trip.
    #[must_use]
    pub fn bytes_in(self, time: Duration) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(time.as_nanos()) / 8_000_000_000;
        Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_at_two_megabit_takes_six_milliseconds() {
        let t = Rate::from_mbps(2).transmission_time(Bytes::new(1500));
        assert_eq!(t, Duration::from_millis(6));
    }

    #[test]
    fn transmission_time_rounds_up_and_never_overflows() {
        assert_eq!(
            Rate::from_bps(3)
                .transmission_time(Bytes::new(1))
                .as_nanos(),
            2_666_666_667
        );
        assert_eq!(Rate::ZERO.transmission_time(Bytes::new(1)), Duration::MAX);
        let _ = Rate::from_bps(1).transmission_time(Bytes::new(u64::MAX));
    }

    #[test]
    fn bandwidth_delay_product_of_the_marchese_link() {
        let bdp = Rate::from_mbps(2).bytes_in(Duration::from_millis(511));
        assert_eq!(bdp, Bytes::new(127_750));
        assert_eq!(
            Rate::of(bdp, Duration::from_millis(511)),
            Rate::from_mbps(2)
        );
    }
}
