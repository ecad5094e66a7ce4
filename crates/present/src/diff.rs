//! What differs between two answers, two outcomes or two scenarios, as text.

use crate::output::{Output, digits3};
use bentpipe::diff::{Difference, ResultChange};
use bentpipe_report::table::{Cell, Column, Table};
use std::io;

/// What `bentpipe diff --json` prints.
#[must_use]
pub fn document(found: &Difference) -> serde_json::Value {
    serde_json::json!(found)
}

/// What `bentpipe diff` prints, in lines of `width` characters; `names` are what the two are
/// called.
///
/// # Errors
/// If it cannot be printed.
pub fn text(found: &Difference, names: &[String; 2], width: usize) -> io::Result<String> {
    Output::text_of(width, |out| print(found, names, out))
}

/// Prints what differs; `names` are what the two are called.
///
/// # Errors
/// If the writer fails.
pub fn print(found: &Difference, names: &[String; 2], out: &mut Output) -> io::Result<()> {
    let [before, after] = names;
    if found.is_same() {
        return out.paragraph(0, &format!("The two {}s are the same.", found.kind));
    }
    out.line(format_args!("A: {before}"))?;
    out.line(format_args!("B: {after}"))?;
    if !found.settings.is_empty() {
        out.line("")?;
        out.strong(match found.kind {
            "answer" => "Asked otherwise",
            _ => "Set otherwise",
        })?;
        let mut table = Table::new([Column::text(""), Column::text("A"), Column::text("B")]);
        for change in &found.settings {
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
            let cells = [
                change.path.clone(),
                shown(&change.before),
                shown(&change.after),
            ];
            table.row(cells.map(Cell::new));
        }
        out.long_table(table)?;
    }
    if found.kind == "scenario" {
        return Ok(());
    }
    out.line("")?;
    if found.results.is_empty() {
        return out.paragraph(0, "The results are the same.");
    }
    out.strong("Results, the largest difference first")?;
    for change in found.results.iter().filter(|change| is_text(change)) {
        let name = format!("{} of the {}", change.metric, change.subject);
        for (side, text) in [("A", &change.before_text), ("B", &change.after_text)] {
            let text = text.as_deref().unwrap_or(NONE);
            out.paragraph(2, &format!("{name} in {side}: {text}"))?;
        }
    }
    let numbers: Vec<&ResultChange> = found.results.iter().filter(|c| !is_text(c)).collect();
    if !numbers.is_empty() {
        out.long_table(results(&numbers))?;
    }
    Ok(())
}

/// What stands for a value that only the other has.
const NONE: &str = "-";

fn is_text(change: &ResultChange) -> bool {
    change.before_text.is_some() || change.after_text.is_some()
}

fn results(changes: &[&ResultChange]) -> Table {
    let has_intervals = changes.iter().any(|change| change.beyond_chance.is_some());
    let mut columns = vec![
        Column::text(""),
        Column::text("result"),
        Column::number("A"),
        Column::number("B"),
        Column::number("change"),
    ];
    if has_intervals {
        columns.push(Column::text("beyond chance"));
    }
    let mut table = Table::new(columns);
    for change in changes {
        let mut cells = vec![
            change.subject.clone(),
            change.metric.clone(),
            number(change.before, change.before_ci95),
            number(change.after, change.after_ci95),
            share(change),
        ];
        if has_intervals {
            let beyond = match change.beyond_chance {
                Some(true) => "yes",
                Some(false) => "no",
                None => "",
            };
            cells.push(beyond.to_owned());
        }
        table.row(cells.into_iter().map(Cell::new));
    }
    match has_intervals {
        true => table.note(
            "±: half of the 95% interval. beyond chance: the difference is larger than the interval \
             of the difference of two independent means.",
        ),
        false => table,
    }
}

/// A number with its interval.
fn number(value: Option<f64>, ci95: Option<f64>) -> String {
    let shown = |x: f64| match x.fract() == 0.0 && x.abs() < 1e15 {
        // Counts, sizes and times in nanoseconds are whole.
        true => format!("{x:.0}"),
        false => digits3(x),
    };
    match (value, ci95) {
        (None, _) => NONE.to_owned(),
        (Some(x), None) => shown(x),
        (Some(x), Some(ci95)) => format!("{} ±{}", shown(x), digits3(ci95)),
    }
}

/// By how much the second is more than the first: a percentage, or a factor.
fn share(change: &ResultChange) -> String {
    match change.change_share {
        None => String::new(),
        Some(share) if share >= 9.0 => format!("x {}", digits3(share + 1.0)),
        Some(share) => format!("{:+.1}%", 100.0 * share),
    }
}
