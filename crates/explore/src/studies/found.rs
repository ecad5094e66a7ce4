//! The studies in the folder that was opened.

use crate::Problem;
use crate::app::App;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Studies that are listed, at most.
const MOST_STUDIES: usize = 500;

/// Folders within folders that are looked at, at most.
const MOST_LEVELS: usize = 5;

/// Entries that are looked at in all, at most.
const MOST_ENTRIES: usize = 50_000;

/// The folder or the file of the study of that name, which is its path below the opened
/// folder; `.` is that folder itself.
///
/// # Errors
/// If nothing was opened, or it leads out of the folder.
pub(super) fn place(app: &App, study: &str) -> Result<PathBuf, Problem> {
    let path = if study == "." { "" } else { study };
    app.files()?.resolve(path)
}

/// The studies below the opened folder, by name: `{"study", "kind"}`, where `kind` is
/// `results`, or `file` of a study that may be run.
///
/// # Errors
/// If nothing was opened.
pub(super) fn all(app: &App) -> Result<Value, Problem> {
    let folder = app.files()?.resolve("")?;
    let mut found = Vec::new();
    let mut left = MOST_ENTRIES;
    look(&folder, &folder, 0, &mut left, &mut found);
    found.sort();
    let is_cut = found.len() > MOST_STUDIES || left == 0;
    found.truncate(MOST_STUDIES);
    let studies = found
        .iter()
        .map(|(study, kind)| json!({ "study": study, "kind": kind }));
    Ok(json!({
        "folder": folder.display().to_string(),
        "studies": studies.collect::<Vec<_>>(),
        "is_cut": is_cut,
    }))
}

/// The files of studies below the opened folder.
///
/// # Errors
/// If nothing was opened.
pub(super) fn files(app: &App) -> Result<Vec<String>, Problem> {
    let folder = app.files()?.resolve("")?;
    let (mut left, mut found) = (MOST_ENTRIES, Vec::new());
    look(&folder, &folder, 0, &mut left, &mut found);
    found.retain(|(_, kind)| *kind == "file");
    Ok(found.into_iter().map(|(file, _)| file).collect())
}

/// Looks into a folder.
fn look(
    root: &Path,
    folder: &Path,
    level: usize,
    left: &mut usize,
    found: &mut Vec<(String, &'static str)>,
) {
    let name = |path: &Path| {
        let below = path.strip_prefix(root).unwrap_or(path);
        match below.to_string_lossy() {
            name if name.is_empty() => ".".to_owned(),
            name => name.into_owned(),
        }
    };
    if holds_results(folder) {
        found.push((name(folder), "results"));
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        if *left == 0 || found.len() > MOST_STUDIES {
            return;
        }
        *left -= 1;
        let file_name = entry.file_name();
        let file_name = file_name.to_string_lossy();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let is_hidden = file_name.starts_with('.') || file_name == "node_modules";
        if kind.is_dir() && level < MOST_LEVELS && !is_hidden {
            look(root, &entry.path(), level + 1, left, found);
        } else if kind.is_file() && file_name.ends_with(".toml") && is_study(&entry.path()) {
            found.push((name(&entry.path()), "file"));
        }
    }
}

/// True for the folder of one study's results.
fn holds_results(folder: &Path) -> bool {
    if folder.join("results.parquet").is_file() {
        return true;
    }
    let Ok(entries) = fs::read_dir(folder.join("results")) else {
        return false;
    };
    let mut names = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name());
    names.any(|name| {
        let name = name.to_string_lossy();
        (name.starts_with("part-") && name.ends_with(".parquet")) || name.contains('=')
    })
}

/// True for the file of a study.
fn is_study(path: &Path) -> bool {
    /// More than a study has.
    const MOST_BYTES: u64 = 1 << 20;
    let is_small = fs::metadata(path).is_ok_and(|of| of.len() <= MOST_BYTES);
    is_small && fs::read(path).is_ok_and(|content| bentpipe::study::is_study(&content))
}
