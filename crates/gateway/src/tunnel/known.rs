//! Knowledge of a box about its satellite link: the rate at which it may send, set by the
//! configuration, the rate file or the modem, and the RTT.
//!
//! The rate reaches its users at once: the shaper of the socket when it changes,
//! congestion controls at their next event.

use super::association::WHOLE;
use super::shaper::Shaper;
use crate::config::{Link, Role};
use bentpipe_cc::PathHint;
use bentpipe_units::{Duration as Span, Rate};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
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
    /// The same, before what is left to traffic beside the tunnel; and what that is.
    told: AtomicU64,
    beside: AtomicU64,
    /// The part of the rate that this may be at most.
    beside_most: f64,
    /// The part of the rest that is this process's, in thousandths, while another process of this
    /// gateway uses the link as well; and bytes of IP packets that such processes have sent.
    part: AtomicU16,
    fellows: AtomicU64,
    /// Another process tells the rate, and has left what is beside the tunnel its part; what it would be
    /// otherwise.
    led: AtomicBool,
    own: AtomicU64,
    /// The part of the link's rate that is used.
    share: f64,
    rtt: Duration,
    /// All associations use one link to its end, as a terminal's with its hubs do. Those of a hub end
    /// in links of their own.
    is_one: bool,
    shaper: Arc<Shaper>,
    /// Bytes of IP packets that the other boxes have acknowledged.
    delivered: AtomicU64,
    /// What each association has found the link to deliver, if less than the rate.
    verified: Mutex<BTreeMap<u64, Option<Rate>>>,
    enlisted: AtomicU64,
    /// The smallest round trip that was measured, nanoseconds; the largest number
    /// before that.
    smallest_rtt: AtomicU64,
}

impl Knowledge {
    /// What is known at the start: the link as configured, and the `rate` that it has now,
    /// `None` where it is to be measured.
    #[must_use]
    pub fn of(link: &Link, rate: Option<Rate>, role: Role) -> Arc<Knowledge> {
        let share = MARGIN * (1.0 - link.reserve.get());
        let is_one = role == Role::Terminal;
        Knowledge::start(rate, link.rtt, [share, link.beside.get()], is_one)
    }

    /// The same of a link of which nothing is reserved.
    #[cfg(test)]
    pub fn new(rate: Option<Rate>, rtt: Duration) -> Arc<Knowledge> {
        Knowledge::start(rate, rtt, [MARGIN, 0.5], false)
    }

    /// `shares` are what is used of the rate, and what is left of that to others at most.
    fn start(rate: Option<Rate>, rtt: Duration, shares: [f64; 2], is_one: bool) -> Arc<Knowledge> {
        let [share, beside_most] = shares;
        let used = rate.map(|rate| used(rate, share));
        Arc::new(Knowledge {
            rate: AtomicU64::new(used.map_or(0, Rate::bps)),
            told: AtomicU64::new(used.map_or(0, Rate::bps)),
            beside: AtomicU64::new(0),
            beside_most,
            part: AtomicU16::new(WHOLE),
            fellows: AtomicU64::new(0),
            led: AtomicBool::new(false),
            own: AtomicU64::new(used.map_or(0, Rate::bps)),
            share,
            rtt,
            is_one,
            shaper: Shaper::new(used),
            delivered: AtomicU64::new(0),
            verified: Mutex::default(),
            enlisted: AtomicU64::new(0),
            smallest_rtt: AtomicU64::new(u64::MAX),
        })
    }

    /// Takes a new rate of the link.
    pub fn set_rate(&self, rate: Option<Rate>) {
        let used = rate.map(|rate| used(rate, self.share));
        let bps = used.map_or(0, Rate::bps);
        self.own.store(bps, Ordering::Relaxed);
        if !self.led.load(Ordering::Relaxed) {
            self.told.store(bps, Ordering::Relaxed);
            self.settle();
        }
    }

    /// The rate that was told, as far as the tunnel may use it; `None` where it is measured.
    pub(super) fn told(&self) -> Option<Rate> {
        let bps = self.told.load(Ordering::Relaxed);
        (bps > 0).then(|| Rate::from_bps(bps))
    }

