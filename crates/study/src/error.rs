//! Why a study was not run, or its results not kept.

use bentpipe_outcome::JournalError;
use std::io;
use std::path::PathBuf;

/// Why results could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A folder cannot be made, or an old file not removed.
    #[error("{}: cannot {action}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What the system answered.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] bentpipe_outcome::Error),
    /// A table cannot be written as CSV.
    #[error("{}: {why}", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// Why a study was not executed to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// A cell makes no scenario.
    #[error("{place} makes no valid scenario:\n{why}")]
    Cell {
        /// The cell.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The journal holds runs of something else.
    #[error("{}: {what} changed since these results were made", path.display())]
    Changed {
        /// The journal.
        path: PathBuf,
        /// What changed, in words.
        what: String,
    },
    /// The journal cannot be read or written.
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// It was told to stop; the journal holds what was done.
    #[error("stopped after {done} of {total} runs of `{study}`")]
    Stopped {
        /// Name of the study.
        study: String,
        /// Runs done.
        done: usize,
        /// Runs in all.
        total: usize,
    },
    /// A folder or file of shards cannot be used.
    #[error("{}: cannot {action}: {source}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What the system answered.
        source: io::Error,
    },
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
}

/// Why nothing was reproduced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// There is no such item, claim or study.
    #[error("there is no {kind} `{name}`{hint}")]
    Unknown {
        /// What was looked for.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The nearest name.
        hint: String,
    },
    /// A scenario is wrong.
    #[error("{0}")]
    Scenario(String),
    /// A study was not executed.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// Results cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What a task yielded cannot be used.
    #[error("{why}")]
    Task {
        /// Why.
        why: String,
    },
}
