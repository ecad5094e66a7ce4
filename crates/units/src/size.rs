//! Sizes in bytes.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A size in whole bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize)]
pub struct Bytes(u64);

impl Bytes {
    /// 0 bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// More than every run carries; used for "unlimited".
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// A size of `n` bytes.
    #[must_use]
    pub const fn new(n: u64) -> Bytes {
        Bytes(n)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bytes as a float.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// The difference, or zero if `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    /// Saturates at zero instead of panicking.
    fn sub(self, other: Bytes) -> Bytes {
        self.saturating_sub(other)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
