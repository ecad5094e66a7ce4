//! A question and its answer to hand on: as a command, a program, or a file.

use super::{Answers, Question};
use crate::Problem;
use crate::app::App;
use crate::work;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bentpipe::compare::{self, Answer, record};
use bentpipe::report::png;
use bentpipe_present::answer as shown;
use bentpipe_present::question;
use serde::Deserialize;
use serde_json::json;

/// Pixels of a picture for each of its figure's.
const PNG_SCALE: f32 = 2.0;

/// What is handed on, and how.
#[derive(Debug, Deserialize)]
pub(crate) struct Share {
    #[serde(flatten)]
    question: Question,
    format: Format,
    /// Of which row the scenario is: an index into the answer's; the recommended one
    /// unless it is said.
    #[serde(default)]
    row: Option<usize>,
    /// Index into its sizes; the largest unless it is said.
    #[serde(default)]
    size: Option<usize>,
}

/// How it is handed on.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// What to type; as `{text}`.
    Command,
    /// What to call in Python; as `{text}`.
    Python,
    /// The scenario of the median run of a row, for `bentpipe run`; as `{text}`.
    Scenario,
    /// One file of HTML.
    Report,
    /// The figure of the command.
    Svg,
    /// The same as pixels.
    Png,
    /// The ranking.
    Csv,
}

/// Hands it on: a text as `{"text": ...}`, a file as itself.
pub(crate) async fn answer(
    State(app): State<App>,
    Json(share): Json<Share>,
) -> Result<Response, Problem> {
    let options = &share.question.options;
    // Names stand in the command and in the program as they are.
    let is_known = |name: &str| {
        compare::Question::OPTIONS
            .iter()
            .any(|known| known.name == name)
    };
    if let Some((name, _)) = options.iter().find(|(name, _)| !is_known(name)) {
        return Err(Problem::wrong(format!("there is no option `{name}`")));
    }
    let text = |text: String| Ok(Json(json!({ "text": text })).into_response());
    match share.format {
        Format::Command => return text(question::command(options)),
        Format::Python => return text(question::python(options)),
        _ => {}
    }
    let jobs = app.jobs.clone();
    work::made_until(&jobs, move |stop| {
        let answer = app.kept::<Answers>().whole(&app, &share.question, stop)?;
        file(&app, &share, &answer)
    })
    .await
}

/// The file.
fn file(app: &App, share: &Share, answer: &Answer) -> Result<Response, Problem> {
    if share.format == Format::Scenario {
        let text = scenario(answer, share.row, share.size)?;
        return Ok(Json(json!({ "text": text })).into_response());
    }
    let chart = || {
        let chart = shown::chart(answer);
        chart.ok_or_else(|| Problem::missing("nothing ended, so there is nothing to draw"))
    };
    let (kind, name, bytes) = match share.format {
        Format::Svg => (
            "image/svg+xml",
            "answer.svg",
            chart()?.to_svg().into_bytes(),
        ),
        Format::Png => {
            let drawn = png::render(&chart()?.to_svg(), PNG_SCALE);
            let drawn = drawn.map_err(|error| Problem::wrong(error.to_string()))?;
            ("image/png", "answer.png", drawn)
        }
        Format::Csv => (
            "text/csv; charset=utf-8",
            "answer.csv",
            csv(answer).into_bytes(),
        ),
        _ => {
            let command = question::command(&share.question.options);
            let page = shown::page(answer, app.build, &command).to_html();
            ("text/html; charset=utf-8", "answer.html", page.into_bytes())
        }
    };
    let head = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        // A page of its own has no business with the one that asked.
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((head, bytes).into_response())
}

/// The scenario of the median run of a row.
fn scenario(answer: &Answer, row: Option<usize>, size: Option<usize>) -> Result<String, Problem> {
    let row = row
        .or(answer.verdict.pick)
        .unwrap_or(answer.verdict.baseline);
    let missing = || Problem::missing("there is no such row or size in the answer");
    let cells = answer.rows.get(row).map(|row| row.cells.len());
    let size = size.unwrap_or(cells.unwrap_or(0).saturating_sub(1));
    if cells.is_none_or(|cells| size >= cells) {
        return Err(missing());
    }
    shown::scenario(answer, row, size).map_err(|error| Problem::wrong(error.to_string()))
}

/// The ranking: a line for each row and size, the fastest of each proxy first.
fn csv(answer: &Answer) -> String {
    let (columns, rows) = record::rows_table(answer);
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let head = line(columns.into_iter().map(|column| column.name).collect());
    let rows = rows.into_iter().map(|cells| {
        let texts = cells.iter().map(|cell| field(&cell.to_text()));
        line(texts.collect())
    });
    head + &rows.collect::<String>()
}

/// A field of CSV.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
