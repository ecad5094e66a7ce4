//! Links, packets and the event queue: everything between the endpoints.

mod stepped;

use crate::ahead::Ahead;
use crate::arena::{Arena, Handle};
use crate::observer::Observer;
use crate::queue::{Class, Event, EventQueue};
use bentpipe_link::{Admission, Link, Offered, Verdict};
use bentpipe_scenario::Scenario;
use bentpipe_tcp::packet::{ecn, priority};
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::{Duration, Time};

/// Packets of one flow that were lost, both directions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowLosses {
    pub(crate) queue: u64,
    pub(crate) channel: u64,
}

/// A packet on a link: what its next hop needs without a look at the packet
/// itself, which by then has long left the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    handle: Handle,
    destination: u32,
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
    /// It may be marked.
    pub(super) const ECN_CAPABLE: u8 = 1;
    /// It may be dropped first.
    pub(super) const LOW_PRIORITY: u8 = 2;
}

const _: () = assert!(size_of::<Carried>() == 16);

impl Carried {
    #[inline]
    fn offered(&self) -> Offered {
        Offered {
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

/// The network between the endpoints. Endpoint `2 f` is the `from` side of
/// flow `f`, endpoint `2 f + 1` its `to` side.
#[derive(Debug)]
pub(crate) struct Network<'a, O> {
    pub(crate) now: Time,
    pub(crate) events: EventQueue,
    pub(crate) links: Vec<Link<Carried>>,
    pub(crate) losses: Vec<FlowLosses>,
    pub(crate) observer: &'a mut O,
    packets: Arena,
    /// Most packets that may be alive at once.
    limit: usize,
    /// Links to each endpoint, flattened; `routes[e]..routes[e + 1]` is the
    /// range of endpoint `e`.
    hops: Vec<u32>,
    routes: Vec<u32>,
    pub(crate) ahead: Ahead,
    /// Stepped links that have an event in the queue.
    queued: Vec<bool>,
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
                let mut link = Link::new(&l.settings, seed, &l.name);
                if delays {
                    link.record_delays(&l.settings);
                }
                link
            })
            .collect();
        let mut hops = Vec::new();
        let mut routes = vec![0];
        for flow in &scenario.flows {
            // Packets to the `from` side (even) take the way back.
            for path in [&flow.reverse, &flow.forward] {
                hops.extend(path.iter().map(|l| l.0));
                routes.push(hops.len() as u32);
            }
        }
        let ahead = Ahead::new(scenario);
        Network {
            now: Time::ZERO,
            events: EventQueue::default(),
            queued: vec![false; links.len()],
            links,
            losses: vec![FlowLosses::default(); scenario.flows.len()],
            observer,
            packets: Arena::default(),
            limit: scenario.limits.packets as usize,
            hops,
            routes,
            ahead,
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
        let link = &mut self.links[index as usize];
        let mut carried = if link.is_stepped() {
            self.take_stepped(index)?
        } else {
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
        let destination = carried.destination as usize;
        let at = self.routes[destination] + u32::from(carried.hop);
        if at == self.routes[destination + 1] {
            return Some(carried.handle);
        }
        self.offer(self.hops[at as usize], carried);
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
            match link.admit(now, carried.offered()) {
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
                Admission::Refused(verdict) => self.lose(&carried, verdict),
                // Never ahead of time: nobody follows or leads it.
                Admission::Stepped => self.offer_stepped(index, carried),
            }
            return;
        }
    }

    /// A link dropped or lost the packet.
    #[inline(never)]
    fn lose(&mut self, carried: &Carried, verdict: Verdict) {
        self.packets.discard(carried.handle);
        let losses = &mut self.losses[carried.destination as usize / 2];
        if verdict == Verdict::QueueDrop {
            losses.queue += 1;
        } else {
            losses.channel += 1;
        }
    }

    /// The next link on the packet's way, if it can be offered the packet now.
    #[inline]
    fn follower(&self, index: u32, carried: &Carried) -> Option<u32> {
        if !self.ahead.leads(index) {
            return None;
        }
        let at = self.routes[carried.destination as usize] + u32::from(carried.hop) + 1;
        if at == self.routes[carried.destination as usize + 1] {
            return None;
        }
        let next = self.hops[at as usize];
        self.ahead.follows(next).then_some(next)
    }
}

impl<O: Observer> Transmit for Network<'_, O> {
    fn transmit(&mut self, packet: Packet) {
        if O::ACTIVE {
            self.observer
                .sent(self.now, packet.destination ^ 1, &packet);
        }
        let (destination, bytes) = (packet.destination, packet.bytes);
        let mut class = 0;
        if packet.ecn != ecn::NOT_CAPABLE {
            class |= class::ECN_CAPABLE;
        }
        if packet.priority == priority::LOW {
            class |= class::LOW_PRIORITY;
        }
        let first = self.hops[self.routes[destination as usize] as usize];
        let handle = self.packets.insert(packet);
        self.offer(
            first,
            Carried {
                handle,
                destination,
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
