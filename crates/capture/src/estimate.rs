//! A value with its interval.

/// What was estimated, between which values it is with a confidence of 95%.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end; infinite where the capture shows only that it is at least the value.
    pub high: f64,
}

impl Estimate {
    /// At least `value`: nothing shows how much more.
    #[must_use]
    pub fn at_least(value: f64) -> Estimate {
        Estimate {
            value,
            low: value,
            high: f64::INFINITY,
        }
    }

    /// True if nothing bounds it from above.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.high.is_infinite()
    }

    /// Each of its values by `factor`.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Estimate {
        Estimate {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }
}

/// The value below which `share` of the sorted values lie.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = (share.clamp(0.0, 1.0) * last as f64).round() as usize;
    Some(sorted[at.min(last)])
}

/// The values in order.
pub(crate) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}
