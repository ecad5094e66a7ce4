//! Caps and quotas: how fast a subscriber may send, as a function of its plan, of what it sent and of
//! the time.

use super::Usage;
use super::level::Level;
use crate::config::Plan;
use bentpipe_units::Rate;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What one connection may send before the next has its turn, as time at the rate; and its limits, bytes.
const TURN: Duration = Duration::from_millis(10);
const LIMITS: (u64, u64) = (1_500, 64 << 10);

/// What a plan says of a subscriber, and what it has used of it.
#[derive(Debug)]
pub(super) struct Terms {
    plan: Option<Plan>,
    level: Level,
    /// Start of the quota's period, and bytes sent in it.
    period: Instant,
    sent: u64,
}

impl Terms {
    pub(super) const fn new(now: Instant) -> Terms {
        Terms {
            plan: None,
            level: Level::new(now),
            period: now,
            sent: 0,
        }
    }

    pub(super) const fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Another plan holds from now on; what was used of the quota stays used.
    pub(super) fn renew(&mut self, plan: Option<Plan>, now: Instant) {
        self.refill(now);
        self.plan = plan;
    }

    /// Bytes were sent.
    pub(super) fn count(&mut self, bytes: u64, now: Instant) {
        self.turn_over(now);
        self.sent = self.sent.saturating_add(bytes);
    }

    /// Begins another period of the quota where the last one is over.
    fn turn_over(&mut self, now: Instant) {
        let Some(quota) = self.plan.as_ref().and_then(|plan| plan.quota) else {
            return;
        };
        if now.saturating_duration_since(self.period) >= quota.period {
            self.period = now;
            self.sent = 0;
        }
    }

    /// Whether more was sent than the quota has.
    pub(super) fn is_over(&mut self, now: Instant) -> bool {
        self.turn_over(now);
        let quota = self.plan.as_ref().and_then(|plan| plan.quota);
        quota.is_some_and(|quota| self.sent >= quota.bytes)
    }

    /// The rate at which it may send; `None` where nothing bounds it.
    pub(super) fn rate(&mut self, now: Instant) -> Option<Rate> {
        let is_over = self.is_over(now);
        let plan = self.plan.as_ref()?;
        let slow = plan.quota.filter(|_| is_over).map(|quota| quota.then);
        plan.cap.into_iter().chain(slow).min()
    }

    fn refill(&mut self, now: Instant) {
        let rate = self.rate(now);
        self.level.refill(rate, now);
    }

    /// Bytes that one connection may send now, or when to ask again.
    pub(super) fn reserve(&mut self, now: Instant) -> Result<u64, Instant> {
        let Some(rate) = self.rate(now) else {
            return Ok(LIMITS.1);
        };
        if let Some(until) = self.level.wait(rate, now) {
            return Err(until);
        }
        let most = rate.bps_f64() / 8.0 * TURN.as_secs_f64();
        let bytes = (most as u64).clamp(LIMITS.0, LIMITS.1);
        self.level.bytes -= bytes as f64;
        Ok(bytes)
    }

    /// Whether a datagram of so many bytes may be sent now: it cannot wait here, and its flow slows down
    /// by losses. It is taken from what all connections may send together.
    pub(super) fn police(&mut self, bytes: u64, now: Instant) -> bool {
        let Some(rate) = self.rate(now) else {
            return true;
        };
        let admits = self.level.wait(rate, now).is_none();
        if admits {
            self.level.bytes -= bytes as f64;
        }
        admits
    }

    fn refund(&mut self, bytes: u64, now: Instant) {
        if self.rate(now).is_some() {
            self.level.bytes += bytes as f64;
        }
    }
}

/// Bytes that a connection may send; the rest is given back.
#[derive(Debug)]
pub(crate) struct Allowance {
    usage: Arc<Usage>,
    bytes: u64,
}

impl Allowance {
    pub(super) fn new(usage: &Arc<Usage>, bytes: u64) -> Allowance {
        Allowance {
            usage: Arc::clone(usage),
            bytes,
        }
    }

    /// How many these are.
    pub(crate) fn bytes(&self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// So many of them were sent.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes as u64);
    }
}

impl Drop for Allowance {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.usage.terms().refund(self.bytes, Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;

    fn plan(keys: &str) -> Plan {
        let text = format!(
            "role = \"hub\"\n[tunnel]\npeers = [\"k\"]\n[[subscribers.plan]]\nname = \"p\"\n\
             nets = [\"10.0.0.0/8\"]\n{keys}\n"
        );
        let config = config_from_str(&text).unwrap_or_else(|errors| panic!("{errors}"));
        config.subscribers.plans[0].clone()
    }

    /// Bytes that connections send from second `from` to `to` of those that always have more.
    fn send(terms: &mut Terms, begin: Instant, from: u64, to: u64) -> u64 {
        let mut all = 0;
        for millis in from * 1000..to * 1000 {
            let now = begin + Duration::from_millis(millis);
            while let Ok(bytes) = terms.reserve(now) {
                terms.count(bytes, now);
                all += bytes;
                assert!(all < 1 << 30, "nothing bounds it");
            }
        }
        all
    }

    #[test]
    fn a_cap_holds_for_all_connections_together() {
        let begin = Instant::now();
        let mut terms = Terms::new(begin);
        terms.renew(Some(plan("cap = \"8 Mbit/s\"")), begin);
        let sent = send(&mut terms, begin, 0, 10);
        assert!((9_950_000..10_100_000).contains(&sent), "{sent}");
        // What is not sent is given back.
        let now = begin + Duration::from_secs(20);
        let bytes = terms.reserve(now).unwrap();
        let level = terms.level.bytes;
        terms.refund(bytes, now);
        assert_eq!(terms.level.bytes, level + bytes as f64);
    }

    #[test]
    fn datagrams_beyond_a_cap_are_refused() {
        let begin = Instant::now();
        let mut terms = Terms::new(begin);
        assert!((0..1000).all(|_| terms.police(1200, begin)));
        terms.renew(Some(plan("cap = \"8 Mbit/s\"")), begin);
        // Twice the cap.
        let admitted: u64 = (0..10_000)
            .map(|at| begin + Duration::from_micros(600 * at))
            .filter(|now| terms.police(1200, *now))
            .map(|_| 1200)
            .sum();
        assert!((5_950_000..6_100_000).contains(&admitted), "{admitted}");
    }

    #[test]
    fn a_quota_slows_down_until_its_period_is_over() {
        let begin = Instant::now();
        let mut terms = Terms::new(begin);
        let keys = "cap = \"8 Mbit/s\"\nquota = \"5 MB\"\nperiod = \"60 s\"\nthen = \"80 kbit/s\"";
        terms.renew(Some(plan(keys)), begin);
        assert!(!terms.is_over(begin));
        let sent = send(&mut terms, begin, 0, 15);
        // 5 MB in 5 s, and 10 kB a second.
        assert!((5_080_000..5_200_000).contains(&sent), "{sent}");
        assert!(terms.is_over(begin + Duration::from_secs(15)));
        let sent = send(&mut terms, begin, 61, 63);
        assert!((1_950_000..2_100_000).contains(&sent), "{sent}");
    }

    #[test]
    fn without_a_plan_nothing_bounds() {
        let now = Instant::now();
        let mut terms = Terms::new(now);
        assert_eq!(terms.rate(now), None);
        assert!((0..1000).all(|_| terms.reserve(now).is_ok()));
    }
}
