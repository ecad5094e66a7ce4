//! A waiting room whose packets the transmitter takes one by one.
//!
//! Where a queue decides only when a packet arrives, and serves in order at a
//! constant rate, the time of each transmission is known on arrival and
//! [`Queue`](crate::queue::Queue) is enough. A discipline that judges packets
//! when the transmitter is free (CoDel), throws out packets that it has taken
//! (priority drop) or writes into those that leave (XCP), keeps them here until
//! then.

use crate::arq::Arq;
use crate::codel::{CoDel, Waiting};
use crate::packet::Decision;
use crate::red::{QueueState, Red};
use crate::timed::Timed;
use crate::xcp::{Xcp, XcpHeader};
use crate::{Counters, Limit, LinkSettings, PacketMeta, QueueSettings, Verdict};
use bentpipe_units::{Duration, Time};
use std::collections::VecDeque;

/// Packets that wait, who is let in and who is sent.
#[derive(Clone, Debug)]
pub(crate) struct ManagedQueue<P> {
    waiting: Ring<P>,
    limit: Limit,
    entry: Entry,
    codel: Option<CoDel>,
    /// Packets are thrown out for others.
    pub(crate) filters_acks: bool,
    /// The link's way through its timeline, if it has one.
    pub(crate) timed: Option<Box<Timed<P>>>,
    xcp: Option<Box<Xcp>>,
    /// Its retransmission, if it has one.
    pub(crate) arq: Option<Box<Arq<P>>>,
}

/// Who is let in.
#[derive(Clone, Debug)]
enum Entry {
    /// Whoever finds room.
    DropTail,
    Red(Box<Red>),
    /// Packets of low priority up to this; others in their place.
    Priority {
        low_limit: Limit,
    },
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter<P> {
    pub(crate) entered: Time,
    pub(crate) packet: P,
    pub(crate) offered: PacketMeta,
    /// It was thrown out and only its place is left.
    gone: bool,
}

/// Packets that wait, in their order.
#[derive(Clone, Debug)]
struct Ring<P> {
    places: VecDeque<Waiter<P>>,
    /// How many places there were before the first.
    before: u64,
    /// Places of packets of low priority, counted from the first ever.
    low: VecDeque<u64>,
    packets: u64,
    bytes: u64,
    /// Time of the judgement that is going on.
    now: Time,
    /// What became of packets after they were let in.
    verdicts: VecDeque<(P, Verdict)>,
    /// Waiting times of those that were not sent, and how many they are.
    vain: Duration,
    dropped: u64,
}

impl<P: Copy> ManagedQueue<P> {
    pub(crate) fn new(settings: &LinkSettings, seed: u64, name: &str) -> ManagedQueue<P> {
        let (rate, delay) = (settings.rate, settings.one_way_delay);
        let (entry, codel) = match &settings.queue {
            QueueSettings::DropTail { .. }
            | QueueSettings::Xcp(_)
            | QueueSettings::AckFilter { .. } => (Entry::DropTail, None),
            QueueSettings::Red(red) => {
                let red = Red::new(red, rate, delay, seed, name);
                (Entry::Red(Box::new(red)), None)
            }
            QueueSettings::CoDel(codel) => (Entry::DropTail, Some(CoDel::new(codel))),
            QueueSettings::PriorityDrop { limit, low_limit } => {
                let low_limit = low_limit.unwrap_or(*limit);
                (Entry::Priority { low_limit }, None)
            }
        };
        let xcp = match &settings.queue {
            QueueSettings::Xcp(xcp) => {
                let framing = u32::try_from(settings.framing.get()).unwrap_or(u32::MAX);
                Some(Box::new(Xcp::new(xcp, rate, framing, seed, name)))
            }
            _ => None,
        };
        ManagedQueue {
            waiting: Ring {
                places: VecDeque::new(),
                before: 0,
                low: VecDeque::new(),
                packets: 0,
                bytes: 0,
                now: Time::ZERO,
                verdicts: VecDeque::new(),
                vain: Duration::ZERO,
                dropped: 0,
            },
            limit: settings.queue.limit(),
            entry,
            codel,
            filters_acks: matches!(settings.queue, QueueSettings::AckFilter { .. }),
            timed: None,
            xcp,
            arq: None,
        }
    }

