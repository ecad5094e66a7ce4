//! The links of a scenario between its hosts, driven by whatever clock.
//!
//! Nothing here reads a clock or a device: packets come in with their times,
//! [`Network::run_until`] does what is due, and a [`Sink`] hears what becomes of
//! them. It drives the links as the simulator does, from the same seed by the
//! same names, so that the same arrivals meet the same drops. A packet goes
//! from link to link at the model's time and not when somebody got round to
//! it: lateness does not add up over hops.

use super::plan::Pair;
use super::ways::{Way, Ways};
use bentpipe_link::{Admission, Link, LinkPlan, PacketMeta, Verdict};
use bentpipe_scenario::{LinkId, Scenario, Stranded};
use bentpipe_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet that enters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// Where its bytes lie.
    pub(super) slot: u32,
    /// Packets that it stands for; more than one for a GSO segment.
    pub(super) segments: u16,
    /// Its bytes are those of all of them.
    pub(super) offered: PacketMeta,
}

/// A packet on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub(super) slot: u32,
    /// The way that it takes, chosen when it entered.
    way: u32,
    /// At the IP layer.
    pub(super) bytes: u32,
    segments: u16,
    /// Links crossed so far.
    hop: u8,
    ecn_capable: bool,
    low_priority: bool,
}

impl Carried {
    /// What a link whose framing has so many bytes is told. It adds them once.
    #[inline]
    fn offered(&self, framing: u32) -> PacketMeta {
        PacketMeta {
            bytes: self
                .bytes
                .saturating_add(framing.saturating_mul(u32::from(self.segments - 1))),
            ecn_capable: self.ecn_capable,
            low_priority: self.low_priority,
        }
    }
}

/// Why a packet does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A queue dropped it.
    Queue,
    /// A channel destroyed it.
    Channel,
    /// A link was down, or its route ended.
    Outage,
    /// There was no way when it was sent.
    NoRoute,
}

/// Who hears what becomes of packets. Endpoints are numbered as in the
/// simulator: twice the number of the pair, and one more for its `to` end.
pub(super) trait Sink {
    /// A packet arrives at `endpoint`.
    fn arrives(&mut self, at: Time, endpoint: u32, packet: &Carried);
    /// A packet to `endpoint` will not arrive. `at` may lie ahead: a channel
    /// destroys a packet when its transmission ends.
    fn lost(&mut self, at: Time, endpoint: u32, link: Option<LinkId>, why: Cause, packet: &Carried);
    /// A queue marks a packet.
    fn marked(&mut self, packet: &Carried);
}

/// What happens next: routes change before packets arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Routes,
    Arrival(u32),
}

/// Links, ways and what is due when.
#[derive(Debug)]
pub(super) struct Network {
    now: Time,
    pub(super) links: Vec<Link<Carried>>,
    pub(super) ways: Ways,
    events: BinaryHeap<Reverse<(Time, Event)>>,
    /// The next event of each event-driven link that is in the heap.
    queued: Vec<Time>,
    /// Bytes that the framing of each link has.
    framing: Vec<u32>,
    /// The node that each link leaves, where packets may be rerouted.
    reroutes: Option<Vec<u32>>,
}

impl Network {
    /// The links of `scenario` in the run with seed `seed`. The scenario has
    /// nothing in it that [`plan`](super::plan) refuses.
    pub(super) fn new(scenario: &Scenario, pairs: &[Pair], seed: u64) -> Network {
        let links: Vec<Link<Carried>> = scenario
            .links
            .iter()
            .map(|l| {
                Link::build(&LinkPlan {
                    timeline: l.timeline.as_ref(),
                    arq: l.arq.as_ref(),
                    record_delays: true,
                    precompute: l.timeline.is_none() || scenario.stranded != Stranded::Rerouted,
                    ..LinkPlan::new(&l.settings, seed, &l.name)
                })
            })
            .collect();
        let framing = scenario.links.iter().map(|l| l.settings.framing.get());
        let framing = framing.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        let ways = Ways::new(pairs);
        let change = ways.next_change().map(|at| Reverse((at, Event::Routes)));
        Network {
            now: Time::ZERO,
            queued: vec![Time::MAX; links.len()],
            links,
            framing: framing.collect(),
            events: change.into_iter().collect(),
            ways,
            reroutes: (scenario.stranded == Stranded::Rerouted)
                .then(|| scenario.links.iter().map(|l| l.from.0).collect()),
        }
    }

