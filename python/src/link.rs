//! How a link changes with time: orbits and traces.

use crate::arrow::{Batch, Columns};
use crate::errors::{self, Kind};
use bentpipe::compare::Hour;
use bentpipe_cli::api;
use pyo3::prelude::*;

/// Rate and round trip of the link that options of a comparison describe, at
/// `points` even steps of its span; with what it is, in words.
#[pyfunction]
pub(crate) fn course(
    py: Python<'_>,
    options: Vec<(String, String)>,
    points: usize,
) -> PyResult<(Batch, Vec<String>)> {
    let asked = api::comparison(&options);
    let comparison = asked.map_err(|e| errors::exception(py, Kind::Option, &e.to_string()))?;
    let path = py.detach(|| comparison.path());
    let path = path.map_err(|e| errors::of(py, e))?;
    let Some(course) = &path.course else {
        let text = "give an orbit or a trace: nothing else changes over time";
        return Err(errors::exception(py, Kind::Option, text));
    };
    let hours = py.detach(|| course.hours(points));
    let step = course.span.as_secs() / points.max(1) as f64;
    let number = |f: fn(&Hour) -> Option<f64>| hours.iter().map(f);
    let has_path = |hour: &Hour| hour.availability > 0.0;
    let batch = Columns::default()
        .number(
            "time_s",
            "Beginning of the step",
            number(|h| Some(h.at.as_secs())),
        )
        .number("step_s", "Length of the step", hours.iter().map(|_| step))
        .number(
            "rtt_s",
            "Round-trip propagation time, mean over the step while there is a path",
            hours.iter().map(|h| has_path(h).then(|| h.rtt.as_secs())),
        )
        .number(
            "rate_bps",
            "Rate towards the users, mean over the step",
            number(|h| Some(h.rate.bps_f64())),
        )
        .number(
            "availability",
            "Share of the step with a path",
            number(|h| Some(h.availability)),
        )
        .integer(
            "path_changes",
            "Changes of path in the step",
            hours.iter().map(|h| h.changes as u64),
        )
        .batch()?;
    let words = [course.text.clone()].into_iter();
    Ok((batch, words.chain(course.notes.iter().cloned()).collect()))
}
