//! One direction between two nodes.

mod backlog;
mod build;
mod cut;
mod event_driven;
mod port;
mod scheduled;
mod statistics;

pub use build::LinkPlan;

use crate::channel::Channel;
use crate::counters::Tally;
use crate::delays::DelayHistogram;
use crate::pool::Train;
use crate::queue::{AdmissionRule, Decision, QueueState, Red};
use crate::ring::Ring;
use crate::transmitter::Transmitter;
use crate::{Admission, Counters, PacketMeta, PacketPool, Verdict};
use backlog::Backlog;
use bentpipe_units::{Duration, Time};
use event_driven::EventDriven;
use port::Port;
use scheduled::Scheduled;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Carried<P> {
    arrival: Time,
    packet: P,
}

/// How packets get from the queue to the wire.
#[derive(Clone, Debug)]
enum Service<P> {
    /// Precomputed; whatever finds room is admitted.
    DropTail,
    /// Precomputed; RED decides over arriving packets.
    Red(Box<Red>),
    /// Precomputed, on a link with a timeline.
    Scheduled(Box<Scheduled<P>>),
    /// The transmitter takes packets from a queue.
    EventDriven(Box<EventDriven<P>>),
    /// A medium takes packets from a queue.
    Port(Box<Port<P>>),
}

/// A link that carries packets of type `P` (a handle, or a whole packet).
///
/// Where queue, transmitter and channel decide over a packet on its arrival and the delay does not
/// vary, packets on their way are in a [`PacketPool`] that all links of a network share, and which
/// is handed in; other links keep them themselves.
#[derive(Clone, Debug)]
pub struct Link<P> {
    propagation: Duration,
    transmitter: Transmitter,
    /// Packets whose transmission has begun, of a link that has no ring for them.
    carried: Train,
    /// Waiting packets of a precomputed link.
    backlog: Backlog,
    service: Service<P>,
    /// Boxed, so that the many links that lose nothing stay small.
    channel: Option<Box<Channel>>,
    counters: Tally,
    delays: Option<Box<DelayHistogram>>,
}

impl<P: Copy> Link<P> {
    /// Offers a packet at `now`. Calls must not go back in time.
    pub fn offer(
        &mut self,
        pool: &mut PacketPool<P>,
        now: Time,
        packet: P,
        meta: PacketMeta,
    ) -> Verdict {
        match self.admit(now, meta) {
            Admission::Arrives { at, marked } => {
                self.carry(pool, at, packet);
                if marked {
                    Verdict::Marked
                } else {
                    Verdict::Accepted
                }
            }
            Admission::Lost { verdict, .. } => verdict,
            Admission::EventDriven => self.enqueue(now, packet, meta),
        }
    }

