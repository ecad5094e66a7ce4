//! A queue in a ring whose length is a power of two.
//!
//! A link adds to and takes from two of these for every packet. Masking an
//! index costs half of what `VecDeque` does, which must compare it with any
//! capacity.

/// Values, first in, first out.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// Zero or a power of two. Links are many, and most rings small: every byte counts.
    slots: Box<[T]>,
    first: u32,
    len: u32,
}

/// Slots of a ring that is not empty, at least.
const LEAST: usize = 4;

impl<T: Copy> Ring<T> {
    pub(crate) fn new() -> Ring<T> {
        Ring {
            slots: Box::new([]),
            first: 0,
            len: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot of the value at `place`.
    #[inline]
    fn slot(&self, place: usize) -> usize {
        (self.first as usize).wrapping_add(place) & self.slots.len().wrapping_sub(1)
    }

    #[inline(always)]
    pub(crate) fn push_back(&mut self, value: T) {
        if self.len() == self.slots.len() {
            self.grow(value);
        }
        let slot = self.slot(self.len());
        if let Some(slot) = self.slots.get_mut(slot) {
            *slot = value;
            self.len += 1;
        }
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.drop_front();
        Some(value)
    }

    /// Drops the first value, of which there is one.
    #[inline]
    pub(crate) fn drop_front(&mut self) {
        self.first = self.slot(1) as u32;
        self.len -= 1;
    }

    /// Drops all values.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        self.slots.get(self.first as usize)
    }

    /// The value at `place`, counted from the first.
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        (place < self.len()).then(|| self.slots.get(self.slot(place)))?
    }

    /// Inserts a value at `place`, which others move back for.
    pub(crate) fn insert(&mut self, place: usize, value: T) {
        self.push_back(value);
        for place in (place + 1..self.len()).rev() {
            let (slot, before) = (self.slot(place), self.slot(place - 1));
            self.slots.swap(slot, before);
        }
    }

    /// The values, the first one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let (wrapped, ahead) = self.slots.split_at(self.first as usize);
        ahead.iter().chain(wrapped).take(self.len())
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        self.resize((2 * self.slots.len()).max(LEAST), filler);
    }

    /// Moves the values to so many slots, which must be enough.
    fn resize(&mut self, slots: usize, filler: T) {
        let mut moved = Vec::with_capacity(slots);
        moved.extend(self.iter().copied());
        moved.resize(slots, filler);
        self.slots = moved.into_boxed_slice();
        self.first = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_is_a_queue(bursts in proptest::collection::vec((0u8..10, 1u8..90), 0..60)) {
            let steps = bursts.into_iter().flat_map(|(step, n)| (0..n).map(move |_| step));
            let (mut ring, mut queue) = (Ring::new(), VecDeque::new());
            for (value, step) in steps.enumerate() {
                match step {
                    0..5 => {
                        ring.push_back(value);
                        queue.push_back(value);
                    }
                    5..9 => prop_assert_eq!(ring.pop_front(), queue.pop_front()),
                    9 if value % 5 == 0 => {
                        ring.clear();
                        queue.clear();
                    }
                    _ => {
                        let place = value % (queue.len() + 1);
                        ring.insert(place, value);
                        queue.insert(place, value);
                    }
                }
                prop_assert_eq!(ring.len(), queue.len());
                prop_assert_eq!(ring.front(), queue.front());
                prop_assert!(ring.iter().eq(&queue));
                prop_assert_eq!(ring.get(1), queue.get(1));
                prop_assert_eq!(ring.get(queue.len()), None);
            }
        }
    }
}
