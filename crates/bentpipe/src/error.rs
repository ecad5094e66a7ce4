//! Why something could not be done.

/// Why something could not be done. `Display` is a message for people, without
/// a line end; [`Error::Scenario`] and [`Error::Load`] point at lines of files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// A setting of a comparison makes no sense.
    #[error("`{setting}` {why}")]
    Setting {
        /// The setting, as the command line calls it: `return-rate`.
        setting: &'static str,
        /// What is wrong, to follow the name of the setting.
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
        Error::Setting {
            setting,
            why: why.into(),
        }
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
