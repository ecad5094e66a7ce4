//! Why one row is faster than another: where the time of a run of each went, what its
//! sender did, and what explains the difference.

use super::time;
use crate::output::{Output, digits3};
use bentpipe::compare::Answer;
use bentpipe::recording::{Act, Doing, Explained, Facts, Range, Spent, difference};
use bentpipe::units::Time;
use bentpipe_outcome::record;
use bentpipe_report::table::{Cell, Column, Table, Tone};
use bentpipe_report::text::seconds;
use std::io;

/// The rows to explain: what is held against, and what it is about. `names` are rows as
/// the table prints them. Of one name, what it is held against is the baseline; of none,
/// the row that is explained is the recommended one, or the fastest other that can be
/// switched on where the advice is to keep what there is.
///
/// # Errors
/// If a name is none of a row.
pub fn rows(answer: &Answer, names: &[String]) -> Result<Vec<usize>, bentpipe::Error> {
    let named: Result<Vec<usize>, _> = names.iter().map(|name| answer.row_named(name)).collect();
    let base = answer.verdict.baseline;
    let mut rows = match named?.as_slice() {
        [] => vec![base, recommended_or_fastest(answer)],
        [one] => vec![base, *one],
        [one, other] => vec![*other, *one],
        several => several.to_vec(),
    };
    rows.dedup();
    Ok(rows)
}

