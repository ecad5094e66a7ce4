//! Links, packets and the event queue: everything between the endpoints.
//!
//! The forwarding core moves packets from link to link; [`SimDriver`] is
//! what it needs for that in virtual time.

mod corruption;
mod driver;
mod gates;
mod middlebox;
mod notices;
pub(crate) mod tally;
mod watch;

use crate::arena::Handle;
use crate::connections::Connections;
use crate::observer::Observer;
use crate::parts::Crossing;
use crate::queue::{Class, Event};
use bentpipe_link::forward::{self, Arrival, InFlight};
use bentpipe_middlebox::Ipsec;
use bentpipe_scenario::{Routes, Scenario};
use bentpipe_tcp::packet::priority;
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::Time;
use driver::SimDriver;
use gates::Gates;
pub(crate) use gates::{Came, Held};
use middlebox::Boxes;
use notices::Notice;
use watch::Watch;

/// The network between the endpoints, which [`Connections`] number.
pub(crate) struct Network<'a, const WATCHED: bool> {
    pub(crate) now: Time,
    pub(crate) forward: forward::Network,
    pub(crate) driver: SimDriver,
    pub(crate) observer: &'a mut dyn Observer,
    /// Most packets that may be alive at once.
    limit: usize,
    pub(crate) boxes: Boxes,
    pub(crate) gates: Gates,
    pub(crate) connections: Connections,
    /// By endpoint, how its packets are protected, where any are.
    protection: Option<Box<[Option<Ipsec>]>>,
    /// What is kept for the observer.
    watch: Watch,
}

impl<'a, const WATCHED: bool> Network<'a, WATCHED> {
    pub(crate) fn new(
        scenario: &Scenario,
        seed: u64,
        delays: bool,
        observer: &'a mut dyn Observer,
    ) -> Network<'a, WATCHED> {
        let gates = Gates::new(scenario);
        let boxes = Boxes::new(scenario, gates.is_any());
        let routes = scenario.connections().map(Routes::from);
        let mut forward = scenario.network(routes, seed, delays);
        let sees = |from, to| boxes.see(from, to) || gates.see(from, to);
        forward.paths.intercept(sees);
        // A middlebox sees a packet when it comes.
        // A notification of congestion enters the network in the middle of a path.
        let driver = SimDriver::new(scenario, forward.paths.hops(), WATCHED);
        forward.look_ahead(|link| {
            boxes.stand_before(link)
                || gates.stand_before(link)
                || driver
                    .notices
                    .as_ref()
                    .is_some_and(|notices| notices.enter(link))
        });
        let mut net = Network {
            now: Time::ZERO,
            driver,
            forward,
            observer,
            limit: scenario.limits.packets as usize,
            boxes,
            gates,
            connections: Connections::new(scenario),
            protection: protection(scenario),
            watch: Watch::default(),
        };
        net.schedule_routes();
        net
    }

    /// True if more packets were alive at once than may be.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.driver.packets.capacity() > self.limit
    }

    /// The event of link or medium `component` is due: a packet continues to its next link, or its
    /// handle is returned at its destination.
    // By far the most events, in two loops: left to itself the compiler makes a call of it, for 2% of
    // the speed.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, component: u32) -> Option<Handle> {
        let driver = &mut self.driver;
        let arrived = match self.forward.arrive(driver, self.now, component) {
            Arrival::Nothing => None,
            Arrival::Delivered { packet, .. } => Some(Handle(packet.handle)),
            Arrival::Intercepted { packet, from, to } => {
                self.pass_boxes(from, to, packet);
                None
            }
        };
        if WATCHED {
            self.show_losses();
        }
        arrived
    }

    /// The next notification to send.
    pub(crate) fn next_notice(&mut self) -> Option<Notice> {
        self.driver.notices.as_mut()?.pop()
    }

    /// Sends a notification. One to an endpoint at the queue's own node has
    /// arrived already; one whose path does not leave the node is lost.
    pub(crate) fn send_notice(&mut self, notice: Notice) -> Option<Handle> {
        let node = self.begins(notice.link)?;
        let packet = notice.packet();
        if self.driver.notices.as_ref()?.node_of(notice.destination) == Some(node) {
            return Some(self.driver.packets.insert(packet));
        }
        self.inject(node, packet);
        None
    }

    /// Takes the packets that another part of the network has admitted to links that end here.
    pub(crate) fn land(&mut self, crossings: &mut Vec<Crossing>) {
        for mut crossing in crossings.drain(..) {
            let handle = self.driver.packets.insert(crossing.header);
            crossing.packet.handle = handle.0;
            let Crossing { link, sent, at, .. } = crossing;
            let driver = &mut self.driver;
            self.forward.land(driver, link, sent, at, crossing.packet);
        }
    }

    /// Takes a packet out of the network.
    #[inline]
    pub(crate) fn take(&mut self, handle: Handle) -> Packet {
        self.driver.packets.remove(handle)
    }

    /// Changes the routes that change now.
    #[cold]
    pub(crate) fn change_routes(&mut self) {
        self.forward.paths.change(self.now);
        self.schedule_routes();
    }

    fn schedule_routes(&mut self) {
        let next = self.forward.paths.next_change();
        self.driver.events.extend(next.map(|at| Event {
            at,
            class: Class::Route,
            component: 0,
        }));
    }

    /// Brings all links, and the counts of what they lost, up to now.
    pub(crate) fn catch_up(&mut self) {
        self.forward.catch_up(&mut self.driver, self.now);
        self.driver.ledger.settle(self.now);
        if WATCHED {
            self.show_losses();
        }
    }
}

/// How the packets to each endpoint are protected; `None` where none are.
fn protection(scenario: &Scenario) -> Option<Box<[Option<Ipsec>]>> {
    scenario.flows.iter().any(|f| f.ipsec.is_some()).then(|| {
        let connections = scenario.connections();
        connections
            .flat_map(|c| [scenario.flows[c.flow].ipsec; 2])
            .collect()
    })
}

impl<const WATCHED: bool> Transmit for Network<'_, WATCHED> {
    fn transmit(&mut self, mut packet: Packet) {
        if let Some(protection) = &self.protection
            && let Some(ipsec) = &protection[packet.destination as usize]
        {
            ipsec.seal(&mut packet);
        }
        if WATCHED && !packet.carries(priority::REPAIR) {
            self.observer
                .sent(self.now, packet.destination ^ 1, &packet);
        }
        let (destination, meta) = (packet.destination, driver::meta(&packet));
        let Some(hop) = self.forward.paths.send(destination, meta.bytes) else {
            if WATCHED {
                self.show_unroutable(&packet);
            }
            return;
        };
        let handle = self.driver.packets.insert(packet);
        let packet = InFlight::new(handle.0, hop, meta);
        self.forward.offer(&mut self.driver, self.now, packet);
        if WATCHED {
            self.show_losses();
        }
    }

    fn carries(&mut self, packet: &Packet, datagram: &[u8]) {
        if WATCHED {
            let sender = packet.destination ^ 1;
            self.observer.carries(sender, packet, datagram);
        }
    }

    fn is_full(&self) -> bool {
        self.is_over_limit()
    }
}

#[cfg(test)]
mod tests;
