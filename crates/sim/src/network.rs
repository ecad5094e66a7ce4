//! Links, packets and the event queue: everything between the endpoints.

mod corruption;
mod media;
mod middlebox;
mod stepped;
mod ways;

use crate::ahead::Ahead;
use crate::arena::{Arena, Handle};
use crate::connections::Connections;
use crate::ledger::{Ledger, Pending};
use crate::observer::Observer;
use crate::queue::{Class, Event, EventQueue};
use bentpipe_link::{Admission, Link, LinkPlan, PacketMeta, Verdict};
use bentpipe_middlebox::AckFilter;
use bentpipe_scenario::{Scenario, Stranded};
use bentpipe_tcp::packet::ecn;
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::{Duration, Time};
use corruption::Corruption;
use media::Media;
use middlebox::Boxes;
use ways::{NOWHERE, Ways};

pub(crate) use ways::Way;

/// A packet on a link: what its next hop needs without a look at the packet
/// itself, which by then has long left the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    handle: Handle,
    /// The way that it takes, chosen when it was sent.
    way: u32,
    pub(crate) bytes: u16,
    /// Links crossed so far.
    hop: u8,
    /// Bits of [`class`].
    class: u8,
    /// Microseconds from its entry into the link to its arrival: with that,
    /// who was offered ahead of time and has not entered yet can be told at
    /// the end of a run.
    crossing_us: u32,
}

/// What queues may do with a packet.
mod class {
    use bentpipe_tcp::Packet;
    use bentpipe_tcp::packet::{ecn, priority};

    /// It may be marked.
    pub(super) const ECN_CAPABLE: u8 = 1;
    /// It may be dropped first.
    pub(super) const LOW_PRIORITY: u8 = 2;

    /// What queues may do with `packet`.
    #[inline]
    pub(super) fn of(packet: &Packet) -> u8 {
        let mut class = 0;
        if packet.ecn != ecn::NOT_CAPABLE {
            class |= ECN_CAPABLE;
        }
        if packet.priority & priority::LOW != 0 {
            class |= LOW_PRIORITY;
        }
        class
    }
}

const _: () = assert!(size_of::<Carried>() == 16);

impl Carried {
    #[inline]
    fn meta(&self) -> PacketMeta {
        PacketMeta {
            bytes: u32::from(self.bytes),
            ecn_capable: self.class & class::ECN_CAPABLE != 0,
            low_priority: self.class & class::LOW_PRIORITY != 0,
        }
    }

    /// When the packet, which arrives at `arrival`, enters its link.
    pub(crate) fn enters(&self, arrival: Time) -> Time {
        let crossing = Duration::from_micros(u64::from(self.crossing_us));
        Time::from_nanos(arrival.as_nanos().saturating_sub(crossing.as_nanos()))
    }
}

/// The network between the endpoints, which [`Connections`] number.
#[derive(Debug)]
pub(crate) struct Network<'a, O> {
    pub(crate) now: Time,
    pub(crate) events: EventQueue,
    pub(crate) links: Vec<Link<Carried>>,
    pub(crate) ledger: Ledger,
    pub(crate) observer: &'a mut O,
    packets: Arena,
    ack_filter: AckFilter,
    /// Most packets that may be alive at once.
    limit: usize,
    pub(crate) ways: Ways,
    pub(crate) boxes: Boxes,
    pub(crate) ahead: Ahead,
    /// The next event of each event-driven link that is in the queue.
    queued: Vec<Time>,
    /// The node that each link leaves, where packets may be rerouted.
    reroutes: Option<Vec<u32>>,
    pub(crate) connections: Connections,
    pub(crate) media: Media,
    /// Kept where links tell receivers of what they destroyed.
    pub(crate) corruption: Option<Box<Corruption>>,
}

