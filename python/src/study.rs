//! Studies: sweeps of a scenario with tables, figures and claims.

use crate::control;
use crate::errors::{self, Kind};
use crate::reproduction::Reproduction;
use crate::work::{Watch, interruptible};
use bentpipe::{ReproduceOptions, Reproduction as Made, Study as Loaded};
use bentpipe_study::{LoadedStudy, MakeRunner, Progress, Runner, Simulator};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// How studies are run.
pub(crate) struct How {
    /// Runs at the same time; zero is one per core.
    pub(crate) threads: usize,
    /// Runs of each cell in the place of the study's own number.
    pub(crate) runs: Option<u32>,
    /// Where results are kept.
    pub(crate) results: Option<PathBuf>,
    /// Forgets what is there.
    pub(crate) fresh: bool,
}

/// What runs studies, given what runs a scenario and how.
type Work<'a> =
    dyn Fn(&MakeRunner<'_>, &ReproduceOptions<'_>) -> Result<Made, bentpipe::Error> + Sync + 'a;

/// Runs studies without the interpreter's lock, until Ctrl-C.
pub(crate) fn carry_out(
    py: Python<'_>,
    how: &How,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl Fn(&MakeRunner<'_>, &ReproduceOptions<'_>) -> Result<Made, bentpipe::Error> + Sync,
) -> PyResult<Reproduction> {
    let work: &Work<'_> = &work;
    let made = interruptible(py, progress, |watch| {
        let report = |at: &Progress| told(watch, at);
        let options = ReproduceOptions {
            threads: how.threads,
            runs: how.runs,
            results: how.results.clone(),
            fresh: how.fresh,
            watch: &report,
            ..ReproduceOptions::default()
        };
        let runner = |loaded: &LoadedStudy| -> Result<Box<dyn Runner>, String> {
            let simulator = Simulator::of_study(loaded)?;
            Ok(Box::new(simulator.with_stop(watch.stop.clone())))
        };
        work(&runner, &options)
    })?;
    if let Some((text, cause)) = control::first() {
        let error = errors::exception(py, Kind::Run, &text);
        error.set_cause(py, Some(cause));
        return Err(error);
    }
    let made = made.map_err(|e| errors::of(py, e))?;
    Ok(Reproduction(Box::new(made)))
}

fn told(watch: &Watch, at: &Progress) -> ControlFlow<()> {
    watch.set(at.done as u64, at.total as u64);
    match watch.stop.is_stopped() || control::has_raised() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

/// A study.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Study(Loaded);

#[pymethods]
impl Study {
    /// Reads a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Study> {
        Ok(Study(Loaded::load(path).map_err(|e| errors::of(py, e))?))
    }

    /// Takes the text of a file; files that it names are seen from the folder of
    /// `path`.
    #[staticmethod]
    fn parse(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<Study> {
        let study = Loaded::parse(path, text).map_err(|e| errors::of(py, e))?;
        Ok(Study(study))
    }

    /// Name, title, description, axes with their points, cells, replications.
    #[expect(clippy::type_complexity, reason = "it is unpacked at once")]
    fn facts(
        &self,
    ) -> (
        String,
        String,
        String,
        Vec<(String, Vec<String>)>,
        usize,
        u32,
    ) {
        let spec = self.0.spec();
        let axes = spec.axes.iter().map(|axis| {
            let labels = axis.points.iter().map(|point| point.label.clone());
            (axis.name.clone(), labels.collect())
        });
        (
            spec.name.clone(),
            spec.title.clone(),
            spec.description.clone(),
            axes.collect(),
            spec.cells(),
            spec.replications,
        )
    }

    /// Checks every cell; the number of runs.
    fn check(&self, py: Python<'_>) -> PyResult<usize> {
        let checked = py.detach(|| self.0.check());
        checked.map_err(|e| errors::of(py, e))
    }

    /// Runs it on this machine.
    #[pyo3(signature = (threads, runs, out, fresh, progress))]
    fn run(
        &self,
        py: Python<'_>,
        threads: usize,
        runs: Option<u32>,
        out: Option<PathBuf>,
        fresh: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Reproduction> {
        if runs == Some(0) {
            let text = "`runs` must be above zero";
            return Err(errors::exception(py, Kind::Option, text));
        }
        let how = How {
            threads,
            runs,
            results: out,
            fresh,
        };
        carry_out(py, &how, progress.as_ref(), |runner, options| {
            self.0.run_on(runner, options)
        })
    }
}
