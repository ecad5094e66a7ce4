//! Compares results with published numbers, against tolerances.

use crate::reference::{COLUMN_JOIN, Published};
use crate::stats;
use crate::study::{Bar, KnownMiss, Limits, Recorded};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a result compares with the published number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellVerdict {
    /// The result is within its bar.
    Ok,
    /// The result is outside its bar.
    Worse,
    /// There is no bar or no published number.
    Reported,
    /// There is no result.
    Missing,
}

impl CellVerdict {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CellVerdict::Ok => "ok",
            CellVerdict::Worse => "worse",
            CellVerdict::Reported => "reported",
            CellVerdict::Missing => "missing",
        }
    }
}

/// The errors of a table or a column, with its bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorSummary {
    /// The column; `None` for the table as a whole.
    pub column: Option<String>,
    /// Cells that have both a result and a published number.
    pub cells: usize,
    /// Mean of the relative errors, without their signs.
    pub mean: Option<f64>,
    /// Median of the relative errors, without their signs.
    pub median: Option<f64>,
    /// Largest relative error, without its sign.
    pub worst: Option<f64>,
    /// Mean of the differences as a fraction of that of the best constant: the
    /// table whose rows, or whose columns, each hold one number (the median of
    /// the published ones). A constant, a zero and a table of means are at 1 or
    /// above.
    pub spread: Option<f64>,
    /// The bar for the mean.
    pub mean_bar: Option<f64>,
    /// The bar for the median.
    pub median_bar: Option<f64>,
    /// The bar for the largest.
    pub worst_bar: Option<f64>,
    /// The bar for the spread.
    pub spread_bar: Option<f64>,
    /// What is on record in place of a bar, or beside one that is missed.
    pub recorded: Option<Recorded>,
    /// Whether the mean, the median and the spread are within their bars.
    pub verdict: CellVerdict,
    /// Why they are known not to be; empty where they are to be.
    pub missed: String,
    /// True if the verdict is not the recorded one, or an error has left its band.
    pub changed: bool,
}

impl KnownMiss {
    /// True if a cell with this relative error misses its bar as is known, neither further nor
    /// less far.
    pub(crate) fn covers(&self, error: f64) -> bool {
        (self.best..=self.worst).contains(&error.abs())
    }
}

impl Recorded {
    /// True if an error has left its band around what is on record, for better or worse.
    pub(crate) fn left(&self, now: Errors) -> bool {
        let pairs = [
            (self.mean, now.mean),
            (self.worst, now.worst),
            (self.spread, now.spread),
        ];
        pairs.into_iter().any(|(then, now)| {
            then.is_some_and(|then| {
                now.is_none_or(|now| !within((now - then.value).abs(), then.band))
            })
        })
    }
}

/// The errors of a table or a column that can be on record.
#[derive(Clone, Copy)]
pub(crate) struct Errors {
    mean: Option<f64>,
    worst: Option<f64>,
    spread: Option<f64>,
}

/// (ours - published) / |published|; `None` if the published number is zero, unless equal.
#[must_use]
pub fn relative_error(ours: f64, published: f64) -> Option<f64> {
    if published != 0.0 {
        return Some((ours - published) / published.abs());
    }
    (ours.abs() < 1e-12).then_some(0.0)
}

/// Where the shades of a difference begin, as fractions: what a page colours a cell by.
pub const SHADES: [f64; 4] = [0.01, 0.05, 0.10, 0.25];

/// The shade of a relative error: how many of [`SHADES`] it reaches, negative below the
/// published number.
#[must_use]
pub fn shade(error: f64) -> i8 {
    let steps = SHADES.iter().filter(|from| error.abs() >= **from);
    let side = if error < 0.0 { -1 } else { 1 };
    steps.fold(0, |steps, _| steps + side)
}

impl Bar {
    /// What `per_column` says of a column, by its label or that of a part of
    /// it.
    fn own(&self, column: &str) -> Option<&Limits> {
        let parts = column.split(COLUMN_JOIN);
        std::iter::once(column)
            .chain(parts)
            .find_map(|name| self.per_column.get(name))
    }

    /// The limits of a cell in a column: its own, or the table's where it says
    /// nothing of single cells.
    pub(crate) fn limits_of(&self, column: &str) -> Limits {
        let mut limits = self.own(column).cloned().unwrap_or_default();
        let silent = limits.worst.is_none()
            && limits.worst_difference.is_none()
            && !limits.exact_digits
            && limits.recorded.is_none();
        if silent {
            limits.worst = self.limits.worst;
            limits.worst_difference = self.limits.worst_difference;
            limits.exact_digits = self.limits.exact_digits;
        }
        limits
    }