impl<'a, O: Observer> Network<'a, O> {
    pub(crate) fn new(
        scenario: &Scenario,
        seed: u64,
        delays: bool,
        observer: &'a mut O,
    ) -> Network<'a, O> {
        let links: Vec<Link<Carried>> = scenario
            .links
            .iter()
            .map(|l| {
                Link::build(&LinkPlan {
                    timeline: l.timeline.as_ref(),
                    arq: l.arq.as_ref(),
                    shares_medium: l.medium.is_some(),
                    record_delays: delays,
                    precompute: l.timeline.is_none() || scenario.stranded != Stranded::Rerouted,
                    ..LinkPlan::new(&l.settings, seed, &l.name)
                })
            })
            .collect();
        let boxes = Boxes::new(scenario);
        let ways = Ways::new(scenario, &boxes);
        let mut events = EventQueue::default();
        events.extend(ways.next_change());
        let reroutes = (scenario.stranded == Stranded::Rerouted)
            .then(|| scenario.links.iter().map(|l| l.from.0).collect());
        let ahead = Ahead::new(scenario);
        Network {
            now: Time::ZERO,
            events,
            queued: vec![Time::MAX; links.len()],
            links,
            ledger: Ledger::new(ways.hops.len()),
            observer,
            packets: Arena::default(),
            ack_filter: AckFilter::default(),
            limit: scenario.limits.packets as usize,
            boxes,
            ways,
            ahead,
            reroutes,
            connections: Connections::new(scenario),
            media: Media::new(scenario, seed),
            corruption: Corruption::new(scenario),
        }
    }

    /// True if more packets were alive at once than may be.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.packets.capacity() > self.limit
    }

    /// The packet at the head of link `index` arrives: it goes on to its next
    /// link, or its handle is returned at its destination.
    #[inline]
    pub(crate) fn arrive(&mut self, index: u32) -> Option<Handle> {
        let mut carried = if index as usize >= self.links.len() {
            self.take_shared(index - self.links.len() as u32)?
        } else if self.links[index as usize].is_event_driven() {
            self.take_stepped(index)?
        } else {
            let link = &mut self.links[index as usize];
            let carried = link.deliver()?;
            if let Some(at) = link.next_arrival() {
                self.events.push(Event {
                    at,
                    class: Class::Arrival,
                    component: index,
                });
            }
            carried
        };
        carried.hop += 1;
        let way = self.ways.get(carried.way);
        let at = way.begin + u32::from(carried.hop);
        if at == way.end {
            return Some(carried.handle);
        }
        let next = self.ways.hops[at as usize];
        if next & middlebox::FLAG != 0 {
            self.pass_boxes(index, next & !middlebox::FLAG, carried);
        } else {
            self.offer(next, carried);
        }
        None
    }

    /// Takes a packet out of the network.
    #[inline]
    pub(crate) fn take(&mut self, handle: Handle) -> Packet {
        self.packets.remove(handle)
    }

    /// Offers a packet to link `index`, and at once to the link after it where
    /// nobody else feeds that one.
    // Two callers, and the hottest of all: left to itself the compiler makes a
    // call of it, which costs a twentieth of the speed.
    #[inline(always)]
    fn offer(&mut self, mut index: u32, mut carried: Carried) {
        let mut now = self.now;
        loop {
            let link = &mut self.links[index as usize];
            match link.admit(now, carried.meta()) {
                Admission::Arrives { at, marked } => {
                    if marked {
                        self.packets.get_mut(carried.handle).ecn = ecn::MARKED;
                    }
                    if let Some(next) = self.follower(index, &carried) {
                        index = next;
                        carried.hop += 1;
                        now = at;
                        continue;
                    }
                    let crossing = at.since(now).as_micros();
                    carried.crossing_us = u32::try_from(crossing).unwrap_or(u32::MAX);
                    if self.links[index as usize].carry(at, carried) {
                        self.events.push(Event {
                            at,
                            class: Class::Arrival,
                            component: index,
                        });
                    }
                }
                Admission::Refused(verdict) => self.lose(index, &carried, verdict, now),
                // Never ahead of time: nobody follows or leads it.
                Admission::EventDriven => self.offer_stepped(index, carried),
            }
            return;
        }
    }

    /// The packet that enters link `index` at `enters` will not leave it.
    #[cold]
    fn lose(&mut self, index: u32, carried: &Carried, verdict: Verdict, enters: Time) {
        if let (Some(corruption), Verdict::ChannelLoss) = (&mut self.corruption, verdict) {
            let packet = self.packets.get_mut(carried.handle);
            let sent = self.links[index as usize].free_at();
            corruption.destroyed(index, packet, sent);
        }
        self.packets.discard(carried.handle);
        let link = &self.links[index as usize];
        let happens = match verdict {
            // A event-driven link tells it when it happens.
            Verdict::ChannelLoss if !link.is_event_driven() => link.free_at(),
            _ => enters,
        };
        let loss = Pending {
            hop: self.hop_of(carried),
            bytes: carried.bytes,
            verdict,
            enters,
            happens,
        };
        self.ledger.lose(self.now, loss);
    }

    /// The index in [`Ways::hops`] of the link that a packet is on.
    pub(crate) fn hop_of(&self, carried: &Carried) -> u32 {
        self.ways.get(carried.way).begin + u32::from(carried.hop)
    }

    /// Changes the routes that change now.
    #[cold]
    pub(crate) fn change_routes(&mut self) {
        self.ways.change(self.now);
        self.events.extend(self.ways.next_change());
    }

    /// The next link on the packet's way, if it can be offered the packet now.
    #[inline]
    fn follower(&self, index: u32, carried: &Carried) -> Option<u32> {
        if !self.ahead.leads(index) {
            return None;
        }
        let way = self.ways.get(carried.way);
        let at = way.begin + u32::from(carried.hop) + 1;
        if at == way.end {
            return None;
        }
        // A flagged one never follows.
        let next = self.ways.hops[at as usize];
        (next & middlebox::FLAG == 0 && self.ahead.follows(next)).then_some(next)
    }
}

impl<O: Observer> Transmit for Network<'_, O> {
    fn transmit(&mut self, packet: Packet) {
        if O::ACTIVE {
            self.observer
                .sent(self.now, packet.destination ^ 1, &packet);
        }
        let (destination, bytes) = (packet.destination, packet.bytes);
        let class = class::of(&packet);
        let (way, first) = self.ways.send(destination, bytes);
        if first == NOWHERE {
            return;
        }
        let handle = self.packets.insert(packet);
        self.offer(
            first,
            Carried {
                handle,
                way,
                bytes,
                hop: 0,
                class,
                crossing_us: 0,
            },
        );
    }

    fn is_full(&self) -> bool {
        self.is_over_limit()
    }
}

#[cfg(test)]
mod tests;
