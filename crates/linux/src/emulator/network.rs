//! The links of a scenario between its hosts, driven by any clock.
//!
//! Nothing here reads a clock or a device: packets arrive with their times, [`Network::run_until`]
//! processes due events, and a [`Sink`] receives the results. It drives the forwarding core like
//! the simulator, with the same seed and names, so that the same arrivals give the same drops. A
//! packet moves from link to link at the model's time, however late the caller is: lateness does
//! not accumulate over hops.

use super::plan::Pair;
use bentpipe_link::forward::{self, Arrival, Count, Driver, InFlight, Loss, Paths};
use bentpipe_link::medium::AccessCounters;
use bentpipe_link::{Link, PacketMeta, PacketPool, Verdict};
use bentpipe_scenario::{LinkId, Routes, Scenario};
use bentpipe_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet that enters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// Where its bytes lie; the handle of the packet in flight.
    pub(super) slot: u32,
    /// Number of packets that it represents; more than one for a GSO segment.
    pub(super) segments: u16,
    /// Its bytes are those of all of them.
    pub(super) offered: PacketMeta,
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
    /// There was no path when it was sent.
    NoRoute,
}

/// What takes the packets that leave the network. Endpoints are numbered as in
/// the simulator: twice the number of the pair, and one more for its `to` end.
pub(super) trait Sink {
    /// A packet arrives at `endpoint`.
    fn arrives(&mut self, at: Time, endpoint: u32, packet: &InFlight);
    /// A packet to `endpoint` will not arrive. `at` may lie ahead: a channel
    /// destroys a packet when its transmission ends.
    fn lost(
        &mut self,
        at: Time,
        endpoint: u32,
        link: Option<LinkId>,
        why: Cause,
        packet: &InFlight,
    );
    /// A queue marks a packet.
    fn marked(&mut self, packet: &InFlight);
}

/// What happens next: routes change before packets arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Routes,
    Arrival(u32),
}

/// What the packets on one hop of a path did there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HopCounts {
    pub(super) offered: Count,
    pub(super) delivered: Count,
    pub(super) queue: Count,
    pub(super) channel: Count,
    pub(super) outage: Count,
}

/// Links, paths and what is due when.
#[derive(Debug)]
pub(super) struct Network {
    now: Time,
    forward: forward::Network,
    state: State,
}

/// What the forwarding core needs in addition to the links, without the sink.
#[derive(Debug)]
struct State {
    events: BinaryHeap<Reverse<(Time, Event)>>,
    hops: Vec<HopCounts>,
    /// Bytes that the framing of each link has.
    framing: Vec<u32>,
    /// The packets that each slot represents, beyond the first.
    more_segments: Vec<u16>,
}

/// The state with the sink of one call.
struct Driving<'a, S> {
    state: &'a mut State,
    sink: &'a mut S,
}

impl<S: Sink> Driver for Driving<'_, S> {
    fn schedule(&mut self, at: Time, component: u32) {
        let event = (at, Event::Arrival(component));
        self.state.events.push(Reverse(event));
    }

    fn mark(&mut self, packet: &InFlight) {
        self.sink.marked(packet);
    }

    fn lose(&mut self, _: Time, loss: &Loss, paths: &Paths) {
        let hop = loss.packet.hop();
        let counts = &mut self.state.hops[hop as usize];
        let (losses, why) = match loss.verdict {
            Verdict::ChannelLoss => (&mut counts.channel, Cause::Channel),
            Verdict::OutageLoss => (&mut counts.outage, Cause::Outage),
            _ => (&mut counts.queue, Cause::Queue),
        };
        losses.add(loss.packet.bytes());
        let (endpoint, link) = (paths.endpoint_of(hop), LinkId(loss.link));
        self.sink
            .lost(loss.at, endpoint, Some(link), why, &loss.packet);
    }

    /// A link adds its framing once to what it is offered.
    fn meta(&self, link: u32, packet: &InFlight) -> PacketMeta {
        let mut meta = packet.meta;
        let more = u32::from(self.state.more_segments[packet.handle as usize]);
        let framing = self.state.framing[link as usize].saturating_mul(more);
        meta.bytes = meta.bytes.saturating_add(framing);
        meta
    }

    fn offered(&mut self, packet: &InFlight) {
        let hop = &mut self.state.hops[packet.hop() as usize];
        hop.offered.add(packet.bytes());
    }

    fn delivered(&mut self, packet: &InFlight) {
        let hop = &mut self.state.hops[packet.hop() as usize];
        hop.delivered.add(packet.bytes());
    }
}

