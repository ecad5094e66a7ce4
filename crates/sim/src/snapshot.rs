//! Computes the current traffic of every flow on every link.
//!
//! A packet that was sent has left the last link of its path, was lost on one, or is on one: in its
//! ring, or, where the link after it was offered the packet ahead of time, already in the ring of
//! that one. So the packets that left the first link are those sent minus those lost or still on
//! it; they entered the second one, and so on.
//!
//! For a packet that was offered ahead of time, the time at which it enters is known to the
//! microsecond.

use crate::ideal;
use crate::ledger::Losses;
use crate::network::Network;
use bentpipe_link::Verdict;
use bentpipe_link::forward::{Count, Path};
use bentpipe_outcome::{FlowLinkCounts, FlowLinkStats};
use bentpipe_scenario::{Flow, Scenario};
use bentpipe_units::{Bytes, Time};

/// What is on the links, by hop, and what their own counters have ahead of
/// time.
#[derive(Debug)]
pub(crate) struct LinkSnapshot {
    hops: Vec<OnLink>,
    pub(crate) links: Vec<PendingCounts>,
}

/// Packets of one flow on one link.
#[derive(Clone, Copy, Debug, Default)]
struct OnLink {
    all: Count,
    /// Those whose transmission has ended.
    propagate: Count,
}

/// What a link's counters say and has not happened yet, and what is on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingCounts {
    /// Packets that have not entered yet.
    pub(crate) offered: u64,
    /// Losses that have not happened yet.
    pub(crate) queue_drops: u64,
    pub(crate) channel_losses: u64,
    pub(crate) outage_losses: u64,
    /// Packets that the next link has and that have not left this one yet.
    pub(crate) delivered: Count,
    /// Packets that are on it.
    pub(crate) on_it: u64,
}

