//! Hashes that identify texts and files.

/// FNV-1a with 128 bits (Fowler, Noll, Vo): identifies, and does not protect
/// against forgery.
///
/// ```
/// let mut hash = bentpipe_units::Fnv128::default();
/// hash.update(b"foobar");
/// assert_eq!(format!("{:032x}", hash.value()), "343e1662793c64bf6f0d3597ba446f18");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv128(u128);

/// Offset basis of the 128-bit FNV-1a hash.
const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;

/// 2^88 + 2^8 + 0x3b.
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;

impl Default for Fnv128 {
    fn default() -> Fnv128 {
        Fnv128(OFFSET_BASIS)
    }
}

impl Fnv128 {
    /// Adds these bytes to the hash.
    pub fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 ^= u128::from(*byte);
            self.0 = self.0.wrapping_mul(PRIME);
        }
    }

    /// The hash of all bytes so far.
    #[must_use]
    pub const fn value(&self) -> u128 {
        self.0
    }
}
