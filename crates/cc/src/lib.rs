//! Congestion controls: the algorithms that move cwnd, ssthresh and pacing.
//!
//! One file each, no clock, no I/O. The transport calls a [`Controller`] with
//! what happened (an acknowledgement, a loss, a timeout) and lends it the
//! [`Window`] to change; it keeps recovery, timers and pacing to itself.
//!
//! A controller is three slots that combine freely: [`Start`] (slow start),
//! [`Avoidance`] (congestion avoidance) and [`Reaction`] (to loss, timeout and
//! the end of recovery). MTSI is a Start, Westwood+ a Reaction, Hybla all
//! three. Built-in slots are enums, so that no call goes through a vtable; one
//! boxed arm, [`Controller::Custom`], runs a user's own algorithm without a
//! fork of this crate.
//!
//! ```
//! use bentpipe_cc::{Controller, Parameters, build};
//!
//! let parameters = Parameters::new()
//!     .with("thresholds", vec![10.0, 20.0, 30.0])
//!     .with("rule", "B");
//! let controller: Controller = build("mtsi", &parameters)?;
//! assert_eq!(controller.name(), "mtsi");
//! # Ok::<(), bentpipe_cc::BuildError>(())
//! ```

pub mod avoidance;
mod classic;
mod controller;
pub mod cubic;
pub mod delay;
mod event;
pub mod explicit;
pub mod highspeed;
mod hoe;
pub mod hybla;
pub mod kernel;
pub mod linux;
pub mod model;
mod named;
pub mod reaction;
pub mod registry;
pub mod satellite;
pub mod scalable;
pub mod start;
mod whole;
mod window;

pub use avoidance::Avoidance;
pub use classic::CWND_LIMIT;
pub use controller::{Classic, CongestionControl, Controller, HostRules};
pub use event::{
    Ack, Feedback, Head, Loss, PathKnowledge, QueueReport, RateSample, RecoveryExit, Repair,
    Timeout,
};
pub use hoe::{Hoe, HoeForm};
pub use reaction::Reaction;
pub use registry::{
    BuildError, DefaultValue, Described, NamedSlots, Parameter, ParameterValue, Parameters, Range,
    Slot, SlotKind, build, build_slots, find, list, nearest, needs_feedback, slots,
};
pub use start::Start;
pub use whole::Whole;
pub use window::{Actions, Phase, ProbeContent, Probes, Window};
