//! The view of a scenario: its text checked, its network drawn and edited, its runs.
//!
//! | request | answer |
//! |---|---|
//! | `GET /api/scenario/language` | the tables and keys that the language declares, once |
//! | `GET /api/scenario/machine` | whether runs on this machine's own TCP are possible |
//! | `GET /api/scenario/examples` | the ready-made scenarios |
//! | `POST /api/scenario/check` | diagnostics, places in the text, the network as a drawing |
//! | `POST /api/scenario/edit` | what to change in the text for an edit of the drawing |
//! | `POST /api/scenario/run` | a stream: progress, then results by flow and link |
//! | `POST /api/scenario/map` | the picture that `bentpipe map` draws |

mod check;
mod drawing;
mod edit;
mod edits;
mod language;
mod places;
mod references;
mod run;
mod survey;
mod tables;

use crate::app::App;
use crate::bounds::MOST_TEXT;
use crate::routes::once;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/api/scenario/language", get(language::answer))
        .route("/api/scenario/machine", get(language::machine))
        .route("/api/scenario/examples", get(language::examples))
        .route("/api/scenario/check", post(check::answer))
        .route("/api/scenario/edit", once(edit::answer))
        .route("/api/scenario/run", post(run::answer))
        .route("/api/scenario/map", post(check::map))
        .layer(DefaultBodyLimit::max(2 * MOST_TEXT))
}

/// The text of a scenario with one value set, comments and the rest as they are; `value` is
/// TOML.
///
/// # Errors
/// Why it cannot be done.
pub(crate) fn with_value(text: &str, path: Vec<String>, value: &str) -> Result<String, String> {
    let edit = edits::Edit::Set {
        path,
        value: Some(value.to_owned()),
    };
    Ok(edits::apply(text, &edits::splices(text, &edit)?))
}
