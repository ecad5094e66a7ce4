//! The test bed: a scenario on the TCP of this machine.
//!
//! Every host of the scenario, which is every end of a flow, is a network
//! namespace; the links between them are the emulator's, on its own thread.
//! The applications of the flows run on real sockets, each side on a thread, and
//! what they did is seen by the packets at the hosts' devices and by TCP_INFO of
//! the senders. A flow over QUIC has the simulator's endpoints on UDP sockets. [`run`] yields the same [`Outcome`] as the simulator.
//!
//! What Linux cannot do is refused before anything is built ([`refusals`]); what it does
//! differently is listed in [`Run::notes`].

mod application;
mod as_run_on_linux;
mod bench;
mod boxes;
mod clock;
mod collect;
mod control;
mod error;
mod gateway;
mod gauges;
mod header_room;
mod host;
mod ledger;
mod message;
mod names;
mod options;
mod quic;
mod segment;
mod setup;
mod socket;
mod tls;
mod tracker;
mod watch;

pub use as_run_on_linux::as_run_on_linux;
pub use error::Error;
pub use gateway::GatewayError;
pub use ledger::Captured;
pub use options::Options;

use crate::emulator::{self, Emulator, Pairs, Report};
use bench::Bench;
use bentpipe_outcome::Outcome;
use bentpipe_scenario::{Flow, Handshake, NodeId, Scenario};
use bentpipe_tcp::CongestionControlChoice;
use bentpipe_traffic::Application;
use boxes::{AHEAD, Boxes};
use control::Controls;
use setup::Setup;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Flows of a run, at most: each needs two threads.
const MOST_FLOWS: usize = 500;

/// Result of a run.
#[derive(Debug)]
pub struct Run {
    /// The results, in the schema of a simulation.
    pub outcome: Outcome,
    /// Report of the emulator, and whether it kept up.
    pub report: Report,
    /// The transport of each flow, in words: `cubic`, `cubic over QUIC`, or `udp`.
    pub controls: Vec<String>,
    /// Differences of Linux from the scenario, in words.
    pub notes: Vec<String>,
}

/// The smallest packet of IPv4 and UDP with a number.
const NUMBERED: u64 = 28 + application::NUMBER as u64;

/// What in `scenario` cannot be done here, a sentence each; nothing where all of
/// it can.
#[must_use]
pub fn refusals(scenario: &Scenario) -> Vec<String> {
    // The boxes of a gateway are real.
    let bare = Scenario {
        peps: Vec::new(),
        ..scenario.clone()
    };
    let mut why = emulator::refusals(&bare);
    why.extend(boxes::refusals(scenario));
    if scenario.flows.len() > MOST_FLOWS {
        why.push(format!(
            "{} flows are more than the {MOST_FLOWS} that the test bed runs",
            scenario.flows.len()
        ));
    }
    for flow in &scenario.flows {
        if flow.ipsec.is_some() {
            why.push(format!(
                "flow `{}` is under IPsec, which is simulated only",
                flow.name
            ));
        }
        if let Application::ConstantRate {
            packet_size,
            deadline: Some(_),
            ..
        } = flow.application
            && flow.transport.is_none()
            && packet_size.get() < NUMBERED
        {
            why.push(format!(
                "flow `{}` has a deadline, and packets of {packet_size} have no room for the number \
                 by which arrivals are known: expected {NUMBERED} B or more",
                flow.name
            ));
        }
        if flow.application.rate_control().is_some() {
            why.push(format!(
                "flow `{}` has a rate control, which is simulated only",
                flow.name
            ));
        }
        let over_tcp = flow.transport.as_deref().filter(|t| t.quic.is_none());
        if let Some(refused) = quic::over_quic(flow).and_then(quic::refusal) {
            why.push(format!("flow `{}`: {refused}", flow.name));
        }
        if let Some(Err(refused)) = over_tcp.map(Setup::new) {
            why.extend(refused.iter().map(|w| format!("flow `{}`: {w}", flow.name)));
        }
        if flow.from == flow.to {
            why.push(format!("flow `{}` crosses no link", flow.name));
        }
    }
    why
}

/// What this machine runs: `Linux 6.18.44`.
#[must_use]
pub fn kernel_version() -> String {
    format!("Linux {}", crate::release::of_this_machine())
}

