//! Executes a study: in parallel, journalled as results come, and resumed
//! where it was killed.

use crate::plan::{Job, Plan, hash};
use crate::record::{RunData, RunResult};
use crate::results::StudyResults;
use crate::runner::{Request, Runner};
use crate::study::Study;
use bentpipe_outcome::{Journal, JournalError};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How far a study is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Name of the study.
    pub study: String,
    /// Runs that are done, those of the journal included.
    pub done: usize,
    /// Runs in all.
    pub total: usize,
    /// Runs that failed so far.
    pub failed: usize,
}

/// Told after every run, one at a time; may stop the study.
pub type Watch<'a> = dyn Fn(&Progress) -> ControlFlow<()> + Sync + 'a;

/// How a study is executed.
pub struct ExecuteOptions<'a> {
    /// Runs at a time; zero is as many as there are cores.
    pub threads: usize,
    /// Runs per cell instead of the study's own number.
    pub replications: Option<u32>,
    /// Where results are journalled; `None` keeps them in memory only.
    pub journal: Option<PathBuf>,
    /// Forget what the journal holds.
    pub fresh: bool,
    /// Told how far it is.
    pub watch: &'a Watch<'a>,
}

impl Default for ExecuteOptions<'_> {
    fn default() -> Self {
        ExecuteOptions {
            threads: 0,
            replications: None,
            journal: None,
            fresh: false,
            watch: &|_| ControlFlow::Continue(()),
        }
    }
}

/// Why a study was not executed to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// A cell makes no scenario.
    #[error("{place} makes no valid scenario:\n{why}")]
    Cell {
        /// The cell.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The journal is that of a changed study or cannot be written.
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// It was told to stop; the journal holds what was done.
    #[error("stopped after {done} of {total} runs of `{study}`")]
    Stopped {
        /// Name of the study.
        study: String,
        /// Runs done.
        done: usize,
        /// Runs in all.
        total: usize,
    },
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
}

/// Checks every cell of a study before anything runs.
///
/// # Errors
/// For the first cell that makes no scenario.
pub fn check_cells(study: &Arc<Study>, runner: &dyn Runner) -> Result<(), ExecuteError> {
    for job in &Plan::new(study, Some(1)).jobs {
        if let Err(why) = runner.check(&job.settings) {
            return Err(ExecuteError::Cell {
                place: place(study, job.cell),
                why,
            });
        }
    }
    Ok(())
}

fn place(study: &Arc<Study>, cell: usize) -> String {
    let points = crate::plan::points(&study.axes, cell);
    let axes = study.axes.iter().zip(points);
    let at: Vec<String> = axes
        .map(|(axis, point)| format!("{} {}", axis.name, axis.points[point].label))
        .collect();
    if at.is_empty() {
        study.name.clone()
    } else {
        format!("{} at {}", study.name, at.join(", "))
    }
}

/// What a journal belongs to: everything that outcomes depend on, beside what
/// the key of a run says.
pub(crate) fn header(study: &Study, runner: &dyn Runner) -> String {
    format!(
        "bentpipe {} build {} study {} scenario {} jitter {} ns series {} marks {:?}",
        env!("CARGO_PKG_VERSION"),
        build(),
        study.name,
        hash(&runner.identity()),
        study.start_jitter.as_nanos(),
        study
            .series
            .map_or("none".to_owned(), |d| format!("{} ns", d.as_nanos())),
        study
            .marks
            .iter()
            .map(|at| at.as_nanos())
            .collect::<Vec<_>>(),
    )
}

/// Which build of the program this is: a hash of its executable, so that a
/// journal from before a change to the simulator is not taken for results of
/// after it. The name of the version alone where the file cannot be read.
fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let file = std::env::current_exe().and_then(std::fs::read);
        file.map_or_else(
            |_| "unknown".to_owned(),
            |bytes| format!("{:08x}", crc32fast::hash(&bytes)),
        )
    })
}

