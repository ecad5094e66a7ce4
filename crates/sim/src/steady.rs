//! Skips what repeats: a run whose flows have settled is simulated until its packets repeat exactly,
//! and the rest of its time is counted in periods.
//!
//! 1. **May it settle?** [`refusal`] looks for whatever may happen later: random losses, links and
//!    routes that change, applications that pause, flows that end, congestion controls with a long
//!    memory.
//! 2. **Does it?** A first run is [watched](watch): every packet that an end sends or receives, with
//!    the time since the one before and its numbers relative to the one before in its direction, and
//!    the window of the sender that it meets. When the last half of all that, at least
//!    [`LEAST`](watch::LEAST) of simulated time, is one sequence at least twice in a row, to the
//!    nanosecond and the byte, its length is the period. A lost packet or a timeout begins the search
//!    anew.
//! 3. **What does a period add?** The run is made three more times, to ends a period apart that are a
//!    whole number of periods before the end of the whole. Every count of the third less that of the
//!    second must be that of the second less that of the first. Then the [whole](extend) is the third
//!    and as many times that difference; distributions of queueing delays are extended bin by bin.
//!
//! If anything is missing the run is simulated to its end, and the caller is told why.
//!
//! What remains is that a state that has shown no effect for ten seconds and two periods might have
//! one later. Congestion controls of which this is true are not skipped
//! ([`Described::settles`](bentpipe_cc::Described::settles)); the window is part of what must repeat;
//! and what else a host keeps (smoothed RTTs, receive windows) moves with its packets.

mod extend;
mod period;
mod refusal;
mod watch;

pub use refusal::NoSkip;

use crate::collect::Sums;
use crate::flow::Running;
use crate::observer::Unobserved;
use crate::options::Stop;
use crate::simulation::Simulation;
use crate::{Options, RunError};
use bentpipe_outcome::Outcome;
use bentpipe_scenario::Scenario;
use bentpipe_units::{Duration, Time};
use extend::Periods;
use watch::Watch;

/// The first run may take such a part of the whole: with the three that follow, skipping costs half
/// of what it saves at most.
const PART: u64 = 8;

/// Periods are taken together up to this length, so that what hosts round to microseconds and
/// averages to nanoseconds is lost in them.
const LENGTH: Duration = Duration::from_secs(1);

/// What became of the wish to skip a steady state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steady {
    /// The run was simulated up to `from`, and so many `times` a `period` counted from there to its
    /// end.
    Skipped {
        /// End of the simulation.
        from: Time,
        /// What repeats exactly.
        period: Duration,
        /// How often.
        times: u64,
    },
    /// The run was simulated to its end, for this reason.
    Refused(NoSkip),
}

/// Why there is no outcome of a skip.
#[derive(Debug)]
pub(crate) enum Unskipped {
    /// The run has to be simulated.
    Refused(NoSkip),
    /// The run failed.
    Failed(RunError),
}

impl From<NoSkip> for Unskipped {
    fn from(why: NoSkip) -> Unskipped {
        Unskipped::Refused(why)
    }
}

impl From<RunError> for Unskipped {
    fn from(error: RunError) -> Unskipped {
        Unskipped::Failed(error)
    }
}

/// The outcome of a run that settles, and what was skipped of it. `flows` are those of the run, about
/// to begin.
pub(crate) fn skip(
    scenario: &Scenario,
    options: &Options,
    flows: &[Running],
) -> Result<(Outcome, Steady), Unskipped> {
    let end = Time::ZERO + scenario.duration;
    let calm = refusal::calm_from(scenario, options, flows)?;
    let budget = Duration::from_nanos(scenario.duration.as_nanos() / PART);
    if calm + watch::LEAST * 2 > Time::ZERO + budget {
        return Err(NoSkip::TooShort.into());
    }
    let (found, period) = search(scenario, options, calm, budget)?;
    let length = period * LENGTH.as_nanos().div_ceil(period.as_nanos()).max(1);
    let times = end.since(found).as_nanos() / length.as_nanos();
    let stop = Time::ZERO + scenario.duration.saturating_sub(length * times);
    if times == 0 || stop.since(Time::ZERO) < length * 3 || stop.since(found) > budget {
        return Err(NoSkip::TooShort.into());
    }
    let run_to = |at: Duration, checkpoints: Vec<Time>| -> Result<(Outcome, Sums), RunError> {
        let short = Scenario {
            duration: at,
            ..scenario.clone()
        };
        let options = Options {
            checkpoints,
            skip_steady: false,
            ..options.clone()
        };
        let mut unobserved = Unobserved;
        Simulation::new(&short, &options)?.run_with_sums(&mut unobserved)
    };
    let periods = Periods {
        length,
        times,
        stop,
    };
    let late = stop.since(Time::ZERO);
    let runs = [
        run_to(late - length * 2, Vec::new())?,
        run_to(late - length, Vec::new())?,
        run_to(late, periods.checkpoints(&options.checkpoints, end))?,
    ];
    let outcome = periods.whole(scenario, options, runs)?;
    let skipped = Steady::Skipped {
        from: stop,
        period,
        times: (length.as_nanos() / period.as_nanos()) * times,
    };
    Ok((outcome, skipped))
}

/// When the packets of a run repeat from `calm` on, and after which time.
fn search(
    scenario: &Scenario,
    options: &Options,
    calm: Time,
    budget: Duration,
) -> Result<(Time, Duration), Unskipped> {
    let short = Scenario {
        duration: budget,
        ..scenario.clone()
    };
    let found = Stop::switch();
    let watched = Options {
        stop: found.clone(),
        checkpoints: Vec::new(),
        queueing_delays: false,
        skip_steady: false,
        ..options.clone()
    };
    let mut watch = Watch::new(calm, found, options.stop.clone());
    let run = Simulation::new(&short, &watched)?.run(&mut watch);
    if options.stop.is_stopped() {
        return Err(RunError::Stopped.into());
    }
    match (watch.found(), run) {
        (Some(found), _) => Ok(found),
        (None, Err(error)) => Err(error.into()),
        (None, Ok(_)) => Err(watch.refusal(budget).into()),
    }
}
