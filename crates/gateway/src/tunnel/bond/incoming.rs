//! What arrives of a bonded connection: parts by their offsets, put in order.
//!
//! The same bytes may come over several subflows. Those that are here already are dropped, so that each
//! byte is handed out once.

use super::frame::{Acknowledgement, RANGES};
use bytes::{Buf as _, Bytes};
use std::collections::BTreeMap;

/// Most parts that wait for others before them. What would be one more is dropped, and comes again.
const PARTS: usize = 4096;

/// The other box has sent what it may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Violation;

/// The receiving direction.
#[derive(Debug)]
pub(super) struct Incoming {
    /// All before it was taken.
    taken: u64,
    /// All before it has arrived.
    reached: u64,
    /// What was not taken, by its offset; parts do not overlap.
    parts: BTreeMap<u64, Bytes>,
    /// The offset at which it ends.
    end: Option<u64>,
    /// The offset up to which the other box may send.
    limit: u64,
}

impl Incoming {
    /// A direction in which the other box may send so many bytes.
    pub(super) fn new(window: u64) -> Incoming {
        Incoming {
            taken: 0,
            reached: 0,
            parts: BTreeMap::new(),
            end: None,
            limit: window,
        }
    }

    /// Takes bytes from an offset on; false where nothing of them is new, or taken.
    ///
    /// # Errors
    /// They lie beyond the limit or the end.
    pub(super) fn insert(&mut self, offset: u64, mut bytes: Bytes) -> Result<bool, Violation> {
        let end = offset.checked_add(bytes.len() as u64).ok_or(Violation)?;
        if end > self.limit || self.end.is_some_and(|last| end > last) {
            return Err(Violation);
        }
        let mut at = offset;
        if at < self.reached {
            let known = (self.reached - at).min(bytes.len() as u64);
            bytes.advance(usize::try_from(known).unwrap_or(usize::MAX));
            at += known;
        }
        let mut is_new = false;
        while !bytes.is_empty() {
            // Bytes of the part that begins before, or at, this offset.
            if let Some((start, part)) = self.parts.range(..=at).next_back() {
                let known = (start + part.len() as u64).saturating_sub(at);
                let known = known.min(bytes.len() as u64);
                bytes.advance(usize::try_from(known).unwrap_or(usize::MAX));
                at += known;
                if bytes.is_empty() {
                    break;
                }
            }
            let next = self.parts.range(at..).next().map(|(start, _)| *start);
            let room = next.map_or(u64::MAX, |next| next - at);
            if room == 0 {
                continue;
            }
            if self.parts.len() >= PARTS && at != self.reached {
                break;
            }
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            let now = bytes.split_to(room.min(bytes.len()));
            let length = now.len() as u64;
            self.parts.insert(at, now);
            at += length;
            is_new = true;
        }
        while let Some(part) = self.parts.get(&self.reached) {
            self.reached += part.len() as u64;
        }
        Ok(is_new)
    }

    /// It ends at this offset.
    ///
    /// # Errors
    /// It was to end elsewhere, or more has arrived.
    pub(super) fn end_at(&mut self, offset: u64) -> Result<(), Violation> {
        let last = self.parts.last_key_value();
        let arrived = last.map_or(self.reached, |(start, part)| start + part.len() as u64);
        if offset < arrived.max(self.taken) || self.end.is_some_and(|end| end != offset) {
            return Err(Violation);
        }
        self.end = Some(offset);
        Ok(())
    }

