//! The results of a study: one per cell and replication.

use crate::record::RunResult;
use crate::study::Study;
use std::sync::Arc;

/// What the runs of a study yielded.
#[derive(Clone, Debug)]
pub struct StudyResults {
    study: Arc<Study>,
    replications: usize,
    /// Cell by cell, the replications of each together. Cells that set the
    /// same share their runs.
    runs: Vec<Arc<RunResult>>,
    /// The hash of each cell's scenario.
    hashes: Vec<String>,
}

impl StudyResults {
    pub(crate) fn new(
        study: Arc<Study>,
        replications: usize,
        runs: Vec<Arc<RunResult>>,
    ) -> StudyResults {
        debug_assert_eq!(runs.len(), study.cells() * replications);
        StudyResults {
            study,
            replications,
            runs,
            hashes: Vec::new(),
        }
    }

    /// With the hash of each cell's scenario.
    pub(crate) fn with_hashes(self, hashes: Vec<String>) -> StudyResults {
        StudyResults { hashes, ..self }
    }

    /// The hash of a cell's scenario; empty where it is not known.
    #[must_use]
    pub fn scenario_hash(&self, cell: usize) -> &str {
        self.hashes.get(cell).map_or("", String::as_str)
    }

    /// The study.
    #[must_use]
    pub fn study(&self) -> &Arc<Study> {
        &self.study
    }

    /// Runs per cell.
    #[must_use]
    pub fn replications(&self) -> usize {
        self.replications
    }

    /// Number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.study.cells()
    }

    /// The runs of a cell, by replication.
    pub fn runs_of(&self, cell: usize) -> impl Iterator<Item = &RunResult> {
        let start = (cell * self.replications).min(self.runs.len());
        let end = (start + self.replications).min(self.runs.len());
        self.runs[start..end].iter().map(Arc::as_ref)
    }

    /// Number of runs that failed.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.runs.iter().filter(|r| r.failure().is_some()).count()
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
        let axes = self.study.axes.iter().zip(self.labels(cell));
        let at: Vec<String> = axes
            .map(|(axis, label)| format!("{} {label}", axis.name))
            .collect();
        let name = &self.study.name;
        if at.is_empty() {
            name.clone()
        } else {
            format!("{name} at {}", at.join(", "))
        }
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
