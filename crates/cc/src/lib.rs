//! Congestion controls: the algorithms that move cwnd, ssthresh and pacing.
//!
//! One file each, no clock, no I/O. The transport reports events to a
//! [`Controller`] (an acknowledgement, a loss, a timeout) and passes it the
//! [`Window`] to change; recovery, timers and pacing are the transport's.
//!
//! - [`CongestionControl`] is the interface: built-in algorithms implement it, and
//!   so does a user's own, which runs as [`Controller::Custom`] without a fork of
//!   this crate.
//! - [`Classic`] combines three slots freely: [`Start`] (slow start),
//!   [`Avoidance`] (congestion avoidance) and [`Reaction`] (to loss, timeout and
//!   the end of recovery). MTSI is a Start, Westwood+ a Reaction, Hybla both a
//!   Start and an Avoidance.
//! - [`Monolithic`] is every algorithm whose parts share one state: BBR, Vegas,
//!   the modules of Linux, the kernel's own C.
//! - [`own`] is the registry of the controls that users bring along by name.
//! - [`build`] makes one from a name and parameters; [`list`] describes them all.
//!
//! Built-in algorithms are dispatched by a match over enums, so that no call goes
//! through a vtable.
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

mod dispatch;
#[macro_use]
mod control;
#[macro_use]
mod slot;

pub mod algorithms;
mod classic;
mod controller;
mod declaration;
mod event;
mod guard;
mod hoe;
pub mod own;
mod parameter;
mod registry;
pub mod slots;
mod watch;
mod window;

pub use algorithms::Monolithic;
pub use bentpipe_units::nearest;
pub use classic::Classic;
pub use control::{CongestionControl, HostRules};
pub use controller::Controller;
pub use declaration::{
    Described, EcnEcho, Family, LossRecovery, PathHeader, TransportDefaults, WindowPacing,
};
pub use event::{
    Ack, Feedback, Head, Loss, PathHint, QueueReport, RateSample, RecoveryExit, Repair,
    SharedState, Timeout,
};
pub use guard::{Fault, Guarded, panic_text};
pub use hoe::{Hoe, HoeForm};
pub use own::OwnControl;
pub use parameter::{BuildError, DefaultValue, Parameter, ParameterValue, Parameters, Range};
pub use registry::{build, build_slots, find, list, slots};
pub use slot::{CongestionAvoidance, LossReaction, NamedSlots, Slot, SlotKind, SlowStart};
pub use slots::{Avoidance, Reaction, Start};
pub use window::{Actions, CWND_LIMIT, Phase, ProbeContent, ProbePattern, Probes, Window};