/// Runs `scenario` in real time.
///
/// # Errors
/// If the scenario has something that cannot be done, without root, or if the
/// machine refuses something. Whatever was built is removed.
pub fn run(scenario: &Scenario, options: Options) -> Result<Run, Error> {
    let refused = refusals(scenario);
    if !refused.is_empty() {
        return Err(Error::Refused(refused));
    }
    let Some(boxes) = Boxes::of(scenario) else {
        return run_hosts(scenario, options, None);
    };
    let checkpoints = options.checkpoints.iter().map(|at| *at + AHEAD);
    let options = Options {
        checkpoints: checkpoints.collect(),
        ..options
    };
    let mut run = run_hosts(&boxes::later(scenario), options, Some(&boxes))?;
    boxes::earlier(&mut run.outcome);
    Ok(run)
}

/// Runs a scenario that nothing speaks against, with the boxes of a gateway where it
/// has any.
fn run_hosts(scenario: &Scenario, options: Options, boxes: Option<&Boxes>) -> Result<Run, Error> {
    // They stay in the kernel until all sockets are closed.
    let mut loaded = Controls::default();
    let mut setups: Vec<Option<Setup>> = Vec::with_capacity(scenario.flows.len());
    for flow in &scenario.flows {
        let over_tcp = flow.transport.as_deref().filter(|t| t.quic.is_none());
        let mut setup = over_tcp.and_then(|t| Setup::new(t).ok());
        if let Some(setup) = &mut setup {
            setup.control_name = loaded.name(&setup.control)?;
        }
        setups.push(setup);
    }
    let emulator = Emulator::new(scenario, &emulator_options(scenario, &options))?;
    let bench = Bench::new(scenario, &setups, &emulator)?;
    let done = bench.run(&options, emulator, boxes)?;
    if done.stopped {
        return Err(Error::Stopped);
    }
    if !done.failed.is_empty() {
        return Err(Error::Failed(done.failed));
    }
    let mut notes = notes(scenario, &setups);
    if done.capture_lost > 0 {
        let lost = done.capture_lost;
        notes.push(format!(
            "the capture lacks {lost} packets, which came faster than they were written"
        ));
    }
    Ok(Run {
        outcome: done.outcome,
        report: done.report,
        controls: scenario.flows.iter().zip(&setups).map(control).collect(),
        notes,
    })
}

/// The emulator of a run: one of several, maybe, so its namespaces have names of
/// their own, `bp-PID-RUN-NODE`.
fn emulator_options(scenario: &Scenario, options: &Options) -> emulator::Options {
    static RUNS: AtomicU64 = AtomicU64::new(1);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let (pid, nodes) = (std::process::id(), scenario.nodes.iter().enumerate());
    let ends = |node: usize| {
        let is = |n: &NodeId| n.0 as usize == node;
        scenario.connections().any(|c| c.nodes.iter().any(is))
    };
    emulator::Options {
        seed: Some(options.seed),
        checkpoints: options.checkpoints.clone(),
        pairs: Pairs::Flows,
        namespaces: nodes
            .filter(|(index, _)| ends(*index))
            .map(|(index, node)| (node.name.clone(), format!("bp-{pid}-{run}-{index}")))
            .collect(),
        ..emulator::Options::default()
    }
}

/// The transport of a flow, in words.
fn control((flow, setup): (&Flow, &Option<Setup>)) -> String {
    match (setup, quic::over_quic(flow)) {
        (Some(setup), _) => setup.control.to_string(),
        (None, Some(transport)) => match &transport.congestion_control {
            CongestionControlChoice::Named(name) => format!("{name} over QUIC"),
            _ => "QUIC".to_owned(),
        },
        (None, None) => "udp".to_owned(),
    }
}

/// What Linux does in its own way: each once, with whom it is about.
fn notes(scenario: &Scenario, setups: &[Option<Setup>]) -> Vec<String> {
    let mut about: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (flow, setup) in scenario.flows.iter().zip(setups) {
        let (Some(transport), Some(setup)) = (flow.transport.as_deref(), setup) else {
            continue;
        };
        let mut told = setup::notes(transport, setup);
        if flow.handshake == Handshake::Skipped {
            told.push(
                "opens its connection when it starts; times count from its first data segment"
                    .to_owned(),
            );
        }
        for note in told {
            let transports = about.entry(note).or_default();
            if !transports.contains(&transport.name.as_str()) {
                transports.push(&transport.name);
            }
        }
    }
    let about = about.into_iter();
    about
        .map(|(note, who)| format!("{}: {note}", who.join(", ")))
        .collect()
}
