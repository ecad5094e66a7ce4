//! `run`: what one run of a scenario yields.

use crate::answer::picture;
use crate::arrow::{self, Batch};
use crate::errors::{self, Kind};
use crate::scenario::Scenario;
use crate::work::{Watch, interruptible};
use bentpipe::Run;
use bentpipe::outcome::{Outcome as Yielded, TableKind, record};
use bentpipe::scenario::Scenario as Model;
use bentpipe::units::{Duration, Time};
use bentpipe_present::outcome as shown;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a run is made.
#[derive(Clone)]
struct How {
    seed: u64,
    start_jitter: Duration,
    skip_steady: bool,
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
        if self.skip_steady {
            run = run.skip_steady(|_| ());
        }
        run.execute()
    }
}

/// Runs a scenario. `series` is the interval of the time series: a time, `auto`,
/// or nothing to record none.
#[pyfunction]
#[pyo3(signature = (
    scenario, seed = None, series = None, start_jitter = None, skip_steady = false, progress = None
))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: Option<u64>,
    series: Option<&str>,
    start_jitter: Option<&str>,
    skip_steady: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let model = scenario.model(py)?;
    let series = match series {
        None => None,
        Some("auto") => Some(shown::series_interval(&model)),
        Some(text) => Some(time(py, "series", text)?),
    };
    let start_jitter = start_jitter.map(|text| time(py, "start_jitter", text));
    let how = How {
        seed: seed.unwrap_or(model.seed),
        start_jitter: start_jitter.transpose()?.unwrap_or(Duration::ZERO),
        skip_steady,
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

record! {
    /// What a flow received in a window of time.
    struct RateRecord document {
        /// Name of the flow
        label flow: String;
        /// Beginning of the window, seconds of the run
        gauge from: f64 as "from_s";
        /// Its end
        gauge until: f64 as "until_s";
        /// Payload that was delivered in order, over the window
        gauge goodput: f64 as "goodput_bps";
    }
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

    /// A table of it; options are those of what is computed when it is asked for.
    #[pyo3(signature = (name, **options))]
    fn table(
        &self,
        py: Python<'_>,
        name: &str,
        options: Option<BTreeMap<String, String>>,
    ) -> PyResult<Batch> {
        let mut options = options.unwrap_or_default();
        if name == "rates" {
            let window = options.remove("window").unwrap_or_default();
            return self.rates(time(py, "window", &window)?, py);
        }
        if let Some((option, _)) = options.first_key_value() {
            let text = format!("the table `{name}` has no option `{option}`");
            return Err(errors::exception(py, Kind::Option, &text));
        }
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
        let text = shown::text(&self.yielded, &self.model, width);
        text.map_err(|e| errors::exception(py, Kind::Run, &e.to_string()))
    }

    /// As `bentpipe run --json` prints it.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        self.document(py)
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
        let outcome = self.with_series(py)?;
        if outcome.series.is_empty() {
            return Ok(None);
        }
        let drawn = shown::chart(&self.model, &[("", &outcome)]);
        drawn.map(|chart| picture(py, &chart, kind)).transpose()
    }
}

impl Outcome {
    /// The document of it, JSON.
    pub(crate) fn document(&self, py: Python<'_>) -> PyResult<String> {
        let text = shown::json(&self.yielded, &self.model);
        text.map_err(|e| errors::exception(py, Kind::Run, &e.to_string()))
    }

    /// What each flow received over windows of time.
    fn rates(&self, window: Duration, py: Python<'_>) -> PyResult<Batch> {
        let outcome = self.with_series(py)?;
        let rows = outcome.series.iter().flat_map(|series| {
            let windows = series.rates(window).into_iter();
            windows.map(|window| RateRecord {
                flow: series.flow.clone(),
                from: window.from_ns as f64 / 1e9,
                until: window.to_ns as f64 / 1e9,
                goodput: window.bytes_per_second * 8.0,
            })
        });
        arrow::table(rows)
    }

    /// The outcome with series: that of the same run, made again where they were not recorded.
    fn with_series(&self, py: Python<'_>) -> PyResult<Cow<'_, Yielded>> {
        if !self.yielded.series.is_empty() {
            return Ok(Cow::Borrowed(&self.yielded));
        }
        let series = Some(shown::series_interval(&self.model));
        let again = interruptible(py, None, |watch| self.how.run(&self.model, series, watch))?;
        again.map(Cow::Owned).map_err(|e| errors::of(py, e))
    }
}
