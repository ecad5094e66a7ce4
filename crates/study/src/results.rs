//! The results of a study: one per cell and replication.

use crate::columns::Columns;
use crate::metric::{Metric, Selection};
use crate::plan::Plan;
use crate::precision::Reached;
use crate::record::RunResult;
use crate::runs::Runs;
use crate::study::Study;
use rayon::prelude::*;
use std::sync::Arc;

/// Runs that are decoded at once: with time series each may take megabytes.
const AT_ONCE: usize = 32;

/// Results of the runs of a study. Cheap to copy.
///
/// Runs that are journalled stay on disk, and each is decoded when it is asked
/// for, so that the results of a million runs take little memory.
#[derive(Clone, Debug)]
pub struct StudyResults {
    study: Arc<Study>,
    replications: usize,
    /// The group of each cell: cells that set the same share their runs.
    groups: Arc<[u32]>,
    /// Runs of a group that there is room for.
    room: usize,
    /// How many runs each group took, where that follows from the results.
    reached: Option<Arc<[Reached]>>,
    runs: Arc<Runs>,
    /// The hash of each group's scenario.
    hashes: Arc<[String]>,
    columns: Arc<Columns>,
}

/// Why there is no number of a cell.
pub(crate) struct Problems {
    /// Error of the first run without a result.
    pub(crate) first: String,
    /// Runs without one.
    pub(crate) runs: usize,
    /// Runs of the cell.
    pub(crate) of: usize,
}

impl StudyResults {
    /// The results of a plan, of whose replications only the first `replications`
    /// count.
    pub(crate) fn new(plan: &Plan, replications: usize, runs: Runs) -> StudyResults {
        StudyResults {
            study: plan.study.clone(),
            replications,
            groups: plan.of_cell().clone(),
            room: plan.replications as usize,
            reached: None,
            columns: Arc::new(Columns::new(runs.room())),
            runs: Arc::new(runs),
            hashes: Arc::default(),
        }
    }

    /// Results in which every cell has its own runs.
    #[cfg(test)]
    pub(crate) fn of_cells(study: &Arc<Study>, runs: Runs) -> StudyResults {
        let plan = Plan::new(study, None);
        let cells = 0..u32::try_from(study.cells()).unwrap();
        StudyResults {
            groups: cells.collect(),
            ..StudyResults::new(&plan, study.replications as usize, runs)
        }
    }

    /// With the hash of each group's scenario.
    pub(crate) fn with_hashes(self, hashes: Vec<String>) -> StudyResults {
        StudyResults {
            hashes: hashes.into(),
            ..self
        }
    }

    /// With as many runs of each group as it took.
    pub(crate) fn with_reached(self, reached: Vec<(Reached, bool)>) -> StudyResults {
        let reached = reached.into_iter().map(|(reached, _)| reached);
        let reached: Arc<[Reached]> = reached.collect();
        let most = reached.iter().map(|r| r.runs as usize).max();
        StudyResults {
            replications: self.replications.min(most.unwrap_or(1).max(1)),
            reached: Some(reached),
            ..self
        }
    }

    fn group(&self, cell: usize) -> usize {
        self.groups.get(cell).map_or(usize::MAX, |g| *g as usize)
    }

    /// The hash of a cell's scenario; empty where it is not known.
    #[must_use]
    pub fn scenario_hash(&self, cell: usize) -> &str {
        let hash = self.hashes.get(self.group(cell));
        hash.map_or("", String::as_str)
    }

    /// The study that the results belong to.
    #[must_use]
    pub fn study(&self) -> &Arc<Study> {
        &self.study
    }

    /// Runs per cell; the most of one, where their number follows from the
    /// results.
    #[must_use]
    pub fn replications(&self) -> usize {
        self.replications
    }

    /// True if cells have fewer runs than the study asks for.
    #[must_use]
    pub fn are_fewer(&self) -> bool {
        self.reached.is_none() && self.replications < self.study.replications as usize
            || self.reached.is_some() && self.room < self.study.replications as usize
    }

    /// Runs of a cell.
    #[must_use]
    pub fn replications_of(&self, cell: usize) -> usize {
        self.reached(cell)
            .map_or(self.replications, |reached| reached.runs as usize)
    }

    /// The progress of a cell whose number of runs follows from the results.
    #[must_use]
    pub fn reached(&self, cell: usize) -> Option<Reached> {
        self.reached.as_ref()?.get(self.group(cell)).copied()
    }

    /// Runs of all cells; those that cells share count for each.
    #[must_use]
    pub fn total(&self) -> usize {
        (0..self.cells())
            .map(|cell| self.replications_of(cell))
            .sum()
    }

