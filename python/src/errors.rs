//! Errors of the library as exceptions of the package, with the text that the
//! command prints.

use crate::control;
use bentpipe::Error;
use bentpipe_document::Diagnostics;
use bentpipe_present::{message, question};
use bentpipe_study::LoadError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io::IsTerminal;

/// The exceptions of `bentpipe._errors`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An argument of a call makes no sense.
    Option,
    /// A file cannot be read or written.
    Input,
    /// A scenario is wrong.
    Scenario,
    /// A study or a paper is wrong, or cannot be run.
    Study,
    /// A run stopped before its end.
    Run,
}

impl Kind {
    const fn class(self) -> &'static str {
        match self {
            Kind::Option => "OptionError",
            Kind::Input => "InputError",
            Kind::Scenario => "ScenarioError",
            Kind::Study => "StudyError",
            Kind::Run => "RunError",
        }
    }
}

/// An exception with this text.
pub(crate) fn exception(py: Python<'_>, kind: Kind, text: &str) -> PyErr {
    raise(py, kind, text, None).unwrap_or_else(|error| error)
}

/// The exception for an error of the library.
pub(crate) fn of(py: Python<'_>, error: Error) -> PyErr {
    let kind = kind(&error);
    let place = diagnostics(&error).map(Place::of);
    let text = match &error {
        Error::Question(error) => question::for_python(error),
        _ => message(&error, is_coloured(), None).text().to_owned(),
    };
    let raised = raise(py, kind, &text, place).unwrap_or_else(|error| error);
    // Of a congestion control in Python: with its traceback.
    if let Some(cause) = control::cause(&text) {
        raised.set_cause(py, Some(cause));
    }
    raised
}

/// Whether stderr, where tracebacks go, shows colours (no-color.org).
fn is_coloured() -> bool {
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !no_colour
}

fn kind(error: &Error) -> Kind {
    match error {
        Error::Question(_) | Error::UnknownTransport { .. } | Error::Control(_) | Error::Row(_) => {
            Kind::Option
        }
        Error::Read(_) | Error::Capture { .. } | Error::Diff(_) => Kind::Input,
        Error::Scenario(_) | Error::Build(_) => Kind::Scenario,
        Error::Load(_) | Error::Study(_) | Error::Paper(_) => Kind::Study,
        _ => Kind::Run,
    }
}

fn diagnostics(error: &Error) -> Option<&Diagnostics> {
    match error {
        Error::Scenario(diagnostics) | Error::Load(LoadError::Study(diagnostics)) => {
            Some(diagnostics)
        }
        _ => None,
    }
}

/// Where the first mistake is, and what helps.
struct Place {
    file: String,
    line: Option<usize>,
    column: Option<usize>,
    help: String,
}

impl Place {
    fn of(diagnostics: &Diagnostics) -> Place {
        let first = diagnostics.errors.first();
        Place {
            file: diagnostics.file_name().to_owned(),
            line: first.and_then(|first| first.line()),
            column: first.and_then(|first| first.column()),
            help: first.map_or_else(String::new, |first| first.advice().join("\n")),
        }
    }
}

fn raise(py: Python<'_>, kind: Kind, text: &str, place: Option<Place>) -> PyResult<PyErr> {
    let class = py.import("bentpipe._errors")?.getattr(kind.class())?;
    let at = PyDict::new(py);
    if let Some(place) = place {
        at.set_item("file", place.file)?;
        at.set_item("line", place.line)?;
        at.set_item("column", place.column)?;
        if !place.help.is_empty() {
            at.set_item("help", place.help)?;
        }
    }
    Ok(PyErr::from_value(class.call((text,), Some(&at))?))
}
