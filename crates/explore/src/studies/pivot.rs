//! A table of the runs: axes down the side and across, a number in each cell.

use super::column::NONE;
use super::dataset::Dataset;
use super::filter::{Filter, Selected};
use super::groups::Groups;
use super::scale::Scale;
use super::statistic::{Estimate, Statistic};
use crate::Problem;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// Cells of a table, at most.
const MOST_CELLS: usize = 20_000;

/// Combinations of points along one side, whether runs have them or not.
const MOST_KEYS: u64 = 1 << 24;

/// The metric of [`Statistic::Finished`].
const UNFINISHED: &str = "unfinished";

/// What a table is to show.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// The columns of the axes down the side. A column of numbers is cut into intervals.
    #[serde(default)]
    pub(super) rows: Vec<String>,
    /// Those across.
    #[serde(default)]
    pub(super) columns: Vec<String>,
    /// The column whose numbers are shown.
    pub(super) metric: String,
    /// What stands for the runs of a cell.
    #[serde(default)]
    pub(super) statistic: Statistic,
    /// Which runs.
    #[serde(default)]
    pub(super) filters: Vec<Filter>,
}

/// A side of a table: the combinations that runs have.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) groups: Vec<Groups>,
    /// For each place, the group of each column.
    pub(super) places: Vec<Vec<u32>>,
    /// The place of each run; [`NONE`] is in none.
    of_run: Vec<u32>,
}

/// A cell of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) estimate: Estimate,
    /// Runs with a value.
    pub(super) n: usize,
    /// Runs.
    pub(super) of: usize,
}

/// A table.
#[derive(Debug)]
pub(super) struct Pivot {
    pub(super) rows: Side,
    pub(super) columns: Side,
    /// Row by row.
    pub(super) cells: Vec<Cell>,
    /// Runs that the filters leave.
    pub(super) selected: usize,
    pub(super) unit: &'static str,
}

/// Answers with a table.
///
/// # Errors
/// If a column is unknown or the table would be too large.
pub(super) fn document(dataset: &Dataset, question: &Question) -> Result<Value, Problem> {
    Ok(Pivot::new(dataset, question)?.document(question.statistic))
}

impl Pivot {
    /// Computes a table.
    ///
    /// # Errors
    /// If a column is unknown or the table would be too large.
    pub(super) fn new(dataset: &Dataset, question: &Question) -> Result<Pivot, Problem> {
        let selected = Selected::new(dataset, &question.filters)?;
        let metric = match question.statistic {
            Statistic::Finished => UNFINISHED,
            _ => question.metric.as_str(),
        };
        let unit = dataset.column(metric).map_or("", |column| column.unit);
        let cells = dataset.cells(metric)?;
        let Some(numbers) = cells.numbers() else {
            return Err(Problem::wrong(format!("`{metric}` has no numbers")));
        };
        let rows = Side::new(dataset, &selected, &question.rows)?;
        let columns = Side::new(dataset, &selected, &question.columns)?;
        let count = rows.places.len() * columns.places.len();
        if count > MOST_CELLS {
            return Err(Problem::limit(format!(
                "a table of {} rows and {} columns has more than {MOST_CELLS} cells: take fewer \
                 axes, or filter",
                rows.places.len(),
                columns.places.len()
            )));
        }
        let cells = computed(&rows, &columns, numbers, question.statistic);
        Ok(Pivot {
            rows,
            columns,
            cells,
            selected: selected.count(),
            unit: match question.statistic {
                Statistic::Count => "count",
                Statistic::Finished => "ratio",
                _ => unit,
            },
        })
    }

    /// The scale of its numbers.
    pub(super) fn scale(&self) -> Scale {
        let values = self.cells.iter().filter_map(|cell| cell.estimate.value);
        Scale::of(self.unit, values)
    }