    /// True if a column counts in the mean of the table: it has no mean or
    /// median of its own, and is not exact, which would flatter the others.
    pub(crate) fn counts(&self, column: &str) -> bool {
        self.own(column).is_none_or(|own| {
            let of_its_own = own.mean.is_some() || own.median.is_some();
            let of_its_own = of_its_own || own.spread.is_some() || own.recorded.is_some();
            !own.exact_digits && !of_its_own && own.mean_difference.is_none()
        })
    }
}

/// The verdict on a cell. `ours` and `published` are in the unit of the table,
/// printed with `decimals` digits.
pub(crate) fn cell(
    limits: &Limits,
    ours: f64,
    published: &Published,
    decimals: u32,
) -> CellVerdict {
    let verdict = |good: bool| {
        if good {
            CellVerdict::Ok
        } else {
            CellVerdict::Worse
        }
    };
    let difference = (ours - published.value).abs();
    if limits.exact_digits {
        let unit: f64 = (0..decimals.max(published.decimals)).fold(1.0, |x, _| x / 10.0);
        // A hair, so that both ways to round a half are the same digits.
        return verdict(difference <= 0.5 * unit + 1e-9 * published.value.abs().max(1.0));
    }
    if let Some(worst) = limits.worst_difference {
        return verdict(within(difference, worst));
    }
    match (limits.worst, relative_error(ours, published.value)) {
        (Some(worst), Some(error)) => verdict(within(error.abs(), worst)),
        (Some(_), None) => CellVerdict::Worse,
        (None, _) => CellVerdict::Reported,
    }
}

/// At most a limit, except for rounding.
fn within(value: f64, limit: f64) -> bool {
    value <= limit * (1.0 + 1e-9) + 1e-12
}

/// A cell that has both numbers, in the unit of the table.
pub(crate) struct Pair<'a> {
    pub(crate) row: &'a str,
    pub(crate) column: &'a str,
    pub(crate) ours: f64,
    pub(crate) published: f64,
}

/// Sum of the differences from the published numbers, over that which the best
/// constant has; `None` where a constant is exact, or there is one number only.
fn spread(pairs: &[Pair<'_>]) -> Option<f64> {
    let ours: f64 = pairs.iter().map(|p| (p.ours - p.published).abs()).sum();
    let by_row = constant(pairs, |p| p.row);
    let by_column = constant(pairs, |p| p.column);
    let best = [by_row, by_column].into_iter().flatten().reduce(f64::min)?;
    (best > 0.0).then(|| ours / best)
}

/// The same sum of the best table with one number for each group; `None` if
/// every group is a single cell.
fn constant<'a>(pairs: &[Pair<'a>], group: impl Fn(&Pair<'a>) -> &'a str) -> Option<f64> {
    let mut groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for pair in pairs {
        groups.entry(group(pair)).or_default().push(pair.published);
    }
    let several = groups.values().any(|group| group.len() > 1);
    let from_median = |group: &Vec<f64>| {
        let median = stats::median(group).unwrap_or(0.0);
        group.iter().map(|x| (x - median).abs()).sum::<f64>()
    };
    several.then(|| groups.values().map(from_median).sum())
}

