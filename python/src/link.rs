//! How a link changes with time: orbits and traces.

use crate::answer::asked;
use crate::arrow::{self, Batch};
use crate::errors::{self, Kind};
use bentpipe::compare::Hour;
use bentpipe::outcome::record;
use pyo3::prelude::*;

record! {
    /// A step of the link's span, and how long it is in seconds.
    struct Step of (Hour, f64) {
        /// Beginning of the step.
        gauge time_s: f64 = |(hour, _)| hour.at.as_secs();
        /// Length of the step.
        gauge step_s: f64 = |(_, step)| *step;
        /// Round-trip propagation time, mean over the step while there is a path.
        gauge rtt_s: Option<f64> = |(hour, _)| {
            (hour.availability > 0.0).then(|| hour.rtt.as_secs())
        };
        /// Rate towards the users, mean over the step.
        gauge rate_bps: f64 = |(hour, _)| hour.rate.bps_f64();
        /// Share of the step with a path.
        gauge availability: f64 = |(hour, _)| hour.availability;
        /// Changes of path in the step.
        counter path_changes: usize = |(hour, _)| hour.changes;
    }
}

/// Rate and round trip of the link that options of a comparison describe, at
/// `points` even steps of its span; with what it is, in words.
#[pyfunction]
pub(crate) fn course(
    py: Python<'_>,
    options: Vec<(String, String)>,
    points: usize,
) -> PyResult<(Batch, Vec<String>)> {
    let comparison = asked(py, &options)?;
    let path = py.detach(|| comparison.path());
    let path = path.map_err(|e| errors::of(py, e))?;
    let Some(course) = &path.profile else {
        let text = "give an orbit or a trace: nothing else changes over time";
        return Err(errors::exception(py, Kind::Option, text));
    };
    let hours = py.detach(|| course.hours(points));
    let step = course.span.as_secs() / points.max(1) as f64;
    let batch = arrow::table(hours.iter().map(|hour| Step::of(&(*hour, step))))?;
    let words = [course.text.clone()].into_iter();
    Ok((batch, words.chain(course.notes.iter().cloned()).collect()))
}
