//! The only door to the disk: what is in the folder that the command was given.
//!
//! A path of the page has slashes, is relative to that folder, and none of its parts
//! begins with a dot. It is followed through symbolic links, and refused where they lead
//! out. The page can write one thing: the text of a scenario or a study that is there.

use crate::Problem;
use axum::http::StatusCode;
use bentpipe::outcome::write_whole;
use serde::Serialize;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

/// Bytes of a text that the page is sent or sends, at most.
pub(crate) const LARGEST_TEXT: u64 = 2 << 20;

/// Entries of a folder that are listed, at most.
const MOST_ENTRIES: usize = 10_000;

/// What a file is, as far as its name and its first lines say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A folder of a study's results.
    Results,
    /// Another folder.
    Folder,
    /// A scenario.
    Scenario,
    /// A study.
    Study,
    /// Something else.
    Other,
}

/// A file or folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Entry {
    /// Relative to the folder that was opened, with slashes.
    pub(crate) path: String,
    /// The last part of the path.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: Kind,
    /// Its size.
    pub(crate) bytes: u64,
}

/// The folder that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Files {
    /// Without links in its path.
    root: PathBuf,
    /// The file that was given, or the empty string for the folder itself.
    opened: String,
    /// What was given.
    kind: Kind,
}

impl Files {
    /// Opens a folder, or the folder of a file.
    ///
    /// # Errors
    /// If there is none, it cannot be read, or the file is nothing that the page shows.
    pub(crate) fn open(given: &Path) -> Result<Files, OpenError> {
        let failed = |source| OpenError::Read(given.to_path_buf(), source);
        let path = given.canonicalize().map_err(failed)?;
        let meta = path.metadata().map_err(failed)?;
        if meta.is_dir() {
            fs::read_dir(&path).map_err(failed)?;
            let kind = kind_of_folder(&path);
            return Ok(Files {
                root: path,
                opened: String::new(),
                kind,
            });
        }
        let (Some(root), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(OpenError::Other(given.to_path_buf()));
        };
        let opened = name.to_str().unwrap_or_default().to_owned();
        if !meta.is_file() || !is_plain(&opened) {
            return Err(OpenError::Other(given.to_path_buf()));
        }
        fs::File::open(&path).map_err(failed)?;
        let kind = kind_of_file(&path);
        if kind == Kind::Other {
            return Err(OpenError::Other(given.to_path_buf()));
        }
        Ok(Files {
            root: root.to_path_buf(),
            opened,
            kind,
        })
    }

