//! `bentpipe cc check`: a short battery beside CUBIC.

use crate::args::CcCheck;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_outcome::FlowOutcome;
use bentpipe_report::table::{Column, Table};
use bentpipe_units::Duration;
use serde_json::{Value, json};

/// What the control is compared with.
const BESIDE: &str = "cubic";

/// A case: what it is, and its link.
const CASES: [(&str, &str); 3] = [
    (
        "GEO, no loss",
        "rate = \"20 Mbit/s\"\nround_trip_delay = \"600 ms\"\nqueue = \"1 BDP\"",
    ),
    (
        "GEO, 1% loss",
        "rate = \"20 Mbit/s\"\nround_trip_delay = \"600 ms\"\nqueue = \"1 BDP\"\n\
         channel = { kind = \"uniform\", packet_error_rate = \"1%\" }",
    ),
    (
        "LEO, handovers",
        "rate = \"50 Mbit/s\"\nround_trip_delay = \"40 ms\"\nqueue = \"1 BDP\"\nrepeat = \"30 s\"\n\
         timeline = [{ at = \"0 s\", up = true, one_way_delay = \"20 ms\" }, \
         { at = \"14.9 s\", up = false }, \
         { at = \"15 s\", up = true, one_way_delay = \"35 ms\" }, \
         { at = \"29.9 s\", up = false }]",
    ),
];

/// Hosts that it runs on.
const PROFILES: [&str; 2] = ["rfc", "linux"];

/// What is downloaded.
const SIZE: &str = "30 MB";

fn scenario(link: &str, transport: &str, profile: &str) -> String {
    format!(
        "duration = \"900 s\"\n[node.server]\n[node.client]\n[link.satellite]\n\
         between = [\"server\", \"client\"]\n{link}\n\
         [transport.tried]\nbase = \"{transport}\"\nprofile = \"{profile}\"\n\
         [flow.download]\nfrom = \"server\"\nto = \"client\"\ntransport = \"tried\"\n\
         application = {{ kind = \"transfer\", size = \"{SIZE}\" }}\n"
    )
}

/// What a download came to.
struct Tried {
    time: Option<Duration>,
    largest: f64,
    fault: Option<String>,
}

fn run(link: &str, transport: &str, profile: &str) -> Result<Tried, Failure> {
    let scenario = bentpipe::parse(&scenario(link, transport, profile))?;
    let initial = scenario
        .flows
        .first()
        .and_then(|flow| flow.transport.as_ref());
    let initial = initial.map_or(1.0, |transport| transport.initial_window);
    let outcome = match bentpipe::run(&scenario) {
        Ok(outcome) => outcome,
        Err(error) => {
            return Ok(Tried {
                time: None,
                largest: f64::NAN,
                fault: Some(error.to_string()),
            });
        }
    };
    let flow = outcome.flows.first();
    let largest = flow.map_or(f64::NAN, |flow| flow.max_cwnd);
    Ok(Tried {
        time: flow.and_then(|flow| flow.transfer_time),
        largest,
        fault: flow.and_then(|flow| fault(flow, initial)),
    })
}

/// What is wrong with a download that ran.
fn fault(flow: &FlowOutcome, initial: f64) -> Option<String> {
    if flow.max_cwnd <= initial {
        return Some(format!(
            "the window never grew beyond the initial {initial} segments"
        ));
    }
    let ended = flow.transfer_time.is_some();
    (!ended).then(|| format!("{SIZE} had not arrived after 900 s"))
}

fn in_words(time: Option<Duration>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| format!("{:.1} s", time.as_secs()))
}

/// Runs the battery.
pub(crate) fn main(args: &CcCheck, out: &mut Output) -> Result<Status, Failure> {
    let controls = bentpipe::register_files(std::slice::from_ref(&args.file))?;
    let Some(control) = controls.first() else {
        return Ok(Status::Done);
    };
    let name = control.name();
    let mut table = Table::new([
        Column::text("link"),
        Column::text("hosts"),
        Column::number(name),
        Column::number(BESIDE),
        Column::number("largest cwnd"),
    ]);
    let (mut faults, mut rows) = (Vec::new(), Vec::new());
    for (case, link) in CASES {
        for profile in PROFILES {
            let own = run(link, name, profile)?;
            let beside = run(link, BESIDE, profile)?;
            table.row([
                case.to_owned(),
                profile.to_owned(),
                in_words(own.time),
                in_words(beside.time),
                format!("{:.0}", own.largest),
            ]);
            rows.push(json!({
                "link": case,
                "hosts": profile,
                "time_ns": own.time.map(Duration::as_nanos),
                "cubic_time_ns": beside.time.map(Duration::as_nanos),
                "max_cwnd_segments": crate::output::number(own.largest),
                "fault": own.fault,
            }));
            faults.extend(own.fault.map(|fault| format!("{case}, {profile}: {fault}")));
        }
    }
    let status = if faults.is_empty() {
        Status::Done
    } else {
        Status::Worse
    };
    if args.json {
        let document = json!({
            "name": name,
            "summary": control.described().summary,
            "fingerprint": control.fingerprint(),
            "cases": Value::Array(rows),
        });
        out.json(&document)?;
        return Ok(status);
    }
    out.strong(format_args!("{name}: {}", control.described().summary))?;
    out.line("")?;
    out.line(format_args!("Time of a download of {SIZE}:"))?;
    out.table(&table)?;
    out.line("")?;
    if faults.is_empty() {
        out.line("No faults.")?;
    }
    for fault in faults {
        out.point(&fault)?;
    }
    Ok(status)
}
