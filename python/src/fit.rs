//! `fit`: the link behind a captured connection.

use crate::errors::{self, Kind};
use bentpipe::fit::Fit as Found;
use bentpipe_present::fit as shown;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Fits a link to a connection of a capture.
#[pyfunction]
#[pyo3(signature = (path, flow = None))]
pub(crate) fn fit(py: Python<'_>, path: PathBuf, flow: Option<String>) -> PyResult<Fit> {
    let found = py.detach(|| bentpipe::fit(path, flow.as_deref()));
    Ok(Fit(found.map_err(|e| errors::of(py, e))?))
}

/// What a capture shows.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Fit(Found);

#[pymethods]
impl Fit {
    /// As the command prints it.
    fn text(&self, py: Python<'_>, width: usize) -> PyResult<String> {
        shown::text(&self.0, width).map_err(|e| errors::exception(py, Kind::Run, &e.to_string()))
    }

    /// As the command prints it as JSON.
    fn json(&self) -> String {
        shown::document(&self.0).to_string()
    }

    /// The scenario.
    fn scenario(&self) -> String {
        self.0.scenario()
    }
}
