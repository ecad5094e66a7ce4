//! The built-in congestion controls by name: what they are, which parameters
//! they take, and how to build one from a scenario's text.
//!
//! One table ([`list`]) serves the command line, the documentation and the
//! checks of a scenario, so that none of them can say something else.

mod build;
mod delay;
mod explicit;
mod kernel;
mod linux;
mod model;
mod named;
mod parameter;
mod reader;
mod satellite;
mod slot;
mod table;
mod value;

pub use bentpipe_units::nearest;
pub use build::{BuildError, build, build_slots};
pub use explicit::needs_feedback;
pub use named::{Described, NamedSlots, find, list};
pub use parameter::{DefaultValue, Parameter, Range};
pub use slot::{Slot, SlotKind, slots};
pub use value::{ParameterValue, Parameters};
