//! Packets that are due at one endpoint and wait to be written together.

use super::arena::Arena;
use super::join::{Headers, Joint};
use bentpipe_units::{Duration, Time};

/// Packets are joined that are due within this time: those of links above
/// 240 Mbit/s. On slower links a receiver gets each packet by itself, even where
/// the emulator is late, and acknowledges as it would without an emulator.
const TOGETHER: Duration = Duration::from_micros(50);

/// A packet that is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// Where its bytes lie in the arena.
    pub(super) slot: u32,
    /// Its bytes on the links.
    pub(super) bytes: u32,
    /// When it is due.
    pub(super) at: Time,
}

/// Packets for one endpoint: a single one, or several that are joined.
#[derive(Debug, Default)]
pub(super) struct Batch {
    endpoint: u32,
    packets: Vec<Due>,
    joint: Option<Joint>,
}

impl Batch {
    /// The packets, in their order.
    pub(super) fn packets(&self) -> &[Due] {
        &self.packets
    }

    /// Number of the endpoint that receives the batch.
    pub(super) fn endpoint(&self) -> u32 {
        self.endpoint
    }

    /// Adds a packet for `endpoint` if it continues those that wait.
    #[inline]
    pub(super) fn add(&mut self, arena: &Arena, endpoint: u32, due: Due) -> bool {
        let Some(joint) = &mut self.joint else {
            return false;
        };
        let first = self.packets[0];
        let adds = endpoint == self.endpoint
            && due.at.since(first.at) <= TOGETHER
            && joint.add(arena.get(first.slot), arena.get(due.slot));
        if adds {
            self.packets.push(due);
        }
        adds
    }

    /// Begins with a packet, after the ones before it were written. `joins` tells whether others
    /// may follow it, and `datagrams` whether UDP datagrams may.
    #[inline]
    pub(super) fn begin(
        &mut self,
        arena: &Arena,
        endpoint: u32,
        due: Due,
        joins: bool,
        datagrams: bool,
    ) {
        self.endpoint = endpoint;
        self.packets.push(due);
        self.joint = if joins {
            Joint::new(arena.get(due.slot), datagrams)
        } else {
            None
        };
    }

    /// The headers of the segment, where there is more than one packet.
    pub(super) fn headers(&self, arena: &Arena) -> Option<Headers> {
        match (self.packets.as_slice(), &self.joint) {
            ([first, _, ..], Some(joint)) => Some(joint.headers(arena.get(first.slot))),
            _ => None,
        }
    }

    /// Empties the batch, keeping its buffers.
    pub(super) fn clear(&mut self) {
        self.packets.clear();
        self.joint = None;
    }
}
