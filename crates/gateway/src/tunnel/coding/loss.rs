//! How much is lost in a direction.

use bentpipe_quic::coding::Losses;
use std::time::{Duration, Instant};

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

/// What is lost of what an association sends.
#[derive(Debug, Default)]
pub(super) struct Loss {
    losses: Losses,
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
        let losses = &mut self.losses;
        losses.lost(totals.lost.saturating_sub(before.lost));
        losses.lost_of_other(totals.lost_of_other.saturating_sub(before.lost_of_other));
        losses.sent(totals.sent.saturating_sub(before.sent));
    }

    /// The share that is lost; `None` where no loss is seen.
    pub(super) fn share(&self) -> Option<f64> {
        self.losses.share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(550);

    fn totals(sent: u64, lost: u64, lost_of_other: u64) -> Totals {
        Totals {
            sent,
            lost,
            lost_of_other,
        }
    }

    #[test]
    fn loss_is_seen_in_either_direction_and_forgotten() {
        let now = Instant::now();
        let mut loss = Loss::default();
        loss.take(now, totals(1_000, 0, 0), false, RTT);
        assert_eq!(loss.share(), None);
        loss.take(now, totals(1_000, 0, 3), false, RTT);
        assert_eq!(loss.share(), Some(0.001));
        loss.take(now, totals(2_000, 20, 3), false, RTT);
        assert_eq!(loss.share(), Some(0.01));
        let mut sent = 2_000;
        while loss.share().is_some() {
            sent += 1_000;
            loss.take(now, totals(sent, 20, 3), false, RTT);
        }
        assert!((5_000..20_000).contains(&sent), "{sent}");
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
