//! The lines of an answer that is sent while it is found.
//!
//! Rows are named by their index into `rows` of the first line. Units stand in the names;
//! a share is a fraction; a number that does not exist is `null`. Texts to show are those
//! of the command.

use crate::Laboratory;
use bentpipe::compare::{Activity, Answer, Cell, Effect, Harm};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// `{"begin": ...}`: what was asked, before there is a result.
///
/// `id` names the question. `rows` are `{row, pep, transport, about, availability,
/// deployable, shown}`; `link`, `hosts`, `traffic`, `users`, `users_shared`, `beside`,
/// `background`, `sizes_bytes` and `ideal_times_s` are those of `bentpipe compare --json`.
pub(super) fn begin(laboratory: &dyn Laboratory, answer: &Answer, id: &str) -> Value {
    let mut document = laboratory.answer(answer);
    let mut take = |name: &str| document[name].take();
    let text = laboratory.question(answer);
    let rows = answer.rows.iter().enumerate().map(|(i, row)| {
        json!({
            "row": i,
            "pep": row.pep.name(),
            "transport": row.name,
            "about": answer.candidates.get(row.candidate).map(|c| c.about.as_str()),
            "availability": row.availability.name(),
            "deployable": row.is_deployable(),
        })
    });
    let peps = answer
        .peps()
        .into_iter()
        .map(|pep| json!({ "pep": pep.name(), "about": pep.describe() }));
    let sizes = answer.sizes.iter().map(ToString::to_string);
    json!({ "begin": {
        "id": id,
        "question": text.first(),
        "text": text,
        "link": take("link"),
        "hosts": take("hosts"),
        "traffic": take("traffic"),
        "unit": answer.unit(),
        "users": take("users"),
        "users_shared": take("users_shared"),
        "beside": take("beside"),
        "background": take("background"),
        "stagger_s": take("stagger_s"),
        "sizes_bytes": take("sizes_bytes"),
        "sizes": sizes.collect::<Vec<_>>(),
        "ideal_times_s": take("ideal_times_s"),
        "peps": peps.collect::<Vec<_>>(),
        "baseline": answer.verdict.baseline,
        "rows": rows.collect::<Vec<_>>(),
    } })
}

/// `{"rows": [...], "progress": [done, total]}`: cells that have changed.
///
/// Each is `{row, size, mean_s, ci95_s, median_s, min_s, max_s, slow_s, runs, unfinished,
/// others, gain, resent_share, p95_queueing_delay_s, goodput_bps, shown}`: `size` is an index
/// into `sizes_bytes`, `others` who is hurt, of all sizes together: `{time_lost_share,
/// ci95, time_before_s, time_beside_it_s, runs, effect}`, `gain` what the row saves over
/// the baseline: `{share, ci95, runs}`; `shown` has the texts `time`, `ci95`, `slow`,
/// `others` and `gain`. With mixed traffic, `times` has `{name, mean_s, ci95_s}` of each
/// activity.
pub(super) fn rows(
    laboratory: &dyn Laboratory,
    answer: &Answer,
    changed: &BTreeSet<(usize, usize)>,
    (done, total): (usize, usize),
) -> Value {
    let (harms, gains) = (answer.harms(), answer.gains());
    let baseline = answer.verdict.baseline;
    let activities = answer.traffic.activities();
    let row = |(row, size): &(usize, usize)| {
        let cell = answer.rows.get(*row)?.cells.get(*size)?;
        let harm = harms.get(*row).copied().flatten();
        let gain = gains
            .get(*row)
            .copied()
            .flatten()
            .filter(|_| *row != baseline);
        let mut line = standing(laboratory, (*row, *size), cell, harm.as_ref());
        line["gain"] = gain.map_or(
            Value::Null,
            |gain| json!({ "share": gain.share, "ci95": gain.ci95, "runs": gain.runs }),
        );
        line["shown"]["gain"] = gain.map(|gain| laboratory.change(gain.share)).into();
        if activities.len() > 1 {
            line["times"] = activities.iter().map(|of| time_of(cell, *of)).collect();
        }
        Some(line)
    };
    let rows: Vec<Value> = changed.iter().filter_map(row).collect();
    json!({ "rows": rows, "progress": [done, total] })
}

