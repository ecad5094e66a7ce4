//! Knowledge of a box about its satellite link: the rate at which it may send, set by the
//! configuration, the rate file or the modem, and the RTT.
//!
//! The rate reaches its users at once: the shaper of the socket when it changes,
//! congestion controls at their next event.

use super::shaper::Shaper;
use crate::config::Link;
use bentpipe_cc::PathHint;
use bentpipe_units::{Duration as Span, Rate};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch;

/// The part of the rate that is used where nothing is reserved. A sender that uses all of it never empties
/// the queue that a late timer, a lost slot of the modem or its own first burst
/// has left before the link; this one empties 10 ms of it each second.
const MARGIN: f64 = 0.99;

/// Knowledge about the link.
#[derive(Debug)]
pub struct Knowledge {
    /// Bits per second of IP packets; zero where it is measured.
    rate: AtomicU64,
    /// The part of the link's rate that is used.
    share: f64,
    rtt: Duration,
    shaper: Arc<Shaper>,
    /// Bytes of IP packets that the other boxes have acknowledged.
    delivered: AtomicU64,
    /// The smallest round trip that was measured, nanoseconds; the largest number
    /// before that.
    smallest_rtt: AtomicU64,
}

impl Knowledge {
    /// What is known at the start: the link as configured, and the `rate` that it has now,
    /// `None` where it is to be measured.
    #[must_use]
    pub fn of(link: &Link, rate: Option<Rate>) -> Arc<Knowledge> {
        Knowledge::start(rate, link.rtt, MARGIN * (1.0 - link.reserve.get()))
    }

    /// The same of a link of which nothing is reserved.
    #[cfg(test)]
    pub fn new(rate: Option<Rate>, rtt: Duration) -> Arc<Knowledge> {
        Knowledge::start(rate, rtt, MARGIN)
    }

    fn start(rate: Option<Rate>, rtt: Duration, share: f64) -> Arc<Knowledge> {
        let used = rate.map(|rate| used(rate, share));
        Arc::new(Knowledge {
            rate: AtomicU64::new(used.map_or(0, Rate::bps)),
            share,
            rtt,
            shaper: Shaper::new(used),
            delivered: AtomicU64::new(0),
            smallest_rtt: AtomicU64::new(u64::MAX),
        })
    }

    /// Takes a new rate of the link.
    pub fn set_rate(&self, rate: Option<Rate>) {
        let used = rate.map(|rate| used(rate, self.share));
        self.rate
            .store(used.map_or(0, Rate::bps), Ordering::Relaxed);
        self.shaper.set_rate(used);
    }

    /// The rate to send at, IP packets and all; `None` where it is measured.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        let bps = self.rate.load(Ordering::Relaxed);
        (bps > 0).then(|| Rate::from_bps(bps))
    }

    /// The round trip without queues, as configured.
    #[must_use]
    pub const fn rtt(&self) -> Duration {
        self.rtt
    }

    /// The shaper that keeps the rate.
    #[must_use]
    pub const fn shaper(&self) -> &Arc<Shaper> {
        &self.shaper
    }

    /// Counts what the other box has acknowledged, bytes of IP packets, and the round
    /// trip that it took.
    pub(super) fn count(&self, bytes: u64, rtt: Span) {
        self.delivered.fetch_add(bytes, Ordering::Relaxed);
        self.smallest_rtt
            .fetch_min(rtt.as_nanos(), Ordering::Relaxed);
    }

    /// Bytes of IP packets that the other boxes have acknowledged.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    /// The smallest round trip that was measured.
    #[must_use]
    pub fn smallest_rtt(&self) -> Option<Span> {
        let rtt = self.smallest_rtt.load(Ordering::Relaxed);
        (rtt != u64::MAX).then(|| Span::from_nanos(rtt))
    }

    /// The state of the path as a congestion control receives it: `payload` is what
    /// counts of an IP packet, as a fraction.
    #[must_use]
    pub(super) fn hint(&self, payload: f64, min_rtt: Option<Span>) -> Option<PathHint> {
        let rate = self.rate()?;
        Some(PathHint {
            capacity: Rate::from_bps_f64(rate.bps_f64() * payload),
            share: 1.0,
            active: 1,
            utilisation: 1.0,
            min_rtt,
        })
    }
}

/// What is used of a rate, at least 1 kbit/s: a link without a rate is an outage,
/// in which heartbeats still leave.
fn used(rate: Rate, share: f64) -> Rate {
    Rate::from_bps_f64((rate.bps_f64() * share).max(1_000.0))
}

/// Keeps `knowledge` at the rate of `rates` until either is gone.
pub async fn follow(knowledge: Weak<Knowledge>, mut rates: watch::Receiver<Option<Rate>>) {
    while rates.changed().await.is_ok() {
        let rate = *rates.borrow_and_update();
        let Some(knowledge) = knowledge.upgrade() else {
            return;
        };
        knowledge.set_rate(rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_rate_reaches_the_shaper_and_the_hints() {
        let rtt = Duration::from_millis(550);
        let knowledge = Knowledge::new(Some(Rate::from_mbps(20)), rtt);
        assert_eq!(knowledge.rate(), Some(Rate::from_bps(19_800_000)));
        knowledge.set_rate(Some(Rate::from_mbps(2)));
        assert_eq!(knowledge.shaper().rate(), Some(Rate::from_bps(1_980_000)));
        let hint = knowledge.hint(0.5, None).expect("a rate is known");
        assert_eq!(hint.capacity, Rate::from_bps(990_000));
        knowledge.set_rate(Some(Rate::ZERO));
        assert_eq!(knowledge.rate(), Some(Rate::from_bps(1_000)));
        knowledge.set_rate(None);
        assert_eq!(knowledge.shaper().rate(), None);
        assert!(knowledge.hint(1.0, None).is_none());
    }

    /// What is reserved stays free also of a rate that the modem sets later.
    #[test]
    fn a_reserve_is_left_of_every_rate() {
        let text = "role = \"terminal\"\n[link]\nrate = \"20 Mbit/s\"\nreserve = \"25%\"\n\
                    [tunnel]\naddress = \"192.0.2.7\"\npeers = [\"k\"]\n[socks]\n";
        let link = crate::config::config_from_str(text).unwrap().link;
        let knowledge = Knowledge::of(&link, link.configured());
        assert_eq!(knowledge.rate(), Some(Rate::from_bps(14_850_000)));
        knowledge.set_rate(Some(Rate::from_mbps(2)));
        assert_eq!(knowledge.shaper().rate(), Some(Rate::from_bps(1_485_000)));
    }
}
