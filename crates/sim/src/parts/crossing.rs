//! Packets on their way from one part of a network to another.

use bentpipe_link::forward::InFlight;
use bentpipe_tcp::Packet;
use bentpipe_units::Time;
use std::sync::Arc;

/// A packet that a link has admitted and that goes on in another part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub(crate) link: u32,
    /// The end of its transmission.
    pub(crate) sent: Time,
    /// When it arrives at the far end of the link.
    pub(crate) at: Time,
    /// The packet for the link's ring; its handle is that of the part that it comes from.
    pub(crate) packet: InFlight,
    pub(crate) header: Packet,
}

/// The packets that have crossed in a window.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// By hop of all paths, the part that it is in.
    hops: Arc<[u8]>,
    /// By part.
    batches: Vec<Vec<Crossing>>,
    /// The earliest arrival among them.
    earliest: Time,
}

impl Outgoing {
    pub(crate) fn new(hops: Arc<[u8]>, parts: usize) -> Outgoing {
        Outgoing {
            hops,
            batches: vec![Vec::new(); parts],
            earliest: Time::MAX,
        }
    }

    pub(crate) fn put(&mut self, crossing: Crossing) {
        let next = crossing.packet.hop() as usize + 1;
        self.earliest = self.earliest.min(crossing.at);
        self.batches[usize::from(self.hops[next])].push(crossing);
    }

    /// When the first of them arrives.
    pub(crate) fn earliest(&self) -> Time {
        self.earliest
    }

    /// Hands the packets for `part` over, for what is in `batch`.
    pub(crate) fn swap(&mut self, part: usize, batch: &mut Vec<Crossing>) {
        std::mem::swap(&mut self.batches[part], batch);
        // All are handed over together.
        self.earliest = Time::MAX;
    }
}
