//! One run over time.
//!
//! ```text
//! {row: {pep, transport}, name, size, seed, user, activity, users, runs, started_s, ended_s,
//!  end_s, time_s, mean_s, median_s, ideal_s, sender,
//!  link: {rate_bps, rtt_s, bdp_segments, queue_packets, mss_bytes},
//!  series: {received, rate, cwnd, ssthresh, flight, rtt, queue},   each {t: [], v: []}
//!  losses: [{t, cause, count}], resent: [{t, count}], timeouts: [t], lost_acks: [{t, count}],
//!  phases: [{name, title, from, to}], acts: [{title, from, to, text}], summary: [text],
//!  spent: [{name, title, time_s}],
//!  seeds: [{seed, time_s}]}
//! ```
//!
//! `activity` is what the user does; `time_s` what it waited for that in this run (a download, a
//! page on average, the start and the stalls of a video), and `mean_s` and `median_s` what users
//! with the same activity do in all runs.
//!
//! Times are seconds of the run. Received is in MB (10^6 bytes), rates are in Mbit/s, RTTs
//! in seconds, windows in segments, the queue in packets. What has no value is null.
//! Series are reduced to what [`COLUMNS`] pixels can show; marks in one column are one,
//! with their number.

use super::Chosen;
use bentpipe::outcome::SenderSample;
use bentpipe::recording::{PhaseSpan, Recording, rates};
use bentpipe::report::plot::decimate;
use bentpipe::sim::LossCause;
use bentpipe::units::Time;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Columns of a picture; each has four points of a series at most.
const COLUMNS: f64 = 500.0;

/// Phases that are shaded one by one; of more, acts are.
const MOST_PHASES: usize = 60;

/// Runs that can be chosen.
const MOST_SEEDS: usize = 200;

/// The run as JSON.
pub(super) fn document(chosen: &Chosen, recording: &Recording) -> Value {
    let (answer, row) = (&chosen.answer, chosen.row());
    let cell = &row.cells[chosen.size];
    let why = recording.why(answer);
    let end = recording.end();
    let activity = answer.traffic.of_user(recording.user);
    let time = cell.time_of(activity);
    let took = recording
        .ended_at
        .map(|at| at.since(recording.started_at).as_secs());
    let users = match answer.beside {
        Some(_) => answer.users_shared,
        None => answer.users,
    };
    let acts: Vec<Value> = why.acts.iter().map(act).collect();
    let seeds = cell.runs.iter().take(MOST_SEEDS);
    let seeds = seeds.map(|run| json!({ "seed": run.seed, "time_s": run.time_s(activity) }));
    let run = cell.runs.iter().find(|run| run.seed == recording.seed);
    let own = run.and_then(|run| run.own.iter().find(|own| own.user == recording.user));
    json!({
        "row": { "pep": row.pep.name(), "transport": row.name },
        "name": row.name,
        "sender": recording.transport,
        "size": chosen.size,
        "seed": recording.seed,
        "user": recording.user + 1,
        "activity": activity.name(),
        "users": users,
        "runs": cell.runs.len(),
        "started_s": recording.started_at.as_secs(),
        "ended_s": recording.ended_at.map(Time::as_secs),
        "end_s": end.as_secs(),
        "time_s": took.or(own.and_then(|own| own.time_s)),
        "mean_s": time.map(|t| t.mean),
        "median_s": time.map(|t| t.median),
        "ideal_s": answer.ideal.get(chosen.size).map(|ideal| ideal.as_secs()),
        "link": {
            "rate_bps": answer.path.rate.bps(),
            "rtt_s": recording.rtt.as_secs(),
            "bdp_segments": recording.bdp_segments,
            "queue_packets": answer.path_of(row).queue_bytes().as_f64() / 1500.0,
            "mss_bytes": recording.mss,
        },
        "series": series(recording, end),
        "losses": losses(recording, end),
        "resent": counted(recording.resent.iter().map(|r| r.at), end),
        "timeouts": counted(recording.timeouts.iter().copied(), end),
        "lost_acks": counted(recording.lost_acks.iter().copied(), end),
        "phases": phases(recording, &acts),
        "acts": acts,
        "summary": why.summary,
        "spent": spent(chosen, recording),
        "seeds": seeds.collect::<Vec<_>>(),
    })
}

/// Where the user's time went.
fn spent(chosen: &Chosen, recording: &Recording) -> Vec<Value> {
    let spent = recording.time_spent(&chosen.answer);
    let parts = spent.into_iter().flat_map(|spent| spent.parts);
    let shown = parts.map(|part| {
        json!({
            "name": part.doing.name(),
            "title": part.doing.title(),
            "time_s": part.time.as_secs(),
        })
    });
    shown.collect()
}

