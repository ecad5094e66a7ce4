//! `bentpipe doctor`: what this machine can do. Looks, changes nothing, never
//! fails.

mod probe;
mod verdict;

use crate::args;
use crate::exit::{Failure, Status};
use crate::output::Output;
use probe::{Finding, look};
use serde_json::{Value, json};
use verdict::{Verdict, judge};

/// Whether the process may make namespaces and devices.
#[cfg(feature = "explore")]
pub(crate) fn is_root() -> bool {
    look()
        .iter()
        .any(|one| one.name == "root" && one.there == Some(true))
}

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
        let term = format!("{:17} {word}", verdict.what);
        out.entry(2, &term, 21, verdict.means)?;
        for missing in &verdict.missing {
            let text = format!("- {}: {}", missing.what, missing.remedy);
            out.entry(2, "", 21, &text)?;
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
        let term = format!("{:12} {word}", f.name);
        out.entry(2, &term, 16, &format!("{} ({})", f.found, f.enables))?;
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
