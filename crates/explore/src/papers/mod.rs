//! The view of papers: printed numbers beside ours, claims with their evidence.
//!
//! - `/api/papers` `{}`: the papers, each with its items;
//! - `/api/papers/open` `{paper, runs}`: what is printed, and ours where it has been run
//!   ([`page::document`]); `runs` is null, or how many of a cell are enough;
//! - `/api/papers/run` `{paper, item, runs}`: runs what an item needs: lines `{"progress":
//!   {study, done, total, share}}`, then `{"made": ...}` as `open` answers.
//!
//! Results are kept while the server runs, so that items of the same study wait once.

mod kept;
mod page;

pub(crate) use kept::Kept;

use crate::Problem;
use crate::server::App;
use crate::work::{self, Results};
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use axum::{Json, Router};
use bentpipe::{Paper, Progress, Selection};
use bentpipe_study::{
    ExecuteOptions, LoadedStudy, SHADES, Simulator, StudyResults, execute, needed,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::ControlFlow;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/api/papers", post(list))
        .route("/api/papers/open", post(open))
        .route("/api/papers/run", post(run))
}

/// A paper, or a part of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    paper: String,
    /// A table, a figure, a claim or a study; everything without it.
    #[serde(default)]
    item: Option<String>,
    /// Runs of a cell at most; as many as the study asks for without it.
    #[serde(default)]
    runs: Option<u32>,
}

impl Question {
    fn find(&self, app: &App) -> Result<(Paper, Selection), Problem> {
        if self.runs == Some(0) {
            return Err(Problem::wrong("a cell has one run at least"));
        }
        let found = app.laboratory.paper(&self.paper, self.item.as_deref());
        found.map_err(Problem::wrong)
    }
}

async fn list(State(app): State<App>) -> Result<Json<Value>, Problem> {
    let jobs = app.jobs.clone();
    work::once(&jobs, move || {
        let listed = app.laboratory.papers().map_err(Problem::wrong)?;
        let names = listed.as_array().into_iter().flatten();
        let names = names.filter_map(|paper| paper["paper"].as_str());
        let heads = names.map(|name| {
            let found = app.laboratory.paper(name, None);
            let (paper, _) = found.map_err(Problem::wrong)?;
            Ok(page::head(&paper))
        });
        let heads: Vec<Value> = heads.collect::<Result<_, Problem>>()?;
        Ok(json!({ "papers": heads }))
    })
    .await
}

async fn open(
    State(app): State<App>,
    Json(question): Json<Question>,
) -> Result<Json<Value>, Problem> {
    let jobs = app.jobs.clone();
    work::once(&jobs, move || {
        let (paper, selection) = question.find(&app)?;
        let results = app.papers.of(&paper.slug, question.runs);
        let mut page = page::document(&*app.laboratory, &paper, &selection, results)?;
        page["head"] = page::head(&paper);
        page["shades"] = json!(SHADES);
        Ok(page)
    })
    .await
}

async fn run(State(app): State<App>, Json(question): Json<Question>) -> Result<Response, Problem> {
    let jobs = app.jobs.clone();
    work::stream(&jobs, move |results| {
        let (paper, selection) = question.find(&app)?;
        let studies = needed(&paper.studies, &selection).map_err(page::wrong)?;
        let mut known = app.papers.of(&paper.slug, question.runs);
        for loaded in studies {
            if known.contains_key(&loaded.study.name) {
                continue;
            }
            let found = executed(loaded, question.runs, results)?;
            app.papers.put(&paper.slug, question.runs, found.clone());
            known.insert(loaded.study.name.clone(), found);
        }
        let made = page::document(&*app.laboratory, &paper, &selection, known)?;
        results.send(&json!({ "made": made }));
        Ok(())
    })
}

/// Runs a study, or stops when the client goes away.
fn executed(
    loaded: &LoadedStudy,
    runs: Option<u32>,
    results: &Results,
) -> Result<StudyResults, Problem> {
    let study = &loaded.study;
    let simulator = Simulator::of_study(loaded).map_err(Problem::wrong)?;
    let simulator = simulator.with_stop(results.stop());
    let watch = |at: &Progress| {
        results.send_if_free(&json!({
            "progress": {
                "study": at.study,
                "done": at.done,
                "total": at.total,
                "share": at.share,
            }
        }));
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
    execute(study, &simulator, &options).map_err(|error| Problem::wrong(error.to_string()))
}
