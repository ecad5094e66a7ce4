//! How much is lost in a direction, and how many repairs that needs.

use super::field::MOST_REPAIRS;
use std::time::{Duration, Instant};

/// Packets after which the counts are halved, so that older ones count less.
const REMEMBERED: f64 = 4_000.0;
/// The share is not taken from fewer packets than this.
const LEAST: f64 = 100.0;
/// Loss is seen from this share on.
const SEEN: f64 = 0.001;
/// Bounds of the share that repairs are made for: a larger one is an outage or a queue that overflows.
const SHARES: (f64, f64) = (0.005, 0.2);
/// More packets of a group than it has repairs are lost with at most this probability.
const MISSED: f64 = 0.003;
/// Time after an outage, in addition to two round trips, in which QUIC still finds what it cost.
const SETTLES: Duration = Duration::from_secs(2);

/// Packets so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) sent: u64,
    /// Of those, and of what the other box has sent.
    pub(super) lost: u64,
    pub(super) lost_of_other: u64,
}

/// The share of the packets that is lost in a direction.
#[derive(Debug, Default)]
pub(super) struct Loss {
    sent: f64,
    lost: f64,
    /// Packets of the other direction that were lost meanwhile.
    other: f64,
    /// The totals that are counted already.
    before: Totals,
    /// Until when what is lost is not counted.
    ignored: Option<Instant>,
}

impl Loss {
    /// Takes the totals. While the link is away, or its queue overflows (`interrupted`), what is lost is
    /// not noise, and repairs would not help.
    pub(super) fn take(&mut self, now: Instant, totals: Totals, interrupted: bool, rtt: Duration) {
        let before = std::mem::replace(&mut self.before, totals);
        if interrupted {
            self.ignored = Some(now + 2 * rtt + SETTLES);
        }
        if self.ignored.is_some_and(|until| now < until) {
            return;
        }
        self.sent += totals.sent.saturating_sub(before.sent) as f64;
        self.lost += totals.lost.saturating_sub(before.lost) as f64;
        self.other += totals.lost_of_other.saturating_sub(before.lost_of_other) as f64;
        if self.sent >= REMEMBERED {
            self.sent /= 2.0;
            self.lost /= 2.0;
            self.other /= 2.0;
        }
    }

    /// The share that repairs are made for; `None` where no loss is seen. A link that is noisy in one
    /// direction may be in the other, in which requests are too few to show it.
    pub(super) fn share(&self) -> Option<f64> {
        let share = self.lost.max(self.other.min(1.0)) / self.sent.max(LEAST);
        (share >= SEEN).then(|| share.clamp(SHARES.0, SHARES.1))
    }
}

/// How many repairs so many packets need, where this share is lost of both. Where a repair comes in
/// two parts, each of them must suffice.
pub(super) fn repairs(packets: usize, parts: usize, share: f64) -> usize {
    let most = MISSED / parts as f64;
    let enough = |repairs: &usize| missed(packets + repairs, *repairs, share) <= most;
    (1..MOST_REPAIRS).find(enough).unwrap_or(MOST_REPAIRS)
}

/// The probability that more than `most` of so many packets are lost.
fn missed(packets: usize, most: usize, share: f64) -> f64 {
    let mut term = (1.0 - share).powi(packets as i32);
    let mut sum = term;
    for lost in 1..=most {
        term *= (packets - lost + 1) as f64 / lost as f64 * share / (1.0 - share);
        sum += term;
    }
    1.0 - sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(550);

    #[test]
    fn repairs_follow_the_share_that_is_lost() {
        // 1 - 0.99^2 - 2 * 0.99 * 0.01
        assert!((missed(2, 1, 0.01) - 0.0001).abs() < 1e-12);
        assert_eq!([1, 8, 24].map(|it| repairs(it, 1, 0.01)), [1, 2, 2]);
        assert_eq!([1, 8, 24].map(|it| repairs(it, 2, 0.01)), [1, 2, 3]);
        assert_eq!([1, 8, 24].map(|it| repairs(it, 1, 0.005)), [1, 1, 2]);
        assert_eq!(repairs(24, 1, 0.2), MOST_REPAIRS);
    }

    fn totals(sent: u64, lost: u64, lost_of_other: u64) -> Totals {
        Totals {
            sent,
            lost,
            lost_of_other,
        }
    }

    #[test]
    fn loss_is_seen_and_forgotten() {
        let now = Instant::now();
        let mut loss = Loss::default();
        loss.take(now, totals(1_000, 0, 0), false, RTT);
        assert_eq!(loss.share(), None);
        loss.take(now, totals(2_000, 20, 0), false, RTT);
        assert_eq!(loss.share(), Some(0.01));
        let mut sent = 2_000;
        while loss.share().is_some() {
            sent += 1_000;
            loss.take(now, totals(sent, 20, 0), false, RTT);
        }
        assert!((5_000..20_000).contains(&sent), "{sent}");
    }

    #[test]
    fn one_lost_packet_of_few_is_no_large_share() {
        let mut loss = Loss::default();
        loss.take(Instant::now(), totals(5, 1, 0), false, RTT);
        assert_eq!(loss.share(), Some(0.01));
    }

    #[test]
    fn noise_in_the_other_direction_is_a_reason_for_few_repairs() {
        let now = Instant::now();
        let mut loss = Loss::default();
        loss.take(now, totals(300, 0, 50), false, RTT);
        assert_eq!(loss.share(), Some(SHARES.0));
        loss.take(now, totals(3_000, 0, 50), false, RTT);
        assert_eq!(loss.share(), None);
    }

    #[test]
    fn what_an_outage_costs_is_not_noise() {
        let mut now = Instant::now();
        let mut loss = Loss::default();
        loss.take(now, totals(1_000, 0, 0), false, RTT);
        loss.take(now, totals(1_010, 10, 0), true, RTT);
        now += RTT;
        loss.take(now, totals(1_100, 90, 0), false, RTT);
        assert_eq!(loss.share(), None);
        now += 2 * RTT + SETTLES;
        loss.take(now, totals(2_000, 100, 0), false, RTT);
        assert!(loss.share().is_some_and(|share| share < 0.006), "{loss:?}");
    }
}