    /// Packets on all links.
    pub(super) fn under_way(&self) -> usize {
        self.links.iter().map(Link::in_flight).sum()
    }

    /// When something is due next.
    #[inline]
    pub(super) fn next_event(&self) -> Option<Time> {
        self.events.peek().map(|Reverse((at, _))| *at)
    }

    /// Does all that is due by `now`.
    #[inline]
    pub(super) fn run_until(&mut self, now: Time, sink: &mut impl Sink) {
        while let Some(Reverse((at, event))) = self.events.peek().copied() {
            if at > now {
                break;
            }
            self.events.pop();
            self.now = self.now.max(at);
            match event {
                Event::Routes => {
                    self.ways.change(at);
                    let next = self.ways.next_change();
                    self.events.extend(next.map(|at| Reverse((at, event))));
                }
                Event::Arrival(link) => self.arrive(link, at, sink),
            }
        }
        self.now = self.now.max(now);
    }

    /// A packet to `endpoint` enters at `now`, or as soon as time has come to
    /// if that has passed.
    #[inline]
    pub(super) fn send(&mut self, now: Time, endpoint: u32, packet: Packet, sink: &mut impl Sink) {
        self.run_until(now, sink);
        let way = self.ways.now(endpoint);
        let Way { begin, end, .. } = self.ways.get(way);
        let carried = Carried {
            slot: packet.slot,
            way,
            bytes: packet.offered.bytes,
            segments: packet.segments.max(1),
            hop: 0,
            ecn_capable: packet.offered.ecn_capable,
            low_priority: packet.offered.low_priority,
        };
        if begin == end {
            sink.lost(self.now, endpoint, None, Cause::NoRoute, &carried);
            return;
        }
        self.offer(carried, sink);
    }

    /// The pair that a packet belongs to.
    pub(super) fn pair_of(&self, carried: &Carried) -> usize {
        (self.ways.get(carried.way).endpoint / 2) as usize
    }

    /// The index in [`Ways::hops`] of the link that a packet is on.
    fn hop_of(&self, carried: &Carried) -> usize {
        (self.ways.get(carried.way).begin + u32::from(carried.hop)) as usize
    }

    /// Offers a packet to the link of its hop.
    fn offer(&mut self, mut carried: Carried, sink: &mut impl Sink) {
        let mut hop = self.hop_of(&carried);
        let mut index = self.ways.hops[hop].link;
        if let Some(detour) = self.detour(index, carried) {
            carried = detour;
            hop = self.hop_of(&carried);
            index = self.ways.hops[hop].link;
        }
        self.ways.hops[hop].offered.add(carried.bytes);
        let link = &mut self.links[index as usize];
        let offered = carried.offered(self.framing[index as usize]);
        match link.admit(self.now, offered) {
            Admission::Arrives { at, marked } => {
                if marked {
                    sink.marked(&carried);
                }
                if link.carry(at, carried) {
                    self.events.push(Reverse((at, Event::Arrival(index))));
                }
            }
            Admission::Refused(verdict) => self.settle(index, &carried, verdict, sink),
            Admission::EventDriven => {
                let verdict = link.offer(self.now, carried, offered);
                self.settle(index, &carried, verdict, sink);
                self.look_after(index, sink);
            }
        }
    }

