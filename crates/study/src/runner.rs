//! The interface that turns a cell of a study into an outcome.

use crate::study::Setting;
use bentpipe_outcome::Outcome;
use bentpipe_units::{Duration, Time};
use std::ops::ControlFlow;

/// One run that is asked for.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Values to set in the scenario.
    pub settings: &'a [Setting],
    /// Seed of the run.
    pub seed: u64,
    /// Shift of the start times.
    pub start_jitter: Duration,
    /// What repeats exactly may be counted in periods instead of simulated.
    pub skip_steady: bool,
    /// Interval of the time series; `None` records none.
    pub series: Option<Duration>,
    /// Times at which what is counted is noted.
    pub checkpoints: &'a [Time],
}

/// A cell that makes a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Hash of the scenario.
    pub hash: String,
    /// How long a run will take on one core, roughly: what work is cut by.
    pub seconds: f64,
}

/// Runs a scenario with some values set.
///
/// The same request must give the same outcome.
pub trait Runner: Send + Sync {
    /// A text that changes whenever outcomes may: the scenario, and what runs
    /// it.
    fn identity(&self) -> String;

    /// Checks that the settings make a scenario, and returns the hash of it.
    ///
    /// # Errors
    /// What is wrong, for people.
    fn check(&self, settings: &[Setting]) -> Result<String, String>;

    /// As [`check`](Runner::check), with what a run will cost. All cost the same
    /// where a runner does not estimate it.
    ///
    /// # Errors
    /// As [`check`](Runner::check).
    fn check_cost(&self, settings: &[Setting]) -> Result<Checked, String> {
        let hash = self.check(settings)?;
        Ok(Checked { hash, seconds: 1.0 })
    }

    /// True once no run is to be begun and none that ends counts any more.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Runs.
    ///
    /// # Errors
    /// Why there is no outcome, for people.
    fn run(&self, request: &Request<'_>) -> Result<Outcome, String>;
}

/// How far a study is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Name of the study.
    pub study: String,
    /// Runs that are done, those of the journal included.
    pub done: usize,
    /// Runs in all; an estimate where the number of runs follows from the results.
    pub total: usize,
    /// Runs that failed so far.
    pub failed: usize,
    /// The share of the work that is done, by the estimated cost of each run.
    pub share: f64,
    /// True if `total` is an estimate.
    pub about: bool,
}

/// Told after every run, one at a time; may stop the study.
pub type Watch<'a> = dyn Fn(&Progress) -> ControlFlow<()> + Sync + 'a;
