//! What is asked of a run.

use super::ledger::Captured;
use crate::emulator::Stop;
use bentpipe_units::{Duration, Time};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;

/// How a run is executed and what it records.
#[derive(Debug)]
pub struct Options {
    /// Seed of every random process that is not the machine's: those of links
    /// and applications.
    pub seed: u64,
    /// Interval of the time series; `None` records none.
    pub series: Option<Duration>,
    /// Times at which everything that is counted is noted.
    pub checkpoints: Vec<Time>,
    /// Shift each flow's start by a seeded amount in [0, jitter), as the
    /// simulator does.
    pub start_jitter: Duration,
    /// Receives the packets at the hosts' devices, if given. The run does not wait for it: packets
    /// for which it has no room are lost to it, and a note reports that.
    pub capture: Option<SyncSender<Captured>>,
    /// The program whose command `gateway` runs the boxes of a tunnel, which is
    /// `bentpipe`; without it scenarios with a tunnel fail.
    pub gateway: Option<PathBuf>,
    /// Switch that ends the run early.
    pub stop: Stop,
}

impl Options {
    /// A run with this seed that records no series and no packets.
    ///
    /// # Errors
    /// If the process has no file descriptor left.
    pub fn new(seed: u64) -> io::Result<Options> {
        Ok(Options {
            seed,
            series: None,
            checkpoints: Vec::new(),
            start_jitter: Duration::ZERO,
            capture: None,
            gateway: None,
            stop: Stop::new()?,
        })
    }
}