    /// The folder itself, without links in its path.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The view that shows what the command was given, as the end of an address.
    pub(crate) fn view(&self) -> &'static str {
        match self.kind {
            Kind::Scenario => "#/scenario",
            Kind::Results | Kind::Study | Kind::Folder => "#/studies",
            Kind::Other => "",
        }
    }

    /// What the command was given: `{"folder": ..., "path": ..., "kind": ...}`.
    pub(crate) fn document(&self) -> Value {
        let folder = self.root.display().to_string();
        json!({ "folder": folder, "path": self.opened, "kind": self.kind })
    }

    /// Where a path of the page is on the disk, without links; the empty path is the
    /// folder itself.
    ///
    /// # Errors
    /// If there is nothing, or it is outside of the folder.
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, Problem> {
        let outside =
            || Problem::forbidden(format!("`{path}` is not in the folder that was opened"));
        if !path.is_empty() && !path.split('/').all(is_plain) {
            return Err(outside());
        }
        let missing = |e: io::Error| match e.kind() {
            // Whether something is there that may not be read is nobody's business.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Problem::missing(format!(
                "there is no `{path}` in the folder that was opened"
            )),
            _ => Problem::forbidden(format!("cannot read `{path}`: {e}")),
        };
        let real = self.root.join(path).canonicalize().map_err(missing)?;
        let below = real.strip_prefix(&self.root).map_err(|_| outside())?;
        let is_shown = |part: Component<'_>| match part {
            Component::Normal(name) => name.to_str().is_some_and(is_plain),
            _ => false,
        };
        match below.components().all(is_shown) {
            true => Ok(real),
            false => Err(outside()),
        }
    }

    /// The bytes of a file, at most so many.
    ///
    /// # Errors
    /// As [`resolve`](Files::resolve), or if it is no file or larger.
    pub(crate) fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, Problem> {
        let real = self.resolve(path)?;
        let failed = |e: io::Error| Problem::wrong(format!("cannot read `{path}`: {e}"));
        let meta = real.metadata().map_err(failed)?;
        // A pipe would be waited for.
        if !meta.is_file() {
            return Err(Problem::wrong(format!("`{path}` is not a file")));
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(&real).map_err(failed)?;
        file.take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.len() as u64 > most {
            let text = format!("`{path}` has more than {most} bytes, the most that are read");
            return Err(Problem::limit(text));
        }
        Ok(bytes)
    }

    /// The text of a file.
    ///
    /// # Errors
    /// As [`read`](Files::read), or if it is not UTF-8.
    pub(crate) fn text(&self, path: &str) -> Result<String, Problem> {
        let bytes = self.read(path, LARGEST_TEXT)?;
        String::from_utf8(bytes).map_err(|_| Problem::wrong(format!("`{path}` is not a text")))
    }

    /// Writes the text of a scenario or a study that is there, whole or not at all, if it
    /// still has the text `expected`.
    ///
    /// # Errors
    /// As [`text`](Files::text), or if it has another text, has another name than `*.toml`
    /// or cannot be written.
    pub(crate) fn save(&self, path: &str, text: &str, expected: &str) -> Result<(), Problem> {
        let real = self.resolve(path)?;
        if real.extension().is_none_or(|ending| ending != "toml") {
            return Err(Problem::forbidden("the page writes files *.toml only"));
        }
        if text.len() as u64 > LARGEST_TEXT {
            return Err(Problem::limit(format!(
                "a text has at most {LARGEST_TEXT} bytes"
            )));
        }
        let now = self.text(path)?;
        if now != expected {
            let message = format!("`{path}` was changed on the disk since it was read");
            let problem = Problem::new(StatusCode::CONFLICT, message);
            return Err(problem.with("text", now.into()));
        }
        let failed = |e: String| Problem::wrong(format!("cannot write `{path}`: {e}"));
        let mode = real
            .metadata()
            .map_err(|e| failed(e.to_string()))?
            .permissions();
        if mode.readonly() {
            return Err(failed("it is read-only".to_owned()));
        }
        write_whole(&real, text.as_bytes()).map_err(|e| failed(e.to_string()))?;
        fs::set_permissions(&real, mode).map_err(|e| failed(e.to_string()))
    }

    /// What is in a folder, without what begins with a dot: folders first, by name.
    ///
    /// # Errors
    /// As [`resolve`](Files::resolve), or if it cannot be listed.
    pub(crate) fn list(&self, below: &str) -> Result<Vec<Entry>, Problem> {
        let failed = |e: io::Error| Problem::wrong(format!("cannot list `{below}`: {e}"));
        let folder = fs::read_dir(self.resolve(below)?).map_err(failed)?;
        let mut entries = Vec::new();
        for entry in folder.flatten().take(MOST_ENTRIES) {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = match below {
                "" => name.clone(),
                below => format!("{below}/{name}"),
            };
            // A link that leads out is not listed either.
            let Ok(real) = self.resolve(&path) else {
                continue;
            };
            let Ok(meta) = real.metadata() else { continue };
            let kind = match meta.is_dir() {
                true => kind_of_folder(&real),
                false if meta.is_file() => kind_of_file(&real),
                false => continue,
            };
            entries.push(Entry {
                path,
                name,
                kind,
                bytes: meta.len(),
            });
        }
        let is_file = |kind: Kind| !matches!(kind, Kind::Folder | Kind::Results);
        entries.sort_by(|a, b| (is_file(a.kind), &a.name).cmp(&(is_file(b.kind), &b.name)));
        Ok(entries)
    }
}

/// Why a folder or a file is not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It cannot be read.
    #[error("cannot open `{}`: {_1}", _0.display())]
    Read(PathBuf, io::Error),
    /// It is nothing that the page shows.
    #[error(
        "`{}` is no scenario and no study\n  give a TOML file of either, or a folder with them or with results",
        _0.display()
    )]
    Other(PathBuf),
}

/// True for a part of a path that the page may name.
fn is_plain(part: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\');
    !part.is_empty() && !part.starts_with('.') && !part.contains(is_odd)
}

fn kind_of_folder(path: &Path) -> Kind {
    let has = |name: &str| path.join(name).exists();
    match has("results.parquet") || has("results") || has("journal") {
        true => Kind::Results,
        false => Kind::Folder,
    }
}

/// What a file is by its name and its first lines.
pub(crate) fn kind_of_file(path: &Path) -> Kind {
    if path.extension().is_none_or(|ending| ending != "toml") {
        return Kind::Other;
    }
    let mut text = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut text));
    match read {
        Ok(_) if bentpipe::study::is_study(&text) => Kind::Study,
        _ => Kind::Scenario,
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
