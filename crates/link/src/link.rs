//! One direction between two nodes.

mod event_driven;
mod port;

use crate::arq::Arq;
use crate::channel::Channel;
use crate::delays::DelayHistogram;
use crate::managed::ManagedQueue;
use crate::packet::Decision;
use crate::queue::Queue;
use crate::red::{QueueState, Red};
use crate::timed::Timed;
use crate::transmitter::Transmitter;
use crate::{
    Admission, ArqSettings, Counters, Limit, LinkSettings, PacketMeta, QueueSettings, Timeline,
    Verdict,
};
use bentpipe_units::{Bytes, Duration, Time};
use port::Port;
use std::collections::VecDeque;
use std::sync::Arc;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Carried<P> {
    arrival: Time,
    packet: P,
}

/// Who may wait, beyond the limit of the queue.
#[derive(Clone, Debug)]
enum Discipline<P> {
    /// Whoever finds room.
    DropTail,
    Red(Box<Red>),
    /// The transmitter takes packets from here.
    EventDriven(Box<ManagedQueue<P>>),
    /// A medium takes packets from here.
    Port(Box<Port<P>>),
}

/// A link that carries packets of type `P` (a handle, or a whole packet).
#[derive(Clone, Debug)]
pub struct Link<P> {
    propagation: Duration,
    transmitter: Transmitter,
    carried: VecDeque<Carried<P>>,
    queue: Queue,
    discipline: Discipline<P>,
    /// Boxed, so that the many links that lose nothing stay small.
    channel: Option<Box<Channel>>,
    counters: Counters,
    delays: Option<Box<DelayHistogram>>,
}

impl<P: Copy> Link<P> {
    /// The link called `name` in the run with seed `seed`.
    #[must_use]
    pub fn new(settings: &LinkSettings, seed: u64, name: &str) -> Link<P> {
        let discipline = match &settings.queue {
            queue if queue.is_event_driven() => {
                Discipline::EventDriven(Box::new(ManagedQueue::new(settings, seed, name)))
            }
            QueueSettings::Red(red) => {
                let (rate, delay) = (settings.rate, settings.one_way_delay);
                Discipline::Red(Box::new(Red::new(red, rate, delay, seed, name)))
            }
            _ => Discipline::DropTail,
        };
        Link {
            propagation: settings.one_way_delay,
            transmitter: Transmitter::new(settings.rate, settings.framing),
            carried: VecDeque::new(),
            queue: Queue::new(settings.queue.limit()),
            discipline,
            channel: Channel::new(&settings.channel, seed, name).map(Box::new),
            counters: Counters::default(),
            delays: None,
        }
    }

    /// The same link, event-driven whatever its queue, with the same results.
    #[must_use]
    pub fn event_driven(settings: &LinkSettings, seed: u64, name: &str) -> Link<P> {
        Link {
            discipline: Discipline::EventDriven(Box::new(ManagedQueue::new(settings, seed, name))),
            ..Link::new(settings, seed, name)
        }
    }

    /// The same link with rate, delay, loss and route as `timeline` says;
    /// `settings.rate` and `settings.one_way_delay` still give the automatic
    /// parameters of a RED queue.
    #[must_use]
    pub fn with_timeline(
        settings: &LinkSettings,
        timeline: Arc<Timeline>,
        seed: u64,
        name: &str,
    ) -> Link<P> {
        let mut room = ManagedQueue::new(settings, seed, name);
        room.timed = Some(Box::new(Timed::new(settings, timeline, seed, name)));
        Link {
            discipline: Discipline::EventDriven(Box::new(room)),
            ..Link::new(settings, seed, name)
        }
    }

    /// The same link, which sends again what its channel loses.
    #[must_use]
    pub fn with_arq(settings: &LinkSettings, arq: &ArqSettings, seed: u64, name: &str) -> Link<P> {
        let mut room = ManagedQueue::new(settings, seed, name);
        room.arq = Some(Box::new(Arq::new(arq, settings.one_way_delay)));
        Link {
            discipline: Discipline::EventDriven(Box::new(room)),
            ..Link::new(settings, seed, name)
        }
    }

    /// Keeps the distribution of the queueing delay over time from here on.
    pub fn record_delays(&mut self, settings: &LinkSettings) {
        if self.port_records_waits() {
            return;
        }
        let bytes = match settings.queue.limit() {
            Limit::Packets(n) => Bytes::new((u64::from(n) + 1).saturating_mul(1500)),
            Limit::Bytes(n) => n + Bytes::new(3000),
        };
        let longest = match self.timed() {
            Some(timed) => timed.longest(bytes.get()).min(Duration::from_secs(3600)),
            // An unbounded queue would make every bin a second wide.
            None => {
                let longest = self.transmitter.rate.transmission_time(bytes);
                longest.min(Duration::from_secs(60))
            }
        };
        self.delays = Some(Box::new(DelayHistogram::new(longest)));
    }

