//! The boxes of a gateway on the ways of datagrams: what comes to the first is taken out of the network
//! until it has its turn, and what comes to the second is as it was.

use super::Network;
use crate::arena::Handle;
use crate::carried::{self, Carried};
use crate::queue::{Class, Event};
use bentpipe_link::forward::InFlight;
use bentpipe_scenario::Scenario;
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::priority;
use std::collections::BTreeMap;

/// A datagram that waits at a box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// As it came.
    pub(crate) packet: Packet,
    /// The hop at which it leaves.
    hop: u32,
}

/// What has come to a box, for its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Came {
    /// A datagram that is to be carried.
    Waits(Held),
    /// A packet of the association, at the other end.
    Arrived(Packet),
}

/// The boxes on the ways of datagrams.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    /// By the end that they go to, the sender of the first box.
    ways: BTreeMap<u32, (Carried, u32)>,
    pub(crate) came: Vec<Came>,
}

impl Gates {
    pub(super) fn new(scenario: &Scenario) -> Gates {
        let ways = carried::all(scenario).into_iter();
        Gates {
            ways: ways.map(|way| (way.endpoint, (way, 0))).collect(),
            came: Vec::new(),
        }
    }

    pub(super) fn is_any(&self) -> bool {
        !self.ways.is_empty()
    }

    /// True if a box sees what comes from one link and goes to another.
    pub(super) fn see(&self, from: u32, to: u32) -> bool {
        let mut ways = self.ways.values();
        ways.any(|(way, _)| [way.entry, way.exit].contains(&(from, to)))
    }

    /// True if such a box stands at the start of `link`.
    pub(super) fn stand_before(&self, link: u32) -> bool {
        let mut ways = self.ways.values();
        ways.any(|(way, _)| way.entry.1 == link || way.exit.1 == link)
    }

    /// The datagrams to this end are sent by that sender.
    pub(crate) fn lead_to(&mut self, endpoint: u32, sender: u32) {
        if let Some((_, at)) = self.ways.get_mut(&endpoint) {
            *at = sender;
        }
    }
}

impl<const WATCHED: bool> Network<'_, WATCHED> {
    /// Takes a packet that comes from link `from` to a box before link `to`, if that carries it; else
    /// returns what goes on.
    pub(super) fn pass_gate(&mut self, from: u32, to: u32, packet: InFlight) -> Option<InFlight> {
        if !self.gates.is_any() {
            return Some(packet);
        }
        let header = *self.driver.packets.get(Handle(packet.handle));
        let Some((way, sender)) = self.gates.ways.get(&header.destination) else {
            return Some(packet);
        };
        let (enters, leaves) = (way.entry == (from, to), way.exit == (from, to));
        if !enters && !leaves {
            return Some(packet);
        }
        let sender = *sender;
        let hop = packet.hop();
        self.boxes.take_out(hop as usize, packet.bytes());
        self.driver.packets.discard(Handle(packet.handle));
        self.gates.came.push(match enters {
            true => Came::Waits(Held {
                packet: header,
                hop,
            }),
            false => Came::Arrived(header),
        });
        self.driver.events.push(Event {
            at: self.now,
            class: Class::Turn,
            component: sender,
        });
        if leaves && !header.carries(priority::REPAIR) {
            self.put_out(carried::unpack(header));
        }
        None
    }

    /// A datagram leaves its box as `packet`.
    pub(crate) fn release(&mut self, held: &Held, packet: Packet) {
        self.enter(held.hop, packet);
    }

    /// A datagram leaves the second box towards its end.
    pub(crate) fn put_out(&mut self, packet: Packet) {
        if let Some((way, _)) = self.gates.ways.get(&packet.destination) {
            let node = way.nodes[1].0;
            self.inject(node, packet);
        }
    }

    /// A repair leaves the first box on the way of datagrams; false if it is of no such way.
    pub(crate) fn put_in(&mut self, packet: Packet) -> bool {
        let Some((way, _)) = self.gates.ways.get(&packet.destination) else {
            return false;
        };
        let node = way.nodes[0].0;
        self.inject(node, packet)
    }
}