    /// Number of cells of the study.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.study.cells()
    }

    /// The indices of a cell's runs.
    fn indices(&self, cell: usize) -> std::ops::Range<usize> {
        match self.groups.get(cell) {
            Some(group) => {
                let first = *group as usize * self.room;
                first..first + self.replications_of(cell)
            }
            None => 0..0,
        }
    }

    /// The runs of a cell, by replication.
    pub fn runs_of(&self, cell: usize) -> impl Iterator<Item = Arc<RunResult>> {
        self.indices(cell).map(|run| self.run(run))
    }

    /// Passes the runs of a cell to `put`, by replication. Runs on disk are decoded on all
    /// cores, a few at a time.
    pub(crate) fn each_of<E>(
        &self,
        cell: usize,
        put: &mut dyn FnMut(usize, &RunResult) -> Result<(), E>,
    ) -> Result<(), E> {
        let all = self.indices(cell);
        let mut next = all.start;
        while next < all.end {
            let some = next..all.end.min(next + AT_ONCE);
            let runs: Vec<Arc<RunResult>> = match self.runs.are_on_disk() {
                true => some
                    .clone()
                    .into_par_iter()
                    .map(|run| self.run(run))
                    .collect(),
                false => some.clone().map(|run| self.run(run)).collect(),
            };
            for (run, result) in some.clone().zip(&runs) {
                put(run - all.start, result)?;
            }
            next = some.end;
        }
        Ok(())
    }

    fn run(&self, run: usize) -> Arc<RunResult> {
        let result = self.runs.get(run);
        self.columns.note(run, &result);
        result
    }

    /// The value of a metric in each run of a cell.
    pub(crate) fn samples(
        &self,
        cell: usize,
        metric: &'static Metric,
        selection: &Selection,
    ) -> Result<Vec<f64>, Problems> {
        if let Some(known) = self.columns.get(metric, selection, self.indices(cell)) {
            return Ok(known);
        }
        let (mut values, mut first, mut runs) = (Vec::new(), None, 0);
        for run in self.runs_of(cell) {
            let value = match run.data() {
                Some(data) => metric.value(data, selection),
                None => Err(run.failure().unwrap_or("it did not run").to_owned()),
            };
            runs += 1;
            match value {
                Ok(value) => values.push(value),
                Err(why) => first = first.or(Some(why)),
            }
        }
        match first {
            None => Ok(values),
            Some(first) => Err(Problems {
                first,
                runs: runs - values.len(),
                of: runs,
            }),
        }
    }

    /// What expressions ask of each run is computed along the way from now on, so
    /// that runs on disk are decoded once.
    pub(crate) fn expect(&self, wanted: Vec<(&'static Metric, Selection)>) {
        if self.runs.are_on_disk() {
            self.columns.expect(wanted);
        }
    }

    /// Number of runs that failed.
    #[must_use]
    pub fn failures(&self) -> usize {
        if self.runs.failed() == 0 {
            return 0;
        }
        let failed = |cell: usize| self.runs_of(cell).filter(|r| r.failure().is_some()).count();
        (0..self.cells()).map(failed).sum()
    }

    /// The labels of a cell, one per axis.
    #[must_use]
    pub fn labels(&self, cell: usize) -> Vec<&str> {
        crate::plan::points(&self.study.axes, cell)
            .into_iter()
            .zip(&self.study.axes)
            .map(|(point, axis)| axis.points[point].label.as_str())
            .collect()
    }

    /// `table-3 at bandwidth 2 Mbit/s, file 1 Mbyte`.
    pub(crate) fn place(&self, cell: usize) -> String {
        crate::plan::place(&self.study, cell)
    }

    /// The cell at the labels that `label` gives for each axis.
    pub(crate) fn cell<'a>(
        &self,
        label: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<usize, String> {
        let mut cell = 0;
        for axis in &self.study.axes {
            let point = match label(&axis.name) {
                Some(label) => axis.point(label).ok_or_else(|| {
                    format!(
                        "`{}` has no point `{label}` of {}",
                        self.study.name, axis.name
                    )
                })?,
                None if axis.points.len() == 1 => 0,
                None => return Err(format!("axis `{}` is not fixed", axis.name)),
            };
            cell = cell * axis.points.len() + point;
        }
        if cell >= self.cells() {
            return Err(format!("`{}` has no runs", self.study.name));
        }
        Ok(cell)
    }

    /// The number of an axis' point.
    pub(crate) fn axis_value(&self, axis: &str, label: Option<&str>) -> Result<f64, String> {
        let missing = || format!("axis `{axis}` is not fixed at a number");
        let axis = self.study.axis(axis).ok_or_else(missing)?;
        let point = match label {
            Some(label) => axis.point(label).ok_or_else(missing)?,
            None => 0,
        };
        axis.points
            .get(point)
            .and_then(|p| p.value)
            .map(|v| v.0)
            .ok_or_else(missing)
    }
}
