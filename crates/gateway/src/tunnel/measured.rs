//! The rate that the link delivers, compared with the configured one: what the status shows, a warning
//! if the two disagree, how much may wait for the link, and what an association over a link without a
//! configured rate remembers of it across restarts.

use super::budget::Budget;
use super::known::Knowledge;
use super::resume::Memory;
use crate::operate::SharedState;
use bentpipe_units::Rate;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How often the rate is taken.
const SECOND: Duration = Duration::from_secs(1);
/// Seconds over which sent and delivered are compared: several round trips.
const COMPARED: usize = 10;
/// The link is busy where it takes this part of the rate.
const BUSY: f64 = 0.9;
/// The rate is too high where less than this part of what is sent arrives; links
/// lose a few percent by themselves.
const TOO_LITTLE: f64 = 0.85;
/// What all streams may hold for sending, in products of the link's rate and round trip: a single one
/// is lent half of it.
const AHEAD: f64 = 4.0;
/// The same, bytes, at least.
const LEAST_AHEAD: u64 = 32 << 20;
/// Seconds between two warnings.
const WARNINGS: u64 = 300;

/// What was sent and delivered in one second, bytes of IP packets.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    sent: u64,
    delivered: u64,
}

/// The samples of the last seconds, and their sum.
#[derive(Debug, Default)]
struct Seconds {
    last: VecDeque<Second>,
    total: Second,
}

impl Seconds {
    /// Takes the totals; returns what the last second brought.
    fn take(&mut self, sent: u64, delivered: u64) -> Second {
        let second = Second {
            sent: sent.saturating_sub(self.total.sent),
            delivered: delivered.saturating_sub(self.total.delivered),
        };
        self.total = Second { sent, delivered };
        if self.last.len() == COMPARED {
            self.last.pop_front();
        }
        self.last.push_back(second);
        second
    }

    /// The rate that arrives, where the link has been busy at `rate` all the time
    /// and much of it does not.
    fn shortfall(&self, rate: Rate) -> Option<Rate> {
        if self.last.len() < COMPARED {
            return None;
        }
        let busy = rate.bps_f64() / 8.0 * BUSY;
        if self.last.iter().any(|second| (second.sent as f64) < busy) {
            return None;
        }
        let sum = |part: fn(&Second) -> u64| self.last.iter().map(part).sum::<u64>() as f64;
        let (sent, delivered) = (sum(|it| it.sent), sum(|it| it.delivered));
        (delivered < TOO_LITTLE * sent)
            .then(|| Rate::from_bps_f64(delivered * 8.0 / COMPARED as f64))
    }
}

/// Watches what the link delivers until `knowledge` is gone.
async fn watch(
    link: usize,
    knowledge: Weak<Knowledge>,
    memory: Option<Memory>,
    budget: Weak<Budget>,
    state: Weak<SharedState>,
) {
    let mut seconds = Seconds::default();
    let mut slow = 0;
    let mut quiet = 0u64;
    let mut ticks = tokio::time::interval(SECOND);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(knowledge) = knowledge.upgrade() else {
            return;
        };
        let sent = knowledge.shaper().sent_bytes();
        let second = seconds.take(sent, knowledge.delivered());
        let delivered = Rate::from_bps(second.delivered * 8);
        quiet = quiet.saturating_sub(1);
        let verified = knowledge.verified();
        // The status has the rate of the first link.
        if let Some(state) = state.upgrade().filter(|_| link == 0) {
            state.note_verified(verified, knowledge.rate());
        }
        if let (Some(budget), Some(verified)) = (budget.upgrade(), verified) {
            budget.set_sending(link, ahead(verified, knowledge.rtt()));
        }
        let is_slow = verified < knowledge.rate().map(|rate| part(rate, TOO_LITTLE));
        slow = if is_slow { slow + 1 } else { 0 };
        match knowledge.rate() {
            Some(rate) if quiet == 0 => {
                let held = verified.filter(|_| slow >= COMPARED);
                if let Some(arrives) = held.or_else(|| seconds.shortfall(rate)) {
                    quiet = WARNINGS;
                    tracing::warn!(
                        configured = %rate, %arrives,
                        "the link delivers less than `link.rate`: if it does so for good, lower that"
                    );
                }
            }
            Some(_) => {}
            None => {
                if let Some(memory) = &memory {
                    memory.note(delivered, knowledge.smallest_rtt());
                }
            }
        }
    }
}

/// Starts to watch what the link with this number delivers; it ends when `knowledge` has no other holder.
pub(super) fn start(
    link: usize,
    knowledge: &Arc<Knowledge>,
    memory: Option<Memory>,
    budget: &Arc<Budget>,
    state: &Arc<SharedState>,
) {
    tokio::spawn(watch(
        link,
        Arc::downgrade(knowledge),
        memory,
        Arc::downgrade(budget),
        Arc::downgrade(state),
    ));
}

fn part(rate: Rate, part: f64) -> Rate {
    Rate::from_bps_f64(rate.bps_f64() * part)
}

/// Bytes that all streams may hold for a link of this rate and round trip.
pub(crate) fn ahead(rate: Rate, rtt: Duration) -> u64 {
    let product = rate.bps_f64() / 8.0 * rtt.as_secs_f64();
    ((AHEAD * product) as u64).max(LEAST_AHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(each: Second) -> Seconds {
        let mut seconds = Seconds::default();
        for i in 1..=COMPARED as u64 {
            seconds.take(i * each.sent, i * each.delivered);
        }
        seconds
    }

    #[test]
    fn what_may_be_held_follows_the_rate() {
        let rtt = Duration::from_millis(500);
        assert_eq!(ahead(Rate::from_mbps(2), rtt), LEAST_AHEAD);
        assert_eq!(ahead(Rate::from_mbps(800), rtt), 200_000_000);
    }

    #[test]
    fn a_rate_above_the_links_is_found() {
        let rate = Rate::from_mbps(8);
        let full = |delivered| Second {
            sent: 1_000_000,
            delivered,
        };
        assert_eq!(
            after(full(700_000)).shortfall(rate),
            Some(Rate::from_bps(5_600_000))
        );
        // A lossy link is not a slow one, and an idle one yields no information.
        assert_eq!(after(full(950_000)).shortfall(rate), None);
        let quiet = Second {
            sent: 500_000,
            delivered: 100_000,
        };
        assert_eq!(after(quiet).shortfall(rate), None);
    }
}