impl<const WATCHED: bool> Network<'_, WATCHED> {
    /// Counts what is on the links.
    pub(crate) fn snapshot(&mut self, scenario: &Scenario) -> LinkSnapshot {
        let now = self.now;
        self.catch_up();
        let mut snapshot = LinkSnapshot {
            hops: vec![OnLink::default(); self.forward.paths.hops()],
            links: vec![PendingCounts::default(); self.forward.links.len()],
        };
        let propagation = |link: usize| scenario.links[link].settings.one_way_delay;
        // When a packet that leaves `link` at `at` is all on the wire.
        let sent = |link: usize, at: Time| {
            let start = at.as_nanos().saturating_sub(propagation(link).as_nanos());
            Time::from_nanos(start) <= now
        };
        for (index, link) in self.forward.links.iter().enumerate() {
            for (arrival, all_sent, packet) in self.forward.under_way(index) {
                let hop = packet.hop() as usize;
                let enters = packet.enters(arrival);
                match self.forward.lookahead.leader(index) {
                    Some(leader) if enters > now => {
                        snapshot.links[index].offered += 1;
                        snapshot.on_leader(hop, leader, packet.bytes(), sent(leader, enters));
                    }
                    _ => snapshot.put(hop, packet.bytes(), all_sent <= now),
                }
            }
            for (all_sent, packet) in link.pending_losses() {
                let hop = packet.hop() as usize;
                snapshot.put(hop, packet.bytes(), all_sent <= now);
            }
            for packet in link.waiting_packets() {
                snapshot.put(packet.hop() as usize, packet.bytes(), false);
            }
        }
        for loss in &self.driver.ledger.pending {
            let hop = loss.hop as usize;
            let index = self.forward.paths.link_of(hop);
            let early = &mut snapshot.links[index];
            match loss.verdict {
                Verdict::ChannelLoss => early.channel_losses += 1,
                Verdict::OutageLoss => early.outage_losses += 1,
                _ => early.queue_drops += 1,
            }
            match self.forward.lookahead.leader(index) {
                Some(leader) if loss.enters > now => {
                    early.offered += 1;
                    snapshot.on_leader(hop, leader, loss.bytes, sent(leader, loss.enters));
                }
                _ => {
                    let sent = loss.verdict == Verdict::OutageLoss && loss.sent <= now;
                    snapshot.put(hop, loss.bytes, sent);
                }
            }
        }
        // The end of a path is a hop without a link, and nothing is on it.
        let hops = snapshot.hops.iter().enumerate();
        for (hop, on) in hops.filter(|(_, on)| on.all.packets > 0) {
            let link = self.forward.paths.link_of(hop);
            snapshot.links[link].on_it += on.all.packets;
        }
        snapshot
    }

    /// What each flow has done to each link on its path.
    pub(crate) fn crossings(
        &self,
        scenario: &Scenario,
        snapshot: &LinkSnapshot,
    ) -> Vec<FlowLinkStats> {
        let mut crossings: Vec<(usize, usize, FlowLinkCounts)> =
            Vec::with_capacity(self.forward.paths.hops());
        // Where the crossing of each link is, for the flow at hand.
        let mut places = vec![usize::MAX; self.forward.links.len()];
        for (flow, _) in simulated(scenario) {
            let first = crossings.len();
            let endpoints = self.connections.of(flow);
            for path in endpoints.flat_map(|endpoint| self.forward.paths.to(endpoint)) {
                let mut entered = path.sent;
                for hop in path.range() {
                    let link = self.forward.paths.link_of(hop);
                    // What boxes there put in and took out.
                    entered = self.boxes.after(hop, entered);
                    let Losses {
                        queue,
                        channel,
                        outage,
                        joined,
                        diverted,
                    } = self.driver.ledger.of(hop);
                    entered = entered.plus(joined).less(diverted);
                    let on = snapshot.hops[hop];
                    let left = entered.less(queue).less(channel).less(outage).less(on.all);
                    let sent = left.plus(channel).plus(outage).plus(on.propagate);
                    let framing = scenario.links[link].settings.framing.get();
                    let counts = FlowLinkCounts {
                        offered_packets: entered.packets,
                        transmitted: Bytes::new(sent.bytes + sent.packets * framing),
                        delivered_packets: left.packets,
                        delivered: Bytes::new(left.bytes),
                        queue_drops: queue.packets,
                        channel_losses: channel.packets,
                        outage_losses: outage.packets,
                    };
                    let place = &mut places[link];
                    if *place == usize::MAX {
                        *place = crossings.len();
                        crossings.push((flow, link, counts));
                    } else {
                        // On another path, or in the other direction.
                        crossings[*place].2.add(&counts);
                    }
                    entered = left;
                }
            }
            for crossing in &crossings[first..] {
                places[crossing.1] = usize::MAX;
            }
        }
        let stats = |(flow, link, counts): (usize, usize, FlowLinkCounts)| FlowLinkStats {
            flow,
            link,
            ..counts.into()
        };
        crossings.into_iter().map(stats).collect()
    }

    /// The losses of a flow, both directions.
    pub(crate) fn losses_of(&self, flow: usize) -> Losses {
        let mut sum = Losses::default();
        let endpoints = self.connections.of(flow);
        let paths = endpoints.flat_map(|endpoint| self.forward.paths.to(endpoint));
        for hop in paths.flat_map(Path::range) {
            let losses = self.driver.ledger.of(hop);
            sum.queue = sum.queue.plus(losses.queue);
            sum.channel = sum.channel.plus(losses.channel);
            sum.outage = sum.outage.plus(losses.outage);
        }
        sum
    }

    /// Packets of a flow that were sent while there was no route.
    pub(crate) fn unroutable(&self, flow: usize) -> u64 {
        let endpoints = self.connections.of(flow);
        endpoints
            .map(|e| self.forward.paths.sent_nowhere(e).packets)
            .sum()
    }
}

impl LinkSnapshot {
    /// Adds what is on the links in another part of the network.
    pub(crate) fn add(&mut self, other: &LinkSnapshot) {
        for (own, other) in self.hops.iter_mut().zip(&other.hops) {
            own.all = own.all.plus(other.all);
            own.propagate = own.propagate.plus(other.propagate);
        }
    }

    fn put(&mut self, hop: usize, bytes: u32, sent: bool) {
        self.hops[hop].all.add(bytes);
        if sent {
            self.hops[hop].propagate.add(bytes);
        }
    }

    /// The packet of `hop` is still on the link before it.
    fn on_leader(&mut self, hop: usize, leader: usize, bytes: u32, sent: bool) {
        self.links[leader].delivered.add(bytes);
        self.put(hop - 1, bytes, sent);
    }
}

/// The flows whose packets are simulated, with their indices.
fn simulated(scenario: &Scenario) -> impl Iterator<Item = (usize, &Flow)> {
    let flows = scenario.flows.iter().enumerate();
    flows.filter(|(_, flow)| !ideal::is_ideal(flow))
}
