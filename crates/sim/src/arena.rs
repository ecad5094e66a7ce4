//! Packets alive, behind 32-bit handles.

use bentpipe_tcp::Packet;

/// Where a packet lives in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(u32);

/// Packets alive. Slots are reused, so that a run allocates as many as are
/// alive at once and none per packet.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    slots: Vec<Packet>,
    free: Vec<u32>,
}

impl Arena {
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet) -> Handle {
        if let Some(i) = self.free.pop() {
            self.slots[i as usize] = packet;
            return Handle(i);
        }
        // A bound far below 2^32 is checked by the caller.
        self.slots.push(packet);
        Handle((self.slots.len() - 1) as u32)
    }

    #[inline]
    pub(crate) fn remove(&mut self, handle: Handle) -> Packet {
        self.free.push(handle.0);
        self.slots[handle.0 as usize]
    }

    pub(crate) fn discard(&mut self, handle: Handle) {
        self.free.push(handle.0);
    }

    /// Slots ever used at once.
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }
}
