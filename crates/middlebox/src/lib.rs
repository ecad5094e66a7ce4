//! What sits on a node and touches packets, without I/O.
//!
//! A [`Middlebox`] looks at packets as they pass the node that it stands on. It
//! may let them pass, keep them back, and send packets of its own; times go in,
//! a deadline comes out. Whoever runs the network calls it.

mod ack_filter;
mod middlebox;
pub mod snoop;
pub mod split;
pub mod spoof;

pub use ack_filter::AckFilter;
pub use middlebox::{Counters, Middlebox, Pass, Settings, Side, Surroundings};
pub use snoop::{SnoopSettings, SnoopVariant};
pub use spoof::SpoofSettings;
