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
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// The journal holds runs of something else.
    #[error("{}: {what} changed since these results were made", path.display())]
    Changed {
        /// The journal.
        path: PathBuf,
        /// What changed, in words.
        what: String,
    },
    /// The journal cannot be read or written.
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

/// Checks every cell of a study before anything runs; the hash of the scenario of
/// each.
///
/// # Errors
/// For the first cell that makes no scenario.
pub fn check_cells(study: &Arc<Study>, runner: &dyn Runner) -> Result<Vec<String>, ExecuteError> {
    let plan = Plan::new(study, Some(1));
    let mut hashes = Vec::with_capacity(plan.jobs.len());
    for job in &plan.jobs {
        let hash = runner
            .check(&job.settings)
            .map_err(|why| ExecuteError::Cell {
                place: place(study, job.cell),
                why,
            })?;
        hashes.push(hash);
    }
    let of_cells = plan.of_run.iter().map(|job| hashes[*job].clone());
    Ok(of_cells.collect())
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
/// the key of a run says. A line each, which begins with its name. Not which
/// build of the program wrote it: its cargo features change no result.
pub(crate) fn header(study: &Study, runner: &dyn Runner) -> String {
    let series = study.series.map(|interval| interval.to_string());
    let checkpoints = study.marks.iter().map(|at| at.as_nanos().to_string());
    format!(
        "bentpipe {}\nstudy {}\nscenario {}\nstart_jitter {}\nseries {}\nmarks {}",
        env!("CARGO_PKG_VERSION"),
        study.name,
        hash(&runner.identity()),
        study.start_jitter,
        series.as_deref().unwrap_or("none"),
        checkpoints.collect::<Vec<_>>().join(" "),
    )
}

/// What differs between the header of a journal and the one that is asked for,
/// in words.
fn differences(found: &str, expected: &str) -> String {
    let value = |header: &str, name: &str| {
        let mut lines = header.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(n, _)| *n == name).map(|(_, v)| v.to_owned())
    };
    let mut changed = Vec::new();
    for (name, words) in [
        ("bentpipe", "the version of bentpipe"),
        ("study", "the name of the study"),
        ("scenario", "the scenario or a file that it names"),
        ("start_jitter", "`start_jitter`"),
        ("series", "`series`"),
        ("marks", "`marks`"),
    ] {
        let (was, is) = (value(found, name), value(expected, name));
        match (was, is) {
            (Some(was), Some(is)) if was == is => {}
            // One of an earlier program says more in its first line.
            (Some(was), Some(is)) if name == "bentpipe" && !was.contains(' ') => {
                changed.push(format!("{words} (it was {was}, now {is})"));
            }
            _ => changed.push(words.to_owned()),
        }
        if name == "bentpipe" && !changed.is_empty() {
            break;
        }
    }
    changed.join(", ")
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
    let hashes = check_cells(study, runner)?;
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
            done: results.iter().flatten().count(),
            failed: results.iter().flatten().filter(|r| has_failed(r)).count(),
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
    let runs = runs.ok_or(ExecuteError::Stopped {
        study: study.name.clone(),
        done,
        total: plan.jobs.len(),
    })?;
    let results = StudyResults::new(study.clone(), plan.replications as usize, runs);
    Ok(results.with_hashes(hashes))
}

/// Opens the journal and takes from it what the plan asks for.
fn open(
    path: &Path,
    header: &str,
    fresh: bool,
    plan: &Plan,
    results: &mut [Option<Arc<RunResult>>],
) -> Result<Journal, ExecuteError> {
    if fresh {
        return Ok(Journal::restart(path, header)?);
    }
    let (journal, records) = Journal::open(path, header).map_err(|error| match error {
        JournalError::Header {
            path,
            expected,
            found,
        } => ExecuteError::Changed {
            path,
            what: differences(&found, &expected),
        },
        other => ExecuteError::Journal(other),
    })?;
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

/// What the journal holds of a study, of which perhaps not all was run: as many
/// replications as it has of any cell.
pub(crate) fn recorded(
    study: &Arc<Study>,
    runner: &dyn Runner,
    journal: &Path,
) -> Result<StudyResults, ExecuteError> {
    let plan = Plan::new(study, None);
    let mut results: Vec<Option<Arc<RunResult>>> = vec![None; plan.jobs.len()];
    open(journal, &header(study, runner), false, &plan, &mut results)?;
    let all = plan.replications as usize;
    let known = |(run, job): (usize, &usize)| results[*job].is_some().then_some(run % all + 1);
    let replications = plan.of_run.iter().enumerate().filter_map(known).max();
    let replications = replications.unwrap_or(all);
    // Cells of which nothing was run may even be wrong.
    let hash = |(cell, runs): (usize, &[usize])| {
        let is_known = runs.iter().any(|job| results[*job].is_some());
        let hash = is_known.then(|| runner.check(&crate::plan::settings(study, cell)).ok());
        hash.flatten().unwrap_or_default()
    };
    let hashes = plan.of_run.chunks(all).enumerate().map(hash).collect();
    let missing = Arc::new(RunResult::Missing);
    let runs = plan
        .of_run
        .chunks(all)
        .flat_map(|cell| &cell[..replications]);
    let runs = runs.map(|job| results[*job].clone().unwrap_or_else(|| missing.clone()));
    let results = StudyResults::new(study.clone(), replications, runs.collect());
    Ok(results.with_hashes(hashes))
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
    /// How many of them there are, and how many of these failed.
    done: usize,
    failed: usize,
    error: Option<JournalError>,
}

fn has_failed(result: &RunResult) -> bool {
    result.failure().is_some()
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
        state.done += 1;
        state.failed += usize::from(has_failed(&result));
        state.results[index] = Some(Arc::new(result));
        let progress = Progress {
            study: self.study.name.clone(),
            done: state.done,
            total: self.jobs.len(),
            failed: state.failed,
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
