//! `compare`: the question as options, the answer as an object.

use crate::arrow::{Batch, Columns};
use crate::errors::{self, Kind};
use crate::scenario::Scenario;
use crate::work::interruptible;
use bentpipe::compare::{Answer as Found, Cell, Row, RunResult, UserResult};
use bentpipe::report::{pdf, plot::Chart, png};
use bentpipe_cli::api;
use pyo3::prelude::*;
use std::sync::Arc;

/// Compares; `options` are those of the command, each a name and a value.
#[pyfunction]
#[pyo3(signature = (options, progress = None))]
pub(crate) fn compare(
    py: Python<'_>,
    options: Vec<(String, String)>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Answer> {
    let asked = api::comparison(&options);
    let comparison = asked.map_err(|e| errors::exception(py, Kind::Option, &e.to_string()))?;
    let found = interruptible(py, progress.as_ref(), |watch| {
        let report = |done: usize, total: usize| watch.set(done as u64, total as u64);
        comparison.stop(watch.stop.clone()).run_with(&report)
    })?;
    Ok(Answer(Arc::new(found.map_err(|e| errors::of(py, e))?)))
}

/// What a comparison found.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Answer(Arc<Found>);

#[pymethods]
impl Answer {
    /// As the command prints it.
    fn text(&self, py: Python<'_>, width: usize, details: bool) -> PyResult<String> {
        api::answer_text(&self.0, width, details).map_err(|e| run_error(py, &e))
    }

    /// As `bentpipe compare --json` prints it.
    fn json(&self) -> String {
        api::answer_json(&self.0)
    }

    /// The page of `--report`.
    fn page(&self, question: &str) -> String {
        api::answer_page(&self.0, question)
    }

    /// The figure of `--plot` as `svg`, `png` or `pdf`; `None` if nothing ended.
    fn plot(&self, py: Python<'_>, kind: &str) -> PyResult<Option<Vec<u8>>> {
        let chart = api::answer_chart(&self.0);
        chart.map(|chart| picture(py, &chart, kind)).transpose()
    }

    /// The figure of `--curves`.
    fn curves(&self, py: Python<'_>, all: bool, kind: &str) -> PyResult<Vec<u8>> {
        let drawn = interruptible(py, None, |_| api::answer_curves(&self.0, all))?;
        let chart = drawn.map_err(|e| run_error(py, &e))?;
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

    /// A row for each transport, proxy and size.
    fn rows(&self) -> PyResult<Batch> {
        rows(&self.0)
    }

    /// A row for each of their runs and users.
    fn runs(&self) -> PyResult<Batch> {
        runs(&self.0)
    }
}

fn run_error(py: Python<'_>, error: &api::Error) -> PyErr {
    errors::exception(py, Kind::Run, &error.to_string())
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

/// One cell of the answer, and where it is.
struct Place<'a> {
    number: usize,
    row: &'a Row,
    cell: &'a Cell,
}

fn rows(answer: &Found) -> PyResult<Batch> {
    let order = answer.order();
    let all: Vec<Place<'_>> = order
        .iter()
        .map(|i| (*i, &answer.rows[*i]))
        .flat_map(|(number, row)| {
            row.cells
                .iter()
                .map(move |cell| Place { number, row, cell })
        })
        .collect();
    let gain = |place: &Place<'_>| answer.gain(place.number);
    let harm = |place: &Place<'_>| answer.harm(place.number);
    let time = |f: fn(&bentpipe_study::stats::Summary) -> Option<f64>| {
        all.iter().map(move |place| f(&place.cell.time()?))
    };
    let cells = |f: fn(&Cell) -> f64| all.iter().map(move |place| f(place.cell));
    let rates = |f: fn(&bentpipe::compare::Rates) -> f64| {
        all.iter()
            .map(move |place| place.cell.rates().map(|r| f(&r)))
    };
    Columns::default()
        .text(
            "transport",
            "Congestion control and what is changed around it",
            all.iter().map(|p| p.row.name.as_str()),
        )
        .text(
            "pep",
            "Proxy at the gateway",
            all.iter().map(|p| p.row.pep.name()),
        )
        .text(
            "availability",
            "How far it is from being used",
            all.iter().map(|p| p.row.availability.name()),
        )
        .flag(
            "recommended",
            "True for the advice",
            all.iter().map(|p| Some(p.number) == answer.verdict.pick),
        )
        .integer(
            "size_bytes",
            "Size of a download, or of a page on the mean",
            all.iter().map(|p| p.cell.size.get()),
        )
        .number(
            "time_s",
            "Time that a user waits, mean over runs",
            time(|t| Some(t.mean)),
        )
        .number("time_ci95_s", "Half of its 95% interval", time(|t| t.ci95))
        .number(
            "time_median_s",
            "Median over runs",
            time(|t| Some(t.median)),
        )
        .number(
            "slow_s",
            "What one time in ten is longer than",
            all.iter().map(|p| p.cell.slow_s()),
        )
        .number(
            "gain_share",
            "Time saved against the default",
            all.iter().map(|p| gain(p).map(|g| g.share)),
        )
        .number(
            "gain_ci95_share",
            "Half of its 95% interval",
            all.iter().map(|p| gain(p)?.ci95),
        )
        .number(
            "others_time_lost_share",
            "Time that users of the default lose beside it",
            all.iter().map(|p| harm(p).map(|h| h.share)),
        )
        .number(
            "others_time_lost_ci95_share",
            "Half of its 95% interval",
            all.iter().map(|p| harm(p)?.ci95),
        )
        .number(
            "median_user_bps",
            "Rate of the user in the middle",
            rates(|r| r.median_bps),
        )
        .number(
            "worst_tenth_bps",
            "Rate of the slowest tenth of the users",
            rates(|r| r.worst_tenth_bps),
        )
        .number(
            "jain_index",
            "1 if all users get the same rate",
            rates(|r| r.jain),
        )
        .number(
            "goodput_bps",
            "Payload of all users over the time that they were there",
            cells(Cell::goodput_bps),
        )
        .number(
            "p95_queueing_delay_s",
            "95th percentile of the wait at the link",
            cells(Cell::p95_queueing_delay_s),
        )
        .number(
            "resent_share",
            "Packets sent again / packets sent",
            cells(Cell::resent_share),
        )
        .number(
            "timeouts_per_user",
            "Retransmission timeouts",
            cells(|c| c.mean(|run| run.timeouts)),
        )
        .number(
            "queue_drops",
            "Packets dropped by the queue before the link",
            cells(|c| c.mean(|run| run.queue_drops as f64)),
        )
        .number(
            "max_cwnd_segments",
            "Largest congestion window",
            cells(|c| c.mean(|run| run.max_cwnd)),
        )
        .integer(
            "runs",
            "Runs that it rests on",
            all.iter().map(|p| p.cell.runs.len() as u64),
        )
        .integer(
            "unfinished_runs",
            "Runs in which a user's traffic did not end",
            all.iter().map(|p| p.cell.unfinished() as u64),
        )
        .batch()
}

/// A user of a run of a cell.
type OfUser<'a> = (&'a Row, &'a Cell, &'a RunResult, &'a UserResult, bool);

fn runs(answer: &Found) -> PyResult<Batch> {
    let mut all: Vec<OfUser<'_>> = Vec::new();
    for row in answer.order().into_iter().map(|i| &answer.rows[i]) {
        for cell in &row.cells {
            for run in &cell.runs {
                all.extend(run.own.iter().map(|user| (row, cell, run, user, false)));
                all.extend(run.others.iter().map(|user| (row, cell, run, user, true)));
            }
        }
    }
    let users = |f: fn(&UserResult) -> Option<f64>| all.iter().map(move |a| f(a.3));
    let of_runs = |f: fn(&RunResult) -> f64| all.iter().map(move |a| f(a.2));
    Columns::default()
        .text(
            "transport",
            "Congestion control and what is changed around it",
            all.iter().map(|a| a.0.name.as_str()),
        )
        .text(
            "pep",
            "Proxy at the gateway",
            all.iter().map(|a| a.0.pep.name()),
        )
        .integer(
            "size_bytes",
            "Size of a download, or of a page on the mean",
            all.iter().map(|a| a.1.size.get()),
        )
        .integer("seed", "Seed of the run", all.iter().map(|a| a.2.seed))
        .integer(
            "user",
            "Number of the user, from zero on",
            all.iter().map(|a| u64::from(a.3.user)),
        )
        .flag(
            "other",
            "True for users of what others run",
            all.iter().map(|a| a.4),
        )
        .text(
            "activity",
            "What the user did",
            all.iter().map(|a| a.3.activity.name()),
        )
        .number(
            "time_s",
            "What the user waited for; missing if it did not end",
            users(|u| u.time_s),
        )
        .number(
            "rate_bps",
            "Payload over that time",
            users(|u| Some(u.rate_bps)),
        )
        .number(
            "p95_page_s",
            "Time that 95% of the pages did not exceed",
            users(|u| u.p95_page_s),
        )
        .number(
            "object_s",
            "Mean time of the small objects beside the pages",
            users(|u| u.object_s),
        )
        .number(
            "video_startup_s",
            "Time before the video began",
            users(|u| u.startup_s),
        )
        .number(
            "video_stalls",
            "Times that the video stopped",
            users(|u| u.startup_s.map(|_| u.stalls as f64)),
        )
        .number(
            "video_stall_s",
            "How long it stood still",
            users(|u| u.startup_s.map(|_| u.stall_s)),
        )
        .number(
            "run_goodput_bps",
            "Payload of all users of the run",
            of_runs(|r| r.goodput_bps),
        )
        .number(
            "run_resent_share",
            "Packets sent again / packets sent in the run",
            of_runs(|r| r.resent_share),
        )
        .number(
            "run_p95_queueing_delay_s",
            "95th percentile of the wait at the link",
            of_runs(|r| r.p95_queueing_delay_s),
        )
        .batch()
}
