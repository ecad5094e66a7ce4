//! Round-trip times and the retransmission timeout (RFC 6298, ns-2, Linux).

mod linux;

use crate::profile::{MAX_ACK_DELAY, RtoRule, Rules};
use bentpipe_units::{Duration, Time};
use linux::Deviation;

/// The RTT estimator and back-off of one connection.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    rule: RtoRule,
    tick: Duration,
    minimum: Duration,
    maximum: Duration,
    /// Timeout without back-off.
    base: Duration,
    backoff: u32,
    /// RFC: nanoseconds. Others: ticks, scaled by 8.
    srtt: u64,
    /// RFC: nanoseconds. Others: ticks, scaled by 4.
    rttvar: u64,
    /// Linux 6: the deviation of a flight, once there is a sample.
    deviation: Option<Box<Deviation>>,
    latest: Duration,
    smallest: Duration,
    sum: Duration,
    samples: u64,
    /// Smoothed as RFC 6298 does, in nanoseconds whatever the rule.
    fine: u64,
    /// Of the connections before: sum, number and smallest of their samples.
    before: Option<Box<(Duration, u64, Duration)>>,
}

impl RttEstimator {
    /// An estimator by `rules`, with another floor if `minimum_rto` is given.
    #[must_use]
    pub fn new(rules: &Rules, minimum_rto: Option<Duration>) -> RttEstimator {
        RttEstimator {
            rule: rules.rto,
            tick: rules.tick,
            minimum: minimum_rto.unwrap_or(rules.minimum_rto),
            // A floor above the host's ceiling is meant for a round trip of minutes.
            maximum: rules.maximum_rto.max(minimum_rto.unwrap_or_default()),
            base: rules.initial_rto,
            backoff: 0,
            srtt: 0,
            rttvar: 0,
            deviation: None,
            latest: Duration::ZERO,
            smallest: Duration::MAX,
            sum: Duration::ZERO,
            samples: 0,
            fine: 0,
            before: None,
        }
    }

    /// An estimator with the same floor that has no sample yet and has backed
    /// off after `timeouts`.
    pub(crate) fn unsampled(&self, rules: &Rules, timeouts: u32) -> RttEstimator {
        let mut estimator = RttEstimator::new(rules, Some(self.minimum));
        for _ in 0..timeouts {
            estimator.back_off();
        }
        estimator
    }

    /// Takes the round trip of something sent at `sent` and acknowledged at
    /// `now`, with congestion window `cwnd` (Linux 2.2 waits longer at small
    /// windows).
    #[inline(always)]
    pub fn sample(&mut self, sent: Time, now: Time, cwnd: f64) {
        let rtt = self.note(sent, now);
        self.backoff = 0;
        if self.rule == RtoRule::Rfc6298 {
            return self.sample_rfc(rtt, self.tick);
        }
        self.sample_by_rule(sent, now, rtt, cwnd);
    }

    #[cold]
    fn sample_by_rule(&mut self, sent: Time, now: Time, rtt: Duration, cwnd: f64) {
        match self.rule {
            RtoRule::Rfc6298 => self.sample_rfc(rtt, self.tick),
            RtoRule::Linux => self.sample_rfc(rtt, self.minimum),
            RtoRule::Linux6 => self.sample_linux(rtt, 0, 0),
            RtoRule::Quic => self.sample_quic(rtt),
            RtoRule::Ns2 => {
                // From the tick it was sent in to that of its ACK.
                let tick = self.tick.as_nanos();
                self.sample_ticks(now.as_nanos() / tick - sent.as_nanos() / tick);
            }
            RtoRule::Ns2Linux => {
                let tick = self.tick.as_nanos();
                self.sample_ticks((rtt.as_nanos() + tick / 2) / tick);
            }
            RtoRule::Linux22 => {
                // Jiffies now minus jiffies then: the tick boundaries passed.
                let tick = self.tick.as_nanos();
                self.sample_scaled((now.as_nanos() / tick - sent.as_nanos() / tick).max(1), 2);
                let base = (self.srtt >> 3) + self.rttvar;
                let shift = (cwnd.max(1.0) as u32 - 1).min(63);
                self.base = Duration::from_nanos(tick * (base + (base >> 2) + (base >> shift)));
            }
        }
    }

    #[inline]
    fn note(&mut self, sent: Time, now: Time) -> Duration {
        let rtt = now.since(sent);
        self.latest = rtt;
        self.smallest = self.smallest.min(rtt);
        self.sum += rtt;
        self.samples += 1;
        self.fine = if self.samples == 1 {
            rtt.as_nanos()
        } else {
            (7 * self.fine + rtt.as_nanos()) / 8
        };
        rtt
    }

