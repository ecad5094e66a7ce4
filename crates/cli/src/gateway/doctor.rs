//! `bentpipe gateway doctor`: what is wrong, and how it is mended.

use super::file::read;
use crate::args::gateway::GatewayDoctor;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_gateway::operate::client::{self, AskError};
use bentpipe_gateway::operate::{Finding, Severity, check};
use serde_json::{Value, json};

/// Examines the machine, and the gateway where it runs.
pub(super) fn main(args: &GatewayDoctor, out: &mut Output) -> Result<Status, Failure> {
    let config = read(&args.file)?;
    let mut findings = check::machine(&config);
    match client::status(&config.status.control) {
        Ok(status) => findings.extend(check::running(&config, &status)),
        Err(why) => findings.push(Finding {
            what: "gateway",
            severity: match why {
                AskError::NotRunning(_) => Severity::Warning,
                _ => Severity::Error,
            },
            found: why.to_string(),
            remedy: format!("start it: bentpipe gateway {}", args.file.display()),
        }),
    }
    let broken = is_broken(&findings);
    if args.json {
        let list: Vec<Value> = findings.iter().map(Finding::json).collect();
        out.json(&json!({ "works": !broken, "findings": list }))?;
    } else {
        print(&findings, out)?;
    }
    Ok(if broken { Status::Worse } else { Status::Done })
}

/// Whether one of them keeps the gateway from working.
pub(super) fn is_broken(findings: &[Finding]) -> bool {
    findings.iter().any(|it| it.severity == Severity::Error)
}

/// One finding after the other, the remedy below.
pub(super) fn print(findings: &[Finding], out: &mut Output) -> Result<(), Failure> {
    for it in findings {
        let term = format!("{:7}  {}", it.severity.word(), it.what);
        out.entry(2, &term, 27, &it.found)?;
        if !it.remedy.is_empty() {
            out.entry(2, "", 27, &format!("-> {}", it.remedy))?;
        }
    }
    Ok(())
}
