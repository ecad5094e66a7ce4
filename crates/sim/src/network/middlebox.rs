//! Middleboxes on nodes: the packets that each sees, and those that they send.
//!
//! A hop into a link that has a box, or out of the reverse of one, is marked in the paths: paths
//! without middleboxes cost nothing. The boxes of a node see a packet in the scenario's order;
//! packets that one sends itself enter the network there, behind the others, on the path of its
//! flow.

use super::{Network, driver};
use crate::arena::Handle;
use crate::queue::{Class, Event};
use bentpipe_link::forward::{Count, InFlight};
use bentpipe_middlebox::{Counters, Middlebox, Pass, Side, Surroundings};
use bentpipe_scenario::{Link, Scenario};
use bentpipe_tcp::Packet;
use bentpipe_units::Time;

/// A box at its node.
#[derive(Debug)]
struct Placed {
    node: u32,
    /// Indices of its links, ascending.
    toward: Vec<u32>,
    back: Vec<u32>,
    middlebox: Middlebox,
    /// When its next event in the queue is due.
    wakes_at: Time,
}

impl Placed {
    /// How a packet passes that comes from one link and goes to another.
    fn side(&self, from: u32, to: u32) -> Option<Side> {
        if self.toward.binary_search(&to).is_ok() {
            Some(Side::Toward)
        } else if self.back.binary_search(&from).is_ok() {
            Some(Side::Back)
        } else {
            None
        }
    }
}

/// All boxes of a network.
#[derive(Debug, Default)]
pub(crate) struct Boxes {
    placed: Vec<Placed>,
    /// The node where each link begins; empty without boxes and without queues
    /// that notify senders.
    begins: Vec<u32>,
    /// What boxes put into each hop and took out before it, where there are
    /// any.
    added: Vec<Count>,
    taken: Vec<Count>,
    /// What a box sends while it is called.
    out: Vec<Packet>,
}

impl Boxes {
    /// Those of a scenario, where boxes of a gateway carry datagrams as well or not.
    pub(super) fn new(scenario: &Scenario, carries: bool) -> Boxes {
        let notifies = |link: &Link| link.settings.queue.notifies();
        if scenario.middleboxes.is_empty() && !carries && !scenario.links.iter().any(notifies) {
            return Boxes::default();
        }
        let sorted = |links: &[bentpipe_scenario::LinkId]| {
            let mut links: Vec<u32> = links.iter().map(|l| l.0).collect();
            links.sort_unstable();
            links
        };
        let placed = scenario.middleboxes.iter().map(|m| Placed {
            node: m.node.0,
            toward: sorted(&m.toward),
            back: sorted(&m.back),
            middlebox: Middlebox::new(&m.settings),
            wakes_at: Time::MAX,
        });
        Boxes {
            placed: placed.collect(),
            begins: scenario.links.iter().map(|l| l.from.0).collect(),
            ..Boxes::default()
        }
    }

    /// True if a box sees what comes from one link and goes to another.
    pub(super) fn see(&self, from: u32, to: u32) -> bool {
        self.placed.iter().any(|p| p.side(from, to).is_some())
    }

    /// True if there is a box at the start of `link`.
    pub(super) fn stand_before(&self, link: u32) -> bool {
        let begins = self.begins.get(link as usize);
        begins.is_some_and(|node| self.placed.iter().any(|p| p.node == *node))
    }

    /// A packet of so many bytes that has come to a hop does not enter it.
    pub(super) fn take_out(&mut self, hop: usize, bytes: u32) {
        count(&mut self.taken, hop, bytes);
    }

    /// What entered a hop of what came to its node.
    pub(crate) fn after(&self, hop: usize, came: Count) -> Count {
        let of = |counts: &[Count]| counts.get(hop).copied().unwrap_or_default();
        came.plus(of(&self.added)).less(of(&self.taken))
    }

    /// The nodes with boxes, each with a link that begins there.
    pub(super) fn first_links(&self) -> Vec<(u32, u32)> {
        let first = |node: u32| self.begins.iter().position(|begins| *begins == node);
        let nodes = self.placed.iter().map(|p| p.node);
        nodes
            .filter_map(|node| Some((node, first(node)? as u32)))
            .collect()
    }

    /// Takes the boxes of `other` that stand at nodes for which `is_there` holds.
    pub(crate) fn take(&mut self, other: Boxes, is_there: impl Fn(u32) -> bool) {
        for (own, other) in self.placed.iter_mut().zip(other.placed) {
            if is_there(own.node) {
                *own = other;
            }
        }
    }

