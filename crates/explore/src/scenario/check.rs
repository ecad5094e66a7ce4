//! A text checked: what is wrong with it and where, and the network that it describes.

use super::drawing;
use super::places::Places;
use super::survey::{LONG, PATIENCE, Survey, Surveyed, Surveys, Text};
use crate::Problem;
use crate::app::App;
use crate::work;
use axum::Json;
use axum::extract::State;
use bentpipe::scenario::Diagnostics;
use bentpipe::units::Time;
use bentpipe_document::{Diagnostic, Origin, Parsed};
use serde_json::{Value, json};

/// Answers with `{valid, pending, diagnostics, more, places, drawing, facts}`:
///
/// - `pending`: the check goes on (the paths of satellites take time); ask again;
/// - `diagnostics`: see [`diagnostics`]; `more`: how many were left out;
/// - `places`: see [`Places::document`]; `null` for a text that is not TOML;
/// - `drawing`: see [`Drawing`](bentpipe_present::map::Drawing); `null` for a text that is not TOML;
/// - `facts`: of a valid text what `bentpipe check --json` prints.
pub(super) async fn answer(
    State(app): State<App>,
    Json(asked): Json<Text>,
) -> Result<Json<Value>, Problem> {
    asked.limited()?;
    let survey = Surveys::check(&app, &asked, PATIENCE).await?;
    let jobs = app.jobs.clone();
    work::once(&jobs, move || Ok(document(&asked.text, &survey))).await
}

fn document(text: &str, survey: &Survey) -> Value {
    let parsed = match Parsed::new("scenario.toml", text) {
        Ok(parsed) => parsed,
        Err(found) => {
            return json!({
                "valid": false, "pending": false, "diagnostics": diagnostics(&found),
                "more": found.more, "places": null, "drawing": null, "facts": null,
            });
        }
    };
    let (diagnostics, more) = match survey.found() {
        None | Some(Surveyed::Valid(_)) => (json!([]), 0),
        Some(Surveyed::Wrong(found)) => (diagnostics(found), found.more),
        Some(Surveyed::Refused(why)) => {
            let error = Diagnostic::whole(why.clone());
            (diagnostics(&Diagnostics::single(&parsed.origin, error)), 0)
        }
    };
    let places = Places::of(&parsed);
    let valid = survey.valid();
    json!({
        "valid": valid.is_some(),
        "pending": survey.found().is_none(),
        "diagnostics": diagnostics,
        "more": more,
        "places": places.document(text),
        "drawing": drawing::draw(&places, valid),
        "facts": valid.map(|(scenario, _)| bentpipe_present::scenario::document(scenario)),
    })
}

/// Errors as the page shows them: `[{message, expected, help, line, column, from, to, topic,
/// fix, related: {line, column, from, to, label}}]`. Lines and columns count from 1, the column in
/// characters; `from` and `to` are bytes; all are `null` where the error is about the file as a
/// whole. `fix` is what to put in the place of these bytes, where a name was almost right.
pub(super) fn diagnostics(found: &Diagnostics) -> Value {
    found
        .errors
        .iter()
        .map(|error| {
            let span = error.span();
            json!({
                "message": error.message(),
                "expected": error.expected(),
                "help": error.advice(),
                "line": error.line(),
                "column": error.column(),
                "from": span.as_ref().map(|span| span.start),
                "to": span.as_ref().map(|span| span.end),
                "topic": error.topic(),
                "fix": fix(error, found.origin()),
                "related": related(error, found.origin()),
            })
        })
        .collect()
}

/// The name that was meant, as it is written at the place of the error.
fn fix(error: &Diagnostic, origin: &Origin) -> Option<String> {
    let meant = error.advice().iter().find_map(|help| {
        let name = help.strip_prefix("did you mean `")?;
        name.strip_suffix("`?")
    })?;
    let there = origin.source.text.get(error.span()?)?;
    Some(match there.starts_with(['"', '\'']) {
        true => bentpipe_document::Value::from(meant).to_toml(),
        false => bentpipe_document::key_text(meant),
    })
}

/// The second place of an error.
fn related(error: &Diagnostic, origin: &Origin) -> Option<Value> {
    let (place, label) = error.second_place()?;
    let span = origin.source.clamp(place.span()?);
    let (line, column) = origin.source.line_column(span.start);
    Some(json!({
        "line": line, "column": column, "from": span.start, "to": span.end, "label": label,
    }))
}

/// The picture that `bentpipe map` draws: `{svg}`.
pub(super) async fn map(
    State(app): State<App>,
    Json(asked): Json<Text>,
) -> Result<Json<Value>, Problem> {
    asked.limited()?;
    let survey = Surveys::check(&app, &asked, LONG).await?;
    let jobs = app.jobs.clone();
    let draw = move || {
        let valid = survey.valid();
        let none = || Problem::wrong("a scenario that is not valid has no picture");
        let (scenario, space) = valid.ok_or_else(none)?;
        let svg = bentpipe_present::map::picture(scenario, space, Time::ZERO);
        Ok(json!({ "svg": svg }))
    };
    work::once(&jobs, draw).await
}
