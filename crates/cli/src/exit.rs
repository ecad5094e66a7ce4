//! How a command ends: status, errors for people, broken pipes.

use crate::help;
use crate::output::{printed, stderr_colour, talk_width};
use bentpipe_document::Diagnostics;
use bentpipe_report::table::break_line;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

/// How a command that ran ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done.
    Done,
    /// Ran, but a check changed for the worse, or an emulator did not keep up.
    Worse,
    /// As another program did that it was told to run.
    #[cfg_attr(
        not(all(feature = "linux", target_os = "linux")),
        expect(dead_code, reason = "only `emulate` runs other programs")
    )]
    Of(u8),
}

/// Why a command could not run.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What is wrong, in words; printed after `error: `.
    Message(String),
    /// A finished text, such as diagnostics that point at lines.
    Rendered(String),
    /// The reader of stdout went away, as `head` does: not an error.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure::Message(message.into())
    }

    /// `cannot DO PATH: REASON`.
    pub(crate) fn file(doing: &str, path: &Path, reason: impl Display) -> Failure {
        Failure::Message(format!("cannot {doing} `{}`: {reason}", path.display()))
    }
}

/// From a write to stdout.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::ClosedPipe
        } else {
            Failure::Message(format!("cannot write the output: {error}"))
        }
    }
}

/// From the library.
impl From<bentpipe::Error> for Failure {
    fn from(error: bentpipe::Error) -> Failure {
        use bentpipe::Error;
        use bentpipe_study::{ExecuteError, LoadError, ReproduceError};
        match error {
            Error::Scenario(diagnostics) => {
                let text = rendered(&diagnostics);
                Failure::Rendered(text + &help::see(&diagnostics.topics()))
            }
            Error::Load(error) => Failure::Rendered(match &error {
                LoadError::Study(diagnostics) => rendered(diagnostics) + &help::see(&["study"]),
                other => other.render(stderr_colour()),
            }),
            Error::Study(ReproduceError::Scenario(text)) => Failure::Rendered(text),
            Error::Study(ReproduceError::Execute(changed @ ExecuteError::Changed { .. })) => {
                Failure::new(format!(
                    "{changed}\n  --fresh forgets them and runs everything again; another --out keeps them"
                ))
            }
            Error::Setting { setting, why } => Failure::new(format!("--{setting} {why}")),
            other => Failure::new(other.to_string()),
        }
    }
}

/// What is wrong with a document, for the terminal that stderr is.
pub(crate) fn rendered(diagnostics: &Diagnostics) -> String {
    match talk_width() {
        Some(width) => diagnostics.render_within(stderr_colour(), width),
        None => diagnostics.render(stderr_colour()),
    }
}

/// The process' exit status, after saying on stderr what went wrong.
pub(crate) fn code(result: Result<Status, Failure>) -> u8 {
    match result {
        Ok(Status::Done) | Err(Failure::ClosedPipe) => 0,
        Ok(Status::Worse) => 1,
        Ok(Status::Of(status)) => status,
        Err(Failure::Message(message)) => {
            talk(format_args!("error: {message}"));
            2
        }
        Err(Failure::Rendered(text)) => {
            let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
            2
        }
    }
}

/// Ends for `--help`, `--version` and mistakes on the command line.
pub(crate) fn usage(error: &clap::Error) -> u8 {
    // Whoever closed the stream does not want the text.
    let _ = error.print();
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// Says something on stderr, in lines of the width of the terminal. Whether anybody
/// listens does not matter.
pub(crate) fn talk(text: impl Display) {
    let text = printed(&text.to_string());
    let mut to = io::stderr().lock();
    let width = talk_width().unwrap_or(usize::MAX);
    for line in text.lines().flat_map(|line| break_line(line, width)) {
        let _ = writeln!(to, "{line}");
    }
    if text.is_empty() {
        let _ = writeln!(to);
    }
}

/// `; did you mean ...?`, or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    bentpipe_cc::nearest(name, names)
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_success() {
        let error = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(code(Err(error.into())), 0);
    }
}
