//! What of a stream has arrived.
//!
//! It is read as it arrives, in whatever order: quinn-proto keeps what is read in order, and closes the
//! connection when that has more than 1024 gaps, which a queue that overflows leaves on a fast path of
//! a long delay.

use bytes::Bytes;
use quinn_proto::{Connection, ReadError, StreamId};
use std::collections::BTreeMap;

/// A part of a stream.
pub trait Part {
    /// Its length, bytes.
    fn length(&self) -> u64;
}

impl Part for Bytes {
    fn length(&self) -> u64 {
        self.len() as u64
    }
}

/// Bytes that nobody keeps: only how many they are counts.
impl Part for u64 {
    fn length(&self) -> u64 {
        *self
    }
}

/// The parts of one stream, put in order. They do not overlap: quinn-proto hands out each byte once
/// when it is read without order.
#[derive(Debug)]
pub struct Arrived<P> {
    /// All before it was taken.
    next: u64,
    /// What was not taken, by its offset.
    parts: BTreeMap<u64, P>,
    /// Bytes of it.
    held: u64,
    /// All before it has arrived.
    reached: u64,
}

impl<P> Default for Arrived<P> {
    fn default() -> Arrived<P> {
        Arrived {
            next: 0,
            parts: BTreeMap::new(),
            held: 0,
            reached: 0,
        }
    }
}

impl<P: Part> Arrived<P> {
    /// Offset of the first byte that was not taken.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Bytes that have arrived and were not taken.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Parts that have arrived and were not taken.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// True where bytes are missing before some that have arrived.
    #[must_use]
    pub fn has_gaps(&self) -> bool {
        self.held > self.reached - self.next
    }

    /// The part at `start` has arrived.
    pub fn insert(&mut self, start: u64, part: P) {
        self.held += part.length();
        self.parts.insert(start, part);
        while let Some(part) = self.parts.get(&self.reached).filter(|it| it.length() > 0) {
            self.reached += part.length();
        }
    }

    /// Takes the next part in order, if it has arrived.
    pub fn take(&mut self) -> Option<P> {
        let first = self.parts.first_entry()?;
        if *first.key() > self.next {
            return None;
        }
        let part = first.remove();
        self.next += part.length();
        self.held -= part.length();
        Some(part)
    }
}

impl Arrived<u64> {
    /// Reads what the stream has. Returns the bytes that are in order with it, and whether the stream
    /// is complete.
    pub(crate) fn read(&mut self, connection: &mut Connection, stream: StreamId) -> (u64, bool) {
        let before = self.next;
        let mut stream = connection.recv_stream(stream);
        let Ok(mut chunks) = stream.read(false) else {
            return (0, false);
        };
        let is_complete = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.insert(chunk.offset, chunk.bytes.length()),
                Ok(None) => break true,
                Err(ReadError::Blocked | ReadError::Reset(_)) => break false,
            }
        };
        // The next `transmit` sends the windows that this opens.
        let _ = chunks.finalize();
        while self.take().is_some() {}
        (self.next - before, is_complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::Strategy;

    #[test]
    fn what_is_behind_a_gap_waits_for_it() {
        let mut arrived = Arrived::default();
        arrived.insert(10, 10);
        arrived.insert(30, 10);
        assert_eq!(arrived.take(), None);
        arrived.insert(0, 10);
        assert_eq!((arrived.take(), arrived.take()), (Some(10), Some(10)));
        assert_eq!(arrived.take(), None);
        assert_eq!((arrived.next(), arrived.held()), (20, 10));
        assert!(arrived.has_gaps());
        arrived.insert(20, 10);
        // What is only not taken yet has none.
        assert!(arrived.held() == 20 && !arrived.has_gaps());
        assert_eq!((arrived.take(), arrived.take()), (Some(10), Some(10)));
        assert_eq!((arrived.next(), arrived.held()), (40, 0));
    }

    proptest::proptest! {
        /// In whatever order the parts come, all is there at the end, and never more than what came
        /// without a gap.
        #[test]
        fn any_order_comes_to_the_same(order in proptest::sample::subsequence((0u64..50).collect::<Vec<_>>(), 1..50).prop_shuffle()) {
            let mut arrived = Arrived::default();
            let mut seen = std::collections::BTreeSet::new();
            for part in order {
                arrived.insert(part * 7, 7);
                seen.insert(part);
                while arrived.take().is_some() {}
                let whole = (0..).take_while(|part| seen.contains(part)).count() as u64;
                proptest::prop_assert_eq!(arrived.next(), whole * 7);
                proptest::prop_assert_eq!(arrived.held(), seen.len() as u64 * 7 - whole * 7);
            }
        }
    }
}