    /// Link `index` wants to be looked at: the packet at its head goes on, if
    /// it has arrived.
    fn arrive(&mut self, index: u32, at: Time, sink: &mut impl Sink) {
        let link = &mut self.links[index as usize];
        let arrived = if link.is_event_driven() {
            // The event of a head that was overtaken comes too late.
            if self.queued[index as usize] != at {
                return;
            }
            self.queued[index as usize] = Time::MAX;
            let arrived = link.deliver_due(at);
            self.look_after(index, sink);
            arrived
        } else {
            let arrived = link.deliver();
            if let Some(next) = link.next_arrival() {
                self.events.push(Reverse((next, Event::Arrival(index))));
            }
            arrived
        };
        let Some(mut carried) = arrived else { return };
        let hop = self.hop_of(&carried);
        self.ways.hops[hop].delivered.add(carried.bytes);
        carried.hop += 1;
        let way = self.ways.get(carried.way);
        if way.begin + u32::from(carried.hop) == way.end {
            sink.arrives(at, way.endpoint, &carried);
        } else {
            self.offer(carried, sink);
        }
    }

    /// Hears what became of packets and sees to it that the link is looked at
    /// again when it wants to be.
    fn look_after(&mut self, index: u32, sink: &mut impl Sink) {
        self.tell(index, sink);
        let queued = &mut self.queued[index as usize];
        // An event that is queued stays the next one, unless the head is
        // overtaken: what the transmitter takes next arrives later than that.
        if let Some(at) = self.links[index as usize].next_event()
            && at < *queued
        {
            *queued = at;
            self.events.push(Reverse((at, Event::Arrival(index))));
        }
    }

    fn tell(&mut self, index: u32, sink: &mut impl Sink) {
        while let Some((carried, verdict)) = self.links[index as usize].poll_verdict() {
            self.settle(index, &carried, verdict, sink);
        }
    }

    /// Does to a packet what a link decided.
    fn settle(&mut self, index: u32, carried: &Carried, verdict: Verdict, sink: &mut impl Sink) {
        let why = match verdict {
            // Nobody writes congestion headers live.
            Verdict::Accepted | Verdict::Waits | Verdict::Feedback(_) => return,
            Verdict::Marked => return sink.marked(carried),
            Verdict::QueueDrop => Cause::Queue,
            Verdict::ChannelLoss => Cause::Channel,
            Verdict::OutageLoss => Cause::Outage,
        };
        let hop = self.hop_of(carried);
        let hop = &mut self.ways.hops[hop];
        let (losses, link) = match why {
            Cause::Channel => (&mut hop.channel, &self.links[index as usize]),
            Cause::Outage => (&mut hop.outage, &self.links[index as usize]),
            _ => (&mut hop.queue, &self.links[index as usize]),
        };
        losses.add(carried.bytes);
        // A event-driven link tells it when it happens.
        let at = match why {
            Cause::Channel if !link.is_event_driven() => link.free_at(),
            _ => self.now,
        };
        let endpoint = self.ways.get(carried.way).endpoint;
        sink.lost(at, endpoint, Some(LinkId(index)), why, carried);
    }

    /// A packet that has come to a link that is down on the other way that it
    /// takes from here, if it may and there is one.
    fn detour(&self, index: u32, mut carried: Carried) -> Option<Carried> {
        let nodes = self.reroutes.as_ref()?;
        if !self.links[index as usize].is_down(self.now) {
            return None;
        }
        let here = nodes[index as usize];
        let number = self.ways.now(self.ways.get(carried.way).endpoint);
        let way = self.ways.get(number);
        let hop = (way.begin..way.end).find(|hop| {
            let link = self.ways.hops[*hop as usize].link;
            nodes[link as usize] == here
                && link != index
                && !self.links[link as usize].is_down(self.now)
        })?;
        // Ways have 255 links at most.
        carried.hop = (hop - way.begin) as u8;
        carried.way = number;
        Some(carried)
    }

    /// Brings all links up to `now`, the end.
    pub(super) fn finish(&mut self, now: Time, sink: &mut impl Sink) {
        self.run_until(now, sink);
        for index in 0..self.links.len() {
            self.links[index].advance(self.now);
            self.tell(index as u32, sink);
        }
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
