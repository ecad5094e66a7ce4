//! The machine that runs them.

use super::ran::{Facts, Ran, Wanted};
use crate::args::PcapAt;
use crate::exit::Failure;
use bentpipe_linux::emulator::Stop;
use bentpipe_linux::testbed::{self, Captured, Options, kernel_version};
use bentpipe_outcome::{Capture, CaptureError, Interface, Provenance, WholeFile};
use bentpipe_scenario::Scenario;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// This machine, until it is interrupted.
pub(crate) struct Machine {
    kernel: String,
    stop: Stop,
}

impl Machine {
    /// From here on an interrupt ends the runs and not the process, so that
    /// what they made is removed. To be called before threads are started.
    pub(crate) fn new() -> Result<Machine, Failure> {
        let failed = |e: std::io::Error| Failure::new(format!("cannot take signals: {e}"));
        let stop = Stop::new().map_err(failed)?;
        stop.on_signals().map_err(failed)?;
        Ok(Machine {
            kernel: kernel_version(),
            stop,
        })
    }

    /// The same for one run of a process that does more: an interrupt ends the process.
    #[cfg(feature = "explore")]
    pub(crate) fn beside_others() -> Result<Machine, Failure> {
        let failed = |e: std::io::Error| Failure::new(format!("cannot wait for events: {e}"));
        Ok(Machine {
            kernel: kernel_version(),
            stop: Stop::new().map_err(failed)?,
        })
    }

    /// Ends its run early.
    #[cfg(feature = "explore")]
    pub(crate) fn stop(&self) {
        self.stop.stop();
    }

    /// What it runs.
    pub(crate) fn kernel(&self) -> &str {
        &self.kernel
    }

    /// True once it was interrupted.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// What in a scenario it cannot do, a sentence each.
    pub(crate) fn refusals(&self, scenario: &Scenario) -> Vec<String> {
        let mut why = testbed::refusals(scenario);
        if why.is_empty() && !scenario.peps.is_empty() && gateway().is_none() {
            why.push(
                "its tunnel needs `bentpipe gateway`, which this build lacks: build it with \
                 `make`, or with `--features kernel,gateway`"
                    .to_owned(),
            );
        }
        why
    }

    /// Runs a scenario, or says why not.
    pub(crate) fn run(&self, scenario: &Scenario, wanted: Wanted) -> Result<Ran, String> {
        let (capture, written) = match &wanted.pcap {
            Some((file, at)) => {
                let (sender, written) = recorded(file, *at, scenario, wanted.seed)?;
                (Some(sender), Some(written))
            }
            None => (None, None),
        };
        let options = Options {
            seed: wanted.seed,
            series: wanted.series,
            checkpoints: wanted.checkpoints,
            start_jitter: wanted.start_jitter,
            capture,
            gateway: gateway(),
            stop: self.stop.clone(),
        };
        let run = testbed::run(scenario, options);
        let written = written.map(JoinHandle::join);
        let run = run.map_err(|e| e.to_string())?;
        match written {
            Some(Ok(capture)) => {
                let committed = capture.and_then(Capture::commit);
                committed.map_err(|e| e.to_string())?;
            }
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => {}
        }
        Ok(Ran {
            facts: Facts {
                kernel: self.kernel.clone(),
                ran: run.controls,
                kept_up: run.report.kept_up(),
                verdict: run.report.verdict(),
                lateness_p99_ns: run.report.lateness.p99.as_nanos(),
                machine_drops: run.report.machine.total(),
                notes: run.notes,
            },
            outcome: run.outcome,
        })
    }

    /// The scenario to hold such a run against in the simulator.
    pub(crate) fn as_run_on_linux(&self, scenario: &Scenario) -> Scenario {
        testbed::as_run_on_linux(scenario)
    }
}

/// The program that runs the boxes of a gateway: this one, where it can.
fn gateway() -> Option<PathBuf> {
    if !cfg!(feature = "gateway") {
        return None;
    }
    std::env::current_exe().ok()
}

/// Writes a capture, which is there once it is committed.
type Writer = JoinHandle<Result<Capture<WholeFile>, CaptureError>>;

/// Packets that wait to be written, at most: those of half a second and more.
const WAITING: usize = 100_000;

/// A thread that writes the packets at the ends of flows as a capture, and where
/// they go: a slow disk must make no packet late.
fn recorded(
    file: &Path,
    at: PcapAt,
    scenario: &Scenario,
    seed: u64,
) -> Result<(SyncSender<Captured>, Writer), String> {
    let flows = scenario.flows.iter();
    let interfaces: Vec<Interface> = flows
        .flat_map(|flow| ["from", "to"].map(|end| format!("{}/{end}", flow.name)))
        .map(|name| Interface::named(&name))
        .collect();
    let provenance = Provenance::new(&scenario.name, &scenario.hash().to_string(), &[seed]);
    let mut capture = Capture::create(file, &provenance, &interfaces).map_err(|e| e.to_string())?;
    let (sender, packets) = sync_channel::<Captured>(WAITING);
    let written = std::thread::spawn(move || {
        for packet in packets {
            let wanted = match at {
                PcapAt::From => packet.endpoint.is_multiple_of(2),
                PcapAt::To => !packet.endpoint.is_multiple_of(2),
                PcapAt::Both => true,
            };
            if wanted {
                capture.raw(packet.at, packet.endpoint, packet.headers(), packet.length)?;
            }
        }
        Ok(capture)
    });
    Ok((sender, written))
}
