//! The view of one link: which transport, and how each does there.

use crate::Problem;
use crate::server::App;
use crate::work;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;

/// A question: options of `bentpipe compare`, each a name and a value.
#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    pub(crate) options: Vec<(String, String)>,
}

/// Options that name programs or files of the machine, which a page may not.
const REFUSED: [&str; 3] = ["cc", "trace", "threads"];

impl Question {
    /// Refuses what a page may not ask.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let refused = |(name, _): &&(String, String)| REFUSED.contains(&name.as_str());
        match self.options.iter().find(refused) {
            Some((name, _)) => Err(Problem::wrong(format!("the page takes no `{name}`"))),
            None => Ok(()),
        }
    }
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/api/link", post(answer))
}

/// Streams the answer.
async fn answer(
    State(app): State<App>,
    Json(question): Json<Question>,
) -> Result<Response, Problem> {
    question.check()?;
    let comparison = app.laboratory.comparison(&question.options);
    let comparison = comparison.map_err(Problem::wrong)?;
    work::stream(&app.jobs, move |results| {
        let progress = |done: usize, total: usize| {
            results.send_if_free(&json!({ "progress": [done, total] }));
        };
        let answer = comparison.stop(results.stop()).run_with(&progress)?;
        results.send(&json!({ "answer": app.laboratory.answer(&answer), "done": true }));
        Ok(())
    })
}
