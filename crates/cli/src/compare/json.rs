//! The answer as one JSON document, units in the names.

use super::print;
use crate::output::number;
use bentpipe::compare::{
    Activity, Answer, Build, Cell, Cost, CourseKind, Day, GIVEN_UP, Gain, Harm, Objection, Row,
    RunResult, Steady, UserResult,
};
use bentpipe_study::stats::Summary;
use bentpipe_units::Duration;
use serde_json::{Map, Value, json};

/// The whole document.
pub(crate) fn document(answer: &Answer, build: Build) -> Value {
    let rows = answer.order().into_iter();
    let rows: Vec<Value> = rows.map(|i| row(answer, i, build)).collect();
    json!({
        "link": link(answer),
        "hosts": answer.hosts.name(),
        "traffic": answer.traffic.name(),
        "users": answer.users,
        "beside": answer.beside,
        "users_shared": answer.users_shared,
        "background": answer.background.map(|b| b.to_string()),
        "stagger_s": number(answer.stagger.as_secs()),
        "sizes_bytes": answer.sizes.iter().map(|s| s.get()).collect::<Vec<_>>(),
        "video_bitrate_bps": answer.bitrate.bps(),
        "ideal_times_s": answer.ideal.iter().map(|t| ideal(*t)).collect::<Vec<_>>(),
        "seed": answer.seed,
        "runs": answer.most_runs(),
        "verdict": verdict(answer, build),
        "rows": rows,
        "changes_cost": answer.steady.iter().map(|s| steady(answer, s)).collect::<Vec<_>>(),
        "by_time": answer.day().map(|day| by_time(answer, &day)),
        "comparable_only_with": print::points(answer),
    })
}

/// The time of an ideal download; none where it would never end.
fn ideal(time: Duration) -> Value {
    match time > GIVEN_UP {
        true => Value::Null,
        false => number(time.as_secs()),
    }
}

fn link(answer: &Answer) -> Value {
    let path = &answer.path;
    json!({
        "rate_bps": path.rate.bps(),
        "return_rate_bps": path.return_rate.bps(),
        "rtt_ns": path.rtt.as_nanos(),
        "packet_error_rate": path.loss.share.get(),
        "mean_burst_packets": path.loss.burst.map(number),
        "queue": path.queue.to_string(),
        "queue_bytes": path.queue_bytes().get(),
        "bdp_bytes": path.bdp().get(),
        "server_rtt_ns": path.server_rtt.map(|t| t.as_nanos()),
        "course": path.course.as_ref().map(|course| json!({
            "kind": match course.kind {
                CourseKind::Trace => "trace",
                _ => "orbit",
            },
            "name": course.name,
            "text": course.text,
            "notes": course.notes,
            "mean_rate_bps": course.rate.bps(),
            "min_rtt_ns": course.rtt[0].as_nanos(),
            "mean_rtt_ns": course.rtt[1].as_nanos(),
            "max_rtt_ns": course.rtt[2].as_nanos(),
            "lost_share": number(course.lost),
            "path_changes_per_hour": number(course.changes_per_hour()),
            "availability": number(course.availability),
            "longest_outage_s": number(course.longest_outage.as_secs()),
            "span_s": number(course.span.as_secs()),
        })),
    })
}

/// What the changes of the link cost a setting.
fn steady(answer: &Answer, steady: &Steady) -> Value {
    let mut value = name(&answer.rows[steady.row]);
    value["time_s"] = number(steady.changing_s);
    value["time_without_changes_s"] = number(steady.steady_s);
    value["timeouts_per_user"] = number(steady.timeouts[0]);
    value["timeouts_per_user_without_changes"] = number(steady.timeouts[1]);
    value["runs"] = steady.runs.into();
    value
}