    /// What boxes have put in and taken out, in the place of `counts`.
    pub(super) fn exchange(&mut self, counts: [Vec<Count>; 2]) -> [Vec<Count>; 2] {
        let [added, taken] = counts;
        [
            std::mem::replace(&mut self.added, added),
            std::mem::replace(&mut self.taken, taken),
        ]
    }

    /// What boxes have put in and taken out.
    pub(super) fn counts(&self) -> [Vec<Count>; 2] {
        [self.added.clone(), self.taken.clone()]
    }

    /// What each box has done.
    pub(crate) fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.placed.iter().map(|p| p.middlebox.counters())
    }
}

impl<const WATCHED: bool> Network<'_, WATCHED> {
    /// A packet comes from link `from` to the boxes before link `to`, which is
    /// the one that it is counted on already.
    #[inline(never)]
    pub(super) fn pass_boxes(&mut self, from: u32, to: u32, mut packet: InFlight) {
        let room = self.forward.links[to as usize].has_room(self.now, packet.bytes());
        let around = Surroundings {
            now: self.now,
            room,
        };
        let node = self.boxes.begins[to as usize];
        for index in 0..self.boxes.placed.len() {
            let Boxes { placed, out, .. } = &mut self.boxes;
            let placed = &mut placed[index];
            let Some(side) = placed.side(from, to).filter(|_| placed.node == node) else {
                continue;
            };
            let header = self.driver.packets.get_mut(Handle(packet.handle));
            let pass = placed.middlebox.on_packet(around, side, header, out);
            packet.meta.bytes = u32::from(header.bytes);
            self.send_of_box(index);
            self.rearm_box(index);
            if pass == Pass::Suppress {
                let hop = packet.hop() as usize;
                count(&mut self.boxes.taken, hop, packet.bytes());
                self.driver.packets.discard(Handle(packet.handle));
                return;
            }
        }
        if let Some(packet) = self.pass_gate(from, to, packet) {
            self.forward.offer(&mut self.driver, self.now, packet);
        }
    }

    /// A timer of a box may be due.
    pub(crate) fn wake_box(&mut self, index: u32) {
        let index = index as usize;
        let placed = &mut self.boxes.placed[index];
        if placed.wakes_at != self.now {
            return; // An earlier one has taken its place.
        }
        placed.wakes_at = Time::MAX;
        if placed.middlebox.deadline() <= self.now {
            let out = &mut self.boxes.out;
            placed.middlebox.on_deadline(self.now, out);
            self.send_of_box(index);
        }
        self.rearm_box(index);
    }

    fn rearm_box(&mut self, index: usize) {
        let placed = &mut self.boxes.placed[index];
        let at = placed.middlebox.deadline().max(self.now);
        if at < placed.wakes_at {
            placed.wakes_at = at;
            self.driver.events.push(Event {
                at,
                class: Class::Middlebox,
                component: index as u32,
            });
        }
    }

    /// Sends what a box has put out, each packet on the path to its
    /// destination. One whose path does not leave the node goes nowhere.
    fn send_of_box(&mut self, index: usize) {
        if self.boxes.out.is_empty() {
            return;
        }
        let node = self.boxes.placed[index].node;
        let mut out = std::mem::take(&mut self.boxes.out);
        for packet in out.drain(..) {
            self.inject(node, packet);
        }
        self.boxes.out = out;
    }

    /// The node where a link begins.
    pub(super) fn begins(&self, link: u32) -> Option<u32> {
        self.boxes.begins.get(link as usize).copied()
    }

    /// Sends a packet from a node on the path to its destination; false if that
    /// path does not leave the node.
    pub(super) fn inject(&mut self, node: u32, packet: Packet) -> bool {
        let mut hops = self.forward.paths.now(packet.destination);
        let begins = |hop: usize| self.boxes.begins[self.forward.paths.link_of(hop)];
        let Some(hop) = hops.find(|hop| begins(*hop) == node) else {
            return false;
        };
        self.enter(hop as u32, packet);
        true
    }

    /// Sends a packet from a node on hop `hop` of its path.
    pub(super) fn enter(&mut self, hop: u32, packet: Packet) {
        let meta = driver::meta(&packet);
        count(&mut self.boxes.added, hop as usize, meta.bytes);
        let handle = self.driver.packets.insert(packet);
        let packet = InFlight::new(handle.0, hop, meta);
        self.forward.offer(&mut self.driver, self.now, packet);
    }
}

fn count(counts: &mut Vec<Count>, hop: usize, bytes: u32) {
    if counts.len() <= hop {
        counts.resize(hop + 1, Count::default());
    }
    counts[hop].add(bytes);
}
