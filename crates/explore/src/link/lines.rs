//! The lines of an answer that is sent while it is found.
//!
//! Rows are named by their index into `rows` of the first line. Units stand in the names;
//! a share is a fraction; a number that does not exist is `null`. Texts to show are those
//! of the command.

use bentpipe::compare::record::{self, CellRecord, Runs};
use bentpipe::compare::{Answer, Build, Cell, Gain, Harm};
use bentpipe::outcome::record;
use bentpipe_present::answer as shown;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// `{"begin": ...}`: what was asked, before there is a result.
///
/// `id` names the question. `rows` are [`RowFacts`]; `link`, `hosts`, `traffic`, `users`,
/// `users_shared`, `beside`, `background`, `sizes_bytes` and `ideal_times_s` are those of `bentpipe compare --json`.
pub(super) fn begin(build: Build, answer: &Answer, id: &str) -> Value {
    let mut document = shown::document(answer, build);
    let mut take = |name: &str| document[name].take();
    let text = shown::question(answer);
    let rows = (0..answer.rows.len()).map(|row| RowFacts::of(&(answer, row)));
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

record! {
    /// A transport behind a proxy, before any run.
    pub(super) struct RowFacts of (&Answer, usize) {
        /// Index of the row, which names it.
        counter row: usize = |at| at.1;
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.0.rows[at.1].pep.name();
        /// Congestion control and what is changed around it.
        label transport: String = |at| at.0.rows[at.1].name.clone();
        /// What it is, in a line.
        label about: String = |at| at.0.candidates[at.0.rows[at.1].candidate].about.clone();
        /// How far it is from being used.
        label availability: &'static str = |at| at.0.rows[at.1].availability.name();
        /// It can be switched on today.
        label deployable: bool = |at| at.0.rows[at.1].is_deployable();
    }
}

/// A cell that has changed, and what its row does to others and gains.
struct Changed<'a> {
    answer: &'a Answer,
    row: usize,
    size: usize,
    cell: &'a Cell,
    gain: Option<Gain>,
    harm: Option<Harm>,
}

record! {
    /// How a row stands at a size.
    struct Standing of Changed<'_> {
        /// Index of the row.
        counter row: usize = |at| at.row;
        /// Index of the size.
        counter size: usize = |at| at.size;
        /// What its runs came to.
        key cell: CellRecord = |at| record::cell(at.answer, at.cell, Runs::Counted);
        /// What the row saves over the baseline, of all sizes.
        key gain: Option<Gain> = |at| at.gain;
        /// What users of the default lose beside it, of all sizes.
        key others: Option<Harm> = |at| at.harm;
        /// What the runs say of that: `hurts`, `may hurt`, `helps` or `none`.
        key effect: Option<&'static str> = |at| at.harm.map(|harm| harm.effect().name());
        /// Numbers as the command prints them.
        key shown: Texts = Texts::of;
    }
}

record! {
    /// Numbers as the command prints them.
    struct Texts of Changed<'_> {
        /// Mean time.
        label time: Option<String> = |at| at.cell.time().map(|t| shown::time(t.mean));
        /// Half of its 95% interval.
        label ci95: Option<String> = |at| at.cell.time()?.ci95.map(shown::time);
        /// Time that one in ten exceeds.
        label slow: Option<String> = |at| at.cell.slow_s().map(shown::time);
        /// What others lose.
        label others: Option<String> = |at| at.harm.map(|harm| shown::change(harm.share));
        /// What the row saves.
        label gain: Option<String> = |at| at.gain.map(|gain| shown::change(gain.share));
    }
}

/// `{"rows": [...], "progress": [done, total]}`: cells that have changed, each a
/// [`Standing`].
pub(super) fn rows(
    answer: &Answer,
    changed: &BTreeSet<(usize, usize)>,
    (done, total): (usize, usize),
) -> Value {
    let (gains, harms) = answer.effects();
    let standing = |&(row, size): &(usize, usize)| {
        Some(Standing::of(&Changed {
            answer,
            row,
            size,
            cell: answer.rows.get(row)?.cells.get(size)?,
            gain: gains[row].filter(|_| row != answer.verdict.baseline),
            harm: harms[row],
        }))
    };
    let rows: Vec<Standing> = changed.iter().filter_map(standing).collect();
    json!({ "rows": rows, "progress": [done, total] })
}

/// `{"verdict": ...}`: the verdict as it stands.
///
/// It is `verdict` of `bentpipe compare --json`, and more: `headline`, `pick_row`,
/// `baseline_row`, `order` (rows, the fastest of each proxy first), `is_final`, and
/// `table`, what the command prints: `columns`, `rows` of `{row, cells}` in that order,
/// and what the columns mean in `words`.
pub(super) fn verdict(build: Build, answer: &Answer, is_final: bool) -> Value {
    let mut verdict = shown::verdict(answer, build);
    let order = answer.order();
    let table = shown::table(answer, true, "");
    let rows = order.iter().zip(table.texts());
    let rows = rows.map(|(row, cells)| json!({ "row": row, "cells": cells }));
    verdict["table"] = json!({
        "columns": table.headings(),
        "rows": rows.collect::<Vec<_>>(),
        "words": shown::words(answer),
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
/// and each of its `cells` has the number of its runs instead of the runs.
pub(super) fn answer(build: Build, answer: &Answer, id: &str) -> Value {
    let mut document = shown::document(answer, build);
    let order = answer.order();
    let rows = document["rows"].as_array_mut().into_iter().flatten();
    for (row, i) in rows.zip(order) {
        row["row"] = i.into();
        let cells = row["cells"].as_array_mut().into_iter().flatten();
        for cell in cells.filter_map(Value::as_object_mut) {
            counted(cell, "runs");
            counted(cell, "shared_runs");
        }
    }
    json!({ "answer": document, "id": id, "done": true })
}

/// The number of runs instead of the runs.
fn counted(cell: &mut Map<String, Value>, list: &str) {
    let runs = cell.get(list).and_then(Value::as_array).map_or(0, Vec::len);
    cell.insert(list.to_owned(), runs.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe::outcome::Datum;
    use bentpipe_present::answer::AnswerRecord;

    /// Generated: with `BENTPIPE_GENERATE=write` it is written again.
    #[test]
    fn the_page_has_the_types_of_the_records() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/web/src/views/link/records.ts");
        let text = format!(
            "// Generated from the records of the server: see crates/explore/src/link/lines.rs.\n\
             // Times are in seconds unless the name says otherwise, shares are fractions.\n\n{}",
            bentpipe_present::typescript::interfaces(&[
                RowFacts::shape(),
                Standing::shape(),
                AnswerRecord::shape(),
            ])
        );
        if std::env::var_os("BENTPIPE_GENERATE").is_some_and(|how| how == "write") {
            std::fs::write(file, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap(), text, "{file}");
    }
}
