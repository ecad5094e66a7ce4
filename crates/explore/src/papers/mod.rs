//! The view of papers: printed numbers beside ours, claims with their evidence.
//!
//! - `/api/papers` `{}`: the papers, each with its items;
//! - `/api/papers/open` `{paper, runs}`: what is printed, and ours where it has been run
//!   ([`page::document`]); `runs` is null, or how many of a cell are enough;
//! - `/api/papers/run` `{paper, item, runs}`: runs what an item needs: lines `{"progress":
//!   {study, done, total, share}}`, then `{"made": ...}` as `open` answers.
//!
//! Results are kept while the server runs, so that items of the same study wait once.

mod page;

use crate::Problem;
use crate::app::App;
use crate::recent::Recent;
use crate::routes::{once, stream};
use crate::running::executed;
use crate::work::Results;
use axum::{Json, Router};
use bentpipe::{Paper, Progress, Selection, papers};
use bentpipe_study::{SHADES, StudyResults, needed};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Runs of all results that are kept, at most. What was run longest ago is forgotten first.
const MOST_RUNS: u64 = 200_000;

/// The results of studies that were run, by which: the paper, the study, and the runs of a
/// cell where there are fewer than the study asks for.
type Kept = Recent<(String, String, Option<u32>), StudyResults, MOST_RUNS>;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/api/papers", once(list))
        .route("/api/papers/open", once(open))
        .route("/api/papers/run", stream(run))
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
    fn find(&self) -> Result<(Paper, Selection), Problem> {
        if self.runs == Some(0) {
            return Err(Problem::wrong("a cell has one run at least"));
        }
        Ok(papers::find(&self.paper, self.item.as_deref())?)
    }
}

fn list(_: &App, (): ()) -> Result<Value, Problem> {
    let all = papers::all(&papers::folder()?)?;
    Ok(json!({ "papers": all.iter().map(page::head).collect::<Vec<_>>() }))
}

/// The results that are kept of a paper's studies, by the names of these.
fn known(app: &App, paper: &Paper, runs: Option<u32>) -> BTreeMap<String, StudyResults> {
    let kept = app.kept::<Kept>();
    let own = kept.all(|(of, _, with)| *of == paper.slug && *with == runs);
    let named = |results: StudyResults| (results.study().name.clone(), results);
    own.into_iter().map(named).collect()
}

fn open(app: &App, Json(question): Json<Question>) -> Result<Value, Problem> {
    let (paper, selection) = question.find()?;
    let results = known(app, &paper, question.runs);
    let mut page = page::document(&paper, &selection, results)?;
    page["head"] = page::head(&paper);
    page["shades"] = json!(SHADES);
    Ok(page)
}

fn run(app: &App, Json(question): Json<Question>, results: &Results) -> Result<(), Problem> {
    let (paper, selection) = question.find()?;
    let studies = needed(&paper.studies, &selection).map_err(page::wrong)?;
    let mut known = known(app, &paper, question.runs);
    let progress = |at: &Progress| json!({ "study": at.study, "done": at.done, "total": at.total, "share": at.share });
    for loaded in studies {
        let name = &loaded.study.name;
        if known.contains_key(name) {
            continue;
        }
        let (found, _) = executed(loaded, question.runs, results, progress)?;
        let key = (paper.slug.clone(), name.clone(), question.runs);
        app.kept::<Kept>()
            .put(key, found.clone(), found.total() as u64);
        known.insert(name.clone(), found);
    }
    let made = page::document(&paper, &selection, known)?;
    results.send(&json!({ "made": made }));
    Ok(())
}
