//! The view of one link: which transport, and how each does there.
//!
//! `POST /api/link` takes a [`Question`] and answers with lines while its runs go on
//! ([`lines`]): `begin` at once, `rows` as runs end, `verdict` after each round of runs,
//! and `answer` at the end. Answers are kept, so that what is asked about one later
//! ([`Answers`]) needs no second race. `POST /api/link/share` hands a question on, as a
//! command or a file ([`share`]).

mod answers;
mod lines;
mod live;
mod question;
mod share;
mod tabs;

pub(crate) use answers::Answers;
pub(crate) use question::Question;

use tabs::Tabs;

use crate::Problem;
use crate::app::App;
use crate::work;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use axum::{Json, Router};

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/api/link", post(answer))
        .route("/api/link/share", post(share::answer))
}

/// Streams the answer; that to the question which the same tab asked before ends.
async fn answer(
    State(app): State<App>,
    Json(question): Json<Question>,
) -> Result<Response, Problem> {
    let turn = app.kept::<Tabs>().turn(question.tab.as_deref());
    // It may read traces and elements of satellites, for which no worker of the server waits.
    let reader = app.clone();
    let asked = tokio::task::spawn_blocking(move || {
        let comparison = question.comparison(&reader);
        (question, comparison)
    });
    let (question, comparison) = asked.await.map_err(|_| Problem::fault())?;
    let comparison = comparison?;
    let jobs = app.jobs.clone();
    work::stream(&jobs, move |results| {
        turn.stops(&results.stop());
        live::answer(&app, &question, comparison, results)
    })
}
