//! A run on this machine: what it is to record, and what it yields.

use crate::args::PcapAt;
use bentpipe_outcome::Outcome;
use bentpipe_units::{Duration, Time};
use serde::Serialize;
use std::path::PathBuf;

/// What a run is to record, and with which seed.
#[cfg_attr(
    not(all(feature = "linux", target_os = "linux")),
    allow(dead_code, reason = "a build that runs nothing reads nothing of it")
)]
pub(crate) struct Wanted {
    pub(crate) seed: u64,
    pub(crate) series: Option<Duration>,
    pub(crate) checkpoints: Vec<Time>,
    pub(crate) start_jitter: Duration,
    /// Where the packets at the flows' ends go, and of which ends.
    pub(crate) pcap: Option<(PathBuf, PcapAt)>,
}

/// A run on this machine.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) facts: Facts,
}

/// What there is to say of such a run beside its outcome.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Facts {
    /// `Linux 6.18.44`.
    pub(crate) kernel: String,
    /// What each flow ran.
    pub(crate) ran: Vec<String>,
    /// Whether the emulator was in time.
    pub(crate) kept_up: bool,
    /// The same in words, with the criterion.
    pub(crate) verdict: String,
    /// 99% of the packets were no later than this, in nanoseconds.
    pub(crate) lateness_p99_ns: u64,
    /// Packets that the machine dropped and the model did not.
    pub(crate) machine_drops: u64,
    /// What Linux did in its own way.
    pub(crate) notes: Vec<String>,
}
