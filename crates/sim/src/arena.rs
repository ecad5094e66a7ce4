//! Packets alive, behind 32-bit handles.

use bentpipe_tcp::Packet;

/// Where a packet lives in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(pub(crate) u32);

/// Slots in a page.
const PAGE: usize = 1024;

/// Packets alive. Slots are reused, so that a run allocates as many as are
/// alive at once and none per packet. They lie in pages, so that growing
/// neither copies packets nor reserves twice what is needed.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    pages: Vec<Box<[Packet; PAGE]>>,
    free: Vec<u32>,
    used: usize,
}

impl Arena {
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet) -> Handle {
        // A bound far below 2^32 is checked by the caller.
        let slot = self.free.pop().unwrap_or_else(|| self.grow());
        self.pages[slot as usize / PAGE][slot as usize % PAGE] = packet;
        Handle(slot)
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        if self.used == self.pages.len() * PAGE {
            self.pages.push(Box::new([Packet::new(0); PAGE]));
        }
        self.used += 1;
        (self.used - 1) as u32
    }

    #[inline]
    pub(crate) fn remove(&mut self, handle: Handle) -> Packet {
        self.free.push(handle.0);
        self.pages[handle.0 as usize / PAGE][handle.0 as usize % PAGE]
    }

    pub(crate) fn get(&self, handle: Handle) -> &Packet {
        &self.pages[handle.0 as usize / PAGE][handle.0 as usize % PAGE]
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> &mut Packet {
        &mut self.pages[handle.0 as usize / PAGE][handle.0 as usize % PAGE]
    }

    pub(crate) fn discard(&mut self, handle: Handle) {
        self.free.push(handle.0);
    }

    /// Slots ever used at once.
    pub(crate) fn capacity(&self) -> usize {
        self.used
    }
}