    /// ns-2 with timestamps: the time itself, rounded to ticks.
    pub(crate) fn sample_rounded(&mut self, sent: Time, now: Time) {
        let (backoff, tick) = (self.backoff, self.tick.as_nanos());
        let rtt = self.note(sent, now);
        self.sample_ticks((rtt.as_nanos() + tick / 2) / tick);
        self.backoff = backoff;
    }

    /// [`RttEstimator::sample`], but the back-off remains.
    pub(crate) fn sample_keeping_backoff(&mut self, sent: Time, now: Time) {
        let backoff = self.backoff;
        self.sample(sent, now, 1.0);
        self.backoff = backoff;
    }

    /// The next timeout is not backed off.
    pub(crate) fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    fn sample_ticks(&mut self, ticks: u64) {
        self.sample_scaled(ticks.max(1), 1);
        let ticks = (self.srtt >> 3) + self.rttvar;
        self.base = Duration::from_nanos(self.tick.as_nanos() * ticks);
    }

    /// RFC 6298 with the variance term at least `least`.
    #[inline]
    fn sample_rfc(&mut self, rtt: Duration, least: Duration) {
        let r = rtt.as_nanos();
        if self.samples == 1 {
            self.srtt = r;
            self.rttvar = r / 2;
        } else {
            self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(r)) / 4;
            self.srtt = (7 * self.srtt + r) / 8;
        }
        let spread = Duration::from_nanos(4 * self.rttvar).max(least);
        self.base = Duration::from_nanos(self.srtt) + spread;
    }

    /// RFC 9002, section 5.3, and the probe timeout of section 6.2.1.
    fn sample_quic(&mut self, rtt: Duration) {
        let r = rtt.as_nanos();
        if self.srtt == 0 {
            self.srtt = r;
            self.rttvar = r / 2;
        } else {
            self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(r)) / 4;
            self.srtt = (7 * self.srtt + r) / 8;
        }
        let spread = Duration::from_nanos(4 * self.rttvar).max(Duration::from_millis(1));
        self.base = Duration::from_nanos(self.srtt) + spread + MAX_ACK_DELAY;
    }

    /// A connection between the same ends has measured `rtt` all along.
    pub(crate) fn assume(&mut self, rtt: Duration) {
        self.srtt = rtt.as_nanos();
        self.rttvar = 0;
        self.base = rtt + Duration::from_millis(1) + MAX_ACK_DELAY;
    }

    /// The scaled-integer estimator of Jacobson, in ticks; the first sample
    /// sets the deviation to `ticks << first_shift`.
    fn sample_scaled(&mut self, ticks: u64, first_shift: u32) {
        if self.srtt == 0 {
            self.srtt = ticks << 3;
            self.rttvar = ticks << first_shift;
            return;
        }
        let delta = ticks as i64 - (self.srtt >> 3) as i64;
        self.srtt = (self.srtt as i64 + delta).max(1) as u64;
        let below = delta < 0 && self.rule == RtoRule::Ns2Linux;
        let mut delta = delta.abs() - (self.rttvar >> 2) as i64;
        if below && delta > 0 {
            delta >>= 3;
        }
        self.rttvar = (self.rttvar as i64 + delta).max(1) as u64;
    }

    /// The handshake took more than one SYN: until a sample says otherwise the
    /// timeout is at least 3 s (RFC 6298, section 5.7).
    pub(crate) fn handshake_was_lost(&mut self) {
        self.base = self.base.max(Duration::from_secs(3));
    }

    /// The timeout to arm now.
    #[inline]
    #[must_use]
    pub fn rto(&self) -> Duration {
        // ns-2 and the RFC alike floor first and back off then.
        let base = self.base.max(self.minimum);
        if self.backoff == 0 {
            return base.min(self.maximum);
        }
        (base * (1u64 << self.backoff.min(30))).min(self.maximum)
    }

    /// The timer ran out: the next timeout is twice as long.
    pub fn back_off(&mut self) {
        self.backoff += 1;
        // ns-2: after three doublings the old estimate is not trusted any
        // more; what it said goes into the deviation.
        if matches!(self.rule, RtoRule::Ns2 | RtoRule::Ns2Linux) && self.backoff > 3 {
            self.rttvar += self.srtt >> 3;
            self.srtt = 0;
        }
    }

    /// The last sample; zero before one.
    #[inline]
    #[must_use]
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// The smallest sample; [`Duration::MAX`] before one.
    #[inline]
    #[must_use]
    pub fn smallest(&self) -> Duration {
        self.smallest
    }

    /// The smoothed RTT; zero before a sample.
    #[inline]
    #[must_use]
    pub fn smoothed(&self) -> Duration {
        match self.rule {
            RtoRule::Rfc6298 | RtoRule::Linux | RtoRule::Linux6 | RtoRule::Quic => {
                Duration::from_nanos(self.srtt)
            }
            RtoRule::Ns2 | RtoRule::Ns2Linux | RtoRule::Linux22 => {
                Duration::from_nanos(self.tick.as_nanos() * self.srtt / 8)
            }
        }
    }

    /// The smoothed RTT without the host's ticks; zero before a sample.
    #[inline]
    #[must_use]
    pub fn fine(&self) -> Duration {
        Duration::from_nanos(self.fine)
    }

    /// The mean of all samples, if there was one; those of earlier connections
    /// between the same ends count.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        let (sum, samples, _) = self.all();
        (samples > 0).then(|| sum / samples)
    }

    /// The sum of all samples, and how many they are; those of earlier connections between the same
    /// ends count.
    #[must_use]
    pub fn sum(&self) -> (Duration, u64) {
        let (sum, samples, _) = self.all();
        (sum, samples)
    }

    /// The smallest of all samples, those of earlier connections between the
    /// same ends included.
    #[must_use]
    pub fn smallest_ever(&self) -> Option<Duration> {
        let (_, samples, smallest) = self.all();
        (samples > 0).then_some(smallest)
    }

    fn all(&self) -> (Duration, u64, Duration) {
        let none = (Duration::ZERO, 0, Duration::MAX);
        let (sum, samples, smallest) = self.before.as_deref().copied().unwrap_or(none);
        (
            sum + self.sum,
            samples + self.samples,
            smallest.min(self.smallest),
        )
    }

    /// Takes over what outlives a connection.
    pub(crate) fn continue_after(&mut self, old: &RttEstimator) {
        self.before = Some(Box::new(old.all()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::HostProfile;

    const SAMPLES_MS: [u64; 6] = [600, 600, 600, 650, 700, 900];

    fn timeouts(rules: &Rules) -> Vec<f64> {
        let mut e = RttEstimator::new(rules, Some(Duration::ZERO));
        SAMPLES_MS
            .iter()
            .map(|&ms| {
                e.sample(Time::ZERO, Time::ZERO + Duration::from_millis(ms), 10.0);
                e.rto().as_secs()
            })
            .collect()
    }

    #[test]
    fn rfc_6298() {
        let expected = [1.8, 1.5, 1.275, 1.1625, 1.128_906, 1.318_457];
        for (got, want) in timeouts(&HostProfile::Rfc.rules()).iter().zip(expected) {
            assert!((got - want).abs() < 1e-5, "{got} for {want}");
        }
    }

    #[test]
    fn ns_2_in_ticks() {
        let expected = [1.80, 1.50, 1.28, 1.16, 1.13, 1.33];
        for (got, want) in timeouts(&HostProfile::Ns2.rules()).iter().zip(expected) {
            assert!((got - want).abs() < 1e-9, "{got} for {want}");
        }
    }

    #[test]
    fn linux_2_2_first_sample_and_rest() {
        // A fine tick shows the law: 5 x .511 = 2.555; + .63875 + 2.555/32.
        let fine = Rules {
            tick: Duration::from_micros(1),
            ..HostProfile::Linux22.rules()
        };
        let mut e = RttEstimator::new(&fine, None);
        let rtt = Duration::from_millis(511);
        e.sample(Time::ZERO, Time::ZERO + rtt, 6.0);
        assert!((e.rto().as_secs() - 3.274).abs() < 1e-3, "{}", e.rto());
        // With HZ = 100 the deviation sticks at 3 ticks: 1.25 (R + 0.03).
        let mut e = RttEstimator::new(&HostProfile::Linux22.rules(), None);
        for i in 0..200u64 {
            let sent = Time::ZERO + Duration::from_millis(10 * i);
            e.sample(sent, sent + Duration::from_millis(511), 30.0);
        }
        assert!((e.rto().as_secs() - 0.676).abs() < 0.012, "{}", e.rto());
    }

    /// A path with a round trip of minutes needs a timeout above the usual largest.
    #[test]
    fn a_floor_above_the_maximum_raises_it() {
        let floor = Duration::from_secs(300);
        let mut e = RttEstimator::new(&HostProfile::Rfc.rules(), Some(floor));
        assert_eq!(e.rto(), floor);
        e.sample(Time::ZERO, Time::ZERO + Duration::from_secs(120), 1.0);
        assert_eq!(e.rto(), floor);
        e.back_off();
        assert_eq!(e.rto(), floor);
    }

    #[test]
    fn back_off_doubles_up_to_the_maximum_and_a_sample_ends_it() {
        let mut e = RttEstimator::new(&HostProfile::Rfc.rules(), None);
        assert_eq!(e.rto(), Duration::from_secs(1));
        e.back_off();
        e.back_off();
        assert_eq!(e.rto(), Duration::from_secs(4));
        for _ in 0..40 {
            e.back_off();
        }
        assert_eq!(e.rto(), Duration::from_secs(60));
        e.sample(Time::ZERO, Time::ZERO + Duration::from_millis(600), 1.0);
        assert!(e.rto() < Duration::from_secs(2));
    }
}
