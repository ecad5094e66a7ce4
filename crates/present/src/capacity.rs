//! How many users a link carries: text and JSON.

use crate::answer::{RowName, behind, change, link_words};
use crate::output::Output;
use bentpipe::compare::record::{LinkRecord, Table as RecordTable};
use bentpipe::compare::{Build, Capacity, CapacityRow, Known, SwitchOn};
use bentpipe_outcome::{Document, record};
use bentpipe_report::table::{self, Column, Table, Tone};
use serde_json::{Value, json};
use std::io;

/// Prints everything.
///
/// # Errors
/// If it cannot be printed.
pub fn print(found: &Capacity, build: Build, out: &mut Output) -> io::Result<()> {
    for line in question(found) {
        out.paragraph(0, &line)?;
    }
    out.line("")?;
    let sentences = found.sentences();
    if let Some((headline, rest)) = sentences.split_first() {
        out.strong(headline)?;
        out.paragraph(0, &rest.join(" "))?;
    }
    let switch = found.switch_on(build);
    if !switch.text.is_empty() {
        out.paragraph(0, &switch.text)?;
    }
    for command in &switch.commands {
        out.command(4, command)?;
    }
    out.line("")?;
    out.table(&table(found))?;
    out.line("")?;
    out.paragraph(0, &words(found))
}

/// What [`print()`] prints, in lines of `width` characters.
///
/// # Errors
/// If it cannot be printed.
pub fn text(found: &Capacity, build: Build, width: usize) -> io::Result<String> {
    Output::text_of(width, |out| print(found, build, out))
}

/// What was asked.
fn question(found: &Capacity) -> Vec<String> {
    let behind = behind(&found.answer);
    let asked = format!("How many users{behind} with `{}`: each", found.target);
    link_words(&found.answer, &asked)
}

fn table(found: &Capacity) -> Table {
    let answer = &found.answer;
    let is_several = answer.peps().len() > 1;
    let mut columns = Vec::new();
    if is_several {
        columns.push(Column::text("proxy"));
    }
    columns.push(Column::text("transport"));
    columns.extend(["users", "95%", "more", "runs"].map(Column::number));
    let mut table = Table::new(columns);
    for of in &found.rows {
        let row = &answer.rows[of.row];
        let is_pick = Some(of.row) == answer.verdict.pick;
        let tone = match row.is_deployable() {
            _ if is_pick => Tone::Strong,
            true => Tone::Plain,
            false => Tone::Faint,
        };
        let mark = if is_pick { " <--" } else { "" };
        let mut cells = Vec::new();
        if is_several {
            cells.push(row.pep.name().to_owned());
        }
        cells.push(format!("{}{mark}", row.name));
        cells.extend(numbers(of, of.row == answer.verdict.baseline));
        table.row(
            cells
                .into_iter()
                .map(|text| table::Cell::new(text).tone(tone)),
        );
    }
    table
}

/// Users, their interval, what that is more than the baseline, and runs.
fn numbers(of: &CapacityRow, is_baseline: bool) -> [String; 4] {
    let unknown = || "-".to_owned();
    let users = of.users.map_or_else(unknown, |users| match of.known {
        Known::All => format!(">{users}"),
        Known::AtLeast => format!("{users} or more"),
        Known::None if of.fewest > 1 => format!("<{}", of.fewest),
        Known::Users | Known::None | Known::Nothing => users.to_string(),
    });
    let interval = of
        .interval
        .map(|[least, most]| format!("{least} to {most}"));
    let more = match is_baseline {
        true => String::new(),
        false => of.more.map_or_else(unknown, change),
    };
    [
        users,
        interval.unwrap_or_default(),
        more,
        of.runs.to_string(),
    ]
}

/// What the columns mean.
fn words(found: &Capacity) -> String {
    let base = found.answer.baseline();
    format!(
        "users: the most for whom `{}` holds if all of them have the setting. 95%: its interval. \
         more: than with {}. runs: the most with one number of users, with the same seeds \
         everywhere. -: not known, or {} carries nobody.",
        found.target, base.name, base.name
    )
}

