//! Campaigns: the runs of a study as tasks that any process can run, and the
//! collector of their results.

use crate::errors::{self, Kind};
use crate::reproduction::Reproduction;
use crate::work::interruptible;
use bentpipe::sim::Stop;
use bentpipe::{ScenarioFile, Study as Loaded};
use bentpipe_study::{
    Campaign as Made, Collection, Collector as Collecting, LoadedStudy, Progress, ReproduceError,
    Runner, SharedMakeRunner, Simulator, Task, TaskResult,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The runs of a study in parts.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Campaign {
    made: Made,
    inputs: Vec<PathBuf>,
    /// Thrown to stop the tasks of this process.
    stop: Stop,
}

#[pymethods]
impl Campaign {
    /// The runs of the study in the file at `path`, or in `text` in its place.
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        text: Option<&str>,
        runs: Option<u32>,
    ) -> PyResult<Campaign> {
        let study = match text {
            Some(text) => Loaded::parse(&path, text),
            None => Loaded::load(&path),
        };
        let study = study.map_err(|e| errors::of(py, e))?;
        let stop = Stop::switch();
        let switch = stop.clone();
        let make: SharedMakeRunner = Arc::new(
            move |loaded: &LoadedStudy| -> Result<Box<dyn Runner>, String> {
                let simulator = Simulator::of_study(loaded)?;
                Ok(Box::new(simulator.with_stop(switch.clone())))
            },
        );
        let spec = study.spec();
        let paper = spec.paper.as_deref().unwrap_or("");
        let studies = study.studies();
        let made = py.detach(|| {
            on_own_threads(|| Made::new(studies.clone(), paper, &spec.name, make, runs))
        });
        Ok(Campaign {
            made: made.map_err(|e| errors::of(py, e.into()))?,
            inputs: inputs(studies),
            stop,
        })
    }

    /// The files that the study consists of.
    fn inputs(&self) -> Vec<PathBuf> {
        self.inputs.clone()
    }

    /// How many runs there are at most.
    fn runs(&self) -> usize {
        self.made.runs()
    }

    /// How long all of them take on one core, roughly, in seconds.
    fn seconds(&self) -> f64 {
        self.made.seconds()
    }

    /// Runs task `index` of `of` and returns its results for the collector.
    fn run_task<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        of: usize,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let task = self.task(index, of);
        let task = task.ok_or_else(|| {
            let text = format!("there is no task {index}/{of}");
            errors::exception(py, Kind::Option, &text)
        })?;
        let result = interruptible(py, None, |watch| {
            let go_on = |_: &Progress| match watch.stop.is_stopped() || self.stop.is_stopped() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            let result = self.made.run_task(&task, threads, &go_on);
            result.map(|result| result.to_bytes())
        })?;
        let bytes = result.map_err(|e| errors::of(py, e.into()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What task `index` of `of` runs, in words.
    fn describe(&self, index: usize, of: usize) -> String {
        let task = self.task(index, of);
        task.map_or(String::new(), |task| self.made.describe(&task))
    }

    /// Stops the tasks that this process runs. It runs none any more.
    fn stop(&self) {
        self.stop.stop();
    }

    /// Puts results together in the folder `out`.
    fn collector(&self, py: Python<'_>, out: PathBuf, fresh: bool) -> PyResult<Collector> {
        let collector = py.detach(|| self.made.collector(&out, fresh));
        let collector = collector.map_err(|e| errors::of(py, e.into()))?;
        Ok(Collector {
            campaign: self.made.clone(),
            collector: Some(collector),
        })
    }
}

impl Campaign {
    fn task(&self, index: usize, of: usize) -> Option<Task> {
        let index = index.checked_sub(1)?;
        let known = of <= self.made.runs().max(1);
        known.then(|| self.made.tasks(of).into_iter().nth(index))?
    }
}

/// Does `work` on threads of its own: a process of a pool that forks is without
/// those that its parent's work shared, and would wait for them.
fn on_own_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// The files that studies consist of: their own, and those that their scenarios
/// and the points of their axes name.
fn inputs(studies: &Collection) -> Vec<PathBuf> {
    let mut files = studies.inputs();
    for loaded in studies.iter() {
        let folder = loaded.path.parent().unwrap_or(Path::new(""));
        files.extend(Some(folder.join("paper.toml")).filter(|path| path.is_file()));
        let controls = loaded.study.controls.iter();
        let controls = controls.map(|(_, file)| folder.join(file));
        files.extend(controls.filter(|path| path.is_file()));
        let Some((path, text)) = &loaded.scenario else {
            continue;
        };
        if let Ok(file) = ScenarioFile::parse(path, text.as_bytes()) {
            files.extend(file.inputs());
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let points = loaded.study.axes.iter().flat_map(|axis| &axis.points);
        let values = points.flat_map(|point| &point.settings);
        let named = values.map(|setting| folder.join(&setting.value));
        files.extend(named.filter(|path| path.is_file()));
    }
    files
}

/// Puts the results of tasks together.
#[pyclass(module = "bentpipe._bentpipe")]
pub(crate) struct Collector {
    campaign: Made,
    /// None when it is finished.
    collector: Option<Collecting>,
}

impl Collector {
    fn open(&mut self, py: Python<'_>) -> PyResult<&mut Collecting> {
        let finished = || errors::exception(py, Kind::Study, "the results are finished");
        self.collector.as_mut().ok_or_else(finished)
    }
}

#[pymethods]
impl Collector {
    /// The tasks of about so many core seconds whose results are not here: each
    /// with its number, from 1, and how many there are in all.
    fn missing(&mut self, py: Python<'_>, seconds: f64) -> PyResult<Vec<(usize, usize)>> {
        let tasks = self.campaign.tasks_of(seconds);
        let collector = self.open(py)?;
        let missing = |task: &&Task| !task.runs.is_empty() && !collector.is_done(task);
        let missing = tasks.iter().filter(missing);
        Ok(missing.map(|task| (task.index, task.of)).collect())
    }

    /// Takes the results of a task; the runs that are done, and all there are.
    fn add(&mut self, py: Python<'_>, result: &[u8]) -> PyResult<(usize, usize)> {
        let collector = self.open(py)?;
        let added = py.detach(|| -> Result<Progress, ReproduceError> {
            collector.add(&TaskResult::from_bytes(result)?)
        });
        let at = added.map_err(|e| errors::of(py, e.into()))?;
        Ok((at.done, at.total))
    }

    /// The runs that are done, and all there are.
    fn progress(&mut self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let at = self.open(py)?.progress();
        Ok((at.done, at.total))
    }

    /// Brings what is here to the disk and lets go of the folder, which another
    /// collector can then go on with.
    fn close(&mut self, py: Python<'_>) {
        let collector = self.collector.take();
        py.detach(|| drop(collector));
    }

    /// Writes the final files and computes tables, figures and claims.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Reproduction> {
        self.open(py)?;
        let collector = self.collector.take();
        let made = py.detach(|| collector.map(Collecting::finish).transpose());
        let made = made.map_err(|e| errors::of(py, e.into()))?;
        let finished = || errors::exception(py, Kind::Study, "the results are finished");
        Ok(Reproduction(Box::new(made.ok_or_else(finished)?)))
    }
}