    /// Decides over a packet that arrives at `now` and, where it is taken,
    /// takes it. `idle_since` says since when the transmitter has had nothing
    /// to do: it takes the packet at once, whatever the limit, unless it is
    /// `held` up.
    pub(crate) fn offer(
        &mut self,
        now: Time,
        (idle_since, held): (Option<Time>, bool),
        packet: P,
        offered: PacketMeta,
        counters: &mut Counters,
    ) -> Decision {
        self.waiting.now = now;
        if let Some(xcp) = &mut self.xcp {
            if let Some(timed) = &self.timed {
                xcp.set_rate(timed.rate(now));
            }
            let found = (self.waiting.packets, self.waiting.bytes);
            xcp.arrive(now, idle_since, offered, found);
        }
        let before = self.waiting.dropped;
        let at_once = idle_since.is_some() && !held;
        let decision = match &mut self.entry {
            Entry::Red(red) => {
                let found = QueueState {
                    now,
                    idle_since,
                    packets: self.waiting.packets as usize,
                    bytes: self.waiting.bytes,
                };
                red.decide(found, offered)
            }
            _ if at_once => Decision::Accept,
            Entry::DropTail if self.waiting.has_room(self.limit, offered) => Decision::Accept,
            Entry::DropTail => Decision::DropForced,
            Entry::Priority { low_limit } => {
                let low_limit = *low_limit;
                self.waiting.by_priority(self.limit, low_limit, offered)
            }
        };
        match decision {
            Decision::DropEarly | Decision::DropForced => {
                counters.queue_drops += 1;
                counters.early_drops += u64::from(decision == Decision::DropEarly);
                return decision;
            }
            Decision::Mark => {
                counters.marks += 1;
                self.waiting.verdicts.push_back((packet, Verdict::Marked));
            }
            Decision::Accept => {}
        }
        self.waiting.push(packet, offered);
        if let Some(xcp) = &mut self.xcp {
            xcp.admit();
        }
        // Those that made room.
        counters.queue_drops += self.waiting.dropped - before;
        if !at_once {
            counters.max_packets = counters.max_packets.max(self.waiting.packets);
            counters.max_bytes = counters.max_bytes.max(self.waiting.bytes);
        }
        decision
    }

    /// Drops the packets that wait at `now` and that `is_superfluous` names.
    pub(crate) fn drop_waiting(
        &mut self,
        now: Time,
        mut is_superfluous: impl FnMut(&P) -> bool,
        counters: &mut Counters,
    ) {
        self.waiting.now = now;
        let before = self.waiting.dropped;
        for at in 0..self.waiting.places.len() {
            let waiter = &mut self.waiting.places[at];
            if waiter.gone || !is_superfluous(&waiter.packet) {
                continue;
            }
            waiter.gone = true;
            let waiter = *waiter;
            self.waiting.leave(&waiter);
            self.waiting.refuse(&waiter);
        }
        self.waiting.clear_head();
        let dropped = self.waiting.dropped - before;
        counters.queue_drops += dropped;
        counters.early_drops += dropped;
    }

    /// Takes the packet that a transmitter sends that is free at `now`.
    pub(crate) fn next(&mut self, now: Time, counters: &mut Counters) -> Option<Waiter<P>> {
        if let Some(xcp) = &mut self.xcp {
            let found = (self.waiting.packets, self.waiting.bytes);
            let waiter = self.waiting.take()?;
            if let Some(feedback) = xcp.depart(now, waiter.offered, found) {
                self.tell(waiter.packet, Verdict::Feedback(feedback));
            }
            return Some(waiter);
        }
        let Some(codel) = &mut self.codel else {
            return self.waiting.take();
        };
        self.waiting.now = now;
        let before = self.waiting.dropped;
        let next = codel.next(now, &mut self.waiting);
        let dropped = self.waiting.dropped - before;
        counters.queue_drops += dropped;
        counters.early_drops += dropped;
        let (waiter, marked) = next?;
        if marked {
            counters.marks += 1;
            self.tell(waiter.packet, Verdict::Marked);
        }
        Some(waiter)
    }

    /// The congestion header of the packet that is offered next.
    pub(crate) fn announce(&mut self, header: Option<XcpHeader>) {
        if let Some(xcp) = &mut self.xcp {
            xcp.announce(header);
        }
    }

    /// True if packets are to be offered with their congestion headers.
    pub(crate) fn reads_headers(&self) -> bool {
        self.xcp.is_some()
    }

    /// When the packet at the head came.
    pub(crate) fn head(&self) -> Option<Time> {
        self.waiting.head().map(|w| w.entered)
    }

    pub(crate) fn packets(&self) -> u64 {
        self.waiting.packets
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.waiting.bytes
    }

    /// Packets that wait, are on the link and will be lost, or may be sent
    /// again.
    pub(crate) fn inside(&self) -> usize {
        let pending_losses = self.timed.as_ref().map_or(0, |t| t.pending_losses().len());
        let held = self.arq.as_ref().map_or(0, |arq| arq.held());
        self.waiting.packets as usize + pending_losses + held
    }

    /// The packets that wait, the next first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &P> {
        let here = self.waiting.places.iter().filter(|w| !w.gone);
        here.map(|w| &w.packet)
    }

    /// Packets that were dropped after they were let in.
    pub(crate) fn dropped(&self) -> u64 {
        self.waiting.dropped
    }

