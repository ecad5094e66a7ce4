//! `bentpipe doctor`: what this machine can do. Looks, changes nothing, never
//! fails.

mod probe;
mod verdict;

use crate::args;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_report::table::{Cell, Column, Table, Tone};
use probe::{Finding, look};
use serde_json::{Value, json};
use verdict::{Verdict, judge};

/// Looks and says.
pub(crate) fn main(args: &args::Doctor, out: &mut Output) -> Result<Status, Failure> {
    let (verdicts, findings) = (judge(), look());
    if args.json {
        out.json(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "works": verdicts.iter().map(works).collect::<Vec<Value>>(),
            "findings": findings.iter().map(found).collect::<Vec<Value>>(),
        }))?;
        return Ok(Status::Done);
    }
    out.strong("What would work here")?;
    out.line("")?;
    for verdict in &verdicts {
        let word = if verdict.works() { "yes" } else { "no" };
        out.line(format_args!(
            "  {:17} {word:4} {}",
            verdict.what, verdict.means
        ))?;
        for missing in &verdict.missing {
            out.paragraph(25, &format!("- {}: {}", missing.what, missing.remedy))?;
        }
    }
    out.line("")?;
    out.strong("What was looked for")?;
    out.line("")?;
    let mut table = Table::new([
        Column::text("what"),
        Column::text(""),
        Column::text("found"),
        Column::text("enables"),
    ]);
    for f in &findings {
        let (word, tone) = if f.there {
            ("yes", Tone::Good)
        } else {
            ("no", Tone::Warn)
        };
        table.row([
            Cell::new(f.name),
            Cell::new(word).tone(tone),
            Cell::new(f.found.clone()),
            Cell::new(f.enables).tone(Tone::Faint),
        ]);
    }
    out.table(&table)?;
    Ok(Status::Done)
}

fn works(verdict: &Verdict) -> Value {
    let missing: Vec<Value> = verdict
        .missing
        .iter()
        .map(|m| json!({ "what": m.what, "remedy": m.remedy }))
        .collect();
    json!({
        "name": verdict.what,
        "works": verdict.works(),
        "means": verdict.means,
        "missing": missing,
    })
}

fn found(finding: &Finding) -> Value {
    json!({
        "name": finding.name,
        "there": finding.there,
        "found": finding.found,
        "enables": finding.enables,
    })
}
