//! TCP over satellite links: describe a network, simulate it, compare
//! transports, and hold the results against published ones.
//!
//! ```
//! use bentpipe::prelude::*;
//!
//! // Which transport for a download over this link?
//! let answer = Comparison::new()
//!     .rate(Rate::from_mbps(2))
//!     .rtt(Duration::from_millis(511))
//!     .size(Bytes::new(300_000))
//!     .runs(3)
//!     .transports(["cubic", "hybla"])
//!     .run()?;
//! for row in &answer.rows {
//!     let seconds = row.cells[0].time().map(|times| times.mean);
//!     println!("{:10} {seconds:?}", row.name);
//! }
//! println!("{}", answer.headline());
//! # Ok::<(), bentpipe::Error>(())
//! ```
//!
//! # What is where
//!
//! | to | use |
//! |---|---|
//! | compare transports on a link | [`Comparison`], [`Answer`](compare::Answer) |
//! | fit a link to a capture | [`fit()`], [`Fit`] |
//! | see what a transport does over time, and why | [`recording`] |
//! | see what differs between two answers, outcomes or scenarios | [`diff`] |
//! | read a scenario file | [`load`], [`parse`], [`ScenarioFile`] |
//! | see where satellites are and where flows go | [`map`] |
//! | build a scenario | [`Scenario::builder`](scenario::Scenario::builder) |
//! | run a scenario | [`run()`], [`Run`] |
//! | run a congestion control of your own | [`register_control`], [`Run::congestion_control`], [`Comparison::own`] |
//! | read results | [`Outcome`](outcome::Outcome); with the feature `arrow`, `arrow::record_batch` |
//! | sweep a scenario | [`Study`] |
//! | run a sweep in parts, on any machines | [`Study::campaign`], [`Campaign`], [`Collector`] |
//! | hold results against a paper | [`reproduce()`], [`Paper`], [`papers`] |
//!
//! [`prelude`] has what most programs need. The modules named like the crates
//! of the workspace, such as [`link`] and [`tcp`], have the rest.
//!
//! The same scenario and seed give the same outcome, bit for bit, on any
//! machine and any number of threads. Nothing here reads a clock.
//!
//! # Versions
//!
//! Until 1.0 a minor version may break this interface; enums and structs that
//! will grow are `#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]`. A change that moves results is listed in
//! the changelog under "Changed results".

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod compare;
pub mod diff;
mod error;
mod file;
pub mod fit;
pub mod map;
mod own;
pub mod papers;
pub mod prelude;
pub mod recording;
mod run;
pub mod slots;
pub mod study;

pub use compare::{Comparison, compare};
pub use error::Error;
pub use file::{ScenarioFile, load, parse};
pub use fit::{Fit, fit};
pub use own::register_files;
pub use run::{Run, run};
pub use study::{Study, reproduce};

pub use bentpipe_scenario::template;
pub use bentpipe_study::{
    Campaign, Collector, Paper, Progress, ReproduceOptions, Reproduction, Selection, Task,
    TaskResult, input,
};

/// Captures of real connections.
pub use bentpipe_capture as capture;
/// Congestion controls and the trait of your own.
pub use bentpipe_cc as cc;
/// Links, queues, channels and timelines.
pub use bentpipe_link as link;
/// Snoop and split-connection PEPs.
pub use bentpipe_middlebox as middlebox;
/// Satellites and their orbits.
pub use bentpipe_orbit as orbit;
/// Results and their files.
pub use bentpipe_outcome as outcome;
/// Congestion controls of one's own from files.
pub use bentpipe_plugin as plugin;
/// Figures and tables as SVG, PNG, HTML and text.
pub use bentpipe_report as report;
/// The model of a scenario and its builder.
pub use bentpipe_scenario as scenario;
/// The simulator.
pub use bentpipe_sim as sim;
/// The TCP endpoint and the catalogue of transports.
pub use bentpipe_tcp as tcp;
/// Applications.
pub use bentpipe_traffic as traffic;
/// Times, rates, sizes and ratios.
pub use bentpipe_units as units;

/// The Rust of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Makes a congestion control of one's own known by its name: scenarios, studies,
/// comparisons and plots of this process then find it as they find `cubic`.
///
/// ```
/// use bentpipe::cc::own::{Definition, OwnControl};
/// use bentpipe::cc::{Ack, CongestionControl, Window};
/// use bentpipe::prelude::*;
///
/// #[derive(Debug)]
/// struct Brisk;
///
/// impl CongestionControl for Brisk {
///     fn name(&self) -> &str {
///         "brisk"
///     }
///     fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
///         window.cwnd += 2.0 * ack.acked;
///     }
/// }
///
/// let definition = Definition::new("brisk", "version 1");
/// let brisk = OwnControl::new(definition, |_| Ok(Box::new(Brisk)))?;
/// bentpipe::register_control(brisk)?;
///
/// let answer = Comparison::new()
///     .size(Bytes::new(300_000))
///     .runs(1)
///     .transports(["cubic", "brisk"])
///     .run()?;
/// assert!(answer.result("brisk").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a built-in transport has the name.
pub fn register_control(control: cc::OwnControl) -> Result<(), cc::BuildError> {
    tcp::register_control(control)
}

/// The transport of that name in the catalogue, such as `cubic` or `hybla`.
///
/// ```
/// let hybla = bentpipe::transport("hybla").expect("it is in the catalogue");
/// assert_eq!(hybla.name, "hybla");
/// assert!(bentpipe::transport("hibla").is_none());
/// ```
#[must_use]
pub fn transport(name: &str) -> Option<tcp::Transport> {
    tcp::find_transport(name).map(|found| found.transport())
}
