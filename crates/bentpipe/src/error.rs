//! Why something could not be done.

use crate::compare::QuestionError;

/// Why something could not be done. `Display` is a message for people, without
/// a line end; [`Error::Scenario`] and [`Error::Load`] point at lines of files.
#[derive(Debug, thiserror::Error)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] bentpipe_study::input::InputError),
    /// A scenario file is wrong.
    #[error("{}", .0.render(false))]
    Scenario(#[from] bentpipe_scenario::Diagnostics),
    /// A scenario from a program is wrong.
    #[error(transparent)]
    Build(#[from] bentpipe_scenario::BuildError),
    /// A run hit a bound, or a transport cannot be built.
    #[error("{}{source}", subject(.of))]
    Run {
        /// What ran: a transport or a file; empty where it is clear.
        of: String,
        /// Why it stopped.
        source: bentpipe_sim::RunError,
    },
    /// Options of a comparison ask nothing.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// A capture cannot be read, or does not show what a fit needs.
    #[error("cannot fit `{}`: {why}", .file.display())]
    Capture {
        /// The file.
        file: std::path::PathBuf,
        /// What is wrong, and where.
        why: String,
    },
    /// What runs in the place of the simulator failed.
    #[error("{0}")]
    Runner(String),
    /// There is no transport of that name to compare.
    #[error(
        "there is no transport `{name}` to compare{}\n  known: {}",
        hint(.nearest.as_deref()), .known.join(", ")
    )]
    UnknownTransport {
        /// The name.
        name: String,
        /// The nearest name.
        nearest: Option<String>,
        /// The names that there are.
        known: Vec<String>,
    },
    /// An answer has no such row, or several.
    #[error("{0}")]
    Row(String),
    /// Two things cannot be compared.
    #[error("{0}")]
    Diff(String),
    /// There is no such paper, or nothing of that name in it.
    #[error("{0}")]
    Paper(String),
    /// A congestion control of one's own cannot be used.
    #[error("{0}")]
    Control(String),
    /// A study or paper cannot be loaded.
    #[error(transparent)]
    Load(#[from] bentpipe_study::LoadError),
    /// A study could not be run.
    #[error(transparent)]
    Study(#[from] bentpipe_study::ReproduceError),
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// An outcome cannot be converted to Arrow.
    #[cfg(feature = "arrow")]
    #[error(transparent)]
    Arrow(#[from] arrow_schema::ArrowError),
}

impl Error {
    pub(crate) fn setting(setting: &'static str, why: impl Into<String>) -> Error {
        QuestionError::setting(setting, why).into()
    }
}

impl From<bentpipe_sim::RunError> for Error {
    fn from(source: bentpipe_sim::RunError) -> Error {
        Error::Run {
            of: String::new(),
            source,
        }
    }
}

fn subject(of: &str) -> String {
    match of {
        "" => String::new(),
        of => format!("{of}: "),
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}
