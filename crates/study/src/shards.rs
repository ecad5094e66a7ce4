//! The parts of a study that other processes ran: a journal each, in the folder `shards` next to
//! the journal of the study.
//!
//! The header of such a journal is that of the study's journal, with two more lines: the number of
//! the shard, and the study file.

use crate::error::ExecuteError;
use crate::header::differences;
use crate::plan::Plan;
use crate::runs::{Runs, is_failure};
use crate::task::Task;
use bentpipe_outcome::{JournalReader, sync_folder};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the folder.
pub(crate) const FOLDER: &str = "shards";

/// Ending of the journals in it.
const ENDING: &str = "journal";

/// The journal of a shard.
pub(crate) fn path(folder: &Path, task: &Task) -> PathBuf {
    let width = task.of.to_string().len();
    let name = format!("{:0width$}-of-{}.{ENDING}", task.index, task.of);
    folder.join(FOLDER).join(name)
}

/// The header of a shard's journal.
pub(crate) fn header(study: &str, fingerprint: &str, task: &Task) -> String {
    format!("{study}\nfile {fingerprint}\nshard {task}")
}

/// A header without what shards add to it.
fn of_study(header: &str) -> String {
    let lines = header.lines();
    let lines = lines.filter(|l| !l.starts_with("file ") && !l.starts_with("shard "));
    lines.collect::<Vec<_>>().join("\n")
}

fn line<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = header.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(n, _)| *n == name).map(|(_, value)| value)
}

/// The journals of shards in a folder, by name.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, ExecuteError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(error(folder, "read", source)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| error(folder, "read", e))?.path();
        if path.extension().is_some_and(|e| e == ENDING) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Removes them, for good: none comes back after a loss of power.
pub(crate) fn remove(folder: &Path) -> Result<(), ExecuteError> {
    let files = files(folder)?;
    for path in &files {
        fs::remove_file(path).map_err(|e| error(path, "remove", e))?;
    }
    match files.last() {
        Some(last) => sync_folder(last).map_err(|e| error(folder, "sync", e)),
        None => Ok(()),
    }
}

/// Notes the runs that shards have of a plan.
pub(crate) fn read(
    folder: &Path,
    header: &str,
    plan: &Plan,
    runs: &mut Runs,
) -> Result<(), ExecuteError> {
    for path in files(folder)? {
        let number = runs.next_file();
        let opened = JournalReader::open(&path, &mut |record, place| {
            if let Some(run) = plan.find(&record.key) {
                runs.note(run, number, place, is_failure(&record.value));
            }
        });
        let (reader, found) = match opened {
            Ok(opened) => opened,
            // A shard that was killed as it began has nothing yet.
            Err(bentpipe_outcome::JournalError::NotAJournal { .. }) if is_short(&path) => continue,
            Err(e) => return Err(e.into()),
        };
        if of_study(&found) != header {
            let what = differences(&of_study(&found), header);
            return Err(ExecuteError::Changed { path, what });
        }
        runs.attach(reader);
    }
    Ok(())
}

fn is_short(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.len() < 4096)
}

/// A shard that is there: which one, and of which study file.
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// `3/40`.
    pub(crate) shard: String,
    pub(crate) fingerprint: String,
}

/// The shards in a folder.
pub(crate) fn found(folder: &Path) -> Result<Vec<Found>, ExecuteError> {
    let mut all = Vec::new();
    for path in files(folder)? {
        let Ok(header) = JournalReader::header(&path) else {
            continue;
        };
        all.push(Found {
            shard: line(&header, "shard").unwrap_or("").to_owned(),
            fingerprint: line(&header, "file").unwrap_or("").to_owned(),
            path,
        });
    }
    Ok(all)
}

pub(crate) fn error(path: &Path, action: &'static str, source: io::Error) -> ExecuteError {
    ExecuteError::Folder {
        path: path.to_path_buf(),
        action,
        source,
    }
}
