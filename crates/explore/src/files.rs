//! What the page asks of the folder that the command was given.
//!
//! - `POST /api/files {"below": "sub"}` lists: `{"folder": "/home/ann/studies", "files":
//!   [{"path": "sub/geo.toml", "name": "geo.toml", "kind": "scenario", "bytes": 812}]}`,
//!   with `kind` one of [`Kind`](crate::folder::Kind).
//! - `POST /api/file {"path": "sub/geo.toml"}` reads: `{"path": ..., "kind": ..., "text":
//!   ...}`.
//! - `POST /api/file/save {"path": ..., "text": ..., "expected": ...}` writes `text`, if
//!   the file still has the text `expected`; status 409 with `{"error": {"message": ...,
//!   "text": what it has}}` if not.

use crate::Problem;
use crate::app::App;
use crate::folder::{LARGEST_TEXT, kind_of_file};
use crate::routes::once;
use axum::{Json, Router};
use bentpipe::ScenarioFile;
use serde::Deserialize;
use serde_json::{Value, json};

/// Takes the text of a scenario from the page, as if it were in the file `path`, or beside
/// the file that was opened.
///
/// # Errors
/// If it is too long or not TOML, if it names files outside of the folder, or if it names
/// programs: the page can run no code of its own choice.
pub(crate) fn scenario(app: &App, path: Option<&str>, text: &str) -> Result<ScenarioFile, Problem> {
    if text.len() as u64 > LARGEST_TEXT {
        let text = format!("a scenario has at most {LARGEST_TEXT} bytes here");
        return Err(Problem::limit(text));
    }
    let below = path.filter(|path| !path.is_empty());
    let below = below.unwrap_or("scenario.toml");
    let (above, own) = below.rsplit_once('/').unwrap_or(("", below));
    let place = match &app.files {
        // A text that a tab has kept may be of a folder that is not here.
        Some(files) => {
            let folder = files.resolve(above);
            folder
                .unwrap_or_else(|_| files.root().to_path_buf())
                .join(own)
        }
        None => below.into(),
    };
    let file = ScenarioFile::parse(&place, text.as_bytes())?;
    if !file.named_controls().is_empty() {
        return Err(Problem::forbidden(
            "the explorer loads no congestion controls from files; `bentpipe run` does",
        ));
    }
    for name in file.named_files() {
        let files = app.files()?;
        let known = files.resolve(beside(below, &name).as_deref().unwrap_or(&name))?;
        // What will be opened: behind a link, `..` leads elsewhere than in the text. A
        // pipe would be waited for.
        let opened = place
            .parent()
            .map(|folder| folder.join(&name).canonicalize());
        let is_known = opened.is_some_and(|opened| opened.is_ok_and(|path| path == known));
        if !is_known || !known.is_file() {
            return Err(Problem::forbidden(format!(
                "`{name}` is not a file in the folder that was opened"
            )));
        }
    }
    Ok(file)
}

/// The path of `name` as a file `beside` another says it, without `.` and `..`; `None` if
/// it leads out of the folder or is absolute.
fn beside(file: &str, name: &str) -> Option<String> {
    if name.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/api/files", once(list))
        .route("/api/file", once(read))
        .route("/api/file/save", once(save))
}

#[derive(Debug, Deserialize)]
struct Below {
    #[serde(default)]
    below: String,
}

fn list(app: &App, Json(asked): Json<Below>) -> Result<Value, Problem> {
    let files = app.files()?;
    let entries = files.list(&asked.below)?;
    Ok(json!({ "folder": files.root().display().to_string(), "files": entries }))
}

#[derive(Debug, Deserialize)]
struct Asked {
    path: String,
}

fn read(app: &App, Json(asked): Json<Asked>) -> Result<Value, Problem> {
    let files = app.files()?;
    let text = files.text(&asked.path)?;
    let kind = kind_of_file(&files.resolve(&asked.path)?);
    Ok(json!({ "path": asked.path, "kind": kind, "text": text }))
}

#[derive(Debug, Deserialize)]
struct Saved {
    path: String,
    text: String,
    expected: String,
}

fn save(app: &App, Json(saved): Json<Saved>) -> Result<Value, Problem> {
    let files = app.files()?;
    files.save(&saved.path, &saved.text, &saved.expected)?;
    Ok(json!({ "path": saved.path }))
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn names_beside_a_file_are_followed_within_the_folder() {
        let found = |file, name| beside(file, name);
        assert_eq!(found("geo.toml", "a.csv").unwrap(), "a.csv");
        assert_eq!(found("sub/geo.toml", "../a.csv").unwrap(), "a.csv");
        assert_eq!(found("sub/geo.toml", "./x/../a.csv").unwrap(), "sub/a.csv");
        assert_eq!(found("geo.toml", "../a.csv"), None);
        assert_eq!(found("geo.toml", "/etc/passwd"), None);
    }
}
