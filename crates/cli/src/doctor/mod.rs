//! `bentpipe doctor`: what this machine can do. Looks, changes nothing, never
//! fails.

mod probe;
mod verdict;

use crate::args;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_report::table::wrap;
use probe::{Finding, look};
use serde_json::{Value, json};
use verdict::{Verdict, judge};

/// Columns of a line.
const WIDTH: usize = 98;

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
    for f in &findings {
        let word = match f.there {
            Some(true) => "yes",
            Some(false) => "no",
            None => "?",
        };
        // The first line begins with its name, the others under its text.
        let text = format!("{} ({})", f.found, f.enables);
        for (i, line) in wrap(&text, WIDTH - 19).into_iter().enumerate() {
            match i {
                0 => out.line(format_args!("  {:12} {word:3} {line}", f.name))?,
                _ => out.line(format_args!("{:19}{line}", ""))?,
            }
        }
    }
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
