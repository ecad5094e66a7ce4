//! Log-linear bins of whole numbers, as in an HDR histogram (G. Tene's `HdrHistogram`).

/// Bins of which 2^`FINE` of equal width make an octave. Numbers below 2^`FINE` have a bin
/// each, and larger ones are known to within 1/2^`FINE` of themselves.
#[derive(Clone, Copy, Debug)]
pub struct LogLinear<const FINE: u32>;

impl<const FINE: u32> LogLinear<FINE> {
    /// The bin of `x`, and log2 of its width.
    #[inline(always)]
    #[must_use]
    pub const fn bin_of(x: u64) -> (usize, u32) {
        let octave = (x | (1 << FINE)).ilog2() - FINE;
        (((octave as usize) << FINE) + (x >> octave) as usize, octave)
    }

    /// The smallest number of a bin, which is where the one below it ends. The bin behind
    /// the last begins at 2^64.
    #[must_use]
    pub const fn floor(bin: usize) -> u128 {
        let octave = (bin >> FINE).saturating_sub(1);
        ((bin - (octave << FINE)) as u128) << octave
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Bins = LogLinear<3>;

    #[test]
    fn bins_follow_one_another() {
        assert_eq!(Bins::bin_of(0), (0, 0));
        for x in 0..10_000 {
            let ((bin, _), (next, _)) = (Bins::bin_of(x), Bins::bin_of(x + 1));
            assert!(next == bin || next == bin + 1);
        }
        let (last, _) = Bins::bin_of(u64::MAX);
        assert_eq!(Bins::floor(last + 1), 1 << 64);
    }

    proptest! {
        #[test]
        fn a_bin_holds_its_numbers(x in any::<u64>()) {
            let (bin, log_width) = Bins::bin_of(x);
            let floor = Bins::floor(bin);
            prop_assert!(floor <= u128::from(x) && u128::from(x) < Bins::floor(bin + 1));
            prop_assert_eq!(Bins::floor(bin + 1) - floor, 1 << log_width);
            prop_assert!(x < 8 || 1 << log_width <= x / 8);
        }
    }
}
