//! What a transfer carries: bytes that follow from a seed and their position, so
//! that the receiver compares every byte with what was sent, and a byte lost,
//! repeated, moved or changed shows at its place.

/// A stream of bytes, known at every position.
#[derive(Clone, Copy, Debug)]
pub struct Content(u64);

impl Content {
    /// The content with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Content {
        Content(seed)
    }

    /// Fills `into` with the bytes from position `at` on.
    pub fn fill(self, mut at: u64, mut into: &mut [u8]) {
        while !into.is_empty() {
            let word = self.word(at / 8).to_le_bytes();
            let from = usize::try_from(at % 8).unwrap_or(0);
            let length = (8 - from).min(into.len());
            into[..length].copy_from_slice(&word[from..from + length]);
            into = &mut into[length..];
            at += length as u64;
        }
    }

    /// The first position, `at` being that of `bytes[0]`, where `bytes` differ
    /// from the content.
    #[must_use]
    pub fn first_wrong(self, at: u64, bytes: &[u8]) -> Option<u64> {
        let mut expected = [0; 4096];
        let mut from = at;
        for part in bytes.chunks(expected.len()) {
            let expected = &mut expected[..part.len()];
            self.fill(from, expected);
            if expected != part {
                let same = expected.iter().zip(part).take_while(|(a, b)| a == b);
                return Some(from + same.count() as u64);
            }
            from += part.len() as u64;
        }
        None
    }

    fn word(self, index: u64) -> u64 {
        mix(self.0 ^ mix(index))
    }
}

/// SplitMix64's output function (Steele, Lea and Flood, 2014).
#[must_use]
pub const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_piece_is_the_same_as_in_the_whole() {
        let content = Content::new(7);
        let mut whole = [0; 10_000];
        content.fill(0, &mut whole);
        for (at, length) in [(0, 1), (3, 10), (4095, 2), (5, 9000), (8, 8)] {
            let mut piece = vec![0; length];
            content.fill(at as u64, &mut piece);
            assert_eq!(piece, whole[at..at + length]);
            assert_eq!(content.first_wrong(at as u64, &piece), None);
        }
    }

    #[test]
    fn a_fault_is_found_at_its_place() {
        let content = Content::new(7);
        let mut bytes = [0; 10_000];
        content.fill(100, &mut bytes);
        bytes[5000] ^= 1;
        assert_eq!(content.first_wrong(100, &bytes), Some(5100));
        // One byte lost: all that follows has moved.
        content.fill(100, &mut bytes[..4000]);
        content.fill(4101, &mut bytes[4000..]);
        let found = content.first_wrong(100, &bytes).unwrap();
        assert!((4100..4104).contains(&found), "{found}");
    }
}
