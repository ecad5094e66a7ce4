//! How a command ends: status, errors for people, broken pipes.

use crate::output::{printed, stderr_colour, talk_width};
use bentpipe_present::Message;
pub(crate) use bentpipe_present::output::did_you_mean;
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
    /// With this exit status: that of a program it was told to run, or one of its own.
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

    /// What is wrong, in words and without an end of line.
    #[cfg_attr(
        not(feature = "explore"),
        allow(dead_code, reason = "builds of some features show it elsewhere")
    )]
    pub(crate) fn text(&self) -> String {
        match self {
            Failure::Message(text) | Failure::Rendered(text) => text.trim_end().to_owned(),
            Failure::ClosedPipe => "the reader went away".to_owned(),
        }
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
        match bentpipe_present::message(&error, stderr_colour(), talk_width()) {
            Message::Sentence(text) => Failure::Message(text),
            Message::Rendered(text) => Failure::Rendered(text),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_success() {
        let error = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(code(Err(error.into())), 0);
    }
}
