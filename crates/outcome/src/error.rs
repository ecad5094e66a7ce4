//! Errors of files of results.

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
        /// Path of the file.
        path: PathBuf,
        /// The operation that failed: `create`, `write`, `read`, ...
        action: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// The file's content is not what it should be.
    #[error("{}{}: {what}", path.display(), line.map_or(String::new(), |l| format!(":{l}")))]
    Malformed {
        /// Path of the file.
        path: PathBuf,
        /// The line, counted from 1, for files of lines.
        line: Option<u64>,
        /// Description of the error.
        what: String,
    },
    /// The name of the file does not say its format.
    #[error("{}: the name of a table must end in `.csv` or `.parquet`", path.display())]
    UnknownFormat {
        /// Path of the file.
        path: PathBuf,
    },
    /// Two axes have the same name.
    #[error("{}: two axes are named `{axis}`", path.display())]
    DuplicateAxis {
        /// Path of the file.
        path: PathBuf,
        /// Name of the axis.
        axis: String,
    },
    /// A row has more or fewer axis values than the table has axes.
    #[error("{}: {found} axis values for {expected} axes", path.display())]
    AxisCount {
        /// Path of the file.
        path: PathBuf,
        /// Axes of the table.
        expected: usize,
        /// Number of values found.
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
