//! What stands for the runs of a cell.

use bentpipe_study::stats;
use bentpipe_units::math::sqrt;
use serde::Deserialize;

/// A number of the runs of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Statistic {
    /// The mean, with its 95% interval by Student.
    #[default]
    Mean,
    /// The median, with the 95% interval that the order of the runs gives.
    Median,
    /// The 5th percentile; all of them are interpolated between neighbours.
    P5,
    /// The 10th percentile.
    P10,
    /// The lower quartile.
    P25,
    /// The upper quartile.
    P75,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The sample standard deviation.
    Sd,
    /// How many runs have a value.
    Count,
    /// The share of the runs in which every flow finished, with its 95% interval by
    /// Wilson.
    Finished,
}

/// A number with the interval that it has, if any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: Option<f64>,
    pub(super) interval: Option<(f64, f64)>,
}

impl Estimate {
    fn of(value: f64) -> Estimate {
        Estimate {
            value: Some(value),
            interval: None,
        }
    }
}

impl Statistic {
    /// True if it counts and measures nothing.
    pub(super) fn is_count(self) -> bool {
        self == Statistic::Count
    }

    /// What it is called of a metric, in a figure; the mean by the metric alone.
    pub(super) fn of_metric(self, metric: &str) -> String {
        let what = match self {
            Statistic::Count => return "runs with a value".to_owned(),
            Statistic::Finished => return "share of runs finished".to_owned(),
            Statistic::Mean => return metric.replace('_', " "),
            Statistic::Median => "median",
            Statistic::P5 => "5th percentile",
            Statistic::P10 => "10th percentile",
            Statistic::P25 => "lower quartile",
            Statistic::P75 => "upper quartile",
            Statistic::P90 => "90th percentile",
            Statistic::P95 => "95th percentile",
            Statistic::P99 => "99th percentile",
            Statistic::Min => "minimum",
            Statistic::Max => "maximum",
            Statistic::Sd => "standard deviation",
        };
        format!("{what} of {}", metric.replace('_', " "))
    }

    /// The number of these samples, which may be put in another order; nothing where
    /// there are none.
    pub(super) fn of(self, samples: &mut [f64]) -> Estimate {
        if self == Statistic::Count {
            return Estimate::of(samples.len() as f64);
        }
        if samples.is_empty() {
            return Estimate::default();
        }
        match self {
            Statistic::Count => Estimate::default(),
            Statistic::Mean => {
                let mean = stats::mean(samples);
                let half = stats::ci95(samples);
                Estimate {
                    value: Some(mean),
                    interval: half.map(|half| (mean - half, mean + half)),
                }
            }
            Statistic::Sd => {
                let n = samples.len();
                let mean = stats::mean(samples);
                let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
                match n {
                    1 => Estimate::default(),
                    _ => Estimate::of(sqrt(squares / (n - 1) as f64)),
                }
            }
            Statistic::Min => Estimate::of(samples.iter().copied().fold(f64::INFINITY, f64::min)),
            Statistic::Max => {
                Estimate::of(samples.iter().copied().fold(f64::NEG_INFINITY, f64::max))
            }
            Statistic::Finished => finished(samples),
            Statistic::Median => median(samples),
            Statistic::P5 => Estimate::of(percentile(samples, 0.05)),
            Statistic::P10 => Estimate::of(percentile(samples, 0.10)),
            Statistic::P25 => Estimate::of(percentile(samples, 0.25)),
            Statistic::P75 => Estimate::of(percentile(samples, 0.75)),
            Statistic::P90 => Estimate::of(percentile(samples, 0.90)),
            Statistic::P95 => Estimate::of(percentile(samples, 0.95)),
            Statistic::P99 => Estimate::of(percentile(samples, 0.99)),
        }
    }
}

/// The number that a share of the samples does not exceed, interpolated between
/// neighbours: `quantile_cont` of DuckDB, `linear` of polars.
fn percentile(samples: &mut [f64], share: f64) -> f64 {
    let place = share * (samples.len() - 1) as f64;
    let below = place.floor() as usize;
    let (_, at, above) = samples.select_nth_unstable_by(below, f64::total_cmp);
    let at = *at;
    let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(at);
    at + (place - place.floor()) * (next - at)
}

/// The median, and the samples between which it lies with 95%: the ranks that a binomial
/// count of a half leaves, by its normal form.
fn median(samples: &mut [f64]) -> Estimate {
    let n = samples.len();
    let value = percentile(samples, 0.5);
    if n < 6 {
        return Estimate::of(value);
    }
    let reach = 0.98 * sqrt(n as f64);
    let below = (n as f64 / 2.0 - reach).floor().max(0.0) as usize;
    let above = ((n as f64 / 2.0 + reach).ceil() as usize).min(n - 1);
    let low = *samples.select_nth_unstable_by(below, f64::total_cmp).1;
    let high = *samples.select_nth_unstable_by(above, f64::total_cmp).1;
    Estimate {
        value: Some(value),
        interval: Some((low, high)),
    }
}

/// The share of ones, and the interval of E. B. Wilson (1927).
fn finished(samples: &[f64]) -> Estimate {
    let n = samples.len() as f64;
    let share = samples.iter().sum::<f64>() / n;
    let z = 1.959_963_984_540_054;
    let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n));
    Estimate {
        value: Some(share),
        interval: Some(((middle - half).max(0.0), (middle + half).min(1.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_interpolated() {
        let of = |statistic: Statistic, samples: &[f64]| {
            statistic.of(&mut samples.to_vec()).value.unwrap()
        };
        let samples = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(of(Statistic::Median, &samples), 2.5);
        assert_eq!(of(Statistic::P25, &samples), 1.75);
        assert!((of(Statistic::P90, &samples) - 3.7).abs() < 1e-12);
        assert_eq!(of(Statistic::Min, &samples), 1.0);
        assert_eq!(of(Statistic::Max, &samples), 4.0);
        assert_eq!(of(Statistic::Median, &[7.0]), 7.0);
        assert_eq!(Statistic::Mean.of(&mut []), Estimate::default());
        assert_eq!(of(Statistic::Count, &[]), 0.0);
    }

    #[test]
    fn intervals_are_those_of_the_books() {
        // Wilson, 8 of 10.
        let mut ones = vec![1.0; 8];
        ones.extend([0.0; 2]);
        let (low, high) = Statistic::Finished.of(&mut ones).interval.unwrap();
        assert!((low - 0.490).abs() < 1e-3 && (high - 0.943).abs() < 1e-3);
        let mut hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        let (low, high) = Statistic::Median.of(&mut hundred).interval.unwrap();
        assert!((40.0..=41.0).contains(&low) && (60.0..=61.0).contains(&high));
    }
}