/// The recommended row; where nothing is to be changed, the fastest other row that can be
/// switched on.
fn recommended_or_fastest(answer: &Answer) -> usize {
    let base = answer.verdict.baseline;
    let pick = answer.verdict.pick.filter(|pick| *pick != base);
    let mean = |i: usize| {
        let cell = answer.rows[i].cells.last();
        cell.and_then(bentpipe::compare::Cell::time)
            .map(|time| time.mean)
    };
    let is_other = |i: &usize| *i != base && answer.rows[*i].is_deployable();
    let others = (0..answer.rows.len()).filter(is_other);
    let fastest = others
        .filter_map(|i| Some((mean(i)?, i)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    pick.or(fastest.map(|(_, row)| row)).unwrap_or(base)
}

/// What `--why --json` prints as `why`.
#[must_use]
pub fn document(answer: &Answer, explained: &[Explained]) -> serde_json::Value {
    serde_json::json!(WhyRecord::of(&(answer, explained)))
}

/// What `--why` prints, in lines of `width` characters.
///
/// # Errors
/// If it cannot be printed.
pub fn text(answer: &Answer, explained: &[Explained], width: usize) -> io::Result<String> {
    Output::text_of(width, |out| print(answer, explained, out))
}

/// Prints where the time of each row went, what each sender did, and why they differ.
///
/// # Errors
/// If the writer fails.
pub fn print(answer: &Answer, explained: &[Explained], out: &mut Output) -> io::Result<()> {
    let names: Vec<&str> = explained.iter().map(|one| one.name.as_str()).collect();
    out.strong_paragraph(&format!("Why: {}", names.join(" beside ")))?;
    out.paragraph(0, &which(answer, explained))?;
    out.line("")?;
    out.table(&table(answer, explained))?;
    for one in explained {
        out.line("")?;
        out.strong(&one.name)?;
        for line in &one.why.summary {
            out.paragraph(2, line)?;
        }
        for act in &one.why.acts {
            let title = format!(
                "{}, {} to {}:",
                act.title,
                seconds(act.from.as_secs()),
                seconds(act.to.as_secs())
            );
            out.line(format_args!("  {title}"))?;
            out.paragraph(4, &act.sentences.join(" "))?;
        }
    }
    if let [base, other] = explained {
        out.line("")?;
        out.paragraph(0, &explanation(answer, base, other).join(" "))?;
    }
    Ok(())
}

fn explanation(answer: &Answer, base: &Explained, other: &Explained) -> Vec<String> {
    difference(
        answer,
        (&base.name, &base.recording),
        (&other.name, &other.recording),
    )
}

/// Which runs and whose.
fn which(answer: &Answer, explained: &[Explained]) -> String {
    let Some(first) = explained.first() else {
        return String::new();
    };
    let is_median = answer.rows[first.row].cells[first.size].runs.len() > 1;
    let one = |one: &Explained| (one.recording.seed, one.recording.user);
    let of_user = |one: &Explained| match answer.users {
        1 => String::new(),
        n => format!(", user {} of {n}", one.recording.user + 1),
    };
    let nearest = match answer.users {
        1 => "",
        _ => " (whose time is nearest to the mean of the users)",
    };
    let mut text = format!("Seed {}{}{nearest}", one(first).0, of_user(first));
    if is_median {
        text += &format!(": the run of {} of median time", first.name);
    }
    let same = explained.iter().all(|other| one(other) == one(first));
    if explained.len() > 1 && same {
        text += match is_median {
            true => ", and the same run of the other",
            false => " of both",
        };
    } else if let Some(other) = explained.get(1) {
        text += &format!(
            "; of {} that of median time, seed {}{}, since it did not end there",
            other.name,
            other.recording.seed,
            of_user(other)
        );
    }
    if answer.sizes.len() > 1 {
        text += &format!("; with {}", answer.sizes[first.size]);
    }
    format!("{text}.")
}

/// A line of the table: a value of each run, and how it is printed.
struct Line {
    title: String,
    values: Vec<Option<f64>>,
    shown: fn(f64) -> String,
    /// Printed even if no run has anything there.
    always: bool,
}

/// The parts of the time, and what was measured over it.
fn table(answer: &Answer, explained: &[Explained]) -> Table {
    let two = explained.len() == 2;
    let mut columns = vec![Column::text("")];
    columns.extend(explained.iter().map(|one| Column::number(one.name.clone())));
    if two {
        columns.push(Column::number("change"));
    }
    let mut table = Table::new(columns);
    let lines = lines(answer, explained);
    for line in lines {
        if !line.always
            && line
                .values
                .iter()
                .all(|value| value.is_none_or(|x| x == 0.0))
        {
            continue;
        }
        let texts = line
            .values
            .iter()
            .map(|value| value.map_or_else(|| "-".to_owned(), line.shown));
        let mut cells: Vec<String> = std::iter::once(line.title).chain(texts).collect();
        if let (true, [Some(before), Some(after)]) = (two, line.values.as_slice()) {
            cells.push(changed(*before, *after, line.shown));
        } else if two {
            cells.push(String::new());
        }
        let tone = if line.always {
            Tone::Strong
        } else {
            Tone::Plain
        };
        table.row(cells.into_iter().map(|text| Cell::new(text).tone(tone)));
    }
    table.note(
        "Slow start and congestion avoidance stand also for what a congestion control has in their \
         place, such as Startup and ProbeBW of BBR.",
    )
}

/// A time that may be none.
fn spent_s(seconds: f64) -> String {
    match seconds {
        0.0 => "0".to_owned(),
        seconds => time(seconds),
    }
}

/// The difference of two values, as they are printed; empty where they print the same.
fn changed(before: f64, after: f64, shown: fn(f64) -> String) -> String {
    if shown(before) == shown(after) {
        return String::new();
    }
    let sign = if after < before { "-" } else { "+" };
    format!("{sign}{}", shown((after - before).abs()))
}

fn lines(answer: &Answer, explained: &[Explained]) -> Vec<Line> {
    let of = |title: String, value: &dyn Fn(&Explained) -> Option<f64>, shown| Line {
        title,
        values: explained.iter().map(value).collect(),
        shown,
        always: false,
    };
    let whole: fn(f64) -> String = |x| format!("{x:.0}");
    let mut lines: Vec<Line> = Doing::ALL
        .iter()
        .map(|(_, title, doing)| {
            let spent = |one: &Explained| Some(one.spent.as_ref()?.of(*doing).as_secs());
            of(format!("{title} [s]"), &spent, spent_s)
        })
        .collect();
    let total = |one: &Explained| Some(one.spent.as_ref()?.total().as_secs());
    lines.push(Line {
        always: true,
        ..of("Time [s]".to_owned(), &total, time)
    });
    let idle = |one: &Explained| one.spent.as_ref()?.idle_s();
    lines.push(of("of it, link idle [s]".to_owned(), &idle, time));
    let mean = |get: fn(&Facts) -> Option<Range>| {
        move |one: &Explained| get(&one.whole).map(|range| range.mean)
    };
    lines.push(of(
        "window, mean [segments]".to_owned(),
        &mean(|f| f.cwnd),
        digits3,
    ));
    lines.push(of(
        "in flight, mean [segments]".to_owned(),
        &mean(|f| f.flight),
        digits3,
    ));
    let waits = |one: &Explained| one.queueing_s(answer).map(|s| 1e3 * s);
    lines.push(of(
        "queueing per RTT, mean [ms]".to_owned(),
        &waits,
        digits3,
    ));
    let lost = |one: &Explained| Some(one.recording.losses.len() as f64);
    lines.push(of("segments lost".to_owned(), &lost, whole));
    let resent = |one: &Explained| Some(one.recording.resent.len() as f64);
    lines.push(of("segments sent again".to_owned(), &resent, whole));
    let timeouts = |one: &Explained| Some(one.recording.timeouts.len() as f64);
    lines.push(of("timeouts".to_owned(), &timeouts, whole));
    lines
}

record! {
    /// Why rows differ: what `compare --why --json` adds to the answer as `why`.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct WhyRecord of (&Answer, &[Explained]) {
        /// The row that is held against, and then the one that is explained.
        key runs: Vec<ExplainedRecord> = |at| {
            at.1.iter().map(|one| ExplainedRecord::of(&(at.0, one))).collect()
        };
        /// Sentences on why the second takes another time than the first; none of one row.
        key difference: Vec<String> = |at| match at.1 {
            [base, other] => explanation(at.0, base, other),
            _ => Vec::new(),
        };
    }
}

record! {
    /// One run of a row, explained.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct ExplainedRecord of (&Answer, &Explained) {
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.0.rows[at.1.row].pep.name();
        /// Congestion control and what is changed around it.
        label transport: String = |at| at.0.rows[at.1.row].name.clone();
        /// Seed of the run.
        counter seed: u64 = |at| at.1.recording.seed;
        /// The number of the user, from 1 on.
        counter user: u32 = |at| at.1.recording.user + 1;
        /// From the beginning to the end of the user's time.
        gauge time_s: Option<f64> = |at| Some(at.1.spent.as_ref()?.total().as_secs());
        /// Time of it that the link was idle; null where its rate changes.
        gauge link_idle_s: Option<f64> = |at| at.1.spent.as_ref()?.idle_s();
        /// The parts of the time, which add up to it.
        key spent: Vec<SpentRecord> = |at| {
            let parts = at.1.spent.iter().flat_map(|spent| &spent.parts);
            parts.map(SpentRecord::of).collect()
        };
        /// Congestion window on average over time.
        gauge mean_cwnd_segments: Option<f64> = |at| at.1.whole.cwnd.map(|range| range.mean);
        /// Segments in flight on average over time.
        gauge mean_flight_segments: Option<f64> = |at| at.1.whole.flight.map(|range| range.mean);
        /// How far the mean RTT lies above the propagation; null where that changes.
        gauge mean_queueing_s: Option<f64> = |at| at.1.queueing_s(at.0);
        /// Segments lost.
        counter lost: usize = |at| at.1.recording.losses.len();
        /// Segments sent again.
        counter resent: usize = |at| at.1.recording.resent.len();
        /// Retransmission timeouts.
        counter timeouts: usize = |at| at.1.recording.timeouts.len();
        /// The run in a few sentences.
        key summary: Vec<String> = |at| at.1.why.summary.clone();
        /// What the sender did, act after act.
        key acts: Vec<ActRecord> = |at| at.1.why.acts.iter().map(ActRecord::of).collect();
    }
}

record! {
    /// A part of the time.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct SpentRecord of Spent {
        /// `handshake`, `slow_start`, `congestion_avoidance`, `recovery`, `timeout`,
        /// `receive_window` or `application`.
        label doing: &'static str = |spent| spent.doing.name();
        /// How long in all.
        gauge time_s: f64 = |spent| spent.time.as_secs();
        /// Share of it that the link was busy; null where its rate changes.
        gauge busy_share: Option<f64> = |spent| spent.busy;
        /// Congestion window over it on average; null without a sample.
        gauge mean_cwnd_segments: Option<f64> = |spent| spent.cwnd;
    }
}

record! {
    /// A time in which the sender did one thing, or a few in turn.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct ActRecord of Act {
        /// What it did.
        label title: String = |act| act.title.clone();
        /// Its beginning, seconds of the run.
        gauge from_s: f64 = |act| Time::as_secs(act.from);
        /// Its end.
        gauge to_s: f64 = |act| Time::as_secs(act.to);
        /// What happened, in sentences.
        key text: Vec<String> = |act| act.sentences.clone();
    }
}
