//! Errors of loading a congestion control.

use bentpipe_bpf::{OpenError, SourceError};
use bentpipe_cc::BuildError;
use std::path::PathBuf;

/// Why a congestion control could not be loaded, in words for people.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read.
    #[error("cannot read {}: {reason}", .path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Reason given by the system.
        reason: String,
    },
    /// It is none of the forms.
    #[error(
        "{} is no congestion control: expected a .c file of the kernel's form, the folder of a \
         crate that `bentpipe cc new` made, or the shared library of one (.so, .dylib)",
        .path.display()
    )]
    Form {
        /// Path of the file.
        path: PathBuf,
    },
    /// There is no compiler.
    #[error("cannot run `{program}`, which {purpose}: {reason}\n  {help}")]
    NoCompiler {
        /// Name of the program.
        program: String,
        /// Purpose, for messages.
        purpose: &'static str,
        /// Reason given by the system.
        reason: String,
        /// Remedy.
        help: &'static str,
    },
    /// The compiler refuses it.
    #[error("`{program}` cannot compile {}:\n{said}", .path.display())]
    Compile {
        /// Path of the file.
        path: PathBuf,
        /// Command of the compiler.
        program: String,
        /// Its words, with lines of the file.
        said: String,
    },
    /// The comment that declares a parameter is wrong.
    #[error("{}:{}: {source}", .path.display(), .source.line)]
    Source {
        /// Path of the file.
        path: PathBuf,
        /// The error in its comments.
        source: SourceError,
    },
    /// Declared and read parameters differ.
    #[error(
        "{} reads {reads} parameters and declares {declares}: expected an @parameter comment for \
         each name between OWN_PARAMETERS and the argument of PARAMETERS(), in their order",
        .path.display()
    )]
    Parameters {
        /// Path of the file.
        path: PathBuf,
        /// By `PARAMETERS(count)`, without the common two.
        reads: u32,
        /// Number of parameters that its comments declare.
        declares: u32,
    },
    /// The library of a C file cannot be loaded.
    #[error("{}: {source}", .path.display())]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// Error of the dynamic loader.
        source: OpenError,
    },
    /// A library is none of ours, or of another version.
    #[error("{}: {reason}", .path.display())]
    Library {
        /// Path of the file.
        path: PathBuf,
        /// Description of the error.
        reason: String,
    },
    /// A compiled library cannot be kept.
    #[error("cannot write {}: {reason}", .path.display())]
    Cache {
        /// Path of the file or folder.
        path: PathBuf,
        /// Reason given by the system.
        reason: String,
    },
    /// It did not survive its trial.
    #[error("{} cannot be used: {reason}", .path.display())]
    Trial {
        /// Path of the file.
        path: PathBuf,
        /// What happened, in words for people.
        reason: String,
    },
    /// Its name or parameters do not fit.
    #[error("{}: {source}", .path.display())]
    Build {
        /// Path of the file.
        path: PathBuf,
        /// The error of the build.
        source: Box<BuildError>,
    },
}

impl LoadError {
    pub(crate) fn read(path: impl Into<PathBuf>, error: &std::io::Error) -> LoadError {
        LoadError::Read {
            path: path.into(),
            reason: error.to_string(),
        }
    }

    pub(crate) fn cache(path: impl Into<PathBuf>, error: &std::io::Error) -> LoadError {
        LoadError::Cache {
            path: path.into(),
            reason: error.to_string(),
        }
    }
}
