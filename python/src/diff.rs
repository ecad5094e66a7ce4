//! `diff`: what differs between two answers, outcomes or scenarios.

use crate::answer::Answer;
use crate::arrow::{self, Batch};
use crate::errors::{self, Kind};
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use bentpipe::diff::{Difference as Found, Subject as One, file_at};
use bentpipe::input;
use bentpipe_present::diff as shown;
use pyo3::prelude::*;
use std::path::PathBuf;

/// What can be compared.
#[derive(FromPyObject)]
pub(crate) enum Subject<'py> {
    Answer(PyRef<'py, Answer>),
    Outcome(PyRef<'py, Outcome>),
    Scenario(PyRef<'py, Scenario>),
    /// A file, or a folder of `bentpipe run --out`.
    Path(PathBuf),
}

impl Subject<'_> {
    fn read(&self, py: Python<'_>) -> PyResult<One> {
        let one = match self {
            Subject::Answer(answer) => One::json(&answer.document()),
            Subject::Outcome(outcome) => One::json(&outcome.document(py)?),
            Subject::Scenario(scenario) => Ok(One::scenario((*scenario.model(py)?).clone())),
            Subject::Path(path) => py.detach(|| {
                let file = file_at(path)?;
                One::read(&file, &input::bytes(&file)?)
            }),
        };
        one.map_err(|e| errors::of(py, e))
    }
}

/// What differs between two things of a kind, which are called `names`.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    before: Subject<'_>,
    after: Subject<'_>,
    names: [String; 2],
) -> PyResult<Difference> {
    let (before, after) = (before.read(py)?, after.read(py)?);
    if before.kind() != after.kind() {
        let error = bentpipe::diff::diff(&before, &after).err();
        let text = error.map_or_else(String::new, |error| error.to_string());
        return Err(errors::exception(py, Kind::Option, &text));
    }
    let found = py.detach(|| bentpipe::diff::diff(&before, &after));
    Ok(Difference {
        found: found.map_err(|e| errors::of(py, e))?,
        names,
    })
}

/// What differs.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Difference {
    found: Found,
    names: [String; 2],
}

#[pymethods]
impl Difference {
    /// As the command prints it.
    fn text(&self, py: Python<'_>, width: usize) -> PyResult<String> {
        shown::text(&self.found, &self.names, width)
            .map_err(|e| errors::exception(py, Kind::Run, &e.to_string()))
    }

    /// As `bentpipe diff --json` prints it.
    fn json(&self) -> String {
        shown::document(&self.found).to_string()
    }

    /// `answer`, `outcome` or `scenario`.
    fn kind(&self) -> &'static str {
        self.found.kind
    }

    /// True if nothing differs.
    fn is_same(&self) -> bool {
        self.found.is_same()
    }

    /// What was asked or set otherwise.
    fn settings(&self) -> PyResult<Batch> {
        arrow::table(self.found.settings.iter().cloned())
    }

    /// What came out otherwise.
    fn results(&self) -> PyResult<Batch> {
        arrow::table(self.found.results.iter().cloned())
    }
}
