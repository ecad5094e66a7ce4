//! Which runs a question is about.

use super::column::Cells;
use super::dataset::Dataset;
use crate::Problem;
use rayon::prelude::*;
use serde::Deserialize;

/// Filters of a question, at most.
const MOST_FILTERS: usize = 100;

/// Runs that are looked at by one thread at a time.
const CHUNK: usize = 1 << 15;

/// A condition on a column. A run passes if it meets all of them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    /// The column.
    pub(super) column: String,
    /// Texts of which the run has one. One that is missing is empty.
    #[serde(default)]
    pub(super) only: Option<Vec<String>>,
    /// The smallest number, in the unit of the column.
    #[serde(default)]
    pub(super) from: Option<f64>,
    /// The largest number.
    #[serde(default)]
    pub(super) to: Option<f64>,
}

/// A run that meets every condition.
const PASSES: u8 = 0;

/// A run that fails more than one.
const SEVERAL: u8 = u8::MAX;

/// Which conditions each run fails.
#[derive(Debug)]
pub(super) struct Selected {
    /// [`PASSES`], [`SEVERAL`], or one more than the index of the only filter that fails.
    fails: Vec<u8>,
    columns: Vec<String>,
}

impl Selected {
    /// Applies the filters.
    ///
    /// # Errors
    /// If a filter is on no column, or on one of the other kind.
    pub(super) fn new(dataset: &Dataset, filters: &[Filter]) -> Result<Selected, Problem> {
        if filters.len() > MOST_FILTERS {
            let message = format!("{} filters are more than {MOST_FILTERS}", filters.len());
            return Err(Problem::limit(message));
        }
        let columns: Vec<String> = filters.iter().map(|of| of.column.clone()).collect();
        for (i, column) in columns.iter().enumerate() {
            if columns[..i].contains(column) {
                return Err(Problem::wrong(format!("two filters are on `{column}`")));
            }
        }
        let mut fails = vec![PASSES; dataset.runs()];
        for (i, filter) in filters.iter().enumerate() {
            // There are fewer than 255.
            let one = i as u8 + 1;
            let mut mark = |passes: &(dyn Fn(usize) -> bool + Sync)| {
                let fails = fails.par_iter_mut().with_min_len(CHUNK).enumerate();
                let failing = fails.filter(|(run, _)| !passes(*run));
                failing.for_each(|(_, fail)| *fail = if *fail == PASSES { one } else { SEVERAL });
            };
            let cells = dataset.cells(&filter.column)?;
            match (&*cells, &filter.only) {
                (Cells::Labels(labels), Some(only)) => {
                    let passes = labels.names.iter().map(|name| only.contains(name));
                    let passes: Vec<bool> = passes.collect();
                    mark(&|run| passes.get(labels.codes[run] as usize) == Some(&true));
                }
                (Cells::Numbers(numbers), None) => {
                    let from = filter.from.unwrap_or(f64::NEG_INFINITY);
                    let to = filter.to.unwrap_or(f64::INFINITY);
                    mark(&|run| (from..=to).contains(&numbers[run]));
                }
                (Cells::Labels(_), None) => {
                    return Err(Problem::wrong(format!(
                        "the filter on `{}` needs `only`: it has texts",
                        filter.column
                    )));
                }
                (Cells::Numbers(_), Some(_)) => {
                    return Err(Problem::wrong(format!(
                        "the filter on `{}` needs `from` or `to`: it has numbers",
                        filter.column
                    )));
                }
            }
        }
        Ok(Selected { fails, columns })
    }

    /// True if the run meets every condition.
    pub(super) fn has(&self, run: usize) -> bool {
        self.fails.get(run) == Some(&PASSES)
    }

    /// Which runs meet every condition but that on `column`.
    pub(super) fn but(&self, column: &str) -> impl Fn(usize) -> bool + Sync + '_ {
        let own = self.columns.iter().position(|known| known == column);
        let own = own.map_or(PASSES, |i| i as u8 + 1);
        move |run| {
            let fail = self.fails.get(run).copied().unwrap_or(SEVERAL);
            fail == PASSES || fail == own
        }
    }

    /// The runs that meet every condition.
    pub(super) fn runs(&self) -> impl Iterator<Item = usize> + '_ {
        let runs = self.fails.iter().enumerate();
        runs.filter(|(_, fail)| **fail == PASSES)
            .map(|(run, _)| run)
    }

    /// How many meet every condition.
    pub(super) fn count(&self) -> usize {
        let chunks = self.fails.par_chunks(CHUNK);
        let count = |fails: &[u8]| fails.iter().filter(|fail| **fail == PASSES).count();
        chunks.map(count).sum()
    }
}
