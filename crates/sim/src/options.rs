//! How a run is executed and what it records.

use bentpipe_units::{Duration, Time};

/// How a run is executed and what it records.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Seed of every random process of the run.
    pub seed: u64,
    /// Record time series, with at most one sample per flow and interval
    /// (zero: every change). `None` records nothing.
    pub series: Option<Duration>,
    /// Times at which everything that is counted is noted, for rates and
    /// shares over a part of the run.
    pub checkpoints: Vec<Time>,
    /// Keep the distribution of every link's queueing delay.
    pub queueing_delays: bool,
    /// Shift each flow's start by a seeded amount in [0, jitter), so that
    /// replications of a loss-free run differ.
    pub start_jitter: Duration,
    /// The run ends when so many flows, the scenario's first, have ended; the
    /// others are there as long as these are. `None`: when all have.
    pub foreground: Option<usize>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: 1,
            series: None,
            checkpoints: Vec::new(),
            queueing_delays: true,
            start_jitter: Duration::ZERO,
            foreground: None,
        }
    }
}

/// Why a run stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The bound on events was hit.
    #[error("the run needs more than {limit} events; raise `limits.events` or shorten the run")]
    TooManyEvents {
        /// The bound.
        limit: u64,
    },
    /// The bound on packets was hit.
    #[error(
        "more than {limit} packets were alive at {at}; raise `limits.packets` or bound the windows"
    )]
    TooManyPackets {
        /// The bound.
        limit: u32,
        /// The time at which the bound was hit.
        at: Time,
    },
    /// A transport could not be built.
    #[error("flow `{flow}`: {reason}")]
    Transport {
        /// The flow.
        flow: String,
        /// Why.
        reason: String,
    },
}
