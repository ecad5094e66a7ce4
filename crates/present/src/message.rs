//! What people read of an error of the library.

use crate::question;
use crate::schema::see;
use bentpipe::Error;
use bentpipe_document::Diagnostics;
use bentpipe_study::{ExecuteError, LoadError, ReproduceError};

/// What there is to say of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A sentence, with hints in the lines below it.
    Sentence(String),
    /// A finished text that points at lines of a file.
    Rendered(String),
}

impl Message {
    /// The text, without an end of line.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Message::Sentence(text) | Message::Rendered(text) => text.trim_end(),
        }
    }
}

/// What the command says of an error, options called as on the command line. Diagnostics are
/// painted if `colour` is true, and in lines of `width` characters where that is given.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "other errors say themselves what is wrong"
)]
#[must_use]
pub fn message(error: &Error, colour: bool, width: Option<usize>) -> Message {
    let rendered = |diagnostics: &Diagnostics| self::rendered(diagnostics, colour, width);
    match error {
        Error::Scenario(diagnostics) => {
            Message::Rendered(rendered(diagnostics) + &see(&diagnostics.topics()))
        }
        Error::Load(error) => Message::Rendered(match error {
            LoadError::Study(diagnostics) => rendered(diagnostics) + &see(&["study"]),
            other => other.render(colour),
        }),
        Error::Study(ReproduceError::Scenario(text)) => Message::Rendered(text.clone()),
        Error::Study(ReproduceError::Execute(changed @ ExecuteError::Changed { .. })) => {
            Message::Sentence(format!(
                "{changed}\n  --fresh forgets them and runs everything again; another --out keeps them"
            ))
        }
        Error::Question(error) => Message::Sentence(question::for_command(error)),
        other => Message::Sentence(other.to_string()),
    }
}

/// What is wrong with a document.
#[must_use]
pub fn rendered(diagnostics: &Diagnostics, colour: bool, width: Option<usize>) -> String {
    match width {
        Some(width) => diagnostics.render_within(colour, width),
        None => diagnostics.render(colour),
    }
}
