//! Why a congestion control could not be loaded.

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
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It is none of the forms.
    #[error(
        "{} is no congestion control: expected a .c file of the kernel's form, the folder of a \
         crate that `bentpipe cc new` made, or the shared library of one (.so, .dylib)",
        .path.display()
    )]
    Form {
        /// The file.
        path: PathBuf,
    },
    /// There is no compiler.
    #[error("cannot run `{program}`, which {purpose}: {reason}\n  {help}")]
    NoCompiler {
        /// The program.
        program: String,
        /// What it is for.
        purpose: &'static str,
        /// Why.
        reason: String,
        /// What can be done.
        help: &'static str,
    },
    /// The compiler refuses it.
    #[error("`{program}` cannot compile {}:\n{said}", .path.display())]
    Compile {
        /// The file.
        path: PathBuf,
        /// The compiler.
        program: String,
        /// Its words, with lines of the file.
        said: String,
    },
    /// The comment that declares a parameter is wrong.
    #[error("{}:{}: {source}", .path.display(), .source.line)]
    Source {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: SourceError,
    },
    /// What it declares is not what it reads.
    #[error(
        "{} reads {reads} parameters and declares {declares}: expected an @parameter comment for \
         each name between OWN_PARAMETERS and the argument of PARAMETERS(), in their order",
        .path.display()
    )]
    Parameters {
        /// The file.
        path: PathBuf,
        /// By `PARAMETERS(count)`, without the common two.
        reads: u32,
        /// By comments.
        declares: u32,
    },
    /// The library of a C file cannot be loaded.
    #[error("{}: {source}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: OpenError,
    },
    /// A library is none of ours, or of another version.
    #[error("{}: {reason}", .path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A compiled library cannot be kept.
    #[error("cannot write {}: {reason}", .path.display())]
    Cache {
        /// Where.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Its name or parameters do not fit.
    #[error("{}: {source}", .path.display())]
    Build {
        /// The file.
        path: PathBuf,
        /// What is wrong.
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
