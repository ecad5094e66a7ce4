//! What can go wrong with a file of results.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file of results could not be written or read. Every message names
/// the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system said no.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done: `create`, `write`, `read`, ...
        action: &'static str,
        /// What the system answered.
        source: io::Error,
    },
    /// The file's content is not what it should be.
    #[error("{}{}: {what}", path.display(), line.map_or(String::new(), |l| format!(":{l}")))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, for files of lines.
        line: Option<u64>,
        /// What is wrong.
        what: String,
    },
    /// The name of the file does not say its format.
    #[error("{}: the name of a table must end in `.csv` or `.parquet`", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// Two axes have the same name.
    #[error("{}: two axes are named `{axis}`", path.display())]
    DuplicateAxis {
        /// The file.
        path: PathBuf,
        /// The name.
        axis: String,
    },
    /// A row has more or fewer axis values than the table has axes.
    #[error("{}: {found} axis values for {expected} axes", path.display())]
    AxisCount {
        /// The file.
        path: PathBuf,
        /// Axes of the table.
        expected: usize,
        /// Values given.
        found: usize,
    },
}

impl Error {
    /// Wraps an I/O error: `.map_err(Error::io(path, "write"))`.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io {
            path,
            action,
            source,
        }
    }

    /// A file whose content is not what it should be.
    pub(crate) fn malformed(path: &Path, line: Option<u64>, what: impl Into<String>) -> Error {
        Error::Malformed {
            path: path.to_path_buf(),
            line,
            what: what.into(),
        }
    }
}
