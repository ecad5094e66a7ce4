//! Edits of the drawing as changes of the text.

use super::edits::{Edit, Splice, apply, splices};
use crate::Problem;
use crate::app::App;
use crate::bounds::MOST_TEXT;
use axum::Json;
use serde::Deserialize;
use serde_json::{Value, json};

/// Edits of one request, at most.
const MOST_EDITS: usize = 50;

/// Edits of a text, one after the other.
#[derive(Debug, Deserialize)]
pub(super) struct Edits {
    text: String,
    edits: Vec<Edit>,
}

/// Answers with `{splices: [[{from, to, insert}]]}`: for each edit what to replace at once,
/// in bytes of the text that the edits before it have made. The text that results is TOML;
/// whether it is a scenario is another question.
pub(super) fn answer(_: &App, Json(asked): Json<Edits>) -> Result<Value, Problem> {
    if asked.text.len() > MOST_TEXT || asked.edits.len() > MOST_EDITS {
        return Err(Problem::wrong(
            "the text or the number of edits is too large",
        ));
    }
    let mut text = asked.text;
    let mut all: Vec<Vec<Splice>> = Vec::new();
    for edit in &asked.edits {
        let splices = splices(&text, edit).map_err(Problem::wrong)?;
        text = apply(&text, &splices);
        all.push(splices);
    }
    Ok(json!({ "splices": all }))
}