impl Network {
    /// The links of `scenario` in the run with seed `seed`. The scenario has
    /// nothing in it that [`plan`](super::plan) refuses.
    pub(super) fn new(scenario: &Scenario, pairs: &[Pair], seed: u64) -> Network {
        let framing = scenario.links.iter().map(|l| l.settings.framing.get());
        let framing = framing.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        let routes = pairs.iter().map(|pair| Routes {
            forward: &pair.forward,
            reverse: &pair.reverse,
            changes: &pair.changes,
        });
        let forward = scenario.network(routes, seed, true);
        let change = forward.paths.next_change();
        let change = change.map(|at| Reverse((at, Event::Routes)));
        Network {
            now: Time::ZERO,
            state: State {
                events: change.into_iter().collect(),
                hops: vec![HopCounts::default(); forward.paths.hops()],
                framing: framing.collect(),
                more_segments: Vec::new(),
            },
            forward,
        }
    }

    /// The links, by their numbers.
    pub(super) fn links(&self) -> &[Link<InFlight>] {
        &self.forward.links
    }

    /// The links, for values computed on request.
    pub(super) fn links_mut(&mut self) -> &mut [Link<InFlight>] {
        &mut self.forward.links
    }

    /// What `of` makes of each link with its number, the packets that links do not keep themselves,
    /// and what it has done to get access to the medium that it shares.
    pub(super) fn map_links<O>(
        &mut self,
        mut of: impl FnMut(usize, &mut Link<InFlight>, &PacketPool<InFlight>, AccessCounters) -> O,
    ) -> Vec<O> {
        let forward::Network {
            links, pool, media, ..
        } = &mut self.forward;
        let links = (0..).zip(links);
        links
            .map(|(index, link)| of(index as usize, link, pool, media.access(index)))
            .collect()
    }

    /// The packets on a link whose transmission has begun: when it ends.
    pub(super) fn sent(&self, link: usize) -> impl Iterator<Item = (Time, &InFlight)> {
        let under_way = self.forward.under_way(link);
        under_way.map(|(_, sent, packet)| (sent, packet))
    }

    /// Packets on all links.
    pub(super) fn in_flight(&self) -> usize {
        let forward::Network { links, pool, .. } = &self.forward;
        links.iter().map(|link| link.in_flight(pool)).sum()
    }

    /// When something is due next.
    #[inline]
    pub(super) fn next_event(&self) -> Option<Time> {
        self.state.events.peek().map(|Reverse((at, _))| *at)
    }

    /// Does all that is due by `now`.
    #[inline]
    pub(super) fn run_until(&mut self, now: Time, sink: &mut impl Sink) {
        while let Some(Reverse((at, event))) = self.state.events.peek().copied() {
            if at > now {
                break;
            }
            self.state.events.pop();
            self.now = self.now.max(at);
            match event {
                Event::Routes => {
                    self.forward.paths.change(at);
                    let next = self.forward.paths.next_change();
                    let next = next.map(|at| Reverse((at, event)));
                    self.state.events.extend(next);
                }
                Event::Arrival(component) => {
                    let driver = &mut Driving {
                        state: &mut self.state,
                        sink,
                    };
                    let arrival = self.forward.arrive(driver, at, component);
                    if let Arrival::Delivered { packet, endpoint } = arrival {
                        sink.arrives(at, endpoint, &packet);
                    }
                }
            }
        }
        self.now = self.now.max(now);
    }

    /// A packet to `endpoint` enters at `now`, or as soon as the network's time
    /// if that is later.
    #[inline]
    pub(super) fn send(&mut self, now: Time, endpoint: u32, packet: Packet, sink: &mut impl Sink) {
        self.run_until(now, sink);
        let hop = self.forward.paths.send(endpoint, packet.offered.bytes);
        let in_flight = InFlight::new(packet.slot, hop.unwrap_or(0), packet.offered);
        if hop.is_none() {
            sink.lost(self.now, endpoint, None, Cause::NoRoute, &in_flight);
            return;
        }
        let slot = packet.slot as usize;
        let state = &mut self.state;
        if state.more_segments.len() <= slot {
            state.more_segments.resize(slot + 1, 0);
        }
        state.more_segments[slot] = packet.segments.saturating_sub(1);
        let driver = &mut Driving { state, sink };
        self.forward.offer(driver, self.now, in_flight);
    }

    /// The pair that a packet belongs to.
    pub(super) fn pair_of(&self, packet: &InFlight) -> usize {
        (self.forward.paths.endpoint_of(packet.hop()) / 2) as usize
    }

    /// The hops of all paths: the pair that each belongs to, its link and what
    /// happened there.
    pub(super) fn hops(&self) -> impl Iterator<Item = (usize, usize, &HopCounts)> {
        let hops = self.forward.paths.by_endpoint();
        hops.map(|(hop, link, endpoint)| {
            let counts = &self.state.hops[hop];
            ((endpoint / 2) as usize, link as usize, counts)
        })
    }

    /// Brings all links up to `now`, the end.
    pub(super) fn finish(&mut self, now: Time, sink: &mut impl Sink) {
        self.run_until(now, sink);
        let state = &mut self.state;
        let driver = &mut Driving { state, sink };
        self.forward.catch_up(driver, self.now);
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
