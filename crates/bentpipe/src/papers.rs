//! The papers that come with this project: where they are, and what is in them.

use crate::Error;
use bentpipe_cc::nearest;
use bentpipe_study::{Paper, Selection};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where the papers are that came with this program.
static CARRIED: OnceLock<PathBuf> = OnceLock::new();

/// Says where the papers are that came with this program. Only the first call counts.
pub fn are_in(folder: PathBuf) {
    let _ = CARRIED.set(folder);
}

/// The folder of papers: in the current folder or one above it, where they came with this
/// program ([`are_in`]), or where it was built.
///
/// # Errors
/// If there is none.
pub fn folder() -> Result<PathBuf, Error> {
    let built =
        ["../../papers", "data/papers"].map(|f| Path::new(env!("CARGO_MANIFEST_DIR")).join(f));
    let here = std::env::current_dir().unwrap_or_default();
    let mut candidates = here
        .ancestors()
        .map(|dir| dir.join("papers"))
        .chain(CARRIED.get().cloned())
        .chain(built);
    let none = || {
        Error::Paper(
            "there is no folder `papers` with papers in it, here or above\n  \
             Run this in a checkout of bentpipe: the papers' studies are part of it."
                .to_owned(),
        )
    };
    candidates.find(|dir| holds_papers(dir)).ok_or_else(none)
}

fn holds_papers(dir: &Path) -> bool {
    std::fs::read_dir(dir).is_ok_and(|entries| {
        entries
            .filter_map(Result::ok)
            .any(|entry| entry.path().join("paper.toml").is_file())
    })
}

/// The papers in `folder`, by their names.
///
/// # Errors
/// If one cannot be read.
pub fn all(folder: &Path) -> Result<Vec<Paper>, Error> {
    let found = bentpipe_study::papers(folder)?.into_iter();
    found.map(|(_, paper)| Ok(paper?)).collect()
}

/// The paper of that name in `folder`. Others there may be wrong.
///
/// # Errors
/// If there is none, or it cannot be read.
pub fn named(folder: &Path, name: &str) -> Result<Paper, Error> {
    let found = bentpipe_study::papers(folder)?;
    let names: Vec<String> = found.iter().map(|(slug, _)| slug.clone()).collect();
    match found.into_iter().find(|(slug, _)| slug == name) {
        Some((_, paper)) => Ok(paper?),
        None => Err(Error::Paper(format!(
            "there is no paper `{name}`{}\n  known: {}",
            hint(name, names.iter().map(String::as_str)),
            names.join(", ")
        ))),
    }
}

/// The paper of that name in [`folder`], and what `item` names of it.
///
/// # Errors
/// As those of [`named`] and [`select`].
pub fn find(name: &str, item: Option<&str>) -> Result<(Paper, Selection), Error> {
    let paper = named(&folder()?, name)?;
    let selection = select(&paper, item)?;
    Ok((paper, selection))
}

/// What `item` names of a paper: a table or figure, a claim, or a study; all of it without
/// one.
///
/// # Errors
/// If it has nothing of that name.
pub fn select(paper: &Paper, item: Option<&str>) -> Result<Selection, Error> {
    let Some(name) = item else {
        return Ok(Selection::All);
    };
    let items = paper.items();
    let claims = paper.claims();
    if items.iter().any(|i| i.slug == name) {
        return Ok(Selection::Item(name.to_owned()));
    }
    if claims.iter().any(|(id, _)| *id == name) {
        return Ok(Selection::Claim(name.to_owned()));
    }
    if paper.studies.get(name).is_some() {
        return Ok(Selection::Study(name.to_owned()));
    }
    let known = items
        .iter()
        .map(|i| i.slug.as_str())
        .chain(claims.iter().map(|(id, _)| *id))
        .chain(paper.studies.iter().map(|s| s.study.name.as_str()));
    Err(Error::Paper(format!(
        "{} has no table, figure, claim or study `{name}`{}\n  \
         `bentpipe reproduce {0} --list` lists them",
        paper.slug,
        hint(name, known)
    )))
}

fn hint<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, names).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}
