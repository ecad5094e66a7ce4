//! Verdicts on packetdrill scripts, as text.

use crate::output::Output;
use bentpipe_packetdrill::{Difference, Report, Suite, Verdict};
use bentpipe_report::table::{Cell, Column, Table};
use std::io;

/// Prints the verdict on each script, what differs or is missing, and the sums.
///
/// # Errors
/// If the writer fails.
pub fn print(suite: &Suite, out: &mut Output) -> io::Result<()> {
    for report in &suite.scripts {
        script(report, out)?;
    }
    if suite.scripts.len() < 2 {
        return Ok(());
    }
    out.line("")?;
    let counts = suite.counts;
    let mut table = Table::new([Column::text("verdict"), Column::number("scripts")]);
    let rows = [
        ("pass", counts.pass),
        ("fail", counts.fail),
        ("not modelled", counts.not_modelled),
        ("unreadable", counts.unreadable),
    ];
    for (name, number) in rows.into_iter().filter(|(_, number)| *number > 0) {
        table.row([Cell::new(name), Cell::new(number.to_string())]);
    }
    table.total([Cell::new("all"), Cell::new(suite.scripts.len().to_string())]);
    out.table(&table)?;
    if suite.not_modelled.is_empty() {
        return Ok(());
    }
    out.line("")?;
    let mut table = Table::new([Column::prose("not modelled"), Column::number("scripts")]);
    for missing in &suite.not_modelled {
        table.row([
            Cell::new(missing.what.clone()),
            Cell::new(missing.scripts.to_string()),
        ]);
    }
    out.long_table(table)
}

fn script(report: &Report, out: &mut Output) -> io::Result<()> {
    let name = &report.script;
    let verdict = report.verdict.name();
    match &report.verdict {
        Verdict::Pass => out.line(format_args!("{verdict}: {name}"))?,
        Verdict::Fail { difference } => {
            let Difference { line, what, .. } = difference;
            out.line(format_args!("{verdict}: {name}:{line}: {what}"))?;
            sides(difference, out)?;
        }
        Verdict::NotModelled { reason } => {
            out.line(format_args!(
                "{verdict}: {name}:{}: {}",
                reason.line, reason.what
            ))?;
            if let Some(difference) = &reason.difference {
                let Difference { line, what, .. } = difference;
                out.line(format_args!("  without it, line {line}: {what}"))?;
                sides(difference, out)?;
            }
        }
        Verdict::Unreadable {
            line,
            column,
            message,
        } => out.line(format_args!("{verdict}: {name}:{line}:{column}: {message}"))?,
    }
    for text in &report.printed {
        out.line(format_args!("  printed: {text}"))?;
    }
    Ok(())
}

/// What is expected and what was found, one above the other.
fn sides(difference: &Difference, out: &mut Output) -> io::Result<()> {
    let width = difference
        .expected
        .chars()
        .count()
        .max(difference.found.chars().count());
    let sides = [
        ("expected", &difference.expected, &difference.expected_at),
        ("found", &difference.found, &difference.found_at),
    ];
    for (name, text, at) in sides {
        let at = match at.as_str() {
            "" => String::new(),
            at => format!("  {at}"),
        };
        let line = format!("  {name:<8}  {text:<width$}{at}");
        out.line(line.trim_end())?;
    }
    Ok(())
}
