//! `bentpipe cc check`: a short battery beside CUBIC.

use super::battery::{BESIDE, Battery, Tried};
use super::child::{self, Report};
use super::trial::{self, Crash, Ended};
use crate::args::CcCheck;
use crate::exit::{Failure, Status};
use crate::output::{Output, number};
use bentpipe_report::table::{Column, Table};
use bentpipe_units::Duration;
use serde_json::{Value, json};
use std::env;
use std::path::PathBuf;

fn in_words(time_ns: Option<u64>) -> String {
    time_ns.map_or_else(
        || "-".to_owned(),
        |time| format!("{:.1} s", Duration::from_nanos(time).as_secs()),
    )
}

/// Runs the battery in a process of its own, or is that process.
pub(crate) fn main(args: &CcCheck, out: &mut Output) -> Result<Status, Failure> {
    if let Some(folder) = env::var_os(child::FOLDER) {
        let battery = match env::var_os(child::SHORT) {
            Some(_) => Battery::Short,
            None => Battery::Whole,
        };
        child::main(&args.file, &PathBuf::from(folder), battery)?;
        return Ok(Status::Done);
    }
    match trial::run(&args.file, Battery::Whole, args.patience)? {
        Ended::Crashed(crash) => crashed(&crash, args, out),
        Ended::Reported(Report::Refused { text, rendered }) => Err(if rendered {
            Failure::Rendered(text)
        } else {
            Failure::Message(text)
        }),
        Ended::Reported(Report::Ran {
            name,
            summary,
            fingerprint,
            cases,
        }) => {
            let sound = cases.iter().all(|case| case.fault.is_none());
            if args.json {
                out.json(&json!({
                    "name": name,
                    "summary": summary,
                    "fingerprint": fingerprint,
                    "cases": cases.iter().map(json_of).collect::<Vec<_>>(),
                    "crash": null,
                }))?;
            } else {
                out.strong(format_args!("{name}: {summary}"))?;
                out.line("")?;
                print(&name, &cases, out)?;
            }
            Ok(if sound { Status::Done } else { Status::Worse })
        }
    }
}

fn crashed(crash: &Crash, args: &CcCheck, out: &mut Output) -> Result<Status, Failure> {
    if args.json {
        out.json(&json!({ "cases": [], "crash": crash.json() }))?;
    } else {
        out.point(&crash.text)?;
    }
    Ok(Status::Worse)
}

fn json_of(case: &Tried) -> Value {
    json!({
        "link": case.link,
        "hosts": case.hosts,
        "time_ns": case.time_ns,
        "cubic_time_ns": case.beside_ns,
        "max_cwnd_segments": number(case.largest.unwrap_or(f64::NAN)),
        "fault": case.fault,
    })
}

fn print(name: &str, cases: &[Tried], out: &mut Output) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::text("link"),
        Column::text("hosts"),
        Column::number(name),
        Column::number(BESIDE),
        Column::number("largest cwnd"),
    ]);
    for case in cases {
        table.row([
            case.link.clone(),
            case.hosts.clone(),
            in_words(case.time_ns),
            in_words(case.beside_ns),
            format!("{:.0}", case.largest.unwrap_or(f64::NAN)),
        ]);
    }
    let size = Battery::Whole.size();
    out.line(format_args!("Time of a download of {size}:"))?;
    out.table(&table)?;
    out.line("")?;
    if cases.iter().all(|case| case.fault.is_none()) {
        out.line("No faults.")?;
    }
    for case in cases {
        if let Some(fault) = &case.fault {
            out.point(&format!("{}, {}: {fault}", case.link, case.hosts))?;
        }
    }
    Ok(())
}
