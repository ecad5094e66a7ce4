//! Runs of a text: progress in simulated time, then results by flow and link.

use super::survey::{LONG, Surveyed, Surveys, Text};
use super::{check, tables};
use crate::Problem;
use crate::app::{App, RealHosts};
use crate::bounds::bounded;
use crate::work::{self, Results};
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bentpipe::Run;
use bentpipe::outcome::{FlowSeries, Outcome};
use bentpipe::scenario::Scenario;
use bentpipe::sim::{Options, ideal};
use bentpipe::units::{Duration, Time};
use bentpipe_present::outcome as shown;
use serde::Deserialize;
use serde_json::{Value, json};

/// Runs of one request, at most.
const MOST_RUNS: u64 = 100;

/// Flows whose curves are sent, at most.
const MOST_CURVES: usize = 12;

/// Points of a curve, at most.
const MOST_POINTS: usize = 1500;

/// A run that is asked for.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    #[serde(flatten)]
    text: Text,
    /// The seed of the first run; the scenario's where there is none.
    seed: Option<u64>,
    /// How many runs, each with the next seed.
    runs: Option<u64>,
    /// Whether curves of the first run are wanted.
    series: Option<bool>,
    /// Whether it runs on this machine's own TCP, too, once and in real time.
    both: Option<bool>,
}

/// Streams `{progress: {run, runs, at_s, end_s}}`, then `{result}` of the first run once that
/// has ended (see [`result`]), then `{spread, done}` with a table of all runs. With `both` a
/// `{measured: {blocks}}` follows the result, and the seconds of `progress` are real ones.
pub(super) async fn answer(
    State(app): State<App>,
    Json(asked): Json<Asked>,
) -> Result<Response, Problem> {
    asked.text.limited()?;
    let runs = asked.runs.unwrap_or(1);
    if runs == 0 || runs > MOST_RUNS {
        return Err(Problem::wrong(format!(
            "the number of runs is from 1 to {MOST_RUNS}"
        )));
    }
    let survey = Surveys::check(&app, &asked.text, LONG).await?;
    match survey.found() {
        Some(Surveyed::Valid(_)) => {}
        Some(Surveyed::Wrong(found)) => {
            let problem = Problem::wrong("the scenario is not valid");
            return Err(problem.with("diagnostics", check::diagnostics(found)));
        }
        Some(Surveyed::Refused(why)) => return Err(Problem::wrong(why.clone())),
        None => return Err(Problem::limit("the check of this scenario takes too long")),
    }
    let real_hosts = app.real_hosts;
    work::stream(&app.jobs, move |results| {
        let Some((scenario, _)) = survey.valid() else {
            return Ok(());
        };
        let scenario = bounded(scenario.clone());
        let seed = asked.seed.unwrap_or(scenario.seed);
        let wanted = Wanted {
            seed,
            runs,
            series: asked.series.unwrap_or(true),
            both: asked.both.unwrap_or(false),
        };
        all(&scenario, &wanted, real_hosts, results)
    })
}

/// Rows of a table of a run, at most.
const ROWS: usize = 200;

/// The runs of a request.
struct Wanted {
    seed: u64,
    runs: u64,
    series: bool,
    both: bool,
}

fn all(
    scenario: &Scenario,
    wanted: &Wanted,
    real_hosts: RealHosts,
    results: &Results,
) -> Result<(), Problem> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for run in 0..wanted.runs {
        let is_first = run == 0;
        let series = wanted.series && is_first && scenario.flows.len() <= MOST_CURVES;
        let options = Options {
            seed: wanted.seed.wrapping_add(run),
            series: series.then(|| shown::series_interval(scenario)),
            stop: results.stop(),
            ..Options::default()
        };
        let progress = |at: Time| {
            results.send_if_free(&json!({ "progress": {
                "run": run + 1, "runs": wanted.runs,
                "at_s": at.as_secs(), "end_s": scenario.duration.as_secs(),
            }}));
        };
        let outcome = Run::new(scenario)
            .options(options)
            .on_progress(progress)
            .execute()?;
        if is_first && !results.send(&json!({ "result": result(&outcome, scenario)? })) {
            return Ok(());
        }
        outcomes.push(outcome.without_series());
        if is_first && wanted.both {
            measure(scenario, wanted.seed, real_hosts, results)?;
        }
    }
    let spread = (wanted.runs > 1).then(|| tables::document(&shown::spread(&outcomes)));
    results.send(&json!({ "spread": spread, "done": true }));
    Ok(())
}

