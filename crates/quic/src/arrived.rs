//! What of a stream has arrived.
//!
//! It is read as it arrives, in whatever order: quinn-proto keeps what is read in order, and closes the
//! connection when that has more than 1024 gaps, which a queue that overflows leaves on a fast path of
//! a long delay.

use quinn_proto::{Connection, ReadError, StreamId};
use std::collections::BTreeMap;

/// The bytes of one stream, which nobody keeps: only their places count.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    /// All before it has arrived.
    next: u64,
    /// What has arrived behind gaps: the end of each part by its start.
    beyond: BTreeMap<u64, u64>,
}

impl Arrived {
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
                Ok(Some(chunk)) => {
                    self.insert(chunk.offset, chunk.offset + chunk.bytes.len() as u64);
                }
                Ok(None) => break true,
                Err(ReadError::Blocked | ReadError::Reset(_)) => break false,
            }
        };
        // The next `transmit` sends the windows that this opens.
        let _ = chunks.finalize();
        (self.next - before, is_complete)
    }

    /// The bytes from `start` to `end` have arrived.
    fn insert(&mut self, start: u64, end: u64) {
        if start > self.next {
            let part = self.beyond.entry(start).or_insert(end);
            *part = end.max(*part);
            return;
        }
        self.next = self.next.max(end);
        while let Some(part) = self.beyond.first_entry()
            && *part.key() <= self.next
        {
            self.next = self.next.max(part.remove());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::Strategy;

    #[test]
    fn what_is_behind_a_gap_waits_for_it() {
        let mut arrived = Arrived::default();
        arrived.insert(10, 20);
        arrived.insert(30, 40);
        assert_eq!(arrived.next, 0);
        arrived.insert(0, 10);
        assert_eq!(arrived.next, 20);
        arrived.insert(15, 30);
        assert_eq!(arrived.next, 40);
        assert!(arrived.beyond.is_empty());
    }

    proptest::proptest! {
        /// In whatever order the parts come, all is there at the end, and never more than what came
        /// without a gap.
        #[test]
        fn any_order_comes_to_the_same(order in proptest::sample::subsequence((0u64..50).collect::<Vec<_>>(), 1..50).prop_shuffle()) {
            let mut arrived = Arrived::default();
            let mut seen = std::collections::BTreeSet::new();
            for part in order {
                arrived.insert(part * 7, part * 7 + 7);
                seen.insert(part);
                let whole = (0..).take_while(|part| seen.contains(part)).count() as u64;
                proptest::prop_assert_eq!(arrived.next, whole * 7);
            }
        }
    }
}
