//! Why one row of an answer takes another time than another.

use crate::errors::{self, Kind};
use bentpipe::compare::Answer as Found;
use bentpipe::recording::Explained;
use bentpipe_present::answer::why as shown;
use pyo3::prelude::*;
use std::sync::Arc;

/// Rows of an answer, each explained by one of its runs.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Why {
    pub(crate) answer: Arc<Found>,
    pub(crate) explained: Vec<Explained>,
}

#[pymethods]
impl Why {
    /// As `bentpipe compare --why` prints it.
    fn text(&self, py: Python<'_>, width: usize) -> PyResult<String> {
        shown::text(&self.answer, &self.explained, width)
            .map_err(|e| errors::exception(py, Kind::Run, &e.to_string()))
    }

    /// `why` of `bentpipe compare --why --json`.
    fn json(&self) -> String {
        shown::document(&self.answer, &self.explained).to_string()
    }

    /// The rows, as the table calls them.
    fn rows(&self) -> Vec<String> {
        self.explained.iter().map(|one| one.name.clone()).collect()
    }
}
