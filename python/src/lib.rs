//! The extension module behind the Python package: the library's types as
//! Python objects. What users import is the Python code beside it, in
//! `python/bentpipe`.

mod answer;
mod arrow;
mod campaign;
mod control;
mod diff;
mod errors;
mod events;
mod fit;
mod link;
mod outcome;
mod reproduction;
mod scenario;
mod stored;
mod study;
mod why;
mod work;

use bentpipe::compare::Build;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the package `bentpipe` is made of.
#[pymodule]
mod _bentpipe {
    #[pymodule_export]
    use crate::answer::{
        Answer, Capacity, by_users_headline, by_users_rows, by_users_text, capacity, compare,
    };
    #[pymodule_export]
    use crate::arrow::Batch;
    #[pymodule_export]
    use crate::campaign::{Campaign, Collector};
    #[pymodule_export]
    use crate::control::{register, unregister};
    #[pymodule_export]
    use crate::diff::{Difference, diff};
    #[pymodule_export]
    use crate::events::{AckView, LossView, TimeoutView, WindowView};
    #[pymodule_export]
    use crate::fit::{Fit, fit};
    #[pymodule_export]
    use crate::link::course;
    #[pymodule_export]
    use crate::outcome::{Outcome, run};
    #[pymodule_export]
    use crate::reproduction::{Reproduction, papers, reproduce};
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::stored::stored_results;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        bentpipe::sim::surround_runs(crate::control::surround);
        Ok(())
    }

    #[pymodule_export]
    use crate::study::Study;
    #[pymodule_export]
    use crate::why::Why;
    #[pymodule_export]
    use crate::{main, papers_are_in, template, transports, version};
}

/// What this build can do.
pub(crate) const BUILD: Build =
    Build::with_kernel(cfg!(all(feature = "kernel", target_os = "linux")));

/// Runs the command line and returns its exit status; `None` in a build without it.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> Option<u8> {
    #[cfg(feature = "command")]
    let status = Some(py.detach(|| bentpipe_cli::status(arguments)));
    #[cfg(not(feature = "command"))]
    let status = {
        let _ = (py, arguments);
        None
    };
    status
}

/// The transports, as JSON.
#[pyfunction]
fn transports() -> String {
    bentpipe_present::transports::all().to_string()
}

/// The commented scenario that `bentpipe new` writes.
#[pyfunction]
fn template() -> &'static str {
    bentpipe::template()
}

/// Says where the papers of the package are.
#[pyfunction]
fn papers_are_in(folder: PathBuf) {
    bentpipe::papers::are_in(folder);
}

/// The version of the program.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
