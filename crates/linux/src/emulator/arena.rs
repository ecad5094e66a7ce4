//! Memory of the packets in flight: slots of one size in blocks, which are allocated on demand and
//! kept.

/// Slots that are taken together.
const BLOCK: usize = 256;

/// Buffers of the packets in flight, addressed by slot.
#[derive(Debug)]
pub(super) struct Arena {
    blocks: Vec<Box<[u8]>>,
    lengths: Vec<u32>,
    free: Vec<u32>,
    slot_bytes: usize,
    most_blocks: usize,
}

impl Arena {
    /// Room for packets of up to `slot_bytes`, in all for up to `most_bytes`,
    /// at least one block; `first` slots at once.
    pub(super) fn new(slot_bytes: usize, most_bytes: usize, first: usize) -> Arena {
        let mut arena = Arena {
            blocks: Vec::new(),
            lengths: Vec::new(),
            free: Vec::new(),
            slot_bytes,
            most_blocks: (most_bytes / slot_bytes / BLOCK).max(1),
        };
        while arena.free.len() < first && arena.grow() {}
        arena
    }

    fn grow(&mut self) -> bool {
        if self.blocks.len() >= self.most_blocks {
            return false;
        }
        let first = self.lengths.len() as u32;
        self.blocks.push(vec![0; self.slot_bytes * BLOCK].into());
        self.lengths.resize(self.lengths.len() + BLOCK, 0);
        self.free.extend((first..first + BLOCK as u32).rev());
        true
    }

    /// A free slot, to be filled; `None` if there is no room left.
    #[inline]
    pub(super) fn take(&mut self) -> Option<u32> {
        if self.free.is_empty() && !self.grow() {
            return None;
        }
        self.free.pop()
    }

    /// All of a slot, to be filled.
    #[inline]
    pub(super) fn room(&mut self, slot: u32) -> &mut [u8] {
        let begin = slot as usize % BLOCK * self.slot_bytes;
        &mut self.blocks[slot as usize / BLOCK][begin..begin + self.slot_bytes]
    }

    /// How much of a slot has been filled.
    #[inline]
    pub(super) fn set_length(&mut self, slot: u32, bytes: usize) {
        self.lengths[slot as usize] = bytes.min(self.slot_bytes) as u32;
    }

    /// The filled part.
    #[inline]
    pub(super) fn get(&self, slot: u32) -> &[u8] {
        let begin = slot as usize % BLOCK * self.slot_bytes;
        let length = self.lengths[slot as usize] as usize;
        &self.blocks[slot as usize / BLOCK][begin..begin + length]
    }

    /// The filled part, mutable.
    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut [u8] {
        let length = self.lengths[slot as usize] as usize;
        &mut self.room(slot)[..length]
    }

    /// Gives a slot back.
    #[inline]
    pub(super) fn free(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_keep_apart_and_end() {
        let mut arena = Arena::new(100, 100 * BLOCK * 2, 1);
        let slots: Vec<u32> = std::iter::from_fn(|| arena.take()).collect();
        assert_eq!(slots.len(), 2 * BLOCK);
        for &slot in &slots {
            arena.room(slot).fill(slot as u8);
            arena.set_length(slot, 60);
        }
        assert!(slots.iter().all(|&s| arena.get(s) == [s as u8; 60]));
        arena.free(slots[7]);
        assert_eq!((arena.take(), arena.take()), (Some(slots[7]), None));
    }
}
