//! Scenarios: files in which values can be set, or what a program has built.

use crate::errors;
use bentpipe::ScenarioFile;
use bentpipe::scenario::Scenario as Model;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// A scenario.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Scenario(Source);

enum Source {
    /// A file that may be wrong.
    File(Box<ScenarioFile>),
    /// What is known to be right.
    Built(Arc<Model>),
}

impl Scenario {
    /// One that a program has built.
    pub(crate) fn built(model: Model) -> Scenario {
        Scenario(Source::Built(Arc::new(model)))
    }

    /// The checked model.
    pub(crate) fn model(&self, py: Python<'_>) -> PyResult<Arc<Model>> {
        match &self.0 {
            Source::Built(model) => Ok(Arc::clone(model)),
            Source::File(file) => {
                let checked = py.detach(|| file.scenario());
                Ok(Arc::new(checked.map_err(|e| errors::of(py, e))?))
            }
        }
    }
}

#[pymethods]
impl Scenario {
    /// Reads a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Scenario> {
        let file = ScenarioFile::open(path).map_err(|e| errors::of(py, e))?;
        Ok(Scenario(Source::File(Box::new(file))))
    }

    /// Takes the text of a file; `path` is for messages, and files that it
    /// names are seen from its folder.
    #[staticmethod]
    fn parse(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<Scenario> {
        let file = ScenarioFile::parse(path, text.as_bytes()).map_err(|e| errors::of(py, e))?;
        Ok(Scenario(Source::File(Box::new(file))))
    }

    /// A copy with the value at a dotted path set.
    fn set(&self, py: Python<'_>, path: &str, value: &str) -> PyResult<Scenario> {
        let Source::File(file) = &self.0 else {
            let text = "values can be set in scenarios of a file or text only";
            return Err(errors::exception(py, errors::Kind::Option, text));
        };
        let mut file = file.clone();
        file.set(path, value).map_err(|e| errors::of(py, e))?;
        Ok(Scenario(Source::File(file)))
    }

    /// The text of a file that says the same.
    fn toml(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.model(py)?.to_toml();
        text.map_err(|e| errors::exception(py, errors::Kind::Scenario, &e.to_string()))
    }

    /// Name, description, duration (s), seed, hash, names of flows, names of
    /// links.
    #[expect(clippy::type_complexity, reason = "it is unpacked at once")]
    fn facts(
        &self,
        py: Python<'_>,
    ) -> PyResult<(String, String, f64, u64, String, Vec<String>, Vec<String>)> {
        let model = self.model(py)?;
        Ok((
            model.name.clone(),
            model.description.clone(),
            model.duration.as_secs(),
            model.seed,
            model.hash().to_string(),
            model.flows.iter().map(|flow| flow.name.clone()).collect(),
            model.links.iter().map(|link| link.name.clone()).collect(),
        ))
    }
}
