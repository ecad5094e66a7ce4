//! Probabilities and shares.

use core::fmt;

/// A number from 0 to 1: a probability, a share, a utilisation.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default, serde::Serialize)]
pub struct Ratio(f64);

impl Ratio {
    /// The ratio 0.
    pub const ZERO: Ratio = Ratio(0.0);
    /// The ratio 1.
    pub const ONE: Ratio = Ratio(1.0);

    /// The ratio `x`, or `None` if `x` is not from 0 to 1.
    #[must_use]
    pub fn new(x: f64) -> Option<Ratio> {
        (0.0..=1.0).contains(&x).then_some(Ratio(x))
    }

    /// The number from 0 to 1.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Debug for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
