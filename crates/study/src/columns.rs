//! Metrics of all runs as columns of numbers, for tables and figures of runs that are on disk.

use crate::metric::{Metric, Selection};
use crate::record::RunResult;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

/// Numbers that are kept at most, 64 MB of them. What is beyond is computed from
/// the runs on disk when it is asked for.
const NUMBERS: usize = 8 << 20;

/// Columns of one study, a row per run.
#[derive(Debug)]
pub(crate) struct Columns {
    runs: usize,
    columns: RwLock<Vec<Column>>,
}

struct Column {
    metric: &'static Metric,
    selection: Selection,
    /// Not a number where it is not known.
    values: Vec<f64>,
}

impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} runs", self.metric.name, self.values.len())
    }
}

impl Column {
    fn is(&self, metric: &Metric, selection: &Selection) -> bool {
        self.metric.name == metric.name && self.selection == *selection
    }
}

impl Columns {
    pub(crate) fn new(runs: usize) -> Columns {
        Columns {
            runs,
            columns: RwLock::default(),
        }
    }

    /// Makes room for these, as far as there is any.
    pub(crate) fn expect(&self, wanted: Vec<(&'static Metric, Selection)>) {
        let mut columns = self.columns.write().unwrap_or_else(PoisonError::into_inner);
        for (metric, selection) in wanted {
            let is_known = columns.iter().any(|c| c.is(metric, &selection));
            if !is_known && (columns.len() + 1) * self.runs <= NUMBERS {
                columns.push(Column {
                    metric,
                    selection,
                    values: vec![f64::NAN; self.runs],
                });
            }
        }
    }

    /// Computes the columns of a run that has been decoded.
    pub(crate) fn note(&self, run: usize, result: &RunResult) {
        let Some(data) = result.data() else { return };
        let is_new = |column: &Column| column.values.get(run).is_some_and(|x| x.is_nan());
        let columns = self.columns.read().unwrap_or_else(PoisonError::into_inner);
        let values: Vec<(usize, f64)> = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| is_new(column))
            .filter_map(|(i, c)| Some((i, c.metric.value(data, &c.selection).ok()?)))
            .collect();
        drop(columns);
        if values.is_empty() {
            return;
        }
        let mut columns = self.columns.write().unwrap_or_else(PoisonError::into_inner);
        for (i, value) in values {
            if let Some(slot) = columns.get_mut(i).and_then(|c| c.values.get_mut(run)) {
                *slot = value;
            }
        }
    }

    /// The values of some runs, if all are known.
    pub(crate) fn get(
        &self,
        metric: &Metric,
        selection: &Selection,
        runs: Range<usize>,
    ) -> Option<Vec<f64>> {
        let columns = self.columns.read().unwrap_or_else(PoisonError::into_inner);
        let column = columns.iter().find(|c| c.is(metric, selection))?;
        let values = column.values.get(runs)?;
        let is_known = values.iter().all(|x| !x.is_nan());
        is_known.then(|| values.to_vec())
    }
}