/// The summary of errors over some cells.
pub(crate) fn summary(column: Option<String>, limits: &Limits, pairs: &[Pair<'_>]) -> ErrorSummary {
    let errors = pairs
        .iter()
        .filter_map(|p| relative_error(p.ours, p.published));
    let errors: Vec<f64> = errors.map(f64::abs).collect();
    let differences: Vec<f64> = pairs.iter().map(|p| (p.ours - p.published).abs()).collect();
    let mean = |xs: &[f64]| (!xs.is_empty()).then(|| stats::mean(xs));
    let check = |value: Option<f64>, limit: Option<f64>| {
        value.zip(limit).map(|(value, limit)| within(value, limit))
    };
    let spread = spread(pairs);
    let checks = [
        check(mean(&errors), limits.mean),
        check(stats::median(&errors), limits.median),
        check(mean(&differences), limits.mean_difference),
        // If all published numbers are equal, a constant would pass.
        limits
            .spread
            .filter(|_| !pairs.is_empty())
            .map(|limit| spread.is_some_and(|s| within(s, limit))),
    ];
    let verdict = match checks {
        [None, None, None, None] => CellVerdict::Reported,
        checks if checks.contains(&Some(false)) => CellVerdict::Worse,
        _ => CellVerdict::Ok,
    };
    let now = Errors {
        mean: mean(&errors),
        worst: errors.iter().copied().reduce(f64::max),
        spread,
    };
    let left = !pairs.is_empty() && limits.recorded.is_some_and(|recorded| recorded.left(now));
    ErrorSummary {
        column,
        cells: pairs.len(),
        mean: now.mean,
        median: stats::median(&errors),
        worst: now.worst,
        spread,
        mean_bar: limits.mean,
        median_bar: limits.median,
        worst_bar: limits.worst,
        spread_bar: limits.spread,
        recorded: limits.recorded,
        verdict,
        changed: match verdict {
            CellVerdict::Worse => limits.missed.is_empty() || left,
            CellVerdict::Ok => !limits.missed.is_empty() || left,
            CellVerdict::Reported => left,
            CellVerdict::Missing => false,
        },
        missed: limits.missed.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Banded;

    fn published(text: &str) -> Published {
        let decimals = text.split_once('.').map_or(0, |(_, d)| d.len() as u32);
        Published {
            value: text.parse().unwrap(),
            decimals,
            note: String::new(),
        }
    }

    #[test]
    fn exact_digits_are_those_printed() {
        let exact = Limits {
            exact_digits: true,
            ..Limits::default()
        };
        assert_eq!(
            cell(&exact, 13.5435, &published("13.54"), 2),
            CellVerdict::Ok
        );
        assert_eq!(
            cell(&exact, 13.545, &published("13.54"), 2),
            CellVerdict::Ok
        );
        assert_eq!(
            cell(&exact, 13.5461, &published("13.54"), 2),
            CellVerdict::Worse
        );
        assert_eq!(cell(&exact, 0.604, &published("0.6"), 2), CellVerdict::Ok);
        assert_eq!(cell(&exact, 0.62, &published("0.6"), 2), CellVerdict::Worse);
    }

    #[test]
    fn bars_are_relative_or_absolute() {
        let relative = Limits {
            worst: Some(0.04),
            ..Limits::default()
        };
        assert_eq!(cell(&relative, 10.4, &published("10"), 1), CellVerdict::Ok);
        assert_eq!(
            cell(&relative, 10.5, &published("10"), 1),
            CellVerdict::Worse
        );
        assert_eq!(cell(&relative, 0.0, &published("0"), 1), CellVerdict::Ok);
        assert_eq!(cell(&relative, 0.1, &published("0"), 1), CellVerdict::Worse);
        let points = Limits {
            worst_difference: Some(3.0),
            ..Limits::default()
        };
        assert_eq!(cell(&points, 2.5, &published("0"), 1), CellVerdict::Ok);
        assert_eq!(
            cell(&Limits::default(), 9.0, &published("1"), 0),
            CellVerdict::Reported
        );
    }

    #[test]
    fn a_part_of_a_column_has_its_own_bar() {
        let mut bar = Bar {
            limits: Limits {
                worst: Some(0.04),
                ..Limits::default()
            },
            ..Bar::default()
        };
        bar.per_column.insert(
            "loss".into(),
            Limits {
                worst: Some(0.2),
                ..Limits::default()
            },
        );
        assert_eq!(bar.limits_of("TCP MTSI | loss").worst, Some(0.2));
        assert_eq!(bar.limits_of("TCP MTSI | no loss").worst, Some(0.04));
        bar.per_column.insert(
            "Ideal".into(),
            Limits {
                exact_digits: true,
                ..Limits::default()
            },
        );
        assert_eq!(bar.limits_of("Ideal").worst, None);
        assert!(bar.counts("TCP MTSI | loss") && !bar.counts("Ideal | loss"));
        bar.per_column.insert(
            "x".into(),
            Limits {
                mean: Some(0.1),
                ..Limits::default()
            },
        );
        assert_eq!(bar.limits_of("x").worst, Some(0.04));
        assert!(!bar.counts("x"));
    }

    /// Pairs of a table of two rows and two columns: ours, published.
    fn pairs(numbers: [(f64, f64); 4]) -> Vec<Pair<'static>> {
        let places = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")];
        let pair = |((row, column), (ours, published))| Pair {
            row,
            column,
            ours,
            published,
        };
        places.into_iter().zip(numbers).map(pair).collect()
    }

    #[test]
    fn summaries_hold_the_mean_to_the_bar() {
        let limits = Limits {
            mean: Some(0.015),
            ..Limits::default()
        };
        let numbers = [
            (101.0, 100.0),
            (97.0, 100.0),
            (202.0, 200.0),
            (200.0, 200.0),
        ];
        let s = summary(None, &limits, &pairs(numbers));
        assert_eq!((s.mean, s.worst), (Some(0.0125), Some(0.03)));
        assert_eq!((s.verdict, s.changed), (CellVerdict::Ok, false));
        let narrow = Limits {
            mean: Some(0.01),
            ..Limits::default()
        };
        let s = summary(None, &narrow, &pairs(numbers));
        assert_eq!((s.verdict, s.changed), (CellVerdict::Worse, true));
        let known = Limits {
            missed: "a slip".into(),
            ..narrow
        };
        assert!(!summary(None, &known, &pairs(numbers)).changed);
        let met = Limits {
            missed: "a slip".into(),
            ..limits
        };
        assert!(summary(None, &met, &pairs(numbers)).changed);
        assert_eq!(summary(None, &met, &[]).verdict, CellVerdict::Reported);
    }

    #[test]
    fn what_is_recorded_is_judged_again_when_it_leaves_its_band() {
        let at = |mean: f64, missed: &str| {
            let limits = Limits {
                mean: (!missed.is_empty()).then_some(0.1),
                recorded: Some(Recorded {
                    mean: Some(Banded {
                        value: 0.472,
                        band: 0.02,
                    }),
                    ..Recorded::default()
                }),
                missed: missed.into(),
                ..Limits::default()
            };
            let ours = 100.0 * (1.0 + mean);
            let pair = (ours, 100.0);
            summary(None, &limits, &pairs([pair; 4])).changed
        };
        for missed in ["", "the paper does not say which"] {
            assert!(!at(0.472, missed) && !at(0.455, missed) && !at(0.49, missed));
            assert!(at(0.50, missed), "worse");
            assert!(at(0.44, missed), "better");
        }
        let recorded = Recorded {
            spread: Some(Banded {
                value: 1.0,
                band: 0.1,
            }),
            ..Recorded::default()
        };
        let limits = Limits {
            recorded: Some(recorded),
            ..Limits::default()
        };
        assert!(
            summary(None, &limits, &pairs([(1.0, 5.0); 4])).changed,
            "a spread that cannot be told any more"
        );
        assert!(!summary(None, &limits, &[]).changed);
        let mut bar = Bar::default();
        bar.limits.worst = Some(0.2);
        bar.per_column.insert("strict".into(), limits);
        assert_eq!(bar.limits_of("strict").worst, None);
        assert!(!bar.counts("strict"));
    }

    #[test]
    fn each_error_has_its_own_band() {
        let banded = |value, band| Some(Banded { value, band });
        let recorded = Recorded {
            mean: banded(0.1, 0.01),
            worst: banded(0.4, 0.05),
            spread: banded(1.6, 0.2),
        };
        let left = |mean, worst, spread| {
            let some = |x: f64| Some(x);
            recorded.left(Errors {
                mean: some(mean),
                worst: some(worst),
                spread: some(spread),
            })
        };
        assert!(!left(0.105, 0.44, 1.75));
        assert!(
            left(0.12, 0.4, 1.6),
            "the mean, though within the others' bands"
        );
        assert!(
            left(0.1, 0.46, 1.6),
            "the worst, though within that of the spread"
        );
        assert!(left(0.1, 0.4, 1.3));
    }

    #[test]
    fn a_known_cell_is_judged_again_when_it_comes_nearer() {
        let known = KnownMiss {
            row: "1 BDP".into(),
            column: "cubic".into(),
            worst: 0.5,
            best: 0.3,
            reason: String::new(),
        };
        assert!(known.covers(0.4) && known.covers(-0.4));
        assert!(!known.covers(0.2) && !known.covers(-0.6));
    }

    #[test]
    fn no_constant_is_within_the_spread() {
        let published = [10.0, 20.0, 30.0, 60.0];
        let of = |ours: [f64; 4]| {
            let mut numbers = [(0.0, 0.0); 4];
            for (i, number) in numbers.iter_mut().enumerate() {
                *number = (ours[i], published[i]);
            }
            spread(&pairs(numbers)).unwrap()
        };
        // The medians of the rows, 15 and 45, miss by 40 in all, those of the
        // columns, 20 and 40, by 60.
        assert_eq!(of([15.0, 15.0, 45.0, 45.0]), 1.0);
        assert_eq!(of([20.0, 40.0, 20.0, 40.0]), 1.5);
        assert_eq!(of([0.0; 4]), 3.0);
        assert_eq!(of([25.0; 4]), 1.5);
        assert_eq!(of([12.0, 20.0, 32.0, 56.0]), 0.2);
        assert_eq!(spread(&pairs([(1.0, 5.0); 4])), None);
    }
}