    /// The first half of [`Link::offer`]: queue, transmitter and channel
    /// decide over a packet without taking it. The caller sees to it that the
    /// packet is at the far end when it arrives. An event-driven link must be
    /// given the packet itself.
    // Once a hop: a call costs more than the decision.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, meta: PacketMeta) -> Admission {
        if !matches!(self.service, Service::DropTail) {
            return self.admit_managed(now, meta);
        }
        self.counters.offered += 1;
        let waits = self.transmitter.next_free > now;
        if waits {
            self.backlog.advance(now);
            if !self.backlog.admits(meta.bytes) {
                self.counters.queue_drops += 1;
                let verdict = Verdict::QueueDrop;
                return Admission::Lost { verdict, at: now };
            }
        } else {
            self.backlog.clear();
        }
        self.transmit(now, meta.bytes, waits, false)
    }

    /// The same where more than the room decides.
    #[inline(never)]
    fn admit_managed(&mut self, now: Time, meta: PacketMeta) -> Admission {
        let Service::Red(red) = &mut self.service else {
            return self.admit_scheduled(now, meta);
        };
        self.backlog.advance(now);
        let next_free = self.transmitter.next_free;
        let state = QueueState {
            now,
            idle_since: (next_free <= now).then_some(next_free),
            blocked: false,
            packets: self.backlog.packets(),
            bytes: self.backlog.bytes(),
        };
        let decision = red.decide(state, meta);
        let marked = decision == Decision::Mark;
        self.counters.offered += 1;
        if marked {
            self.counters.rare_mut().marks += 1;
        }
        if !decision.accepts() {
            self.counters.queue_drops += 1;
            if decision == Decision::DropEarly {
                self.counters.rare_mut().early_drops += 1;
            }
            let verdict = Verdict::QueueDrop;
            return Admission::Lost { verdict, at: now };
        }
        self.transmit(now, meta.bytes, next_free > now, marked)
    }

    /// Sends a packet that the queue has taken as soon as the transmitter is
    /// free.
    #[inline(always)]
    fn transmit(&mut self, now: Time, bytes: u32, waits: bool, marked: bool) -> Admission {
        let next_free = self.transmitter.next_free;
        if waits {
            self.backlog.push(now, next_free, bytes);
            self.counters.max_packets = self.counters.max_packets.max(self.backlog.packets());
            self.counters.max_bytes = self.counters.max_bytes.max(self.backlog.bytes());
            self.counters.queueing += next_free.since(now);
        }
        let start = if waits { next_free } else { now };
        let next_free = start + self.transmitter.time(bytes);
        self.transmitter.next_free = next_free;
        if let Some(delays) = &mut self.delays {
            delays.record(now, next_free.since(now));
        }
        let wire = self.transmitter.wire.packet(bytes);
        if self
            .channel
            .as_mut()
            .is_some_and(|c| c.loses(wire, next_free))
        {
            let verdict = Verdict::ChannelLoss;
            self.counters.lose(verdict, bytes);
            return Admission::Lost {
                verdict,
                at: next_free,
            };
        }
        self.counters.accepted_bytes += u64::from(bytes);
        let at = next_free + self.propagation;
        Admission::Arrives { at, marked }
    }

    /// The second half of [`Link::offer`]: takes the packet that was admitted
    /// last and arrives at `arrival`. True if it is the next one to arrive.
    // Once a hop, as `admit`.
    #[inline(always)]
    pub fn carry(&mut self, pool: &mut PacketPool<P>, arrival: Time, packet: P) -> bool {
        if matches!(self.service, Service::Scheduled(_)) {
            return self.carry_scheduled(arrival, packet);
        }
        self.carried.push(pool, arrival, packet)
    }

    /// When the packet at the head arrives at the far end.
    #[must_use]
    #[inline]
    pub fn next_arrival(&self, pool: &PacketPool<P>) -> Option<Time> {
        match self.uses_pool() {
            true => self.carried.next_arrival(pool),
            false => self.ring_arrival(),
        }
    }

    /// The same of a link that keeps its packets itself.
    #[inline]
    fn ring_arrival(&self) -> Option<Time> {
        Some(self.ring()?.front()?.arrival)
    }

    /// Takes the packet at the head off a precomputed link, if it has arrived by
    /// `now`: where routes change it may have been overtaken. With it comes when the next one
    /// arrives. An event-driven link has [`Link::deliver_due`].
    #[inline(always)]
    pub fn deliver(&mut self, pool: &mut PacketPool<P>, now: Time) -> Option<(P, Option<Time>)> {
        if self.uses_pool() {
            self.carried.pop(pool, now)
        } else {
            Some((self.leave_ring(now)?, self.ring_arrival()))
        }
    }

    /// True if the packets on it are in the network's pool: decided ahead, and in order.
    #[inline(always)]
    pub(crate) fn uses_pool(&self) -> bool {
        matches!(self.service, Service::DropTail | Service::Red(_))
    }

    /// The same of a link that keeps its packets itself.
    #[inline]
    fn leave_ring(&mut self, now: Time) -> Option<P> {
        let ring = match &mut self.service {
            Service::Scheduled(service) => &mut service.carried,
            Service::EventDriven(server) => &mut server.carried,
            Service::Port(port) => &mut port.carried,
            Service::DropTail | Service::Red(_) => return None,
        };
        let head = *ring.front()?;
        if head.arrival > now {
            return None;
        }
        ring.drop_front();
        Some(head.packet)
    }

    /// The packets on a link that keeps them itself.
    #[inline]
    fn ring(&self) -> Option<&Ring<Carried<P>>> {
        match &self.service {
            Service::Scheduled(service) => Some(&service.carried),
            Service::EventDriven(server) => Some(&server.carried),
            Service::Port(port) => Some(&port.carried),
            Service::DropTail | Service::Red(_) => None,
        }
    }

    /// Packets that have left at the far end, or that were admitted and not
    /// carried.
    #[must_use]
    pub fn delivered(&self, pool: &PacketPool<P>) -> u64 {
        let c = self.counters();
        let lost = c.queue_drops + c.channel_losses + c.outage_losses;
        c.offered - lost - self.in_flight(pool) as u64
    }

    /// Packets whose transmission has begun that have not arrived yet and when
    /// they will, the next first.
    pub fn under_way<'a>(&'a self, pool: &'a PacketPool<P>) -> impl Iterator<Item = (Time, &'a P)> {
        let ring = self.ring().into_iter().flat_map(Ring::iter);
        let ring = ring.map(|c| (c.arrival, &c.packet));
        ring.chain(self.carried.iter(pool))
    }

    /// When the transmission of each of the packets of [`Link::under_way`]
    /// ends.
    pub fn sent<'a>(&'a self, pool: &'a PacketPool<P>) -> impl Iterator<Item = Time> {
        let under_way = self.under_way(pool).enumerate();
        under_way.map(|(place, (arrival, _))| {
            let sent = match &self.service {
                Service::Scheduled(service) => service.sent(place),
                _ => self.timed().and_then(|timed| timed.sent(place)),
            };
            sent.unwrap_or_else(|| Time::ZERO + arrival.since(Time::ZERO + self.propagation))
        })
    }

    /// Packets in the queue, in transmission or in propagation: those that
    /// will arrive and, on a link with a timeline, those that will be lost.
    #[must_use]
    pub fn in_flight(&self, pool: &PacketPool<P>) -> usize {
        self.carried.iter(pool).count() + self.ring().map_or(0, Ring::len) + self.inside()
    }

    /// When all that has been accepted will be transmitted.
    #[must_use]
    #[inline]
    pub fn free_at(&self) -> Time {
        self.transmitter.next_free
    }

    /// Counters of the link since the start of the run.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters.counters()
    }

    #[cfg(test)]
    pub(crate) fn red(&self) -> Option<&Red> {
        match &self.service {
            Service::Red(red) => Some(red),
            _ => None,
        }
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
