//! How a run is executed and what it records.

use bentpipe_cc::Fault;
use bentpipe_random::Stream;
use bentpipe_scenario::Flow;
use bentpipe_units::{Duration, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch that stops runs from another thread, such as at Ctrl-C. Clones are the same switch; the
/// default is one that no other thread can set.
///
/// ```
/// use bentpipe_sim::Stop;
///
/// let stop = Stop::switch();
/// let of_the_run = stop.clone();
/// stop.stop();
/// assert!(of_the_run.is_stopped());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Option<Arc<AtomicBool>>);

impl Stop {
    /// A switch that can be thrown.
    #[must_use]
    pub fn switch() -> Stop {
        Stop(Some(Arc::new(AtomicBool::new(false))))
    }

    /// Stops every run that has the switch.
    pub fn stop(&self) {
        if let Some(flag) = &self.0 {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// True once it has been thrown.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let flag = self.0.as_ref();
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// All are equal: what may stop a run changes none of its results.
impl PartialEq for Stop {
    fn eq(&self, _: &Stop) -> bool {
        true
    }
}

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
    /// Simulate until the packets of the run repeat exactly, and count the rest of it in such
    /// periods, where that is sure to be the same: see [`Steady`](crate::Steady).
    pub skip_steady: bool,
    /// What stops the run before its end.
    pub stop: Stop,
}

impl Options {
    /// When a flow starts in a run with these options: its own start, and its part of
    /// the jitter.
    #[must_use]
    pub fn start_of(&self, flow: &Flow) -> Time {
        if self.start_jitter.is_zero() {
            return flow.start;
        }
        let mut stream = Stream::new(self.seed, &format!("start {}", flow.name));
        flow.start + self.start_jitter.scaled(stream.uniform())
    }
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
            skip_steady: false,
            stop: Stop::default(),
        }
    }
}

/// Why a run stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The bound on events was hit.
    #[error("the run needs more than {limit} events; raise `limits.events` or shorten the run")]
    TooManyEvents {
        /// The limit that was reached.
        limit: u64,
    },
    /// The bound on packets was hit.
    #[error(
        "more than {limit} packets were alive at {at}; raise `limits.packets` or bound the windows"
    )]
    TooManyPackets {
        /// The limit that was reached.
        limit: u32,
        /// The time at which the bound was hit.
        at: Time,
    },
    /// A user's congestion control failed.
    #[error("flow `{flow}`: {fault}")]
    Control {
        /// Name of the flow.
        flow: String,
        /// Which control, when, and what was wrong.
        fault: Box<Fault>,
    },
    /// An end of a QUIC connection has given it up.
    #[error("flow `{flow}`: its QUIC connection was lost: {reason}")]
    ConnectionLost {
        /// Name of the flow.
        flow: String,
        /// Why, in words of the library.
        reason: String,
    },
    /// A transport could not be built.
    #[error("flow `{flow}`: {reason}")]
    Transport {
        /// Name of the flow.
        flow: String,
        /// Why, in words.
        reason: String,
    },
    /// [`Options::stop`] ended the run.
    #[error("stopped")]
    Stopped,
}