    /// Offers a packet at `now`. Calls must not go back in time.
    pub fn offer(&mut self, now: Time, packet: P, offered: PacketMeta) -> Verdict {
        match self.admit(now, offered) {
            Admission::Arrives { at, marked } => {
                self.carry(at, packet);
                if marked {
                    Verdict::Marked
                } else {
                    Verdict::Accepted
                }
            }
            Admission::Refused(verdict) => verdict,
            Admission::EventDriven => self.enqueue(now, packet, offered),
        }
    }

    /// The first half of [`Link::offer`]: queue, transmitter and channel
    /// decide over a packet without taking it. Whoever calls this sees to it
    /// that the packet is at the far end when it arrives. A event-driven link wants
    /// the packet itself.
    // Once a hop: a call costs more than the decision.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, offered: PacketMeta) -> Admission {
        if !matches!(self.discipline, Discipline::DropTail) {
            return self.admit_managed(now, offered);
        }
        self.counters.offered += 1;
        let waits = self.transmitter.next_free > now;
        if waits {
            self.queue.advance(now);
            if !self.queue.admits(offered.bytes) {
                self.counters.queue_drops += 1;
                return Admission::Refused(Verdict::QueueDrop);
            }
        }
        self.transmit(now, offered.bytes, waits, false)
    }

    /// The same where more than the room decides.
    #[inline(never)]
    fn admit_managed(&mut self, now: Time, offered: PacketMeta) -> Admission {
        let Discipline::Red(red) = &mut self.discipline else {
            return Admission::EventDriven;
        };
        self.queue.advance(now);
        let next_free = self.transmitter.next_free;
        let found = QueueState {
            now,
            idle_since: (next_free <= now).then_some(next_free),
            packets: self.queue.packets(),
            bytes: self.queue.bytes(),
        };
        let decision = red.decide(found, offered);
        let marked = decision == Decision::Mark;
        self.counters.offered += 1;
        self.counters.marks += u64::from(marked);
        if let Decision::DropEarly | Decision::DropForced = decision {
            self.counters.queue_drops += 1;
            self.counters.early_drops += u64::from(decision == Decision::DropEarly);
            return Admission::Refused(Verdict::QueueDrop);
        }
        self.transmit(now, offered.bytes, next_free > now, marked)
    }

    /// Sends a packet that the queue has taken as soon as the transmitter is
    /// free.
    #[inline(always)]
    fn transmit(&mut self, now: Time, bytes: u32, waits: bool, marked: bool) -> Admission {
        let next_free = self.transmitter.next_free;
        if waits {
            self.queue.push(now, next_free, bytes);
            self.counters.max_packets = self.counters.max_packets.max(self.queue.packets() as u64);
            self.counters.max_bytes = self.counters.max_bytes.max(self.queue.bytes());
            self.counters.queueing += next_free.since(now);
        }
        let start = if waits { next_free } else { now };
        let next_free = start + self.transmitter.time(bytes);
        self.transmitter.next_free = next_free;
        if let Some(delays) = &mut self.delays {
            delays.record(now, next_free.since(now));
        }
        let wire = bytes.saturating_add(self.transmitter.framing);
        if self.channel.as_mut().is_some_and(|c| c.loses(wire)) {
            self.counters.channel_losses += 1;
            self.counters.lost_bytes += u64::from(bytes);
            return Admission::Refused(Verdict::ChannelLoss);
        }
        self.counters.accepted_bytes += u64::from(bytes);
        let at = next_free + self.propagation;
        Admission::Arrives { at, marked }
    }

    /// The second half of [`Link::offer`]: takes a packet that was admitted
    /// and arrives at `arrival`. True if it is the only one under way.
    #[inline]
    pub fn carry(&mut self, arrival: Time, packet: P) -> bool {
        let only = self.carried.is_empty();
        self.carried.push_back(Carried { arrival, packet });
        only
    }

    /// When the packet at the head arrives at the far end.
    #[must_use]
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        self.carried.front().map(|c| c.arrival)
    }

    /// Takes the packet at the head off a precomputed link; its arrival is due. A
    /// event-driven link is asked with [`Link::deliver_due`].
    #[inline]
    pub fn deliver(&mut self) -> Option<P> {
        self.carried.pop_front().map(|c| c.packet)
    }

    /// Packets that have left at the far end, or that were admitted and not
    /// carried.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        let c = &self.counters;
        let lost = c.queue_drops + c.channel_losses + c.outage_losses;
        c.offered - lost - self.in_flight() as u64
    }

    /// Packets whose transmission has begun that have not arrived yet and when
    /// they will, the next first.
    pub fn under_way(&self) -> impl Iterator<Item = (Time, &P)> {
        self.carried.iter().map(|c| (c.arrival, &c.packet))
    }

    /// When the transmission of each of the packets of [`Link::under_way`]
    /// ends.
    pub fn sent(&self) -> impl Iterator<Item = Time> {
        let timed = self.timed();
        self.carried.iter().enumerate().map(move |(place, c)| {
            let sent = timed.and_then(|timed| timed.sent(place));
            sent.unwrap_or_else(|| Time::ZERO + c.arrival.since(Time::ZERO + self.propagation))
        })
    }

    /// Packets in the queue, in transmission or in propagation: those that
    /// will arrive and, on a link with a timeline, those that will be lost.
    #[must_use]
    #[inline]
    pub fn in_flight(&self) -> usize {
        let held = usize::from(self.held().is_some());
        self.carried.len() + held + self.room().map_or(0, ManagedQueue::inside)
    }

    /// When all that has been accepted will be transmitted.
    #[must_use]
    #[inline]
    pub fn free_at(&self) -> Time {
        self.transmitter.next_free
    }

    /// Packets that wait at `now`.
    pub fn waiting(&mut self, now: Time) -> usize {
        self.advance(now);
        self.queue.advance(now);
        self.room()
            .map_or(self.queue.packets(), |room| room.packets() as usize)
    }

    /// True if the queue has room for a packet of `bytes` at `now`. Whether
    /// the discipline takes it all the same is another question.
    pub fn has_room(&mut self, now: Time, bytes: u32) -> bool {
        self.advance(now);
        self.queue.advance(now);
        let Some(room) = self.room() else {
            return self.transmitter.next_free <= now || self.queue.admits(bytes);
        };
        match self.queue.limit() {
            Limit::Packets(n) => room.packets() < u64::from(n),
            Limit::Bytes(n) => room.bytes() + u64::from(bytes) <= n.get(),
        }
    }

    /// What the link has done so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How long a packet would wait that came at `now`.
    fn backlog(&self, now: Time) -> Duration {
        let sending = self.transmitter.next_free.since(now);
        match self.room() {
            Some(room) => {
                let waiting = self.transmitter.wire(room.packets(), room.bytes());
                if let Some(timed) = &room.timed {
                    return timed.drain(now, self.transmitter.next_free, waiting.get());
                }
                sending + self.transmitter.rate.transmission_time(waiting)
            }
            None => sending,
        }
    }

    /// Closes the record of delays at `now`, the end of the run, and returns
    /// the delay at `quantile` (0 to 1) of time; zero if none was recorded. For
    /// a [port](Link::port) it is of packets instead: how long a packet waits
    /// there depends on others, too, and not on the backlog alone.
    pub fn queueing_delay_quantile(&mut self, now: Time, quantile: f64) -> Duration {
        self.record_pauses(now);
        let backlog = self.backlog(now);
        match &mut self.delays {
            Some(delays) => {
                delays.record(now, backlog);
                delays.quantile(quantile)
            }
            None => self.port_wait_quantile(quantile),
        }
    }

    /// Packets that waited on the mean over the time up to `now`, the end of
    /// the run.
    #[must_use]
    pub fn mean_waiting(&mut self, now: Time) -> f64 {
        self.advance(now);
        self.queue.advance(now);
        // By Little's law: the waiting times of all packets over the time.
        let waited = match self.room() {
            Some(room) => self.counters.queueing + room.waited(now) + self.held_since(now),
            None => {
                let still = self.queue.still_to_wait(now);
                self.counters.queueing.saturating_sub(still)
            }
        };
        if now == Time::ZERO {
            0.0
        } else {
            waited.as_secs() / now.as_secs()
        }
    }

    #[cfg(test)]
    pub(crate) fn red(&self) -> Option<&Red> {
        match &self.discipline {
            Discipline::Red(red) => Some(red),
            _ => None,
        }
    }

    /// Share of the time up to `now` that the transmitter was busy.
    #[must_use]
    pub fn utilisation(&self, now: Time) -> f64 {
        if let Some(timed) = self.timed() {
            return share(timed.busy(now), now);
        }
        if let Some(arq) = self.room().and_then(|room| room.arq.as_deref()) {
            let ahead = self.transmitter.next_free.since(now);
            return share(arq.busy.saturating_sub(ahead), now);
        }
        let c = &self.counters;
        let sent = c.offered - c.queue_drops - self.unsent();
        let given = self.transmitter.wire(sent, c.accepted_bytes + c.lost_bytes);
        let busy = self
            .transmitter
            .rate
            .transmission_time(given)
            .saturating_sub(self.transmitter.next_free.since(now));
        share(busy, now)
    }
}

/// Share of the time up to `now`.
fn share(busy: Duration, now: Time) -> f64 {
    if now == Time::ZERO {
        0.0
    } else {
        (busy.as_secs() / now.as_secs()).min(1.0)
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "link/kinds_tests.rs"]
mod kinds_tests;

#[cfg(test)]
#[path = "link/timed_tests.rs"]
mod timed_tests;

#[cfg(test)]
#[path = "link/arq_tests.rs"]
mod arq_tests;
