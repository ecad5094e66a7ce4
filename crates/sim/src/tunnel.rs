//! Senders that all connections between two PEPs share: those of a gateway's boxes, one at each end
//! of a tunnel for all of its streams, and those of PEPs that regulate each other by grants.
//!
//! A sender knows the rate of the slowest link on its path and is paced at [`SHARE`] of it, packet
//! by packet: data waits in the streams, and the next stream is chosen when a packet may leave.
//!
//! The rate follows the timeline of the link, as in a gateway that the modem informs; with `rate =
//! "verified"` it is that of the start, and each association holds it against what arrives
//! (`tunnel/verified.rs`). For links shared with others it is the full rate. Where the flow takes
//! other ways later on, it is that of the first.
//!
//! A box with tunnels to several others, such as a hub to its terminals, has one sender for those
//! whose slowest link is the same: their associations share its rate, a packet each in turn, as in a
//! gateway whose associations take turns at its socket.
//!
//! - **In a tunnel** the streams of an association have their turns by the gateway's own rules
//!   (`tunnel/turns.rs`): subscribers share it first, their connections second, and of those
//!   the ones go before others that have sent less than 64 KiB. At most [`WINDOW`]
//!   bandwidth-delay products of an association are in flight. Acknowledgements leave at once: they
//!   are small, and the sender counts its data alone. An association that has lost packets protects
//!   the tails of its streams by repairs (`tunnel/coding.rs`).
//! - **With grants** streams take turns, one packet each. A stream may send what it was granted: one
//!   that the receiving PEP grants nothing leaves its turns to the others. What is in flight has no
//!   other bound. While a link on the way is down nothing is sent, as the relay knows its link.
//!   Acknowledgements leave at once, too, but count: the next data packet is followed by a pause that
//!   they would have needed, no longer than the packet itself, so that data passes however many there
//!   are.

mod association;
mod coding;
mod sender;
mod stream;
mod turn;
mod turns;
mod verified;

pub(crate) use turn::{Left, Numbering, Turn};

use crate::carried;
use crate::flow::{Ends, Running};
use crate::ideal;
use crate::network::{Came, Held};
use bentpipe_middlebox::split::KnownRate;
use bentpipe_scenario::{LinkId, NodeId, Scenario};
use bentpipe_tcp::{Packet, Transport};
use bentpipe_units::{Bytes, Duration, Time};
use sender::Sender;
use std::collections::BTreeMap;

/// The share of the link's rate that a sender uses, so that its queue stays empty.
const SHARE: f64 = 0.99;

/// Maximum of bandwidth-delay products in flight.
const WINDOW: u64 = 2;

/// All senders of a run.
#[derive(Debug)]
pub(crate) struct Tunnels {
    senders: Vec<Sender>,
    /// For each flow the senders that it has streams at, with their places there.
    of: Vec<Vec<(usize, usize)>>,
    /// By the end that datagrams go to: their sender, association and subscriber.
    carried: BTreeMap<u32, (usize, usize, u32)>,
}

impl Tunnels {
    /// `None` where no PEP has a tunnel or grants, which costs nothing then.
    pub(crate) fn new(scenario: &Scenario, flows: &mut [Running]) -> Option<Box<Tunnels>> {
        let mut tunnels = Tunnels {
            senders: Vec::new(),
            of: vec![Vec::new(); flows.len()],
            carried: BTreeMap::new(),
        };
        let subscribers = scenario.subscribers();
        for (index, (flow, running)) in scenario.flows.iter().zip(flows).enumerate() {
            let (Some(split), Ends::Split(chain)) = (&flow.split, &mut running.ends) else {
                continue;
            };
            for (number, leg) in split.legs.iter().enumerate() {
                if !(leg.tunnel || leg.grants) {
                    continue;
                }
                let rtt = ideal::round_trip_of(scenario, &leg.forward, &leg.reverse);
                if leg.tunnel {
                    chain.join_tunnel(split, number, rtt);
                } else {
                    chain.join_grants(number);
                }
                let ways = [&leg.forward, &leg.reverse];
                for (side, way) in ways.into_iter().enumerate() {
                    let nodes = match side {
                        0 => [leg.from, leg.to],
                        _ => [leg.to, leg.from],
                    };
                    let pep = number
                        .checked_sub(1)
                        .and_then(|at| split.peps.get(at + side));
                    let verifies = pep.is_some_and(|pep| pep.settings.rate == KnownRate::Verified);
                    let at = tunnels.sender(scenario, nodes, way, rtt, (leg.grants, verifies));
                    let packet = leg.transport.mss + leg.transport.header_bytes();
                    let stream = (index, 2 * number + side, packet as u16);
                    tunnels.join(at, stream, (nodes[1], subscribers[index]));
                }
            }
        }
        tunnels.carry(scenario);
        (!tunnels.senders.is_empty()).then(|| Box::new(tunnels))
    }

    /// Finds the senders of the datagrams that the boxes of gateways carry.
    fn carry(&mut self, scenario: &Scenario) {
        let transport = Transport::of_tunnel();
        let packet = (transport.mss + transport.header_bytes()) as u16;
        for way in carried::all(scenario) {
            let knows = (false, way.verifies);
            let at = self.sender(scenario, way.nodes, &way.links, way.rtt, knows);
            let association = self.senders[at].association(way.nodes[1], packet);
            let carried = (at, association, way.subscriber);
            self.carried.insert(way.endpoint, carried);
        }
    }

