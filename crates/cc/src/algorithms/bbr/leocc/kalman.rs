//! A scalar Kalman filter.

/// Variance of the first estimate, where both noises have 1.
const FIRST_VARIANCE: f64 = 6.25;

/// A scalar Kalman filter whose process and measurement noise have variance 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kalman {
    /// `None` before the first measurement.
    pub(super) value: Option<f64>,
    variance: f64,
}

impl Kalman {
    pub(super) const NEW: Kalman = Kalman {
        value: None,
        variance: FIRST_VARIANCE,
    };

    /// The first measurement counts whole.
    pub(super) fn update(&mut self, measured: f64) {
        let before = self.variance + 1.0;
        let gain = before / (before + 1.0);
        self.variance = (1.0 - gain) * before;
        let value = self.value.unwrap_or(measured);
        self.value = Some(value + gain * (measured - value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_settles_at_the_golden_ratio() {
        // 6.25 + 1 = 7.25, gain 7.25 / 8.25, variance the same; then (g + 1) / (g + 2).
        let mut filter = Kalman::NEW;
        filter.update(100.0);
        assert_eq!(filter.value, Some(100.0));
        assert!((filter.variance - 7.25 / 8.25).abs() < 1e-12);
        for _ in 0..20 {
            filter.update(100.0);
        }
        filter.update(200.0);
        assert!((filter.value.unwrap() - 161.803).abs() < 1e-3, "{filter:?}");
    }
}
