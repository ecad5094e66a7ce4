//! The extension module behind the Python package: the library's types as
//! Python objects. What users import is the Python code beside it, in
//! `python/bentpipe`.

mod answer;
mod arrow;
mod campaign;
mod control;
mod errors;
mod events;
mod link;
mod outcome;
mod reproduction;
mod scenario;
mod study;
mod work;

use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the package `bentpipe` is made of.
#[pymodule]
mod _bentpipe {
    #[pymodule_export]
    use crate::answer::{Answer, compare};
    #[pymodule_export]
    use crate::arrow::Batch;
    #[pymodule_export]
    use crate::campaign::{Campaign, Collector};
    #[pymodule_export]
    use crate::control::{register, unregister};
    #[pymodule_export]
    use crate::events::{AckView, LossView, TimeoutView, WindowView};
    #[pymodule_export]
    use crate::link::course;
    #[pymodule_export]
    use crate::outcome::{Outcome, run};
    #[pymodule_export]
    use crate::reproduction::{Reproduction, papers, reproduce};
    #[pymodule_export]
    use crate::scenario::Scenario;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        bentpipe::sim::surround_runs(crate::control::surround);
        Ok(())
    }

    #[pymodule_export]
    use crate::study::Study;
    #[pymodule_export]
    use crate::{main, options, papers_are_in, template, transports, version};
}

/// Runs the command line and returns its exit status.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| bentpipe_cli::status(arguments))
}

/// The options of a subcommand: name, help, name of the value, whether it takes
/// several.
#[pyfunction]
fn options(subcommand: &str) -> Vec<(String, String, String, bool)> {
    let options = bentpipe_cli::api::options(subcommand).into_iter();
    options
        .map(|option| (option.name, option.help, option.value, option.several))
        .collect()
}

/// The transports, as JSON.
#[pyfunction]
fn transports() -> String {
    bentpipe_cli::api::transports_json()
}

/// The commented scenario that `bentpipe new` writes.
#[pyfunction]
fn template() -> &'static str {
    bentpipe::template()
}

/// Says where the papers of the package are.
#[pyfunction]
fn papers_are_in(folder: PathBuf) {
    bentpipe_cli::api::papers_are_in(folder);
}

/// The version of the program.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
