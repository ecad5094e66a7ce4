//! What the filters leave of each column: labels with counts, and histograms.

use super::dataset::Dataset;
use super::filter::{Filter, Selected};
use super::scale::Scale;
use crate::Problem;
use bentpipe_units::math::{exp, ln};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// Labels of a column that are listed, at most.
const MOST_LABELS: usize = 200;

/// Bars of a histogram.
const BARS: usize = 40;

/// Beyond this ratio of the largest number to the smallest, bars are even in their
/// logarithm.
const LOGARITHMIC: f64 = 1000.0;

/// Columns that are asked for at once, at most.
const MOST_COLUMNS: usize = 40;

/// Which columns are to be counted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// Columns of texts or of numbers.
    pub(super) columns: Vec<String>,
    /// Which runs. A column's own filter does not count for it.
    #[serde(default)]
    pub(super) filters: Vec<Filter>,
}

/// Counts the runs of each column.
///
/// # Errors
/// If a column is unknown.
pub(super) fn facets(dataset: &Dataset, question: &Question) -> Result<Value, Problem> {
    if question.columns.len() > MOST_COLUMNS {
        let message = format!("more than {MOST_COLUMNS} columns are too many at once");
        return Err(Problem::limit(message));
    }
    let selected = Selected::new(dataset, &question.filters)?;
    let facets = question.columns.iter().map(|column| {
        let cells = dataset.cells(column)?;
        let passes = selected.but(column);
        Ok(match (cells.labels(), cells.numbers()) {
            (Some(labels), _) => {
                let mut counts = vec![0_u64; labels.names.len()];
                for (run, code) in labels.codes.iter().enumerate() {
                    if passes(run) {
                        counts[*code as usize] += 1;
                    }
                }
                let values = labels.names.iter().zip(&counts).take(MOST_LABELS);
                let values: Vec<Value> = values.map(|(name, n)| json!([name, n])).collect();
                json!({ "column": column, "values": values, "all": labels.names.len() })
            }
            (None, Some(numbers)) => {
                let unit = dataset.column(column).map_or("", |column| column.unit);
                let mut facet = histogram(numbers, unit, &passes);
                facet["column"] = json!(column);
                facet
            }
            (None, None) => Value::Null,
        })
    });
    Ok(json!({
        "runs": dataset.runs(),
        "selected": selected.count(),
        "facets": facets.collect::<Result<Vec<Value>, Problem>>()?,
    }))
}

/// The range of all numbers in bars, and how many of the runs that pass each holds.
fn histogram(
    numbers: &[f64],
    unit: &'static str,
    passes: &(impl Fn(usize) -> bool + Sync),
) -> Value {
    let span = |chunk: &[f64]| {
        let known = chunk.iter().copied().filter(|x| x.is_finite());
        known.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| {
            (a.min(x), b.max(x))
        })
    };
    let wider = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    let none = || (f64::INFINITY, f64::NEG_INFINITY);
    let spans = numbers.par_chunks(1 << 15).map(span);
    let (least, most) = spans.reduce(none, wider);
    if least > most {
        let missing = (0..numbers.len()).filter(|run| passes(*run)).count();
        return json!({ "edges": [], "counts": [], "missing": missing });
    }
    let is_log = least > 0.0 && most / least > LOGARITHMIC;
    let (from, to) = match is_log {
        true => (ln(least), ln(most)),
        false => (least, most),
    };
    let width = ((to - from) / BARS as f64).max(f64::MIN_POSITIVE);
    let edge = |i: usize| match i {
        // Exactly, so that filters to the edge keep what lies on it.
        0 => least,
        BARS => most,
        _ if is_log => exp(from + width * i as f64),
        _ => from + width * i as f64,
    };
    let edges: Vec<f64> = (0..=BARS).map(edge).collect();
    let (mut counts, mut missing) = (vec![0_u64; BARS], 0_u64);
    for (run, x) in numbers.iter().enumerate() {
        if !passes(run) {
            continue;
        }
        if x.is_finite() {
            let place = if is_log { ln(*x) } else { *x };
            let bar = ((place - from) / width) as usize;
            counts[bar.min(BARS - 1)] += 1;
        } else {
            missing += 1;
        }
    }
    json!({
        "edges": edges,
        "counts": counts,
        "missing": missing,
        "scale": Scale::of(unit, [least, most].into_iter()).document(),
        "is_log": is_log,
    })
}