    /// As the page gets it: numbers are in base units, to be shown in that of `scale`.
    fn document(&self, statistic: Statistic) -> Value {
        let side = |side: &Side| {
            let groups = side.groups.iter().map(|groups| {
                json!({
                    "column": groups.column,
                    "name": groups.name,
                    "labels": groups.labels,
                    "numbers": groups.numbers,
                    "bounds": groups.bounds,
                    "unit": groups.unit,
                    "scale": groups.scale().document(),
                })
            });
            json!({ "groups": groups.collect::<Vec<_>>(), "places": side.places })
        };
        let cells = self.cells.iter().map(|cell| {
            let (low, high) = cell.estimate.interval.unzip();
            match cell.of {
                0 => Value::Null,
                _ => json!([cell.estimate.value, low, high, cell.n, cell.of]),
            }
        });
        json!({
            "rows": side(&self.rows),
            "columns": side(&self.columns),
            "cells": cells.collect::<Vec<_>>(),
            "selected": self.selected,
            "unit": self.unit,
            "scale": self.scale().document(),
            "is_count": statistic.is_count(),
        })
    }
}

impl Side {
    fn new(dataset: &Dataset, selected: &Selected, columns: &[String]) -> Result<Side, Problem> {
        let groups = columns
            .iter()
            .map(|name| Groups::new(dataset, selected, name));
        let groups: Vec<Groups> = groups.collect::<Result<_, Problem>>()?;
        let sizes = groups.iter().map(|of| of.labels.len() as u64);
        let keys = sizes.fold(1, u64::saturating_mul);
        if keys > MOST_KEYS {
            let message = "the axes have too many combinations: take fewer of them";
            return Err(Problem::limit(message));
        }
        let mut keys_of: Vec<u32> = (0..dataset.runs())
            .into_par_iter()
            .map(|run| if selected.has(run) { 0 } else { NONE })
            .collect();
        for of in &groups {
            let codes = of.codes();
            // Fewer than the limit.
            let size = of.labels.len() as u32;
            let pairs = keys_of.par_iter_mut().zip(codes.par_iter());
            pairs.with_min_len(1 << 14).for_each(|(key, code)| {
                *key = match (*key, *code) {
                    (NONE, _) | (_, NONE) => NONE,
                    (key, code) => key * size + code,
                };
            });
        }
        // Only what runs have is shown.
        let mut place_of = vec![NONE; keys as usize];
        for key in &keys_of {
            if let Some(place) = place_of.get_mut(*key as usize) {
                *place = 0;
            }
        }
        let mut places = Vec::new();
        for (key, place) in place_of.iter_mut().enumerate() {
            if *place == 0 {
                if places.len() >= MOST_CELLS {
                    return Err(Problem::limit(format!(
                        "one side of the table has more than {MOST_CELLS} places: take fewer \
                         axes, or filter"
                    )));
                }
                *place = places.len() as u32;
                places.push(digits(key, &groups));
            }
        }
        let place = |key: &u32| place_of.get(*key as usize).copied().unwrap_or(NONE);
        Ok(Side {
            of_run: keys_of
                .par_iter()
                .with_min_len(1 << 14)
                .map(place)
                .collect(),
            places,
            groups,
        })
    }
}

/// The group of each column that a key stands for.
fn digits(key: usize, groups: &[Groups]) -> Vec<u32> {
    let mut rest = key;
    let digits = groups.iter().rev().map(|of| {
        let size = of.labels.len().max(1);
        let digit = rest % size;
        rest /= size;
        digit as u32
    });
    let mut digits: Vec<u32> = digits.collect();
    digits.reverse();
    digits
}

/// The cells, row by row: the samples of each are put together, and then looked at.
fn computed(rows: &Side, columns: &Side, numbers: &[f64], statistic: Statistic) -> Vec<Cell> {
    let width = columns.places.len();
    // Of each cell how many runs it has, and their samples.
    let mut cells: Vec<(usize, Vec<f64>)> = vec![(0, Vec::new()); rows.places.len() * width];
    for ((row, column), x) in rows.of_run.iter().zip(&columns.of_run).zip(numbers) {
        if *row == NONE || *column == NONE {
            continue;
        }
        let (of, samples) = &mut cells[*row as usize * width + *column as usize];
        *of += 1;
        samples.extend(match statistic {
            // A run that failed has finished nothing.
            Statistic::Finished => Some(if *x == 0.0 { 1.0 } else { 0.0 }),
            _ => Some(*x).filter(|x| !x.is_nan()),
        });
    }
    let cell = |(of, mut samples): (usize, Vec<f64>)| Cell {
        n: samples.len(),
        estimate: statistic.of(&mut samples),
        of,
    };
    cells.into_par_iter().map(cell).collect()
}