/// The link and the times by the time of the beginning.
fn by_time(answer: &Answer, day: &Day) -> Value {
    let hours = day.hours.iter().map(|hour| {
        json!({
            "begins_s": number(hour.at.as_secs()),
            "rate_bps": hour.rate.bps(),
            "rtt_ns": hour.rtt.as_nanos(),
            "path_changes": hour.changes,
            "availability": number(hour.availability),
        })
    });
    let rows = day.rows.iter().map(|of| {
        let mut value = name(&answer.rows[of.row]);
        value["median_s"] = of.median_s.map_or(Value::Null, number);
        value["worst_tenth_s"] = of.worst_tenth_s.map_or(Value::Null, number);
        let times = of.times_s.iter().map(|t| t.map_or(Value::Null, number));
        value["times_s"] = times.collect();
        value["timeouts_per_user"] = of.timeouts.iter().map(|t| number(*t)).collect();
        value
    });
    json!({ "link": hours.collect::<Vec<_>>(), "rows": rows.collect::<Vec<_>>() })
}

/// The verdict.
pub(crate) fn verdict(answer: &Answer, build: Build) -> Value {
    let verdict = &answer.verdict;
    let named = |i: usize| name(&answer.rows[i]);
    let switch = answer.switch_on(build);
    json!({
        "pick": verdict.pick.map(named),
        "baseline": named(verdict.baseline),
        "keep": answer.is_kept(),
        "gain": verdict.gain.map(|g| gain(&g)),
        "others": verdict.harm.map(|h| harm(&h)),
        "as_good": verdict.as_good.iter().map(|i| named(*i)).collect::<Vec<_>>(),
        "rejected": verdict.rejected.iter().map(|(i, objection)| {
            let mut row = named(*i);
            row["why"] = why(objection).into();
            row
        }).collect::<Vec<_>>(),
        "costs": verdict.costs.iter().map(cost).collect::<Vec<_>>(),
        "by_size": verdict.by_size.iter().map(|(size, i, by)| {
            let mut row = named(*i);
            row["size_bytes"] = size.get().into();
            row["gain"] = gain(by);
            row
        }).collect::<Vec<_>>(),
        "certainty": verdict.certainty.name(),
        "text": answer.sentences(),
        "switch_on": { "text": switch.text, "commands": switch.commands },
    })
}

fn name(row: &Row) -> Value {
    json!({ "pep": row.pep.name(), "transport": row.name })
}

fn gain(gain: &Gain) -> Value {
    json!({ "share": number(gain.share), "ci95": gain.ci95.map(number), "runs": gain.runs })
}

fn harm(harm: &Harm) -> Value {
    json!({
        "time_lost_share": number(harm.share),
        "ci95": harm.ci95.map(number),
        "time_before_s": number(harm.before_s),
        "time_beside_it_s": number(harm.after_s),
        "runs": harm.runs,
    })
}

const fn why(objection: &Objection) -> &'static str {
    match objection {
        Objection::Harms(_) => "harms others",
        Objection::Wastes(_) => "wastes",
        Objection::DoesNotEnd(_) => "does not end",
        _ => "not to be had",
    }
}

fn cost(cost: &Cost) -> Value {
    match *cost {
        Cost::Unfinished { count, of } => {
            json!({ "kind": "unfinished", "count": count, "of": of })
        }
        Cost::Harm(share) => json!({ "kind": "harm", "time_lost_share": number(share) }),
        Cost::Background { lost, before } => {
            json!({ "kind": "background", "lost_share": number(lost), "before": number(before) })
        }
        Cost::Waiting { wait_s, before_s } => {
            json!({ "kind": "waiting", "p95_wait_s": number(wait_s), "before_s": number(before_s) })
        }
        Cost::Waste { share, before } => {
            json!({ "kind": "waste", "resent_share": number(share), "before": number(before) })
        }
        Cost::Slow { slow_s, before_s } => {
            json!({ "kind": "slow", "slow_s": number(slow_s), "before_s": before_s.map(number) })
        }
        _ => Value::Null,
    }
}