/// Runs what the journal does not hold yet, and returns the results of all.
///
/// A run that fails or panics is recorded as failed and the rest goes on. The
/// results do not depend on the number of threads nor on how often the study
/// was interrupted.
///
/// # Errors
/// If a cell makes no scenario, the journal cannot be used, or `watch` says to
/// stop.
pub fn execute(
    study: &Arc<Study>,
    runner: &dyn Runner,
    options: &ExecuteOptions<'_>,
) -> Result<StudyResults, ExecuteError> {
    check_cells(study, runner)?;
    let plan = Plan::new(study, options.replications);
    let mut results: Vec<Option<Arc<RunResult>>> = vec![None; plan.jobs.len()];
    let journal = match &options.journal {
        Some(path) => Some(open(
            path,
            &header(study, runner),
            options.fresh,
            &plan,
            &mut results,
        )?),
        None => None,
    };
    let pending: Vec<usize> = (0..plan.jobs.len())
        .filter(|i| results[*i].is_none())
        .collect();
    let executor = Executor {
        study,
        runner,
        options,
        jobs: &plan.jobs,
        stop: AtomicBool::new(false),
        state: Mutex::new(State {
            journal,
            results,
            error: None,
        }),
    };
    if !pending.is_empty() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads)
            .build()
            .map_err(|e| ExecuteError::Threads(e.to_string()))?;
        pool.install(|| {
            pending
                .par_iter()
                .with_max_len(1)
                .for_each(|index| executor.job(*index));
        });
    }
    let mut state = executor
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(journal) = &mut state.journal {
        journal.sync()?;
    }
    if let Some(error) = state.error {
        return Err(error.into());
    }
    let done = state.results.iter().flatten().count();
    let runs: Option<Vec<Arc<RunResult>>> = plan
        .of_run
        .iter()
        .map(|job| state.results[*job].clone())
        .collect();
    runs.map(|runs| StudyResults::new(study.clone(), plan.replications as usize, runs))
        .ok_or(ExecuteError::Stopped {
            study: study.name.clone(),
            done,
            total: plan.jobs.len(),
        })
}

/// Opens the journal and takes from it what the plan asks for.
fn open(
    path: &std::path::Path,
    header: &str,
    fresh: bool,
    plan: &Plan,
    results: &mut [Option<Arc<RunResult>>],
) -> Result<Journal, JournalError> {
    if fresh {
        return Journal::restart(path, header);
    }
    let (journal, records) = Journal::open(path, header)?;
    let known: BTreeMap<&str, usize> = plan
        .jobs
        .iter()
        .enumerate()
        .map(|(i, job)| (job.key.as_str(), i))
        .collect();
    for record in &records {
        if let Some(index) = known.get(record.key.as_str()) {
            results[*index] = Some(Arc::new(record.decode()?));
        }
    }
    Ok(journal)
}

struct Executor<'a> {
    study: &'a Study,
    runner: &'a dyn Runner,
    options: &'a ExecuteOptions<'a>,
    jobs: &'a [Job],
    stop: AtomicBool,
    state: Mutex<State>,
}

struct State {
    journal: Option<Journal>,
    results: Vec<Option<Arc<RunResult>>>,
    error: Option<JournalError>,
}

impl Executor<'_> {
    fn job(&self, index: usize) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        let result = self.run(&self.jobs[index]);
        if self.runner.is_stopped() {
            self.stop.store(true, Ordering::Relaxed);
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        if let Some(journal) = &mut state.journal
            && let Err(error) = journal.append(&self.jobs[index].key, &result)
        {
            state.error = Some(error);
            self.stop.store(true, Ordering::Relaxed);
            return;
        }
        state.results[index] = Some(Arc::new(result));
        let progress = Progress {
            study: self.study.name.clone(),
            done: state.results.iter().flatten().count(),
            total: self.jobs.len(),
            failed: state
                .results
                .iter()
                .flatten()
                .filter(|r| r.failure().is_some())
                .count(),
        };
        if (self.options.watch)(&progress).is_break() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn run(&self, job: &Job) -> RunResult {
        let request = Request {
            settings: &job.settings,
            seed: job.seed,
            start_jitter: self.study.start_jitter,
            series: self.study.series,
            checkpoints: &self.study.marks,
        };
        match catch_unwind(AssertUnwindSafe(|| self.runner.run(&request))) {
            Ok(Ok(outcome)) => RunResult::Done(Box::new(RunData::new(outcome))),
            Ok(Err(why)) => RunResult::Failed(why),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                RunResult::Failed(format!("the run panicked: {}", text.unwrap_or_default()))
            }
        }
    }
}

#[cfg(test)]
#[path = "execute_tests.rs"]
mod tests;
