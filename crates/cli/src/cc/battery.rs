//! The downloads by which a congestion control is tried.

use crate::exit::Failure;
use bentpipe_outcome::FlowOutcome;
use bentpipe_units::Duration;
use serde::{Deserialize, Serialize};

/// What a control is compared with.
pub(super) const BESIDE: &str = "cubic";

/// Hosts that it runs on.
const PROFILES: [&str; 2] = ["rfc", "linux"];

/// Links: what they are, and their keys.
const LINKS: [(&str, &str); 3] = [
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

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Battery {
    /// Everything, beside CUBIC.
    Whole,
    /// Whether the control survives shorter downloads: before its first use.
    Short,
}

impl Battery {
    /// What is downloaded.
    pub(super) fn size(self) -> &'static str {
        match self {
            Battery::Whole => "30 MB",
            Battery::Short => "5 MB",
        }
    }

    pub(super) fn cases() -> impl Iterator<Item = Case> {
        let links = LINKS.into_iter();
        links.flat_map(|(link, keys)| PROFILES.map(|hosts| Case { link, keys, hosts }))
    }

    /// Runs a case.
    pub(super) fn run(self, case: &Case, control: &str) -> Result<Tried, Failure> {
        let own = download(case, control, self.size())?;
        let beside = match self {
            Battery::Whole => download(case, BESIDE, self.size())?.time_ns,
            Battery::Short => None,
        };
        Ok(Tried {
            beside_ns: beside,
            ..own
        })
    }
}

/// A link with the hosts at its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) link: &'static str,
    keys: &'static str,
    pub(super) hosts: &'static str,
}

/// What a case came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Tried {
    pub(super) link: String,
    pub(super) hosts: String,
    /// Time of the download, where it ended.
    pub(super) time_ns: Option<u64>,
    /// The same with [`BESIDE`].
    pub(super) beside_ns: Option<u64>,
    /// Largest cwnd, segments.
    pub(super) largest: Option<f64>,
    /// What is wrong with it.
    pub(super) fault: Option<String>,
}

fn scenario(case: &Case, transport: &str, size: &str) -> String {
    let Case { keys, hosts, .. } = case;
    format!(
        "duration = \"900 s\"\n[node.server]\n[node.client]\n[link.satellite]\n\
         between = [\"server\", \"client\"]\n{keys}\n\
         [transport.tried]\nbase = \"{transport}\"\nprofile = \"{hosts}\"\n\
         [flow.download]\nfrom = \"server\"\nto = \"client\"\ntransport = \"tried\"\n\
         application = {{ kind = \"transfer\", size = \"{size}\" }}\n"
    )
}

fn download(case: &Case, transport: &str, size: &str) -> Result<Tried, Failure> {
    let scenario = bentpipe::parse(&scenario(case, transport, size))?;
    let flow = scenario.flows.first();
    let initial = flow.and_then(|flow| flow.transport.as_deref());
    let initial = initial.map_or(1.0, |transport| transport.initial_window);
    let mut tried = Tried {
        link: case.link.to_owned(),
        hosts: case.hosts.to_owned(),
        time_ns: None,
        beside_ns: None,
        largest: None,
        fault: None,
    };
    match bentpipe::run(&scenario) {
        Ok(outcome) => {
            if let Some(flow) = outcome.flows.first() {
                tried.time_ns = flow.transfer_time.map(Duration::as_nanos);
                tried.largest = Some(flow.max_cwnd).filter(|cwnd| cwnd.is_finite());
                tried.fault = fault(flow, initial, size);
            }
        }
        Err(error) => tried.fault = Some(error.to_string()),
    }
    Ok(tried)
}

/// What is wrong with a download that ran.
fn fault(flow: &FlowOutcome, initial: f64, size: &str) -> Option<String> {
    if flow.max_cwnd <= initial {
        return Some(format!(
            "the window never grew beyond the initial {initial} segments"
        ));
    }
    let ended = flow.transfer_time.is_some();
    (!ended).then(|| format!("{size} had not arrived after 900 s"))
}
