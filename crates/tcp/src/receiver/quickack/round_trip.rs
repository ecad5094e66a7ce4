//! What a receiver takes for the round trip: `tcp_rcv_rtt_update` of Linux 6.16 and later, which
//! Debian's 6.12 has as well (traced).
//!
//! Each full segment that echoes another timestamp than the one before gives a sample, in whole
//! milliseconds. A smaller one counts at once, a larger one by an eighth. Without timestamps it is
//! the round trip of the handshake: Linux times windows of data then, which is left out.

use crate::packet::timestamp;
use bentpipe_units::{Duration, Time};

const MS: u64 = 1_000_000;

/// What exceeds this is no round trip.
const LONGEST_MS: u64 = i32::MAX as u64 / 1000;

/// The estimate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip {
    /// Eight times the estimate, microseconds; 0 before the first sample.
    eightfold: u64,
    /// The millisecond of the timestamp that was echoed last.
    echo: Option<u64>,
}

impl RoundTrip {
    /// Data echoes one of our timestamps.
    pub(super) fn on_echo(&mut self, now: Time, echo: u32, is_full: bool) {
        // Linux' timestamps are in milliseconds, so those of one are the same.
        let ago = timestamp(now).wrapping_sub(echo);
        if ago.cast_signed() < 0 {
            return; // It is of the future.
        }
        let ago = 1_000 * u64::from(ago);
        let sent = now.as_nanos().saturating_sub(ago) / MS;
        let now = now.as_nanos() / MS;
        if self.echo.replace(sent) == Some(sent) || !is_full {
            return;
        }
        // An echo within a millisecond says nothing.
        if (1..=LONGEST_MS).contains(&(now - sent)) {
            self.sample(1000 * (now - sent));
        }
    }

    fn sample(&mut self, us: u64) {
        if self.eightfold == 0 || 8 * us < self.eightfold {
            self.eightfold = 8 * us;
        } else {
            self.eightfold += us - self.eightfold / 8;
        }
    }

    /// True if a round trip that began at `since` is over, where that of the handshake took
    /// `handshake`.
    pub(super) fn is_over(&self, handshake: Duration, since: Time, now: Time) -> bool {
        match self.eightfold {
            0 => now.since(since) >= handshake,
            us => now.since(since).as_nanos() / 1000 >= us / 8,
        }
    }

    /// The estimate; the longest time before the first sample.
    pub(super) fn smoothed(&self) -> Duration {
        match self.eightfold {
            0 => Duration::MAX,
            us => Duration::from_nanos(us.saturating_mul(125)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn echo(ms_ago: u64, now: u64) -> u32 {
        timestamp(ms(now - ms_ago))
    }

    #[test]
    fn smaller_samples_count_at_once_and_larger_ones_by_an_eighth() {
        let mut round_trip = RoundTrip::default();
        let handshake = Duration::from_millis(500);
        assert!(!round_trip.is_over(handshake, ms(0), ms(499)));
        assert!(round_trip.is_over(handshake, ms(0), ms(500)));
        for (now, ms_ago, eightfold) in [
            (1000, 100, 800_000),
            (1100, 60, 480_000),
            // 60 - 60/8 + 76/8 = 62.
            (1200, 76, 496_000),
            (1300, 62, 496_000),
        ] {
            round_trip.on_echo(ms(now), echo(ms_ago, now), true);
            assert_eq!(round_trip.eightfold, eightfold, "{now}");
        }
        let over = |since, now| round_trip.is_over(handshake, ms(since), ms(now));
        assert!(over(0, 62) && !over(1, 62));
        assert_eq!(round_trip.smoothed(), Duration::from_millis(62));
    }

    #[test]
    fn an_echo_of_the_future_is_none() {
        let mut round_trip = RoundTrip::default();
        round_trip.on_echo(ms(1100), timestamp(ms(1200)), true);
        assert_eq!(round_trip.eightfold, 0);
    }

    #[test]
    fn an_echo_counts_once_and_only_of_a_full_segment() {
        let mut round_trip = RoundTrip::default();
        round_trip.on_echo(ms(1100), echo(100, 1100), true);
        round_trip.on_echo(ms(1300), echo(300, 1300), true);
        assert_eq!(round_trip.eightfold, 800_000, "the same timestamp again");
        round_trip.on_echo(ms(1310), echo(20, 1310), false);
        round_trip.on_echo(ms(1310), echo(0, 1310), true);
        assert_eq!(round_trip.eightfold, 800_000);
    }
}
