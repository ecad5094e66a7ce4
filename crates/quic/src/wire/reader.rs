//! Bytes from the front of a slice.

/// What is left to read. A method that finds too little leaves it where it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn bytes(&mut self, length: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }

    /// An integer of variable length (RFC 9000, section 16).
    pub(super) fn varint(&mut self) -> Option<u64> {
        let length = 1 << (*self.0.first()? >> 6);
        let bytes = self.bytes(length)?;
        let value = bytes
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte));
        // All bits but the two that say the length.
        Some(value & u64::MAX >> (66 - 8 * length))
    }
}
