//! Powers, logarithms and roots that give the same bits on every machine.
//!
//! The platform's libm may differ in the last bit between machines; these are
//! pure Rust with pinned algorithms (the `libm` crate, a port of musl's).

pub use libm::{
    acos, asin, atan2, cbrt, ceil, cos, exp, exp2, log as ln, log2, log10, pow, sin, sqrt, tan,
};

/// The largest whole number that is not above `x`, as `libm` has it.
///
/// The baseline of x86-64 has no instruction for it, and `libm` takes apart the bits: this takes a
/// third of that, and congestion controls ask for it with every ACK.
#[inline]
#[must_use]
pub fn floor(x: f64) -> f64 {
    /// From here on all numbers are whole.
    const WHOLE: f64 = (1_u64 << 52) as f64;
    if x.abs() < WHOLE {
        let truncated = x as i64 as f64;
        let whole = truncated - f64::from(u8::from(truncated > x));
        whole.copysign(x)
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn floor_has_the_bits_of_libm(bits: u64, near in -1e6..1e6_f64) {
            for x in [f64::from_bits(bits), near, near.trunc(), near * 1e-6, -0.0, 0.0] {
                let (ours, theirs) = (super::floor(x), libm::floor(x));
                prop_assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "{}", x);
            }
        }
    }
}