fn row(answer: &Answer, i: usize, build: Build) -> Value {
    let row = &answer.rows[i];
    let candidate = &answer.candidates[row.candidate];
    let t = &candidate.transport;
    let switch = candidate.switch_on(answer.hosts, row.pep, build);
    json!({
        "pep": row.pep.name(),
        "transport": row.name,
        "about": candidate.about,
        "availability": row.availability.name(),
        "deployable": row.is_deployable(),
        "switch_on": { "text": switch.text, "commands": switch.commands },
        "gain": answer.gain(i).map(|g| gain(&g)),
        "others": answer.harm(i).map(|h| harm(&h)),
        "cells": row.cells.iter().map(|cell| cell_of(answer, cell)).collect::<Vec<_>>(),
        "initial_window_segments": t.initial_window,
        "receive_buffer_bytes": t.receive_buffer.get(),
        "mss_bytes": t.mss,
        "ack_count": t.delayed_ack.count,
        "host_profile": t.profile.name(),
    })
}

fn cell_of(answer: &Answer, cell: &Cell) -> Value {
    let rates = cell.rates();
    let mut times = Map::new();
    for activity in answer.traffic.activities() {
        let time = cell.time_of(activity);
        times.insert(
            activity.name().to_owned(),
            time.map_or(Value::Null, |t| spread(&t)),
        );
    }
    let mean = |f: fn(&UserResult) -> Option<f64>| cell.users_mean(f).map(number);
    json!({
        "size_bytes": cell.size.get(),
        "time_s": cell.time().map_or(Value::Null, |t| spread(&t)),
        "times_s": times,
        "slow_s": cell.slow_s().map(number),
        "unfinished_runs": cell.unfinished(),
        "median_user_bps": rates.map(|r| number(r.median_bps)),
        "worst_tenth_bps": rates.map(|r| number(r.worst_tenth_bps)),
        "jain_index": rates.map(|r| number(r.jain)),
        "p95_page_s": mean(|user| user.p95_page_s),
        "object_s": mean(|user| user.object_s),
        "video_startup_s": mean(|user| user.startup_s),
        "video_stalls": mean(|user| user.startup_s.map(|_| user.stalls as f64)),
        "video_stall_s": mean(|user| user.startup_s.map(|_| user.stall_s)),
        "goodput_bps": number(cell.goodput_bps()),
        "resent_share": number(cell.resent_share()),
        "p95_queueing_delay_s": number(cell.p95_queueing_delay_s()),
        "timeouts_per_user": number(cell.mean(|run| run.timeouts)),
        "queue_drops": number(cell.mean(|run| run.queue_drops as f64)),
        "max_cwnd_segments": number(cell.mean(|run| run.max_cwnd)),
        "runs": cell.runs.iter().map(run).collect::<Vec<_>>(),
        "shared_runs": cell.shared.iter().map(run).collect::<Vec<_>>(),
    })
}

/// One run, short: there may be thousands.
fn run(run: &RunResult) -> Value {
    let times = |time: &dyn Fn(Activity) -> Option<f64>| {
        let times = Activity::ALL
            .iter()
            .filter_map(|a| Some((a.name().to_owned(), number(time(*a)?))));
        times.collect::<Map<String, Value>>()
    };
    let mut value = json!({
        "seed": run.seed,
        "times_s": times(&|activity| run.time_s(activity)),
    });
    if !run.others.is_empty() {
        value["others_times_s"] = times(&|activity| run.others_time_s(activity)).into();
    }
    if let Some(lost) = run.background_lost {
        value["background_lost_share"] = number(lost);
    }
    value
}

fn spread(s: &Summary) -> Value {
    json!({
        "mean": number(s.mean),
        "ci95": s.ci95.map(number),
        "standard_deviation": s.sd.map(number),
        "median": number(s.median),
        "min": number(s.min),
        "max": number(s.max),
        "runs": s.n,
    })
}
