//! Boxes on a node that inspect and change traffic, without I/O: Snoop, the
//! spoofing proxy, the split-connection PEP, the ACK filter and the reconstruction
//! of ACKs behind it.
//!
//! A [`Middlebox`] processes packets as they pass its node. It may forward them,
//! suppress them and send its own packets. Time is an argument, the next
//! deadline a result, so that a simulator and a live emulator can both drive it.

mod ack_filter;
mod connections;
mod interface;
mod ipsec;
mod middlebox;
pub mod reconstruction;
pub mod snoop;
pub mod split;
pub mod spoof;

pub use ack_filter::AckFilter;
pub use interface::{Counters, Pass, Side, Surroundings};
pub use ipsec::{Ipsec, IpsecMode};
pub use middlebox::{Middlebox, Settings};
pub use reconstruction::ReconstructionSettings;
pub use snoop::{SnoopSettings, SnoopVariant};
pub use spoof::SpoofSettings;
