//! The estimator of Linux 6 (`tcp_rtt_estimator`), in nanoseconds.
//!
//! RFC 6298 in scaled whole numbers, and three things more. A sample below the
//! mean that would raise the deviation raises it by an eighth only. What counts is
//! the largest deviation of a flight, at least the smallest timeout; it rises at
//! once and falls by a quarter of the difference with every flight. The timeout
//! is the smoothed RTT and that.

use super::RttEstimator;
use crate::profile::RtoRule;
use bentpipe_units::{Duration, Time};

/// The deviation, scaled by 4 like `rttvar`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deviation {
    /// The smoothed deviation.
    smoothed: u64,
    /// Its largest value in this flight.
    largest: u64,
    /// The flight ends when this byte is acknowledged.
    until: u64,
}

impl RttEstimator {
    /// Takes the round trips of an ACK at `now`: of the first and of the last
    /// segment, by when they were sent. The first is for the timeout, the last for
    /// the smallest RTT. `una` is acknowledged and `next` is the next byte to be
    /// sent. Under another rule than Linux 6's, the first is a sample like any.
    pub(crate) fn sample_between(
        &mut self,
        now: Time,
        (first, last): (Time, Time),
        (una, next): (u64, u64),
        cwnd: f64,
    ) {
        if self.rule == RtoRule::Linux6 {
            let rtt = self.note(first, now);
            self.backoff = 0;
            self.sample_linux(rtt, una, next);
        } else {
            self.sample(first, now, cwnd);
        }
        self.smallest = self.smallest.min(now.since(last));
    }

    pub(super) fn sample_linux(&mut self, rtt: Duration, una: u64, next: u64) {
        let rtt = rtt.as_nanos().max(1);
        let least = self.minimum.as_nanos();
        let d = self.deviation.get_or_insert_default();
        if self.srtt == 0 {
            self.srtt = rtt;
            d.smoothed = 2 * rtt;
            self.rttvar = d.smoothed.max(least);
            d.largest = self.rttvar;
            d.until = next;
        } else {
            let quarter = d.smoothed / 4;
            let off = rtt.abs_diff(self.srtt);
            let below = rtt < self.srtt;
            if off >= quarter {
                let rise = off - quarter;
                d.smoothed += if below { rise / 8 } else { rise };
            } else {
                d.smoothed -= quarter - off;
            }
            self.srtt = (7 * self.srtt + rtt) / 8;
            if d.smoothed > d.largest {
                d.largest = d.smoothed;
                self.rttvar = self.rttvar.max(d.largest);
            }
            if una > d.until {
                self.rttvar -= self.rttvar.saturating_sub(d.largest) / 4;
                d.until = next;
                d.largest = least;
            }
        }
        self.base = Duration::from_nanos(self.srtt + self.rttvar);
    }
}

#[cfg(test)]
mod tests {
    use crate::profile::HostProfile;
    use crate::rtt::RttEstimator;
    use bentpipe_units::{Duration, Time};

    #[test]
    fn the_timeout_of_a_satellite_falls_flight_by_flight() {
        let ms = Duration::from_millis;
        let mut e = RttEstimator::new(&HostProfile::Linux.rules(), None);
        assert_eq!(e.rto(), Duration::from_secs(1));
        e.sample(Time::ZERO, Time::ZERO + ms(512), 10.0);
        // 512 + 4 x 256.
        assert_eq!(e.rto(), ms(1536));
        // Flights of one ACK each: 1024 - (1024 - 576) / 4, and so on.
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut timeouts = Vec::new();
        for flight in 1..=8u64 {
            e.sample_between(at(512), (at(0), at(0)), (10 * flight, 10 * flight + 9), 9.0);
            timeouts.push(e.rto().as_nanos() / 1_000_000);
        }
        assert_eq!(timeouts, [1536, 1424, 1304, 1187, 1079, 987, 918, 866]);
        // 200 ms above the smoothed RTT at least.
        for flight in 9..=60u64 {
            e.sample_between(at(512), (at(0), at(0)), (10 * flight, 10 * flight + 9), 9.0);
        }
        assert_eq!(e.rto().as_nanos() / 1_000_000, 712);
        // A late one counts at once.
        e.sample_between(at(1512), (at(0), at(1000)), (700, 709), 9.0);
        assert!(e.rto() > ms(1500), "{}", e.rto());
    }
}