    /// Remembers what became of a packet.
    pub(crate) fn tell(&mut self, packet: P, verdict: Verdict) {
        self.waiting.verdicts.push_back((packet, verdict));
    }

    /// What became of a packet that was let in, the first not told yet.
    pub(crate) fn poll_verdict(&mut self) -> Option<(P, Verdict)> {
        self.waiting.verdicts.pop_front()
    }

    /// True if something is to be told.
    pub(crate) fn has_verdict(&self) -> bool {
        !self.waiting.verdicts.is_empty()
    }

    /// Waiting times up to `now` of packets that were not sent (yet).
    pub(crate) fn waited(&self, now: Time) -> Duration {
        let here = self.waiting.places.iter().filter(|w| !w.gone);
        here.map(|w| now.since(w.entered))
            .fold(self.waiting.vain, |sum, wait| sum + wait)
    }
}

impl<P: Copy> Ring<P> {
    fn has_room(&self, limit: Limit, offered: PacketMeta) -> bool {
        fits(limit, self.packets, self.bytes, offered.bytes)
    }

    fn push(&mut self, packet: P, offered: PacketMeta) {
        if offered.low_priority {
            self.low.push_back(self.before + self.places.len() as u64);
        }
        self.places.push_back(Waiter {
            entered: self.now,
            packet,
            offered,
            gone: false,
        });
        self.packets += 1;
        self.bytes += u64::from(offered.bytes);
    }

    /// The first packet: the first place is never without one.
    fn head(&self) -> Option<&Waiter<P>> {
        self.places.front()
    }

    /// Lets packets of low priority make room for others.
    fn by_priority(&mut self, limit: Limit, low_limit: Limit, offered: PacketMeta) -> Decision {
        let fits_low = !offered.low_priority || self.has_room(low_limit, offered);
        if fits_low && self.has_room(limit, offered) {
            return Decision::Accept;
        }
        if offered.low_priority {
            return Decision::DropForced;
        }
        // Those nearest to the tail, as many as are needed, or none.
        let (mut packets, mut bytes) = (self.packets, self.bytes);
        for (before, place) in self.low.iter().rev().enumerate() {
            packets -= 1;
            bytes -= u64::from(self.at(*place).map_or(0, |w| w.offered.bytes));
            if fits(limit, packets, bytes, offered.bytes) {
                for _ in 0..=before {
                    self.drop_last_low();
                }
                return Decision::Accept;
            }
        }
        Decision::DropForced
    }

    fn at(&self, place: u64) -> Option<&Waiter<P>> {
        self.places.get((place - self.before) as usize)
    }

    fn drop_last_low(&mut self) {
        let Some(place) = self.low.pop_back() else {
            return;
        };
        let Some(waiter) = self.places.get_mut((place - self.before) as usize) else {
            return;
        };
        waiter.gone = true;
        let waiter = *waiter;
        self.leave(&waiter);
        self.refuse(&waiter);
        self.clear_head();
    }

    /// Drops places without a packet at the head, so that the first place has
    /// one.
    fn clear_head(&mut self) {
        while self.places.front().is_some_and(|w| w.gone) {
            self.places.pop_front();
            if self.low.front() == Some(&self.before) {
                self.low.pop_front();
            }
            self.before += 1;
        }
    }

    fn leave(&mut self, waiter: &Waiter<P>) {
        self.packets -= 1;
        self.bytes -= u64::from(waiter.offered.bytes);
    }

    fn refuse(&mut self, waiter: &Waiter<P>) {
        self.dropped += 1;
        self.vain += self.now.since(waiter.entered);
        self.verdicts.push_back((waiter.packet, Verdict::QueueDrop));
    }
}

impl<P: Copy> Waiting for Ring<P> {
    type Packet = Waiter<P>;

    fn take(&mut self) -> Option<Waiter<P>> {
        let waiter = self.places.pop_front()?;
        if self.low.front() == Some(&self.before) {
            self.low.pop_front();
        }
        self.before += 1;
        self.leave(&waiter);
        self.clear_head();
        Some(waiter)
    }

    fn entered(packet: &Waiter<P>) -> Time {
        packet.entered
    }

    fn ecn_capable(packet: &Waiter<P>) -> bool {
        packet.offered.ecn_capable
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn drop_taken(&mut self, packet: Waiter<P>) {
        self.refuse(&packet);
    }
}

/// True if one more packet of `more` bytes fits.
fn fits(limit: Limit, packets: u64, bytes: u64, more: u32) -> bool {
    match limit {
        Limit::Packets(n) => packets < u64::from(n),
        Limit::Bytes(n) => bytes.saturating_add(u64::from(more)) <= n.get(),
    }
}

#[cfg(test)]
#[path = "managed_tests.rs"]
mod tests;
