//! A download over the satellites, as `bentpipe run` of the view's scenario simulates it.

use super::memory::{Memory, Surveyed};
use super::question::Question;
use crate::Problem;
use crate::app::App;
use crate::bounds::bounded;
use crate::work;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bentpipe::Run;
use bentpipe::outcome::{FlowSeries, Outcome};
use bentpipe::report::text::digits3;
use bentpipe::sim::Stop;
use bentpipe::tcp::Transport;
use bentpipe::traffic::Application;
use bentpipe::units::{Bytes, Duration, Time};
use serde::Deserialize;
use serde_json::{Value, json};

/// Transports of a question, at most.
const MOST_TRANSPORTS: usize = 4;

/// Bytes of a download, at most.
const MOST_BYTES: u64 = 1_000_000_000;

/// Points of a curve, about.
const POINTS: usize = 1_500;

/// What is downloaded, when, and over what.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// The satellites and the places.
    sky: Question,
    /// By name; one curve each.
    transports: Vec<String>,
    /// With its unit: `10 MB`.
    size: String,
    /// When it begins.
    start_s: f64,
}

/// Streams `{"run": ...}` for each transport, in the order of the question, and
/// `{"done": true}`.
///
/// A run: `transport`, `started_s`, `ended_s` (null if it did not end in the time that is
/// shown), `delivered_bytes`, `goodput` in words, `retransmissions`, `timeouts`,
/// `outage_losses`, `queue_drops`, and curves of which each is times in seconds and values
/// in turn: `received` (bytes), `rate` (bit/s), `cwnd` (segments), `rtt` (ms), `lost`
/// (packets sent again since the point before).
pub(super) async fn download(
    State(app): State<App>,
    Json(wanted): Json<Wanted>,
) -> Result<Response, Problem> {
    let transports: Vec<Transport> = transports(&wanted.transports)?;
    let size: Bytes = wanted
        .size
        .trim()
        .parse()
        .map_err(|e: bentpipe::units::ParseError| {
            Problem::wrong(e.to_string()).with("field", "size".into())
        })?;
    if size.get() == 0 || size.get() > MOST_BYTES {
        let why = "a download is from 1 B to 1 GB long";
        return Err(Problem::wrong(why).with("field", "size".into()));
    }
    let memory: Memory = app.kept();
    work::stream(&app.jobs, move |results| {
        let question = wanted.sky.ready()?;
        let surveyed = memory.survey(&question)?;
        let start = wanted.start_s.clamp(0.0, question.duration().as_secs());
        let start = Time::ZERO + Duration::from_secs_f64(start);
        for transport in transports {
            if results.is_cancelled() {
                return Ok(());
            }
            let run = one(&surveyed, &transport, size, start, results.stop())?;
            results.send(&json!({ "run": run }));
        }
        results.send(&json!({ "done": true }));
        Ok(())
    })
}

fn transports(names: &[String]) -> Result<Vec<Transport>, Problem> {
    let wrong = |why: String| Problem::wrong(why).with("field", "transports".into());
    if names.is_empty() || names.len() > MOST_TRANSPORTS {
        return Err(wrong(format!(
            "a download is shown with 1 to {MOST_TRANSPORTS} transports"
        )));
    }
    let find = |name: &String| {
        let unknown = || wrong(format!("there is no transport `{name}`"));
        bentpipe::transport(name.trim()).ok_or_else(unknown)
    };
    names.iter().map(find).collect()
}

/// The run of one transport.
fn one(
    surveyed: &Surveyed,
    transport: &Transport,
    size: Bytes,
    start: Time,
    stop: Stop,
) -> Result<Value, Problem> {
    let mut scenario = bounded(surveyed.scenario.clone());
    if let Some(flow) = scenario.flows.first_mut() {
        flow.transport = Some(transport.clone().into());
        flow.application = Application::Transfer { size };
        flow.start = start;
    }
    let run = Run::new(&scenario).series(Duration::from_millis(10));
    let outcome = run.stop(stop).execute()?;
    document(&outcome, &transport.name).ok_or_else(|| Problem::wrong("nothing was sent"))
}

fn document(outcome: &Outcome, name: &str) -> Option<Value> {
    let (flow, series) = (outcome.flows.first()?, outcome.series.first()?);
    let ended = flow.transfer_time.map(|time| flow.started_at + time);
    let until = ended.unwrap_or(outcome.ended_at);
    Some(json!({
        "transport": name,
        "started_s": flow.started_at.as_secs(),
        "ended_s": ended.map(Time::as_secs),
        "until_s": until.as_secs(),
        "delivered_bytes": flow.delivered.get(),
        "goodput": format!("{} Mbit/s", digits3(outcome.goodput(flow).bps() as f64 / 1e6)),
        "retransmissions": flow.retransmissions,
        "timeouts": flow.timeouts,
        "outage_losses": flow.outage_losses,
        "queue_drops": flow.queue_drops,
        "received": received(series),
        "rate": rates(series),
        "cwnd": sender(series, |s| s.cwnd),
        "rtt": sender(series, |s| s.rtt.as_secs() * 1e3),
        "lost": lost(series),
    }))
}

/// One of so many of `count` points is sent.
fn every(count: usize) -> usize {
    count.div_ceil(POINTS).max(1)
}

fn short(at: Time) -> f64 {
    (at.as_secs() * 1e3).round() / 1e3
}

fn received(series: &FlowSeries) -> Vec<f64> {
    let step = every(series.delivered.len());
    let points = series.delivered.iter().step_by(step);
    let points = points.chain(series.delivered.last());
    points
        .flat_map(|(at, bytes)| [short(*at), bytes.get() as f64])
        .collect()
}

/// Rates over windows of a two-hundredth of the whole, and not less than 200 ms.
fn rates(series: &FlowSeries) -> Vec<f64> {
    let length = match (series.delivered.first(), series.delivered.last()) {
        (Some(first), Some(last)) => last.0.since(first.0),
        _ => Duration::ZERO,
    };
    let window = (length / 200).max(Duration::from_millis(200));
    let rates = series.rates(window).into_iter();
    rates
        .flat_map(|rate| {
            let middle = rate.from_ns.midpoint(rate.to_ns);
            [
                short(Time::from_nanos(middle)),
                (rate.bytes_per_second * 8.0).round(),
            ]
        })
        .collect()
}

fn sender(series: &FlowSeries, of: impl Fn(&bentpipe::outcome::SenderSample) -> f64) -> Vec<f64> {
    let step = every(series.sender.len());
    let points = series.sender.iter().step_by(step);
    points
        .flat_map(|sample| [short(sample.at), (of(sample) * 100.0).round() / 100.0])
        .collect()
}

/// When packets were sent again, and how many.
fn lost(series: &FlowSeries) -> Vec<f64> {
    let step = every(series.sender.len());
    let points: Vec<_> = series.sender.iter().step_by(step).collect();
    points
        .windows(2)
        .filter(|two| two[1].retransmissions > two[0].retransmissions)
        .flat_map(|two| {
            let count = two[1].retransmissions - two[0].retransmissions;
            [short(two[1].at), count as f64]
        })
        .collect()
}
