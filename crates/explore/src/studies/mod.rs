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
mod memory;
mod pivot;
mod plan;
mod ran;
mod runs;
mod scale;
mod statistic;

use crate::server::App;
use crate::{Problem, work};
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use axum::{Json, Router};
use dataset::Dataset;
use memory::Memory;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// Studies that are open at the same time, at most.
const MOST_OPEN: usize = 4;

/// A study by name.
type Opened = (String, Arc<Dataset>);

/// The studies that are open. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Studies {
    memory: Memory,
    ran: ran::Ran,
    open: Arc<Mutex<Vec<Opened>>>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/api/studies", post(list))
        .route("/api/studies/open", post(open))
        .route("/api/studies/pivot", post(pivot_of))
        .route("/api/studies/facets", post(facets_of))
        .route("/api/studies/runs", post(runs_of))
        .route("/api/studies/chart", post(chart_of))
        .route("/api/studies/again", post(again_of))
        .route("/api/studies/plan", post(plan_of))
        .route("/api/studies/run", post(run))
}

impl Studies {
    /// Reads the study anew.
    fn open(&self, app: &App, study: &str) -> Result<Arc<Dataset>, Problem> {
        let dataset = match study.strip_prefix(ran::PREFIX) {
            Some(_) => Dataset::open(self.ran.folder(study)?.path(), &self.memory)?,
            None => Dataset::open(&found::place(app, study)?, &self.memory)?,
        };
        let dataset = Arc::new(dataset);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(name, _)| name != study);
        open.push((study.to_owned(), Arc::clone(&dataset)));
        if open.len() > MOST_OPEN {
            open.remove(0);
        }
        Ok(dataset)
    }

    /// The study, which is opened if it is not.
    fn get(&self, app: &App, study: &str) -> Result<Arc<Dataset>, Problem> {
        let known = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let known = open.iter().find(|(name, _)| name == study);
            known.map(|(_, dataset)| Arc::clone(dataset))
        };
        match known {
            Some(dataset) => Ok(dataset),
            None => self.open(app, study),
        }
    }
}

/// Nothing more.
#[derive(Debug, Deserialize)]
struct Nothing {}

/// Answers on a thread of its own.
async fn answer<Q: DeserializeOwned + Send + 'static>(
    app: App,
    about: Value,
    answer: impl FnOnce(&App, &str, &Q) -> Result<Value, Problem> + Send + 'static,
) -> Result<Json<Value>, Problem> {
    let mut about = about;
    let study = match about.as_object_mut().map(|about| about.remove("study")) {
        Some(Some(Value::String(study))) => study,
        _ => return Err(Problem::wrong("`study` is missing")),
    };
    let question: Q = serde_json::from_value(about).map_err(|e| Problem::wrong(e.to_string()))?;
    let jobs = app.jobs.clone();
    work::once(&jobs, move || answer(&app, &study, &question)).await
}

async fn list(State(app): State<App>) -> Result<Json<Value>, Problem> {
    let jobs = app.jobs.clone();
    work::once(&jobs, move || found::all(&app)).await
}

async fn open(State(app): State<App>, Json(about): Json<Value>) -> Result<Json<Value>, Problem> {
    answer(app, about, |app, study, _: &Nothing| {
        let dataset = app.studies.open(app, study)?;
        let mut document = dataset.document();
        // A figure of the study is there if its file is.
        let known = again::file_of(app, dataset.name()).ok().flatten();
        if let Some((file, study)) = known.filter(|(_, study)| plan::fits(study, &dataset)) {
            document["figures"] = plan::presets(&study, &dataset).into();
            document["file"] = file.into();
        }
        Ok(document)
    })
    .await
}

async fn pivot_of(
    State(app): State<App>,
    Json(about): Json<Value>,
) -> Result<Json<Value>, Problem> {
    answer(app, about, |app, study, question: &pivot::Question| {
        let dataset = app.studies.get(app, study)?;
        Ok(pivot::Pivot::new(&dataset, question)?.document(question.statistic))
    })
    .await
}

async fn facets_of(
    State(app): State<App>,
    Json(about): Json<Value>,
) -> Result<Json<Value>, Problem> {
    answer(app, about, |app, study, question: &facets::Question| {
        facets::facets(&*app.studies.get(app, study)?, question)
    })
    .await
}

async fn runs_of(State(app): State<App>, Json(about): Json<Value>) -> Result<Json<Value>, Problem> {
    answer(app, about, |app, study, question: &runs::Question| {
        runs::page(&*app.studies.get(app, study)?, question)
    })
    .await
}

async fn chart_of(
    State(app): State<App>,
    Json(about): Json<Value>,
) -> Result<Json<Value>, Problem> {
    answer(app, about, |app, study, question: &chart::Question| {
        let dataset = app.studies.get(app, study)?;
        let chart = chart::chart(&dataset, question)?;
        Ok(json!({ "svg": chart.to_svg() }))
    })
    .await
}

async fn again_of(
    State(app): State<App>,
    Json(about): Json<Value>,
) -> Result<Json<Value>, Problem> {
    answer(app, about, |app, study, question: &again::Question| {
        again::again(app, &*app.studies.get(app, study)?, question)
    })
    .await
}

async fn plan_of(State(app): State<App>, Json(about): Json<Value>) -> Result<Json<Value>, Problem> {
    answer(app, about, |app, study, _: &Nothing| plan::plan(app, study)).await
}

/// Which study is to be run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    study: String,
}

async fn run(State(app): State<App>, Json(run): Json<Run>) -> Result<Response, Problem> {
    let jobs = app.jobs.clone();
    work::stream(&jobs, move |results| {
        let study = app.studies.ran.run(&app, &run.study, results)?;
        // What was there before under the name is of other runs.
        app.studies.open(&app, &study)?;
        results.send(&json!({ "study": study }));
        Ok(())
    })
}

#[cfg(test)]
mod tests;