    /// Leaves so much of it to traffic beside the tunnel.
    pub(super) fn note_beside(&self, rate: Rate) {
        if self.led.load(Ordering::Relaxed) {
            return;
        }
        if self.beside.swap(rate.bps(), Ordering::Relaxed) != rate.bps() {
            self.settle();
        }
    }

    /// Sends at this rate, which the process that has taken over tells.
    pub(crate) fn follow(&self, rate: Option<Rate>) {
        self.led.store(true, Ordering::Relaxed);
        self.told
            .store(rate.map_or(0, Rate::bps), Ordering::Relaxed);
        self.beside.store(0, Ordering::Relaxed);
        self.settle();
    }

    /// Sends at the rate of this process again.
    pub(crate) fn follow_nobody(&self) {
        self.led.store(false, Ordering::Relaxed);
        let own = self.own.load(Ordering::Relaxed);
        self.told.store(own, Ordering::Relaxed);
        self.settle();
    }

    /// Uses this part of the rate, in thousandths, while other processes of this gateway have the rest.
    pub(crate) fn use_part(&self, part: u16) {
        if self.part.swap(part, Ordering::Relaxed) != part {
            self.settle();
        }
    }

    /// The rate of a process of this gateway that has this part, in thousandths.
    pub(crate) fn part(&self, part: u16) -> Option<Rate> {
        let of_whole = f64::from(part) / f64::from(WHOLE);
        let beside = self.beside.load(Ordering::Relaxed) as f64;
        self.told().map(|told| {
            // Of a rate that has just fallen the tunnel keeps its part, too.
            let beside = beside.min(self.beside_most * told.bps_f64());
            used(Rate::from_bps_f64(told.bps_f64() - beside), of_whole)
        })
    }