fn act(act: &bentpipe::recording::Act) -> Value {
    json!({
        "title": act.title,
        "from": act.from.as_secs(),
        "to": act.to.as_secs(),
        "text": act.sentences,
    })
}

/// The phases, or the acts where phases change too often to be seen.
fn phases(recording: &Recording, acts: &[Value]) -> Vec<Value> {
    let all = recording.phases();
    if all.len() > MOST_PHASES {
        return acts.to_vec();
    }
    let shown = |span: &PhaseSpan| {
        json!({
            "name": span.phase.name,
            "title": span.phase.title,
            "from": span.from.as_secs(),
            "to": span.to.as_secs(),
        })
    };
    all.iter()
        .filter(|span| span.to > span.from)
        .map(shown)
        .collect()
}

fn series(recording: &Recording, end: Time) -> Value {
    let samples: Vec<&SenderSample> = recording
        .series
        .sender
        .iter()
        .filter(|s| s.at <= end)
        .collect();
    let of = |value: fn(&SenderSample) -> f64| {
        let points = samples.iter().map(|s| (s.at.as_secs(), value(s)));
        // Before there is a value there is a gap.
        line(points.map(|(t, v)| v.is_finite().then_some((t, v))), end)
    };
    let rtts = samples.iter().filter(|s| !s.rtt.is_zero());
    let rtts = rtts.map(|s| Some((s.at.as_secs(), s.rtt.as_secs())));
    let received = recording.series.delivered.iter();
    let received = received.map(|(at, n)| Some((at.as_secs(), n.as_f64() / 1e6)));
    let queue = recording.queue.iter().filter(|(at, _)| *at <= end);
    let queue = queue.map(|(at, n)| Some((at.as_secs(), *n as f64)));
    json!({
        "received": line(received, end),
        "rate": line(rates(&recording.series, recording.rtt * 2).into_iter().map(Some), end),
        "cwnd": of(|s| s.cwnd),
        "ssthresh": of(|s| s.ssthresh),
        "flight": of(|s| s.flight),
        "rtt": line(rtts, end),
        "queue": line(queue, end),
    })
}

/// Points reduced to what the columns can show; null is a gap.
fn line(points: impl IntoIterator<Item = Option<(f64, f64)>>, end: Time) -> Value {
    let scale = COLUMNS / end.as_secs().max(1e-9);
    let scaled = points.into_iter().map(|p| p.map(|(t, v)| (t * scale, v)));
    let (mut t, mut v): (Vec<f64>, Vec<Option<f64>>) = (Vec::new(), Vec::new());
    for part in decimate(scaled, 0.0, COLUMNS) {
        if let (Some(before), Some((x, _))) = (t.last(), part.first()) {
            t.push(rounded(f64::midpoint(*before, x / scale)));
            v.push(None);
        }
        for (x, y) in part {
            t.push(rounded(x / scale));
            v.push(Some(rounded(y)));
        }
    }
    json!({ "t": t, "v": v })
}

/// With digits enough for a picture and its table.
fn rounded(x: f64) -> f64 {
    // Microseconds, and millionths of a segment.
    (x * 1e6).round() / 1e6
}

/// How many times fall into each column.
fn counted(times: impl Iterator<Item = Time>, end: Time) -> Vec<Value> {
    let width = end.as_secs().max(1e-9) / COLUMNS;
    let mut columns: BTreeMap<u64, (f64, u64)> = BTreeMap::new();
    for time in times.filter(|time| *time <= end).map(Time::as_secs) {
        let column = columns.entry((time / width) as u64).or_insert((time, 0));
        column.1 += 1;
    }
    let marks = columns.into_values();
    marks
        .map(|(t, n)| json!({ "t": rounded(t), "count": n }))
        .collect()
}

/// The losses of each cause in each column.
fn losses(recording: &Recording, end: Time) -> Vec<Value> {
    let mut marks = Vec::new();
    for (name, cause) in LossCause::ALL {
        let times = recording.losses.iter().filter(|loss| loss.cause == cause);
        for mut mark in counted(times.map(|loss| loss.at), end) {
            mark["cause"] = name.into();
            marks.push(mark);
        }
    }
    let at = |mark: &Value| mark["t"].as_f64().unwrap_or_default();
    marks.sort_by(|a, b| at(a).total_cmp(&at(b)));
    marks
}