/// Runs the scenario on this machine, too, and sends what came of it.
fn measure(
    scenario: &Scenario,
    seed: u64,
    real_hosts: RealHosts,
    results: &Results,
) -> Result<(), Problem> {
    let progress = |at_s: f64| {
        results.send_if_free(&json!({ "progress": {
            "run": 1, "runs": 1, "at_s": at_s, "end_s": scenario.duration.as_secs(),
            "what": "on this machine, in real time:",
        }}));
    };
    let printed = (real_hosts.on_both)(scenario, seed, &results.stop(), &progress);
    let printed = printed.map_err(Problem::wrong)?;
    results.send(&json!({ "measured": { "blocks": tables::blocks(&printed) } }));
    Ok(())
}

/// What a run did: `{seed, ended_s, blocks, curves, flows}`: `blocks` is what the command prints
/// (see [`tables::blocks`]); `curves` see [`curves`]; `flows` have `{name, delivered_bytes,
/// goodput_bps, time_s, finished}`.
fn result(outcome: &Outcome, scenario: &Scenario) -> Result<Value, Problem> {
    let printed = shown::tables(outcome, scenario, ROWS);
    let printed = printed.map_err(|error| Problem::wrong(error.to_string()))?;
    let flows = outcome.flows.iter().take(MOST_CURVES).map(|flow| {
        json!({
            "name": flow.name,
            "delivered_bytes": flow.delivered.get(),
            "goodput_bps": outcome.goodput(flow).bps_f64(),
            "time_s": flow.transfer_time.map(|time| time.as_secs()),
            "finished": flow.is_finished(),
        })
    });
    Ok(json!({
        "seed": outcome.seed,
        "ended_s": outcome.ended_at.as_secs(),
        "blocks": tables::blocks(&printed),
        "curves": curves(outcome, scenario),
        "flows": flows.collect::<Value>(),
    }))
}

/// What flows did over time: `[{flow, rate: {at_s, value}, cwnd, rtt, flight}]`: received in
/// order, as means over a round trip, bit/s; congestion window and flight, segments; RTT,
/// seconds. A curve has at most [`MOST_POINTS`] points, each the last of its part.
fn curves(outcome: &Outcome, scenario: &Scenario) -> Value {
    let all = outcome.series.iter().take(MOST_CURVES).map(|series| {
        let flow = scenario.flows.iter().find(|flow| flow.name == series.flow);
        let round_trip = flow.map_or(Duration::ZERO, |flow| ideal::round_trip(scenario, flow));
        curve(series, round_trip.max(Duration::from_millis(10)))
    });
    all.collect()
}

fn curve(series: &FlowSeries, window: Duration) -> Value {
    let rates = series.rates(window);
    let rate = rates
        .iter()
        .map(|rate| (rate.to_ns as f64 / 1e9, 8.0 * rate.bytes_per_second));
    let sender = || {
        series
            .sender
            .iter()
            .map(|sample| (sample.at.as_secs(), sample))
    };
    json!({
        "flow": series.flow,
        "rate": points(rate),
        "cwnd": points(sender().map(|(at, s)| (at, s.cwnd))),
        "rtt": points(sender().filter(|(_, s)| !s.rtt.is_zero()).map(|(at, s)| (at, s.rtt.as_secs()))),
        "flight": points(sender().map(|(at, s)| (at, s.flight))),
    })
}

/// Points as `{at_s, value}`, thinned evenly.
fn points(all: impl Iterator<Item = (f64, f64)>) -> Value {
    let all: Vec<(f64, f64)> = all.collect();
    let step = all.len().div_ceil(MOST_POINTS).max(1);
    let kept = || all.iter().skip(step - 1).step_by(step);
    json!({
        "at_s": kept().map(|(at, _)| *at).collect::<Vec<f64>>(),
        "value": kept().map(|(_, value)| *value).collect::<Vec<f64>>(),
    })
}