    /// All of it has arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.end == Some(self.reached)
    }

    /// All of it was taken.
    pub(super) fn is_taken(&self) -> bool {
        self.end == Some(self.taken)
    }

    /// The next bytes in order, at most `most`.
    pub(super) fn take(&mut self, most: usize) -> Option<Bytes> {
        let mut first = self.parts.first_entry()?;
        if *first.key() > self.taken {
            return None;
        }
        let part = first.get_mut();
        let now = if part.len() <= most {
            first.remove()
        } else {
            let now = part.split_to(most);
            let (start, rest) = first.remove_entry();
            self.parts.insert(start + now.len() as u64, rest);
            now
        };
        self.taken += now.len() as u64;
        Some(now)
    }

    /// Lets the other box send so much beyond what was taken; what it may already stays.
    pub(super) fn allow(&mut self, window: u64) {
        self.limit = self.limit.max(self.taken.saturating_add(window));
    }

    /// Bytes that the other box may still send.
    pub(super) const fn allowed(&self) -> u64 {
        self.limit - self.taken
    }

    /// Drops what waits, and takes no more.
    pub(super) fn clear(&mut self) {
        self.parts.clear();
    }

    /// What to tell the other box.
    pub(super) fn acknowledgement(&self) -> Acknowledgement {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (start, part) in self.parts.range(self.reached..) {
            let end = start + part.len() as u64;
            let length = ranges.len();
            match ranges.last_mut() {
                Some((_, last)) if *last == *start => *last = end,
                _ if length == RANGES => break,
                _ => ranges.push((*start, end)),
            }
        }
        Acknowledgement {
            next: self.reached + u64::from(self.is_complete()),
            limit: self.limit,
            ranges,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(begin: u64, end: u64) -> Bytes {
        (begin..end).map(|at| at as u8).collect::<Vec<_>>().into()
    }

    proptest! {
        /// In whatever order parts come, and however they overlap, each byte is handed out once, and
        /// what is acknowledged is what has come.
        #[test]
        fn each_byte_is_handed_out_once(
            parts in proptest::collection::vec((0..200u64, 0..60u64, 0..40usize), 1..80),
        ) {
            let mut incoming = Incoming::new(1_000);
            let mut here = [false; 300];
            let mut out = Vec::new();
            for (begin, length, most) in parts {
                let end = begin + length;
                let is_new = (begin..end).any(|at| !here[at as usize]);
                prop_assert_eq!(incoming.insert(begin, bytes(begin, end)), Ok(is_new));
                here[begin as usize..end as usize].fill(true);
                let ack = incoming.acknowledgement();
                let next = here.iter().position(|it| !it).unwrap() as u64;
                prop_assert_eq!(ack.next, next);
                for (begin, end) in &ack.ranges {
                    prop_assert!(here[*begin as usize..*end as usize].iter().all(|it| *it));
                    prop_assert!(!here[*end as usize] && !here[*begin as usize - 1]);
                }
                if most > 0 && let Some(taken) = incoming.take(most) {
                    prop_assert!(taken.len() <= most);
                    out.extend_from_slice(&taken);
                }
            }
            while let Some(taken) = incoming.take(usize::MAX) {
                out.extend_from_slice(&taken);
            }
            let next = here.iter().position(|it| !it).unwrap() as u64;
            prop_assert_eq!(&out[..], &bytes(0, next)[..]);
        }
    }

    #[test]
    fn the_end_is_acknowledged_like_a_byte() {
        let mut incoming = Incoming::new(100);
        assert_eq!(incoming.end_at(3), Ok(()));
        assert_eq!(incoming.acknowledgement().next, 0);
        assert_eq!(incoming.insert(0, bytes(0, 3)), Ok(true));
        assert!(incoming.is_complete() && !incoming.is_taken());
        assert_eq!(incoming.acknowledgement().next, 4);
        assert_eq!(incoming.take(9), Some(bytes(0, 3)));
        assert!(incoming.is_taken());
        // It comes again, and differently.
        assert_eq!(incoming.end_at(3), Ok(()));
        assert_eq!(incoming.end_at(4), Err(Violation));
        assert_eq!(incoming.insert(3, bytes(3, 4)), Err(Violation));
    }

    #[test]
    fn nothing_is_taken_beyond_the_limit() {
        let mut incoming = Incoming::new(10);
        assert_eq!(incoming.insert(5, bytes(5, 11)), Err(Violation));
        assert_eq!(incoming.insert(u64::MAX, bytes(0, 2)), Err(Violation));
        assert_eq!(incoming.insert(0, bytes(0, 10)), Ok(true));
        incoming.take(4).unwrap();
        incoming.allow(8);
        assert_eq!(incoming.allowed(), 8);
        assert_eq!(incoming.insert(10, bytes(10, 12)), Ok(true));
        assert_eq!(incoming.end_at(11), Err(Violation));
        // What was allowed is not taken back.
        incoming.allow(1);
        assert_eq!(incoming.acknowledgement().limit, 12);
    }
}
