//! `compare`: the question as options, the answer as an object.

use crate::BUILD;
use crate::arrow::{self, Batch};
use crate::errors::{self, Kind};
use crate::scenario::Scenario;
use crate::why::Why;
use crate::work::interruptible;
use bentpipe::compare::{
    Answer as Found, Capacity as FoundCapacity, Comparison, Question, Target, TargetError, record,
};
use bentpipe::report::{pdf, plot::Chart, png};
use bentpipe_present::{answer as shown, capacity as shown_capacity, message};
use pyo3::prelude::*;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Most runs at the same time.
const THREADS: RangeInclusive<i64> = 1..=1024;

/// Compares; `options` are those of the question, each a name and a value, and `controls`
/// files of congestion controls of one's own.
#[pyfunction]
#[pyo3(signature = (options, controls = Vec::new(), threads = None, progress = None))]
pub(crate) fn compare(
    py: Python<'_>,
    options: Vec<(String, String)>,
    controls: Vec<String>,
    threads: Option<i64>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Answer> {
    let threads = threads_of(py, threads)?;
    bentpipe::register_files(&controls).map_err(|e| errors::of(py, e))?;
    let comparison = asked(py, &options)?.threads(threads);
    let found = interruptible(py, progress.as_ref(), |watch| {
        let report = |done: usize, total: usize| watch.set(done as u64, total as u64);
        comparison.stop(watch.stop.clone()).run_with(&report)
    })?;
    Ok(Answer(Arc::new(found.map_err(|e| errors::of(py, e))?)))
}

/// Seeks how many users the link carries; `until` is what they must be given, and the rest as for
/// [`compare`].
#[pyfunction]
#[pyo3(signature = (until, options, controls = Vec::new(), threads = None, progress = None))]
pub(crate) fn capacity(
    py: Python<'_>,
    until: &str,
    options: Vec<(String, String)>,
    controls: Vec<String>,
    threads: Option<i64>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Capacity> {
    let target: Target = until.parse().map_err(|e: TargetError| {
        let text = format!("invalid value '{until}' for 'until': {e}");
        errors::exception(py, Kind::Option, &text)
    })?;
    let threads = threads_of(py, threads)?;
    bentpipe::register_files(&controls).map_err(|e| errors::of(py, e))?;
    let comparison = asked(py, &options)?.threads(threads);
    let found = interruptible(py, progress.as_ref(), |watch| {
        let report = |done: usize, total: usize| watch.set(done as u64, total as u64);
        comparison
            .stop(watch.stop.clone())
            .capacity_with(target, &report)
    })?;
    Ok(Capacity(Arc::new(found.map_err(|e| errors::of(py, e))?)))
}

/// Threads that are asked for; 0 for one per core.
fn threads_of(py: Python<'_>, threads: Option<i64>) -> PyResult<usize> {
    if let Some(threads) = threads.filter(|threads| !THREADS.contains(threads)) {
        let text = format!("invalid value '{threads}' for 'threads': it is not in {THREADS:?}");
        return Err(errors::exception(py, Kind::Option, &text));
    }
    Ok(threads
        .and_then(|threads| usize::try_from(threads).ok())
        .unwrap_or(0))
}

/// How many users a link carries.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Capacity(Arc<FoundCapacity>);

#[pymethods]
impl Capacity {
    /// As the command prints it.
    fn text(&self, py: Python<'_>, width: usize) -> PyResult<String> {
        shown_capacity::text(&self.0, BUILD, width)
            .map_err(|e| errors::exception(py, Kind::Run, &e.to_string()))
    }

    /// As `bentpipe compare capacity --json` prints it.
    fn json(&self) -> String {
        shown_capacity::document(&self.0, BUILD).to_string()
    }

    /// The advice in sentences.
    fn sentences(&self) -> Vec<String> {
        self.0.sentences()
    }

    /// Transport and proxy of the recommended row, and the users that it carries.
    fn recommended(&self) -> (String, &'static str, Option<u32>) {
        let row = self.0.recommended();
        let users = self
            .0
            .answer
            .verdict
            .pick
            .and_then(|pick| self.0.of_row(pick)?.users);
        (row.name.clone(), row.pep.name(), users)
    }

    /// A row for each transport behind each proxy.
    fn rows(&self) -> PyResult<Batch> {
        arrow::batch(shown_capacity::rows_table(&self.0))
    }
}

/// The comparison that options ask for.
pub(crate) fn asked(py: Python<'_>, options: &[(String, String)]) -> PyResult<Comparison> {
    let question = Question::read(options).map_err(|e| errors::of(py, e.into()))?;
    Ok(Comparison::from(question))
}

/// What a comparison found.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Answer(Arc<Found>);

#[pymethods]
impl Answer {
    /// As the command prints it.
    fn text(&self, py: Python<'_>, width: usize, details: bool) -> PyResult<String> {
        shown::text(&self.0, BUILD, width, details)
            .map_err(|e| errors::exception(py, Kind::Run, &e.to_string()))
    }

    /// As `bentpipe compare --json` prints it.
    fn json(&self) -> String {
        self.document()
    }

    /// The page of `--report`.
    fn page(&self, question: &str) -> String {
        shown::page(&self.0, BUILD, question).to_html()
    }

    /// The figure of `--plot` as `svg`, `png` or `pdf`; `None` if nothing ended.
    fn plot(&self, py: Python<'_>, kind: &str) -> PyResult<Option<Vec<u8>>> {
        let chart = shown::chart(&self.0);
        chart.map(|chart| picture(py, &chart, kind)).transpose()
    }

    /// The figure of `--curves`.
    fn curves(&self, py: Python<'_>, all: bool, kind: &str) -> PyResult<Vec<u8>> {
        let drawn = interruptible(py, None, |_| shown::curves(&self.0, all))?;
        let chart = drawn.map_err(|e| {
            let text = message(&e, false, None);
            errors::exception(py, Kind::Run, text.text())
        })?;
        picture(py, &chart, kind)
    }

    /// The verdict in a sentence.
    fn headline(&self) -> String {
        self.0.headline()
    }

    /// The verdict in sentences.
    fn sentences(&self) -> Vec<String> {
        self.0.sentences()
    }

    /// Transport and proxy of the recommended row.
    fn recommended(&self) -> Option<(String, &'static str)> {
        let row = self.0.recommended()?;
        Some((row.name.clone(), row.pep.name()))
    }

    /// Transport and proxy of the row that gains are held against.
    fn baseline(&self) -> (String, &'static str) {
        let row = self.0.baseline();
        (row.name.clone(), row.pep.name())
    }

    /// The scenario of the first row of that transport.
    fn scenario(&self, py: Python<'_>, transport: &str, size: usize) -> PyResult<Scenario> {
        let row = self.0.rows.iter().find(|row| row.name == transport);
        let Some(row) = row else {
            let names = self.0.rows.iter().map(|row| row.name.as_str());
            let near = bentpipe::cc::nearest(transport, names);
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let text = format!("no transport `{transport}` was compared{near}");
            return Err(errors::exception(py, Kind::Option, &text));
        };
        let scenario = self.0.scenario(row, size, false);
        Ok(Scenario::built(scenario.map_err(|e| errors::of(py, e))?))
    }

    /// Why rows take as long as they do: of none that is named, the baseline and the
    /// recommended one.
    fn why(&self, py: Python<'_>, rows: Vec<String>) -> PyResult<Why> {
        let answer = &self.0;
        let rows = shown::why::rows(answer, &rows).map_err(|e| errors::of(py, e))?;
        let size = answer.sizes.len().saturating_sub(1);
        let explained = interruptible(py, None, |_| answer.explain_beside(&rows, size))?;
        Ok(Why {
            answer: Arc::clone(answer),
            explained: explained.map_err(|e| errors::of(py, e))?,
        })
    }

    /// The scenario of the run of median time of a row, as `--scenario-of` prints it.
    fn scenario_of(&self, py: Python<'_>, row: &str) -> PyResult<String> {
        let answer = &self.0;
        let row = answer.row_named(row).map_err(|e| errors::of(py, e))?;
        let size = answer.sizes.len().saturating_sub(1);
        let text = interruptible(py, None, |_| shown::scenario(answer, row, size))?;
        text.map_err(|e| errors::of(py, e))
    }

    /// A row for each transport, proxy and size.
    fn rows(&self) -> PyResult<Batch> {
        arrow::batch(record::rows_table(&self.0))
    }

    /// A row for each of their runs and users.
    fn runs(&self) -> PyResult<Batch> {
        arrow::batch(record::users_table(&self.0))
    }
}

impl Answer {
    /// The document of it, JSON.
    pub(crate) fn document(&self) -> String {
        shown::document(&self.0, BUILD).to_string()
    }
}

/// The command's table of the answers for several numbers of users, and each in words.
#[pyfunction]
pub(crate) fn by_users_text(
    py: Python<'_>,
    answers: Vec<PyRef<'_, Answer>>,
    width: usize,
    details: bool,
) -> PyResult<String> {
    shown::by_users::text(&found(&answers), BUILD, width, details)
        .map_err(|e| errors::exception(py, Kind::Run, &e.to_string()))
}

/// Their advice in a sentence.
#[pyfunction]
pub(crate) fn by_users_headline(answers: Vec<PyRef<'_, Answer>>) -> String {
    shown::by_users::headline(&found(&answers))
}

/// The rows of all of them.
#[pyfunction]
pub(crate) fn by_users_rows(answers: Vec<PyRef<'_, Answer>>) -> PyResult<Batch> {
    arrow::batch(record::answers_table(&found(&answers)))
}

fn found(answers: &[PyRef<'_, Answer>]) -> Vec<Found> {
    answers.iter().map(|answer| (*answer.0).clone()).collect()
}

/// A chart as the bytes of a file of that kind.
pub(crate) fn picture(py: Python<'_>, chart: &Chart, kind: &str) -> PyResult<Vec<u8>> {
    let drawn = py.detach(|| {
        let svg = chart.to_svg();
        match kind {
            "svg" => Ok(svg.into_bytes()),
            "png" => png::render(&svg, 2.0).map_err(|e| e.to_string()),
            "pdf" => pdf::render(&svg).map_err(|e| e.to_string()),
            other => Err(format!(
                "`{other}` is no kind of picture: expected svg, png or pdf"
            )),
        }
    });
    drawn.map_err(|e| errors::exception(py, Kind::Option, &e))
}
