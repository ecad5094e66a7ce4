//! Which transport for a link and its users?
//!
//! A [`Question`] declares the options: a link, how many users do what, which
//! settings and proxies are compared. [`Comparison`] asks it. [`Comparison::run`] simulates the users with each of
//! them and returns an [`Answer`]: a [`Row`] for each setting behind each proxy,
//! a [`Verdict`] over all of them, and how its pick is switched on. Every
//! scenario is built by the checked
//! [`ScenarioBuilder`](crate::scenario::ScenarioBuilder).
//!
//! ```
//! use bentpipe::prelude::*;
//!
//! let answer = Comparison::new()
//!     .rate(Rate::from_mbps(2))
//!     .rtt(Duration::from_millis(511))
//!     .loss(Ratio::ZERO)
//!     .sizes([Bytes::new(30_000), Bytes::new(300_000)])
//!     .transports(["cubic", "cubic + IW 32", "bbr"])
//!     .run()?;
//! let best = answer.recommended().expect("a download ended");
//! assert_eq!(best.name, "cubic + IW 32");
//! # Ok::<(), bentpipe::Error>(())
//! ```
//!
//! A row can be run again with other seeds ([`Answer::rerun`]), such as to test
//! the advice.

mod answer;
mod argument;
mod background;
mod benefit;
mod burden;
#[cfg(test)]
mod calls_tests;
mod candidate;
mod capacity;
mod cell;
mod comparison;
mod cost;
mod crowd;
mod day;
mod decide;
mod engine;
mod entries;
mod fade;
mod jitter;
mod judgement;
mod lineup;
mod linux;
mod loss;
mod mix;
mod named;
mod needed;
mod network;
mod options;
mod orbit;
mod path;
mod pep;
mod problem;
mod profile;
mod question;
mod queue;
mod race;
pub mod record;
mod rerun;
mod result;
mod robust;
mod router;
mod scheduler;
mod score;
mod sequential;
mod setting;
mod standing;
mod sureness;
mod switch;
mod trace;
mod traffic;
mod verdict;
mod watch;
mod words;
#[cfg(test)]
mod written_tests;

pub use answer::{Answer, ChangeCost, Row};
pub use argument::{Choice, Kind};
pub use background::{Background, Load};
pub use bentpipe_scenario::QueueLength;
pub use candidate::{Availability, Candidate, DEFAULT, Hosts, IDEAL};
pub use capacity::{Advice, Capacity, CapacityRow, Known, Measure, Statistic, Target, TargetError};
pub use cell::{Cell, Rates};
pub use comparison::Comparison;
pub use crowd::Runner;
pub use day::{Day, DayRow};
pub use decide::decide;
pub use fade::{Coding, Decibels, Fade};
pub use jitter::{Jitter, JitterError};
pub use loss::{Loss, LossError};
pub use mix::{Mix, MixError};
pub use options::{Group, OptionSpec};
pub use orbit::Orbit;
pub use path::{GIVEN_UP, NetworkPath};
pub use pep::Pep;
pub use problem::{Problem, QuestionError};
pub use profile::{Hour, LinkProfile, ProfileKind};
pub use question::Question;
pub use queue::{Queue, QueueDiscipline, QueueError};
pub use result::{RunResult, UserResult};
pub use robust::{Dimension, Neighbour, Robustness, Sensitivity, Turn};
pub use setting::{Setting, SettingError};
pub use switch::{Build, SwitchOn};
pub use trace::Trace;
pub use traffic::{Activity, CALL_DEADLINE, LADDER, PAGES, Traffic, UPLOAD};
pub use verdict::{
    AS_GOOD, Against, BACKGROUND_NOTED, CLOSE, CLOSE_AND_GENTLER, Certainty, Cost, Effect, Gain,
    HARM_LIMIT, HARM_NOTED, Harm, LOSS_LIMIT, Needed, Objection, PROXY_WORTH, SLOW_NOTED,
    Threshold, Verdict, WAIT_NOTED_S, WAIT_RATIO, WASTE_LIMIT, WASTE_NOTED, WORTH,
};
pub use watch::{Ran, Watch};

use crate::Error;

/// Compares transports; see [`Comparison`].
///
/// # Errors
/// As [`Comparison::run`].
pub fn compare(comparison: &Comparison) -> Result<Answer, Error> {
    comparison.run()
}
