//! The view of studies: runs filtered and grouped, figures with other axes.
//!
//! A study is named by its path below the folder that was opened. Questions and answers,
//! with numbers in the base units of their columns:
//!
//! - `/api/studies` `{}`: the studies that there are;
//! - `/api/studies/open` `{study}`: its axes with their points, and its metrics;
//! - `/api/studies/pivot` ([`pivot::Question`]): a table, `{rows, columns, cells, scale}`.
//!   A side has `groups` (`{column, name, labels, numbers, bounds, unit}`) and `places`,
//!   each an index into the labels of each group. A cell is
//!   `[value, low, high, runs with a value, runs]`, or null without runs;
//! - `/api/studies/facets` ([`facets::Question`]): counts of labels, and histograms;
//! - `/api/studies/runs` ([`runs::Question`]): a page of runs;
//! - `/api/studies/chart` ([`chart::Question`]): a figure, `{svg}`;
//! - `/api/studies/again` ([`again::Question`]): a run again, `{command, text, note}`;
//! - `/api/studies/plan` `{study}`, a file: what it would run ([`plan::plan`]);
//! - `/api/studies/run` `{study}`, a file: runs it, with lines `{"progress": ...}`, and at
//!   last `{"study": ...}`, by which its runs are named until the server ends.

mod again;
mod chart;
mod column;
mod dataset;
mod facets;
mod filter;
mod found;
mod groups;
mod pivot;
mod plan;
mod ran;
mod runs;
mod scale;
mod statistic;

use crate::Problem;
use crate::app::App;
use crate::recent::Recent;
use crate::routes::{once, stream};
use crate::work::Results;
use axum::routing::MethodRouter;
use axum::{Json, Router};
use dataset::{Columns, Dataset};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

/// Studies that are open at the same time, at most.
const MOST_OPEN: u64 = 4;

/// The studies that are open, by name. Clones are the same.
#[derive(Clone, Debug, Default)]
struct Studies {
    columns: Columns,
    open: Recent<String, Arc<Dataset>, MOST_OPEN>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/api/studies", once(|app, (): ()| found::all(app)))
        .route("/api/studies/open", of_study(open))
        .route("/api/studies/pivot", of_runs(pivot::document))
        .route("/api/studies/facets", of_runs(facets::facets))
        .route("/api/studies/runs", of_runs(runs::page))
        .route("/api/studies/chart", of_runs(chart::document))
        .route(
            "/api/studies/again",
            of_study(|app, study, question| again::again(app, &*opened(app, study)?, question)),
        )
        .route(
            "/api/studies/plan",
            of_study(|app, study, _: &Nothing| plan::plan(app, study)),
        )
        .route("/api/studies/run", stream(run))
}

/// A route of questions about a study, which names it as `study`.
fn of_study<Q: DeserializeOwned + 'static>(
    answer: impl Fn(&App, &str, &Q) -> Result<Value, Problem> + Clone + Send + Sync + 'static,
) -> MethodRouter<App> {
    once(move |app: &App, Json(mut about): Json<Value>| {
        let study = match about.as_object_mut().map(|about| about.remove("study")) {
            Some(Some(Value::String(study))) => study,
            _ => return Err(Problem::wrong("`study` is missing")),
        };
        let question = serde_json::from_value(about);
        let question = question.map_err(|e| Problem::wrong(e.to_string()))?;
        answer(app, &study, &question)
    })
}

/// A route of questions about the runs of a study.
fn of_runs<Q: DeserializeOwned + 'static>(
    answer: fn(&Dataset, &Q) -> Result<Value, Problem>,
) -> MethodRouter<App> {
    of_study(move |app, study, question| answer(&*opened(app, study)?, question))
}

/// Reads the study again.
fn reopened(app: &App, study: &str) -> Result<Arc<Dataset>, Problem> {
    let studies: Studies = app.kept();
    let dataset = match study.strip_prefix(ran::PREFIX) {
        Some(_) => Dataset::open(ran::folder(app, study)?.path(), &studies.columns)?,
        None => Dataset::open(&found::place(app, study)?, &studies.columns)?,
    };
    let dataset = Arc::new(dataset);
    studies.open.put(study.to_owned(), Arc::clone(&dataset), 1);
    Ok(dataset)
}

/// The study, which is opened if it is not.
fn opened(app: &App, study: &str) -> Result<Arc<Dataset>, Problem> {
    let known = app.kept::<Studies>().open.get(&study.to_owned());
    known.map_or_else(|| reopened(app, study), Ok)
}

/// Nothing more.
#[derive(Debug, Deserialize)]
struct Nothing {}

fn open(app: &App, study: &str, _: &Nothing) -> Result<Value, Problem> {
    let dataset = reopened(app, study)?;
    let mut document = dataset.document();
    // A figure of the study is there if its file is.
    let known = again::file_of(app, dataset.name()).ok().flatten();
    if let Some((file, study)) = known.filter(|(_, study)| plan::fits(study, &dataset)) {
        document["figures"] = plan::presets(&study, &dataset).into();
        document["file"] = file.into();
    }
    Ok(document)
}

/// Which study is to be run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    study: String,
}

fn run(app: &App, Json(run): Json<Run>, results: &Results) -> Result<(), Problem> {
    let study = ran::run(app, &run.study, results)?;
    // What was there before under the name is of other runs.
    reopened(app, &study)?;
    results.send(&json!({ "study": study }));
    Ok(())
}

#[cfg(test)]
mod tests;
