//! Executes a study in parallel, journals results as they arrive, and resumes after a kill.

use crate::catalogue::Unknown;
use crate::error::ExecuteError;
use crate::header::header;
use crate::plan::{Plan, place};
use crate::precision::{Gauge, Reached};
use crate::results::StudyResults;
use crate::runner::{Checked, Runner, Watch};
use crate::runs::Runs;
use crate::study::Study;
use crate::work::{Store, Work, perform};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// How a study is executed.
pub struct ExecuteOptions<'a> {
    /// Runs at a time; zero is as many as there are cores.
    pub threads: usize,
    /// Runs per cell instead of the study's own number; at most, where the number
    /// follows from the results.
    pub replications: Option<u32>,
    /// Where results are journalled; `None` keeps them in memory only. Those that shards have put
    /// into the folder `shards` next to it count, too.
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

/// Runs what the journal does not hold yet, and returns the results of all.
///
/// A run that fails or panics is recorded as failed and the rest continues. The results do not
/// depend on the number of threads nor on how often the study was interrupted.
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
            if !reached.iter().all(|(_, enough)| *enough) {
                return Err(stopped(done));
            }
            StudyResults::new(&plan, plan.replications as usize, runs).with_reached(reached)
        }
    };
    Ok(results.with_hashes(cells.into_iter().map(|cell| cell.hash).collect()))
}

/// What each group has reached, and whether it needs no more runs.
fn reached(gauge: &Gauge<'_>, plan: &Plan, runs: &Runs) -> Vec<(Reached, bool)> {
    let of_group = |group| gauge.reached(group, plan.replications, runs);
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
    let reached = gauge.map(|gauge| reached(&gauge, &plan, &runs));
    let results = StudyResults::new(&plan, replications.unwrap_or(all), runs);
    let results = match reached {
        Some(reached) => results.with_reached(reached),
        None => results,
    };
    Ok(results.with_hashes(hashes))
}

#[cfg(test)]
#[path = "execute_tests.rs"]
pub(crate) mod tests;
