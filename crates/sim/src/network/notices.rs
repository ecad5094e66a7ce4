//! Notifications of congestion that queues send back to senders (BECN).
//!
//! A message of 56 bytes, as ICMP's source quench: its own headers of 28 bytes,
//! the IP header of the packet that met congestion, and 8 bytes of what follows.
//! It enters the network at the node of the queue, on the path to the sender.

use super::Network;
use super::driver::SimDriver;
use crate::arena::Handle;
use crate::observer::Observer;
use bentpipe_scenario::Scenario;
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::priority;

/// Bytes of a notification at the IP layer.
const BYTES: u16 = 56;

/// What a queue has to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    link: u32,
    destination: u32,
}

/// Notifications that have not been sent yet.
#[derive(Debug)]
pub(super) struct Notices {
    pending: Vec<Notice>,
    /// True for the links that begin at the node of a queue that notifies.
    enter: Vec<bool>,
    /// The node of each endpoint.
    nodes: Vec<u32>,
}

impl Notices {
    /// `None` where no queue notifies senders.
    pub(super) fn new(scenario: &Scenario) -> Option<Box<Notices>> {
        let notifies = scenario
            .links
            .iter()
            .filter(|l| l.settings.queue.notifies());
        let nodes: Vec<_> = notifies.map(|link| link.from).collect();
        if nodes.is_empty() {
            return None;
        }
        let enter = scenario.links.iter().map(|link| nodes.contains(&link.from));
        Some(Box::new(Notices {
            pending: Vec::new(),
            enter: enter.collect(),
            nodes: scenario
                .connections()
                .flat_map(|c| c.nodes)
                .map(|n| n.0)
                .collect(),
        }))
    }

    /// The queue of `link` notifies endpoint `destination`.
    pub(super) fn add(&mut self, link: u32, destination: u32) {
        self.pending.push(Notice { link, destination });
    }
}

impl SimDriver {
    /// True if notifications may enter the network at `link`.
    pub(super) fn notices_enter(&self, link: u32) -> bool {
        let notices = self.notices.as_ref();
        notices.is_some_and(|notices| notices.enter[link as usize])
    }
}

impl<O: Observer> Network<'_, O> {
    /// The next notification to send.
    pub(crate) fn next_notice(&mut self) -> Option<Notice> {
        self.driver.notices.as_mut()?.pending.pop()
    }

    /// Sends a notification. One to an endpoint at the queue's own node has
    /// arrived already; one whose path does not leave the node is lost.
    pub(crate) fn send_notice(&mut self, notice: Notice) -> Option<Handle> {
        let node = self.begins(notice.link)?;
        let mut packet = Packet::new(notice.destination);
        packet.bytes = BYTES;
        packet.priority = priority::BACKWARD;
        let nodes = &self.driver.notices.as_ref()?.nodes;
        if nodes.get(notice.destination as usize) == Some(&node) {
            return Some(self.driver.packets.insert(packet));
        }
        self.inject(node, packet);
        None
    }
}
