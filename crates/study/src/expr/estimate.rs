//! A number with its replications.

use crate::stats::{self, Central};

/// A mean and the samples behind it, or what [`Central`] puts in its place.
///
/// The mean of an expression is the expression of the means: the papers
/// compute their gains from mean times. The interval is that of the expression
/// replication by replication, since replications with the same number have
/// the same seed in every cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) mean: f64,
    /// One per replication; empty for a constant.
    pub(crate) samples: Vec<f64>,
}

impl Estimate {
    pub(crate) fn constant(x: f64) -> Estimate {
        Estimate {
            mean: x,
            samples: Vec::new(),
        }
    }

    pub(crate) fn of(samples: Vec<f64>, central: Central) -> Estimate {
        Estimate {
            mean: central.of(&samples),
            samples,
        }
    }

    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Estimate {
        Estimate {
            mean: f(self.mean),
            samples: self.samples.iter().map(|x| f(*x)).collect(),
        }
    }

    /// Replication by replication; a constant or a single run is paired with each, and of unequal
    /// numbers of replications the first ones count.
    pub(crate) fn with(&self, other: &Estimate, f: impl Fn(f64, f64) -> f64) -> Estimate {
        let (n, m) = (self.samples.len(), other.samples.len());
        let length = match (n, m) {
            (0, _) | (1, 1..) => m,
            (_, 0 | 1) => n,
            _ => n.min(m),
        };
        let at = |e: &Estimate, i: usize| match e.samples.as_slice() {
            [] => e.mean,
            [one] => *one,
            several => several[i],
        };
        Estimate {
            mean: f(self.mean, other.mean),
            samples: (0..length).map(|i| f(at(self, i), at(other, i))).collect(),
        }
    }

    /// Half the width of the 95% interval; `None` for fewer than two
    /// replications.
    pub(crate) fn ci95(&self) -> Option<f64> {
        stats::ci95(&self.samples)
    }

    /// The ends of the interval; the mean where there is none.
    pub(crate) fn interval(&self) -> (f64, f64) {
        let half = self.ci95().unwrap_or(0.0);
        (self.mean - half, self.mean + half)
    }
}

/// A number for people: five significant digits at most.
pub(crate) fn show(x: f64) -> String {
    let size = x.abs();
    let decimals = if size >= 1000.0 || size == 0.0 {
        0
    } else if size >= 100.0 {
        1
    } else if size >= 1.0 {
        2
    } else if size >= 0.01 {
        4
    } else {
        return if x.is_finite() {
            format!("{x:.2e}")
        } else {
            x.to_string()
        };
    };
    let text = format!("{x:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replications_are_paired() {
        let a = Estimate::of(vec![10.0, 20.0], Central::Mean);
        let b = Estimate::of(vec![5.0, 15.0], Central::Mean);
        let difference = a.with(&b, |x, y| x - y);
        assert_eq!(difference.samples, [5.0, 5.0]);
        assert_eq!(difference.ci95(), Some(0.0));
        let ratio = a.with(&b, |x, y| x / y);
        assert_eq!(ratio.mean, 1.5, "of the means");
        let one = Estimate::of(vec![1.0], Central::Mean);
        assert_eq!(a.with(&one, |x, y| x + y).samples, [11.0, 21.0]);
        assert_eq!(one.with(&a, |x, y| x + y).samples, [11.0, 21.0]);
        assert_eq!(
            Estimate::constant(1.0).with(&a, |x, y| x + y).samples,
            [11.0, 21.0]
        );
        assert_eq!(
            a.with(&Estimate::of(vec![1.0; 3], Central::Mean), |x, y| x + y)
                .samples,
            [11.0, 21.0]
        );
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, 13.5432, 4.8e6, 0.123_456, 0.0012, 123.456].map(show),
            ["0", "13.54", "4800000", "0.1235", "1.20e-3", "123.5"]
        );
        assert_eq!(show(f64::INFINITY), "inf");
    }
}
