//! Studies that are run for the page, in memory, until the client goes away.

use crate::Problem;
use crate::work::Results;
use bentpipe::Progress;
use bentpipe_study::{ExecuteOptions, LoadedStudy, Runner as _, Simulator, StudyResults, execute};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Runs a study, with at most `runs` of a cell, and sends `{"progress": ...}` on the way, as
/// `progress` tells it. Returns its results, and what the scenario of its runs is known by.
///
/// # Errors
/// If a scenario is wrong, or the client goes away.
pub(crate) fn executed(
    loaded: &LoadedStudy,
    runs: Option<u32>,
    results: &Results,
    progress: impl Fn(&Progress) -> Value + Sync,
) -> Result<(StudyResults, String), Problem> {
    let study = &loaded.study;
    let simulator = Simulator::of_study(loaded).map_err(Problem::wrong)?;
    let simulator = simulator.with_stop(results.stop());
    let watch = |at: &Progress| {
        results.send_if_free(&json!({ "progress": progress(at) }));
        match results.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let options = ExecuteOptions {
        replications: runs.map(|runs| runs.min(study.replications)),
        watch: &watch,
        ..ExecuteOptions::default()
    };
    let found = execute(study, &simulator, &options).map_err(|e| Problem::wrong(e.to_string()))?;
    Ok((found, simulator.identity()))
}
