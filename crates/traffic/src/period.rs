//! Lengths of the periods of an on-off source.

use bentpipe_random::Stream;
use bentpipe_units::Duration;
use std::fmt;

/// The distribution of the length of a period.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub enum Period {
    /// Every period has this length.
    Constant(Duration),
    /// Exponential: what is left of a period does not depend on how long it
    /// has lasted.
    Exponential {
        /// Mean length.
        mean: Duration,
    },
    /// Pareto: most periods are short and a few very long. Many sources with a
    /// shape between 1 and 2 make traffic that is bursty on every time scale
    /// (W. Willinger, M. Taqqu, R. Sherman, D. Wilson, *Self-Similarity
    /// Through High-Variability*, IEEE/ACM ToN 5(1), 1997).
    Pareto {
        /// Mean length.
        mean: Duration,
        /// Exponent of the tail, above 1.
        shape: f64,
    },
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Period::Constant(length) => write!(f, "{length}"),
            Period::Exponential { mean } => write!(f, "{mean} (exponential)"),
            Period::Pareto { mean, shape } => write!(f, "{mean} (Pareto, shape {shape})"),
        }
    }
}

impl Period {
    /// Mean length of the periods.
    #[must_use]
    pub const fn mean(&self) -> Duration {
        match *self {
            Period::Constant(length) => length,
            Period::Exponential { mean } | Period::Pareto { mean, .. } => mean,
        }
    }

    /// Draws the length of the next period. A constant one draws nothing.
    pub fn draw(&self, stream: &mut Stream) -> Duration {
        match *self {
            Period::Constant(length) => length,
            Period::Exponential { mean } => {
                Duration::from_secs_f64(stream.exponential(mean.as_secs()))
            }
            Period::Pareto { mean, shape } => {
                Duration::from_secs_f64(stream.pareto(mean.as_secs(), shape))
            }
        }
    }
}