/// A table with a row for each transport behind each proxy.
#[must_use]
pub fn rows_table(found: &Capacity) -> RecordTable {
    let rows = found.rows.iter();
    let rows = rows.map(|row| CapacityRowRecord::of(&(found, row)).cells());
    (CapacityRowRecord::columns(), rows.collect())
}

/// The document of `--json`: a [`CapacityRecord`].
pub fn document(found: &Capacity, build: Build) -> Value {
    json!(CapacityRecord::of(&(found, build)))
}

record! {
    /// How many users a link carries.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct CapacityRecord of (&Capacity, Build) {
        /// What users must be given.
        label until: String = |at| at.0.target.to_string();
        /// The link.
        key link: LinkRecord = |at| LinkRecord::of(&at.0.answer.path);
        /// What the users do.
        label traffic: String = |at| at.0.answer.traffic.to_string();
        /// Terminals behind which users are, each with a return link of its own, where there are
        /// several.
        optional terminals: u32 = |at| Some(at.0.answer.terminals).filter(|n| *n > 1);
        /// Size of a download, or of a page on average.
        counter size_bytes: u64 = |at| at.0.answer.sizes.first().map_or(0, |size| size.get());
        /// Bitrate of the videos.
        gauge video_bitrate_bps: u64 = |at| at.0.answer.bitrate.bps();
        /// Traffic that no transport controls.
        label background: Option<String> = |at| at.0.answer.background.map(|b| b.to_string());
        /// Seed of the first run.
        counter seed: u64 = |at| at.0.answer.seed;
        /// Packets that all runs took over links.
        counter packets: u64 = |at| at.0.packets;
        /// `use`, `keep` or `open`.
        label advice: &'static str = |at| at.0.advice.name();
        /// The recommended row.
        part pick: RowName = |at| {
            at.0.answer.verdict.pick.map(|row| RowName::of(&(&at.0.answer, row)))
        };
        /// The row that others are held against.
        key baseline: RowName = |at| {
            RowName::of(&(&at.0.answer, at.0.answer.verdict.baseline))
        };
        /// The advice in sentences; the first is the headline.
        key text: Vec<String> = |at| at.0.sentences();
        /// How the pick is switched on.
        key switch_on: SwitchOn = |at| at.0.switch_on(at.1);
        /// Each proxy with each transport, the most users first.
        key rows: Vec<CapacityRowRecord> = |at| {
            let rows = at.0.rows.iter();
            rows.map(|row| CapacityRowRecord::of(&(at.0, row))).collect()
        };
    }
}

record! {
    /// How many users a link carries with a transport behind a proxy.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct CapacityRowRecord of (&Capacity, &CapacityRow) {
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.0.answer.rows[at.1.row].pep.name();
        /// Congestion control and what is changed around it.
        label transport: String = |at| at.0.answer.rows[at.1.row].name.clone();
        /// True if all of it can be switched on today.
        label deployable: bool = |at| at.0.answer.rows[at.1.row].is_deployable();
        /// `users`, `all` (as many as are tried, and maybe more), `at least` (there was no time for
        /// more), `none` or `nothing` (there was no time).
        label known: &'static str = |at| at.1.known.name();
        /// The most users that are given what they must be; null if that was not found.
        gauge users: Option<u32> = |at| at.1.users;
        /// Smallest of its 95% interval.
        gauge least_users: Option<u32> = |at| at.1.interval.map(|interval| interval[0]);
        /// Largest of its 95% interval.
        gauge most_users: Option<u32> = |at| at.1.interval.map(|interval| interval[1]);
        /// Users over those of the baseline, less one.
        gauge more_share: Option<f64> = |at| at.1.more;
        /// Half of its 95% interval.
        gauge more_ci95_share: Option<f64> = |at| at.1.more_ci95;
        /// Most runs with one number of users.
        counter runs: usize = |at| at.1.runs;
    }
}