    /// The ends that carried datagrams go to, with their senders.
    pub(crate) fn carried(&self) -> impl Iterator<Item = (u32, u32)> {
        let all = self.carried.iter();
        all.map(|(endpoint, (sender, ..))| (*endpoint, *sender as u32))
    }

    /// True if datagrams to this end are carried.
    pub(crate) fn carries(&self, endpoint: u32) -> bool {
        self.carried.contains_key(&endpoint)
    }

    /// Takes what has come to boxes on the ways of datagrams. Adds what is restored by it.
    pub(crate) fn take(&mut self, now: Time, came: &Came, restored: &mut Vec<Packet>) {
        let (Came::Waits(Held { packet, .. }) | Came::Arrived(packet)) = came;
        let Some(&(at, association, subscriber)) = self.carried.get(&packet.destination) else {
            return;
        };
        let sender = &mut self.senders[at];
        match came {
            Came::Waits(held) => sender.push(now, association, subscriber, *held),
            Came::Arrived(packet) => sender.arrived_of(association, packet, restored),
        }
    }

    /// The number of the sender between these PEPs.
    fn sender(
        &mut self,
        scenario: &Scenario,
        nodes: [NodeId; 2],
        way: &[LinkId],
        rtt: Duration,
        (grants, verifies): (bool, bool),
    ) -> usize {
        let slowest = |way: &[LinkId]| {
            let rate = |id: &LinkId| scenario.links[id.0 as usize].settings.rate.bps();
            way.iter().copied().min_by_key(rate)
        };
        let shares = |sender: &Sender| {
            !grants && sender.nodes[0] == nodes[0] && slowest(&sender.links) == slowest(way)
        };
        let is_it =
            |sender: &Sender| sender.grants == grants && (sender.nodes == nodes || shares(sender));
        if let Some(known) = self.senders.iter().position(is_it) {
            return known;
        }
        let sender = Sender::new(nodes, way.to_vec(), rtt, (grants, verifies));
        self.senders.push(sender);
        self.senders.len() - 1
    }

    /// Stream `end` of `flow`, of full packets of `packet` bytes, leads from sender `at` to that node and is this subscriber's.
    fn join(
        &mut self,
        at: usize,
        (flow, end, packet): (usize, usize, u16),
        (to, subscriber): (NodeId, u32),
    ) {
        let place = self.senders[at].join((flow, end, packet), to, subscriber);
        self.of[flow].push((at, place));
    }

    /// Something happened at `flow`. Returns the senders that are to be called, and
    /// when.
    pub(crate) fn after(
        &mut self,
        scenario: &Scenario,
        now: Time,
        flow: usize,
        flows: &mut [Running],
        mut call: impl FnMut(usize, Time),
    ) {
        for &(at, place) in &self.of[flow] {
            let sender = &mut self.senders[at];
            sender.follow(scenario, now, place, flows);
            if let Some(when) = sender.wake(now) {
                call(at, when);
            }
        }
    }

    /// True if sender `at` was to be called now; else an earlier call has taken the place of this one.
    pub(crate) fn is_due(&mut self, now: Time, at: usize) -> bool {
        self.senders
            .get_mut(at)
            .is_some_and(|sender| sender.is_due(now))
    }

    /// Sender `at` may send a packet: which. Without one the sender waits until something happens at
    /// one of its flows.
    pub(crate) fn next(
        &mut self,
        scenario: &Scenario,
        now: Time,
        at: usize,
        flows: &[Running],
    ) -> Option<Turn> {
        self.senders[at].next(scenario, now, flows)
    }

    /// A stream has had its turn at sender `at`: bytes of its packet at the IP layer, and the packet.
    pub(crate) fn sent(
        &mut self,
        scenario: &Scenario,
        now: Time,
        at: usize,
        (bytes, packet): (Bytes, Option<Packet>),
        flows: &[Running],
    ) {
        let sender = &mut self.senders[at];
        sender.pass(scenario, now, bytes, Left::Stream);
        sender.sent(now, packet, flows);
    }

    /// Sender `at` has sent a packet that is of no stream.
    pub(crate) fn passed(
        &mut self,
        scenario: &Scenario,
        now: Time,
        at: usize,
        (bytes, what): (Bytes, Left),
    ) {
        self.senders[at].pass(scenario, now, bytes, what);
    }

    /// A packet has arrived at end `side` of `flow`. Adds what is restored by it.
    pub(crate) fn arrived(
        &mut self,
        flow: usize,
        side: usize,
        packet: &Packet,
        restored: &mut Vec<Packet>,
    ) {
        let mut places = self.of[flow].iter();
        let place = places.find(|(at, place)| self.senders[*at].is_end(*place, side ^ 1));
        if let Some(&(at, place)) = place {
            self.senders[at].arrived(place, packet, restored);
        }
    }

    /// When sender `at` is to be called again, unless it is already.
    pub(crate) fn again(&mut self, now: Time, at: usize) -> Option<Time> {
        self.senders[at].wake(now)
    }
}
