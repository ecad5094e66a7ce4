//! What stands for the runs of a cell.

use bentpipe_study::stats;
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
        let (mut value, mut interval) = (None, None);
        match self {
            Statistic::Count => value = Some(samples.len() as f64),
            _ if samples.is_empty() => {}
            Statistic::Mean => {
                let mean = stats::mean(samples);
                value = Some(mean);
                interval = stats::ci95(samples).map(|half| (mean - half, mean + half));
            }
            Statistic::Sd => value = stats::deviation(samples),
            Statistic::Min => value = samples.iter().copied().reduce(f64::min),
            Statistic::Max => value = samples.iter().copied().reduce(f64::max),
            Statistic::Finished => {
                value = Some(samples.iter().sum::<f64>() / samples.len() as f64);
                interval = stats::wilson(samples);
            }
            Statistic::Median => {
                value = stats::quantile(samples, 0.5);
                interval = stats::median_interval(samples);
            }
            Statistic::P5 => value = stats::quantile(samples, 0.05),
            Statistic::P10 => value = stats::quantile(samples, 0.10),
            Statistic::P25 => value = stats::quantile(samples, 0.25),
            Statistic::P75 => value = stats::quantile(samples, 0.75),
            Statistic::P90 => value = stats::quantile(samples, 0.90),
            Statistic::P95 => value = stats::quantile(samples, 0.95),
            Statistic::P99 => value = stats::quantile(samples, 0.99),
        }
        Estimate { value, interval }
    }
}