    /// Bytes of IP packets that this process and others of this gateway have sent into the link.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.shaper.sent_bytes() + self.fellows.load(Ordering::Relaxed)
    }

    /// Notes how many of these are others'.
    pub(crate) fn note_fellows(&self, bytes: u64) {
        self.fellows.store(bytes, Ordering::Relaxed);
    }

    fn settle(&self) {
        let used = self.part(self.part.load(Ordering::Relaxed));
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

    /// The rate that the link delivers, as far as its associations have found out: the one to send at,
    /// unless each of them has found less, or one of those that share a link to its end, where the
    /// others may have nothing to send. `None` where it is measured.
    #[must_use]
    pub fn verified(&self) -> Option<Rate> {
        let rate = self.rate()?;
        let verified = self.lock();
        if self.is_one {
            let least = verified.values().flatten().min();
            return Some(least.map_or(rate, |least| rate.min(*least)));
        }
        let all: Option<Vec<u64>> = verified.values().map(|it| it.map(Rate::bps)).collect();
        match all {
            Some(all) if !all.is_empty() => Some(Rate::from_bps(all.iter().sum()).min(rate)),
            _ => Some(rate),
        }
    }

    /// A number for an association that uses the link, until [`Knowledge::discharge`].
    pub(super) fn enlist(&self) -> u64 {
        let number = self.enlisted.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(number, None);
        number
    }

    pub(super) fn discharge(&self, number: u64) {
        self.lock().remove(&number);
    }

    /// Notes what an association has found.
    pub(super) fn verify(&self, number: u64, rate: Option<Rate>) {
        if let Some(known) = self.lock().get_mut(&number) {
            *known = rate;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Option<Rate>>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// The state of a path of that rate as a congestion control receives it: `payload` is what
    /// counts of an IP packet, as a fraction.
    #[must_use]
    pub(super) fn hint(rate: Rate, payload: f64, min_rtt: Option<Span>) -> PathHint {
        PathHint {
            capacity: Rate::from_bps_f64(rate.bps_f64() * payload),
            share: 1.0,
            active: 1,
            utilisation: 1.0,
            min_rtt,
        }
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
        let rate = knowledge.rate().expect("a rate is known");
        let hint = Knowledge::hint(rate, 0.5, None);
        assert_eq!(hint.capacity, Rate::from_bps(990_000));
        knowledge.set_rate(Some(Rate::ZERO));
        assert_eq!(knowledge.rate(), Some(Rate::from_bps(1_000)));
        knowledge.set_rate(None);
        assert_eq!(knowledge.shaper().rate(), None);
        assert_eq!(knowledge.verified(), None);
    }

    #[test]
    fn what_passes_beside_the_tunnel_is_left_of_every_rate() {
        let knowledge = Knowledge::new(Some(Rate::from_mbps(20)), Duration::from_millis(550));
        knowledge.note_beside(Rate::from_mbps(8));
        assert_eq!(knowledge.rate(), Some(Rate::from_bps(11_800_000)));
        assert_eq!(knowledge.told(), Some(Rate::from_bps(19_800_000)));
        knowledge.set_rate(Some(Rate::from_mbps(10)));
        // Half of it stays the tunnel's.
        assert_eq!(knowledge.shaper().rate(), Some(Rate::from_bps(4_950_000)));
        knowledge.set_rate(Some(Rate::from_mbps(30)));
        assert_eq!(knowledge.rate(), Some(Rate::from_bps(21_700_000)));
        knowledge.set_rate(None);
        assert_eq!(knowledge.rate(), None);
        knowledge.note_beside(Rate::ZERO);
        assert_eq!(knowledge.rate(), None);
    }

    #[test]
    fn two_processes_divide_what_is_left_of_the_rate() {
        let rtt = Duration::from_millis(550);
        let [new, old] = [(); 2].map(|()| Knowledge::new(Some(Rate::from_mbps(20)), rtt));
        new.note_beside(Rate::from_mbps(4));
        new.use_part(250);
        assert_eq!(new.rate(), Some(Rate::from_bps(3_950_000)));
        old.follow(new.part(750));
        assert_eq!(old.rate(), Some(Rate::from_bps(11_850_000)));
        // A rate that reaches the old process, too, changes nothing there.
        old.set_rate(Some(Rate::from_mbps(40)));
        old.note_beside(Rate::from_mbps(4));
        assert_eq!(old.rate(), Some(Rate::from_bps(11_850_000)));
        old.follow_nobody();
        assert_eq!(old.rate(), Some(Rate::from_bps(39_600_000)));
        old.follow(new.part(750));
        // An even older one has its part of that.
        old.use_part(500);
        assert_eq!(old.part(500), Some(Rate::from_bps(5_925_000)));
        new.use_part(WHOLE);
        assert_eq!(new.rate(), Some(Rate::from_bps(15_800_000)));
    }

    #[test]
    fn what_the_link_delivers_is_known_when_no_association_gets_more() {
        let knowledge = Knowledge::new(Some(Rate::from_mbps(20)), Duration::from_millis(550));
        let full = Some(Rate::from_bps(19_800_000));
        let (one, two) = (knowledge.enlist(), knowledge.enlist());
        knowledge.verify(one, Some(Rate::from_mbps(2)));
        assert_eq!(knowledge.verified(), full);
        knowledge.verify(two, Some(Rate::from_mbps(3)));
        assert_eq!(knowledge.verified(), Some(Rate::from_mbps(5)));
        knowledge.discharge(two);
        assert_eq!(knowledge.verified(), Some(Rate::from_mbps(2)));
        knowledge.verify(one, None);
        assert_eq!(knowledge.verified(), full);
    }

    /// What is reserved stays free also of a rate that the modem sets later.
    #[test]
    fn a_reserve_is_left_of_every_rate() {
        let text = "role = \"terminal\"\n[link]\nrate = \"20 Mbit/s\"\nreserve = \"25%\"\n\
                    [tunnel]\naddress = \"192.0.2.7\"\npeers = [\"k\"]\n[socks]\n";
        let link = crate::config::config_from_str(text).unwrap().link;
        let knowledge = Knowledge::of(&link, link.configured(), Role::Terminal);
        assert_eq!(knowledge.rate(), Some(Rate::from_bps(14_850_000)));
        // A second hub to which nothing is sent finds nothing out.
        let (used, _idle) = (knowledge.enlist(), knowledge.enlist());
        knowledge.verify(used, Some(Rate::from_mbps(3)));
        assert_eq!(knowledge.verified(), Some(Rate::from_mbps(3)));
        knowledge.set_rate(Some(Rate::from_mbps(2)));
        assert_eq!(knowledge.shaper().rate(), Some(Rate::from_bps(1_485_000)));
    }
}
