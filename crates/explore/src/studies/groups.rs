//! Runs in groups: by the points of an axis, or by the intervals of a number.

use super::column::{Cells, NONE};
use super::dataset::Dataset;
use super::filter::Selected;
use super::scale::Scale;
use crate::Problem;
use std::borrow::Cow;
use std::sync::Arc;

/// Intervals that a column of numbers is cut into, about.
const INTERVALS: f64 = 16.0;

/// Intervals at most, where the range of the numbers is beyond what a number can hold.
const MOST_INTERVALS: f64 = 100.0;

/// Whole numbers that are groups of their own, at most.
const MOST_SINGLE: f64 = 40.0;

/// The groups of one column.
#[derive(Debug)]
pub(super) struct Groups {
    /// The column.
    pub(super) column: String,
    /// What is grouped: the name of the axis, or the column.
    pub(super) name: String,
    /// Labels of the groups, in order.
    pub(super) labels: Vec<String>,
    /// The number of each: that of the point, or the middle of the interval.
    pub(super) numbers: Option<Vec<f64>>,
    /// The least and the largest number of each group that is an interval, for filters.
    pub(super) bounds: Option<Vec<(f64, f64)>>,
    /// The unit of the numbers.
    pub(super) unit: &'static str,
    codes: Codes,
}

#[derive(Debug)]
enum Codes {
    Of(Arc<Cells>),
    Own(Vec<u32>),
}

impl Groups {
    /// The groups of a column among the runs that are selected.
    ///
    /// # Errors
    /// If there is no such column.
    pub(super) fn new(
        dataset: &Dataset,
        selected: &Selected,
        column: &str,
    ) -> Result<Groups, Problem> {
        let cells = dataset.cells(column)?;
        if let Some(numbers) = cells.numbers() {
            let unit = dataset.column(column).map_or("", |column| column.unit);
            return Ok(intervals(column, unit, numbers, selected));
        }
        let labels = cells.labels().map_or(&[][..], |labels| &labels.names);
        let axis = dataset.axis(column);
        Ok(Groups {
            column: column.to_owned(),
            name: axis.map_or(column, |axis| &axis.name).to_owned(),
            labels: labels.to_vec(),
            numbers: axis.and_then(|axis| axis.numbers.clone()),
            bounds: None,
            unit: axis.map_or("", |axis| axis.unit()),
            codes: Codes::Of(cells),
        })
    }

    /// The scale of the numbers.
    pub(super) fn scale(&self) -> Scale {
        Scale::of(self.unit, self.numbers.iter().flatten().copied())
    }

    /// The group of each run; [`NONE`] is in none.
    pub(super) fn codes(&self) -> Cow<'_, [u32]> {
        match &self.codes {
            Codes::Own(codes) => Cow::Borrowed(codes),
            Codes::Of(cells) => match cells.labels() {
                Some(labels) => Cow::Borrowed(&labels.codes),
                None => Cow::Owned(Vec::new()),
            },
        }
    }
}

/// The step of about `count` intervals: 1, 2 or 5 times a power of ten.
fn step(span: f64, count: f64) -> f64 {
    // A step that is zero or infinite is never reached.
    let wanted = (span / count).clamp(f64::MIN_POSITIVE, f64::MAX / 100.0);
    let mut power = 1.0;
    while power > wanted {
        power /= 10.0;
    }
    while power * 10.0 <= wanted {
        power *= 10.0;
    }
    let steps = [1.0, 2.0, 5.0, 10.0];
    let step = steps.iter().find(|step| **step * power >= wanted);
    step.unwrap_or(&10.0) * power
}

/// Cuts the numbers of the selected runs into intervals; whole numbers in a small range
/// are groups of their own.
fn intervals(column: &str, unit: &'static str, numbers: &[f64], selected: &Selected) -> Groups {
    let (mut least, mut most, mut is_whole) = (f64::INFINITY, f64::NEG_INFINITY, true);
    for run in selected.runs() {
        let x = numbers[run];
        if x.is_finite() {
            least = least.min(x);
            most = most.max(x);
            is_whole &= x.fract() == 0.0;
        }
    }
    let mut groups = Groups {
        column: column.to_owned(),
        name: column.to_owned(),
        labels: Vec::new(),
        numbers: Some(Vec::new()),
        bounds: Some(Vec::new()),
        unit,
        codes: Codes::Own(vec![NONE; numbers.len()]),
    };
    if least > most {
        return groups;
    }
    let is_single = is_whole && most - least <= MOST_SINGLE;
    let step = match (is_single, most > least) {
        (true, _) => 1.0,
        (false, true) => {
            let step = step(most - least, INTERVALS);
            if is_whole { step.max(1.0) } else { step }
        }
        (false, false) => 1.0,
    };
    let start = (least / step).floor() * step;
    let count = ((most - start) / step).floor().min(MOST_INTERVALS) as usize + 1;
    for i in 0..count {
        let from = start + step * i as f64;
        let (label, middle, to) = match is_single {
            true => (format!("{from}"), from, from),
            false => {
                let to = from + step;
                let label = format!("{} to {}", short(from, step), short(to, step));
                (label, f64::midpoint(from, to), to)
            }
        };
        groups.labels.push(label);
        groups.numbers.iter_mut().for_each(|all| all.push(middle));
        groups
            .bounds
            .iter_mut()
            .for_each(|all| all.push((from, to)));
    }
    let codes = numbers.iter().map(|x| match x.is_finite() && *x >= start {
        // Not beyond the last, whatever rounding does.
        true => (((x - start) / step) as usize).min(count - 1) as u32,
        false => NONE,
    });
    groups.codes = Codes::Own(codes.collect());
    groups
}

/// A number with as many digits as steps need.
fn short(x: f64, step: f64) -> String {
    let mut decimals = 0;
    let mut scaled = step;
    while scaled < 0.999 && decimals < 9 {
        scaled *= 10.0;
        decimals += 1;
    }
    format!("{x:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(step(16.0, 16.0), 1.0);
        assert_eq!(step(100.0, 16.0), 10.0);
        assert_eq!(step(60.0, 16.0), 5.0);
        assert!((step(0.5, 16.0) - 0.05).abs() < 1e-12);
        // The smallest and the largest spans end, too.
        for span in [5e-324, 1e-310, f64::MAX, f64::INFINITY] {
            assert!(step(span, 16.0).is_finite() && step(span, 16.0) > 0.0);
        }
        assert_eq!(short(0.15, 0.05), "0.15");
        assert_eq!(short(2e6, 1e5), "2000000");
    }
}
