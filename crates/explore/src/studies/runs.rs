//! The runs behind a cell, a page of them at a time.

use super::column::Cells;
use super::dataset::Dataset;
use super::filter::{Filter, Selected};
use crate::Problem;
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::sync::Arc;

/// Rows of a page, at most.
const MOST_ROWS: usize = 500;

/// Columns of a page, at most.
const MOST_COLUMNS: usize = 40;

/// Which runs are to be listed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// The columns to show beside `run` and `seed`.
    pub(super) columns: Vec<String>,
    /// Which runs.
    #[serde(default)]
    pub(super) filters: Vec<Filter>,
    /// The column to sort by; the number of the run, where there is none.
    #[serde(default)]
    pub(super) sort: Option<String>,
    /// Largest first.
    #[serde(default)]
    pub(super) descending: bool,
    /// How many to leave out at the beginning.
    #[serde(default)]
    pub(super) offset: usize,
    /// How many.
    pub(super) limit: usize,
}

/// A page of runs.
///
/// # Errors
/// If a column is unknown.
pub(super) fn page(dataset: &Dataset, question: &Question) -> Result<Value, Problem> {
    if question.columns.len() > MOST_COLUMNS {
        let message = format!("more than {MOST_COLUMNS} columns are too many at once");
        return Err(Problem::limit(message));
    }
    let selected = Selected::new(dataset, &question.filters)?;
    let mut runs: Vec<usize> = selected.runs().collect();
    let total = runs.len();
    let limit = question.limit.min(MOST_ROWS);
    let end = question.offset.saturating_add(limit).min(total);
    if let Some(column) = &question.sort {
        let cells = dataset.cells(column)?;
        let order = |a: &usize, b: &usize| {
            let order = compare(&cells, *a, *b, question.descending);
            order.then(a.cmp(b))
        };
        // Only what is shown need be in order.
        if end < total {
            runs.select_nth_unstable_by(end, order);
            runs.truncate(end);
        }
        runs.sort_unstable_by(order);
    }
    let runs = runs.get(question.offset..end).unwrap_or(&[]);
    let names = ["run", "seed"].map(str::to_owned).into_iter();
    let names: Vec<String> = names.chain(question.columns.iter().cloned()).collect();
    let columns: Vec<Arc<Cells>> = names
        .iter()
        .map(|name| dataset.cells(name))
        .collect::<Result<_, Problem>>()?;
    let rows = runs.iter().map(|run| {
        let cells = columns.iter().map(|cells| value(cells, *run));
        cells.collect::<Vec<Value>>()
    });
    Ok(json!({
        "total": total,
        "columns": names,
        "rows": rows.collect::<Vec<_>>(),
    }))
}

/// Runs by a column; those without a value come last either way.
fn compare(cells: &Cells, a: usize, b: usize, descending: bool) -> Ordering {
    let turned = |order: Ordering| if descending { order.reverse() } else { order };
    match cells {
        Cells::Labels(labels) => turned(labels.codes[a].cmp(&labels.codes[b])),
        Cells::Numbers(numbers) => match (numbers[a].is_nan(), numbers[b].is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => turned(numbers[a].total_cmp(&numbers[b])),
        },
    }
}

fn value(cells: &Cells, run: usize) -> Value {
    match cells {
        Cells::Labels(labels) => json!(labels.names.get(labels.codes[run] as usize)),
        // A number that is missing is null.
        Cells::Numbers(numbers) if numbers[run].fract() == 0.0 && numbers[run].abs() < 9e15 => {
            json!(numbers[run] as i64)
        }
        Cells::Numbers(numbers) => json!(numbers[run]),
    }
}
