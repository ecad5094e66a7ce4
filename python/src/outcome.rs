//! `run`: what one run of a scenario yields.

use crate::answer::picture;
use crate::arrow::Batch;
use crate::errors::{self, Kind};
use crate::scenario::Scenario;
use crate::work::{Watch, interruptible};
use bentpipe::Run;
use bentpipe::outcome::{Outcome as Yielded, TableKind};
use bentpipe::scenario::Scenario as Model;
use bentpipe::units::{Duration, Time};
use bentpipe_cli::api;
use pyo3::prelude::*;
use std::sync::Arc;

/// How a run is made.
#[derive(Clone)]
struct How {
    seed: u64,
    start_jitter: Duration,
}

impl How {
    fn run(
        &self,
        model: &Model,
        series: Option<Duration>,
        watch: &Watch,
    ) -> Result<Yielded, bentpipe::Error> {
        let total = model.duration.as_secs() as u64;
        let mut run = Run::new(model)
            .seed(self.seed)
            .start_jitter(self.start_jitter)
            // As the command does, which may count from a later time on.
            .checkpoints([Time::ZERO])
            .stop(watch.stop.clone())
            .on_progress(|at| watch.set(at.as_secs() as u64, total));
        if let Some(interval) = series {
            run = run.series(interval);
        }
        run.execute()
    }
}

/// Runs a scenario. `series` is the interval of the time series: a time, `auto`,
/// or nothing to record none.
#[pyfunction]
#[pyo3(signature = (scenario, seed = None, series = None, start_jitter = None, progress = None))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: Option<u64>,
    series: Option<&str>,
    start_jitter: Option<&str>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let model = scenario.model(py)?;
    let series = match series {
        None => None,
        Some("auto") => Some(api::series_interval(&model)),
        Some(text) => Some(time(py, "series", text)?),
    };
    let start_jitter = start_jitter.map(|text| time(py, "start_jitter", text));
    let how = How {
        seed: seed.unwrap_or(model.seed),
        start_jitter: start_jitter.transpose()?.unwrap_or(Duration::ZERO),
    };
    let yielded = interruptible(py, progress.as_ref(), |watch| {
        how.run(&model, series, watch)
    })?;
    Ok(Outcome {
        yielded: yielded.map_err(|e| errors::of(py, e))?,
        model,
        how,
    })
}

/// A time that was given as a text.
pub(crate) fn time(py: Python<'_>, option: &str, text: &str) -> PyResult<Duration> {
    text.parse::<Duration>()
        .map_err(|e| errors::exception(py, Kind::Option, &format!("`{option}`: {e}")))
}

/// What a run yielded.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Outcome {
    yielded: Yielded,
    model: Arc<Model>,
    how: How,
}

#[pymethods]
impl Outcome {
    /// The names of its tables.
    fn tables(&self) -> Vec<&'static str> {
        let kinds = TableKind::ALL.into_iter();
        let has = kinds.filter(|kind| kind.is_of(&self.yielded));
        has.map(TableKind::name).collect()
    }

    /// A table of it.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Batch> {
        let kind = TableKind::ALL.into_iter().find(|kind| kind.name() == name);
        let Some(kind) = kind else {
            let names = TableKind::ALL.map(TableKind::name);
            let text = format!("there is no table `{name}`: expected {}", names.join(", "));
            return Err(errors::exception(py, Kind::Option, &text));
        };
        let batch = bentpipe::arrow::record_batch(&self.yielded, kind);
        Ok(Batch(batch.map_err(|e| errors::of(py, e))?))
    }

    /// As the command prints it.
    fn text(&self, py: Python<'_>, width: usize) -> PyResult<String> {
        let text = api::outcome_text(&self.yielded, &self.model, width);
        text.map_err(|e| errors::exception(py, Kind::Run, &e.to_string()))
    }

    /// As `bentpipe run --json` prints it.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let text = api::outcome_json(&self.yielded, &self.model);
        text.map_err(|e| errors::exception(py, Kind::Run, &e.to_string()))
    }

    /// Seed, end (s), events.
    fn facts(&self) -> (u64, f64, u64) {
        let yielded = &self.yielded;
        let end = yielded.ended_at.as_secs();
        (yielded.seed, end, yielded.events)
    }

    /// Received bytes, rate and window against time. Without series it is run
    /// again, which gives the same.
    fn plot(&self, py: Python<'_>, kind: &str) -> PyResult<Option<Vec<u8>>> {
        let drawn = match self.yielded.series.is_empty() {
            false => api::outcome_chart(&self.yielded, &self.model),
            true => {
                let series = Some(api::series_interval(&self.model));
                let again =
                    interruptible(py, None, |watch| self.how.run(&self.model, series, watch))?;
                let again = again.map_err(|e| errors::of(py, e))?;
                api::outcome_chart(&again, &self.model)
            }
        };
        drawn.map(|chart| picture(py, &chart, kind)).transpose()
    }
}
