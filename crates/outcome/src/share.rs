//! Shares of a whole.

use bentpipe_units::{Rate, Ratio};

/// `part / whole` as a ratio; zero when the whole is zero, one at most.
pub(crate) fn share(part: u64, whole: u64) -> Ratio {
    if whole == 0 {
        return Ratio::ZERO;
    }
    Ratio::new(part as f64 / whole as f64).unwrap_or(Ratio::ONE)
}

/// The share of a total; `None` if there is no total.
pub(crate) fn share_of_total(rate: Rate, total: Rate) -> Option<Ratio> {
    (total > Rate::ZERO).then(|| share(rate.bps(), total.bps()))
}
