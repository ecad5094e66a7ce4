//! Executes a study: in parallel, journalled as results come, and resumed
//! where it was killed.

use crate::paper::Unknown;
use crate::plan::{Plan, hash, place};
use crate::precision::{Gauge, Next, Reached};
use crate::results::StudyResults;
use crate::runner::{Checked, Runner};
use crate::runs::Runs;
use crate::study::Study;
use crate::work::{Store, Work, perform};
use bentpipe_outcome::JournalError;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// How far a study is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Name of the study.
    pub study: String,
    /// Runs that are done, those of the journal included.
    pub done: usize,
    /// Runs in all; an estimate where the number of runs follows from the results.
    pub total: usize,
    /// Runs that failed so far.
    pub failed: usize,
    /// The share of the work that is done, by the estimated cost of each run.
    pub share: f64,
    /// True if `total` is an estimate.
    pub about: bool,
}

/// Told after every run, one at a time; may stop the study.
pub type Watch<'a> = dyn Fn(&Progress) -> ControlFlow<()> + Sync + 'a;

/// How a study is executed.
pub struct ExecuteOptions<'a> {
    /// Runs at a time; zero is as many as there are cores.
    pub threads: usize,
    /// Runs per cell instead of the study's own number; at most, where the number
    /// follows from the results.
    pub replications: Option<u32>,
    /// Where results are journalled; `None` keeps them in memory only. Those that
    /// shards have put into the folder `shards` beside it count, too.
    pub journal: Option<PathBuf>,
    /// Forget what the journal and the shards hold.
    pub fresh: bool,
    /// Runs nothing: what is missing is an error.
    pub collect: bool,
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
            collect: false,
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
    /// A folder or file of shards cannot be used.
    #[error("{}: cannot {action}: {source}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What the system answered.
        source: std::io::Error,
    },
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
}

/// Checks every cell of a study before anything runs. Cells that set the same are
/// checked once.
///
/// # Errors
/// For the first cell that makes no scenario.
pub fn check_cells(study: &Arc<Study>, runner: &dyn Runner) -> Result<Vec<Checked>, ExecuteError> {
    check_plan(&Plan::new(study, Some(1)), runner)
}

/// Checks every group of a plan.
pub(crate) fn check_plan(plan: &Plan, runner: &dyn Runner) -> Result<Vec<Checked>, ExecuteError> {
    let check = |group: usize| {
        let cell = plan.first(group);
        let checked = runner.check_cost(&crate::plan::settings(&plan.study, cell));
        checked.map_err(|why| ExecuteError::Cell {
            place: place(&plan.study, cell),
            why,
        })
    };
    // The first in order is reported, whichever thread comes upon one.
    let checked: Vec<_> = (0..plan.groups()).into_par_iter().map(check).collect();
    checked.into_iter().collect()
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
pub(crate) fn differences(found: &str, expected: &str) -> String {
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
        (
            "file",
            "the study file, or which points and replications of it are run,",
        ),
    ] {
        let (was, is) = (value(found, name), value(expected, name));
        match (was, is) {
            (Some(was), Some(is)) if was == is => {}
            // Only shards say it.
            (None, None) => {}
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
    let plan = Plan::new(study, options.replications);
    let cells = check_plan(&plan, runner)?;
    let store = match &options.journal {
        Some(path) => Store::open(path, &header(study, runner), options.fresh, &plan)?,
        None => Store::in_memory(&plan),
    };
    let work = Work {
        plan: &plan,
        runner,
        gauge: Gauge::of(study, &Unknown),
        seconds: cells.iter().map(|cell| cell.seconds).collect(),
        jobs: 0..plan.len(),
        threads: options.threads,
        watch: options.watch,
    };
    let store = match options.collect {
        true => store,
        false => perform(&work, store)?,
    };
    let runs = store.close()?;
    let stopped = |done| ExecuteError::Stopped {
        study: study.name.clone(),
        done,
        total: plan.len(),
    };
    let done = runs.done();
    let results = match &work.gauge {
        None if done < plan.len() => return Err(stopped(done)),
        None => StudyResults::new(&plan, plan.replications as usize, runs),
        Some(gauge) => {
            let reached = reached(gauge, &plan, &runs);
            let reached = reached.ok_or_else(|| stopped(done))?;
            StudyResults::new(&plan, plan.replications as usize, runs).with_reached(reached)
        }
    };
    Ok(results.with_hashes(cells.into_iter().map(|cell| cell.hash).collect()))
}

/// How many runs each group took; `None` if some are missing.
fn reached(gauge: &Gauge<'_>, plan: &Plan, runs: &Runs) -> Option<Vec<Reached>> {
    let most = plan.replications;
    let of_group = |group: usize| {
        let mut tally = gauge.tally(most);
        loop {
            match tally.next() {
                Next::Done(reached) => return Some(reached),
                Next::Run(n) => {
                    let run = group * most as usize + n as usize;
                    if !runs.has(run) {
                        return None;
                    }
                    tally.push(gauge.value(&runs.get(run)));
                }
            }
        }
    };
    (0..plan.groups()).into_par_iter().map(of_group).collect()
}

/// What the journal holds of a study, of which perhaps not all was run: as many
/// replications as it has of any cell.
pub(crate) fn recorded(
    study: &Arc<Study>,
    runner: &dyn Runner,
    journal: &std::path::Path,
) -> Result<StudyResults, ExecuteError> {
    let plan = Plan::new(study, None);
    let runs = Store::open(journal, &header(study, runner), false, &plan)?.close()?;
    let all = plan.replications as usize;
    let of_group = |group: usize| {
        let known = (0..all).filter(|n| runs.has(group * all + n));
        known.last().map_or(0, |n| n + 1)
    };
    let known: Vec<usize> = (0..plan.groups()).map(of_group).collect();
    let replications = known.iter().copied().max().filter(|n| *n > 0);
    // Cells of which nothing was run may even be wrong.
    let hash = |(group, known): (usize, &usize)| {
        let cell = plan.first(group);
        let settings = crate::plan::settings(study, cell);
        let hash = (*known > 0).then(|| runner.check(&settings).ok());
        hash.flatten().unwrap_or_default()
    };
    let hashes = known.iter().enumerate().map(hash).collect();
    let gauge = Gauge::of(study, &Unknown);
    let reached = gauge.map(|gauge| partly_reached(&gauge, &plan, &runs));
    let results = StudyResults::new(&plan, replications.unwrap_or(all), runs);
    let results = match reached {
        Some(reached) => results.with_reached(reached),
        None => results,
    };
    Ok(results.with_hashes(hashes))
}

/// The same where runs may be missing: a cell has those before the first of them.
fn partly_reached(gauge: &Gauge<'_>, plan: &Plan, runs: &Runs) -> Vec<Reached> {
    let most = plan.replications;
    let of_group = |group: usize| {
        let mut tally = gauge.tally(most);
        loop {
            match tally.next() {
                Next::Done(reached) => return reached,
                Next::Run(n) => {
                    let run = group * most as usize + n as usize;
                    if !runs.has(run) {
                        return tally.so_far();
                    }
                    tally.push(gauge.value(&runs.get(run)));
                }
            }
        }
    };
    (0..plan.groups()).into_par_iter().map(of_group).collect()
}

#[cfg(test)]
#[path = "execute_tests.rs"]
pub(crate) mod tests;
