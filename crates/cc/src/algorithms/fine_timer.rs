//! The fine-grained retransmission timer of Vegas: a timeout a little above the
//! round-trip time, looked at only when an acknowledgement comes.
//!
//! Source: Brakmo & Peterson 1995, section 3.1; the numbers are those of
//! ns-2.35. With s8 = 8 x smoothed RTT and d4 = 4 x its mean deviation, a sample
//! R does
//!
//! - s8 += R - s8 / 8, then d4 += |R - s8 / 8| - d4 / 4 with the old s8,
//! - timeout = 17/16 (s8 / 4 + d4) / 2, that is 17/16 (srtt + 2 deviations).
//!
//! The first sample sets s8 = 8 R and d4 = R. Before it the timer never runs
//! out (1000 s).

use bentpipe_units::Time;

/// A timeout before any sample, and the most that back-off makes of it, seconds.
const LONGEST: f64 = 1000.0;

/// Smoothed RTT, deviation and timeout, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FineTimer {
    /// 8 x the smoothed RTT; zero before a sample.
    smoothed: f64,
    /// 4 x its deviation.
    deviation: f64,
    timeout: f64,
}

impl FineTimer {
    pub(super) const NEW: FineTimer = FineTimer {
        smoothed: 0.0,
        deviation: 0.0,
        timeout: LONGEST,
    };

    /// Takes an RTT sample of `rtt` seconds.
    #[inline]
    pub(super) fn sample(&mut self, rtt: f64) {
        if self.smoothed <= 0.0 {
            self.smoothed = 8.0 * rtt;
            self.deviation = rtt;
        }
        let error = rtt - self.smoothed / 8.0;
        self.smoothed += error;
        self.deviation += error.abs() - self.deviation / 4.0;
        let timeout = (self.smoothed / 4.0 + self.deviation) / 2.0;
        self.timeout = timeout + timeout / 16.0;
    }

    /// True if what was sent at `sent_at` is overdue at `now`.
    #[inline]
    pub(super) fn expired(&self, now: Time, sent_at: Time) -> bool {
        now.since(sent_at).as_secs() >= self.timeout
    }

    /// A segment that had been sent `transmissions` times goes again: wait an
    /// eighth longer for it, or twice as long if it was not the first time.
    pub(super) fn back_off(&mut self, transmissions: u32) {
        self.timeout *= if transmissions > 1 { 2.0 } else { 1.125 };
        self.timeout = self.timeout.min(LONGEST);
    }

    /// Current timeout, without back-off.
    #[cfg(test)]
    pub(super) fn timeout(&self) -> bentpipe_units::Duration {
        bentpipe_units::Duration::from_secs_f64(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::Duration;

    #[track_caller]
    fn close(got: Duration, milliseconds: f64) {
        assert!((got.as_secs() * 1e3 - milliseconds).abs() < 1e-6, "{got}");
    }

    #[test]
    fn a_steady_path_brings_the_timeout_to_17_16_of_the_rtt() {
        let mut timer = FineTimer::NEW;
        close(timer.timeout(), 1_000_000.0);
        // First sample: s8 = 4800, d4 = 600 - 150: 17/16 (1200 + 450) / 2.
        timer.sample(0.6);
        close(timer.timeout(), 876.5625);
        timer.sample(0.6);
        close(timer.timeout(), 816.796_875);
        for _ in 0..200 {
            timer.sample(0.6);
        }
        close(timer.timeout(), 637.5);
    }

    #[test]
    fn a_late_sample_raises_the_timeout_by_twice_its_deviation() {
        let mut timer = FineTimer::NEW;
        for _ in 0..200 {
            timer.sample(0.6);
        }
        // s8 4800 -> 4880, d4 0 -> 80: 17/16 (1220 + 80) / 2.
        timer.sample(0.68);
        close(timer.timeout(), 690.625);
    }

    #[test]
    fn back_off_by_an_eighth_and_then_by_two() {
        let mut timer = FineTimer::NEW;
        for _ in 0..200 {
            timer.sample(0.6);
        }
        timer.back_off(1);
        close(timer.timeout(), 717.1875);
        timer.back_off(2);
        close(timer.timeout(), 1434.375);
        let sent = Time::from_nanos(1_000_000_000);
        assert!(!timer.expired(Time::from_nanos(2_434_374_999), sent));
        assert!(timer.expired(Time::from_nanos(2_434_375_001), sent));
    }
}
