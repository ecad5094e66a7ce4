//! Notifications of congestion that queues send back to senders (BECN).
//!
//! A message of 56 bytes, as ICMP's source quench: its own headers of 28 bytes,
//! the IP header of the packet that met congestion, and 8 bytes of what follows.
//! It enters the network at the node of the queue, on the path to the sender.

use bentpipe_scenario::Scenario;
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::priority;

/// Bytes of a notification at the IP layer.
const BYTES: u16 = 56;

/// What a queue has to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    pub(super) link: u32,
    pub(super) destination: u32,
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

    /// The next notification to send.
    pub(super) fn pop(&mut self) -> Option<Notice> {
        self.pending.pop()
    }

    /// True if notifications may enter the network at `link`.
    pub(super) fn enter(&self, link: u32) -> bool {
        self.enter[link as usize]
    }

    /// The node of an endpoint.
    pub(super) fn node_of(&self, endpoint: u32) -> Option<u32> {
        self.nodes.get(endpoint as usize).copied()
    }
}

impl Notice {
    pub(super) fn packet(self) -> Packet {
        let mut packet = Packet::new(self.destination);
        packet.bytes = BYTES;
        packet.priority = priority::BACKWARD;
        packet
    }
}