/// The time of one activity of mixed traffic.
fn time_of(cell: &Cell, activity: Activity) -> Value {
    let time = cell.time_of(activity);
    json!({
        "name": activity.unit(),
        "mean_s": time.map(|time| time.mean),
        "ci95_s": time.and_then(|time| time.ci95),
    })
}

fn standing(
    laboratory: &dyn Laboratory,
    (row, size): (usize, usize),
    cell: &Cell,
    harm: Option<&Harm>,
) -> Value {
    let time = cell.time();
    let (ci95, slow) = (time.and_then(|time| time.ci95), cell.slow_s());
    let text = |seconds: f64| laboratory.time(seconds);
    json!({
        "row": row,
        "size": size,
        "mean_s": time.map(|time| time.mean),
        "ci95_s": ci95,
        "median_s": time.map(|time| time.median),
        "min_s": time.map(|time| time.min),
        "max_s": time.map(|time| time.max),
        "slow_s": slow,
        "runs": cell.runs.len(),
        "unfinished": cell.unfinished(),
        "others": harm.map(others),
        "resent_share": cell.resent_share(),
        "p95_queueing_delay_s": cell.p95_queueing_delay_s(),
        "goodput_bps": cell.goodput_bps(),
        "shown": {
            "time": time.map(|time| text(time.mean)),
            "ci95": ci95.map(text),
            "slow": slow.map(text),
            "others": harm.map(|harm| laboratory.change(harm.share)),
        },
    })
}

fn others(harm: &Harm) -> Value {
    json!({
        "time_lost_share": harm.share,
        "ci95": harm.ci95,
        "time_before_s": harm.before_s,
        "time_beside_it_s": harm.after_s,
        "runs": harm.runs,
        "effect": match harm.effect() {
            Effect::Hurts => "hurts",
            Effect::MayHurt => "may hurt",
            Effect::Helps => "helps",
            _ => "none",
        },
    })
}

/// `{"verdict": ...}`: the verdict as it stands.
///
/// It is `verdict` of `bentpipe compare --json`, and more: `headline`, `pick_row`,
/// `baseline_row`, `order` (rows, the fastest of each proxy first), `is_final`, and
/// `table`, what the command prints: `columns`, `rows` of `{row, cells}` in that order,
/// and what the columns mean in `words`.
pub(super) fn verdict(laboratory: &dyn Laboratory, answer: &Answer, is_final: bool) -> Value {
    let mut verdict = laboratory.verdict(answer);
    let order = answer.order();
    let (columns, rows, words) = laboratory.table(answer);
    let rows = order.iter().zip(rows);
    let rows = rows.map(|(row, cells)| json!({ "row": row, "cells": cells }));
    verdict["table"] = json!({
        "columns": columns,
        "rows": rows.collect::<Vec<_>>(),
        "words": words,
    });
    verdict["headline"] = answer.headline().into();
    verdict["pick_row"] = answer.verdict.pick.into();
    verdict["baseline_row"] = answer.verdict.baseline.into();
    verdict["order"] = order.into();
    verdict["is_final"] = is_final.into();
    json!({ "verdict": verdict })
}

/// `{"answer": ..., "id": ..., "done": true}`: the whole answer.
///
/// It is the document of `bentpipe compare --json`, where each of `rows` has its `row`,
/// and each of its `cells` has `runs_count` and `shared_count` instead of the runs.
pub(super) fn answer(laboratory: &dyn Laboratory, answer: &Answer, id: &str) -> Value {
    let mut document = laboratory.answer(answer);
    let order = answer.order();
    let rows = document["rows"].as_array_mut().into_iter().flatten();
    for (row, i) in rows.zip(order) {
        row["row"] = i.into();
        let cells = row["cells"].as_array_mut().into_iter().flatten();
        for cell in cells.filter_map(Value::as_object_mut) {
            counted(cell, "runs", "runs_count");
            counted(cell, "shared_runs", "shared_count");
        }
    }
    json!({ "answer": document, "id": id, "done": true })
}

/// The number of runs instead of the runs.
fn counted(cell: &mut Map<String, Value>, list: &str, count: &str) {
    let runs = cell.remove(list);
    let runs = runs.as_ref().and_then(Value::as_array).map_or(0, Vec::len);
    cell.insert(count.to_owned(), runs.into());
}
