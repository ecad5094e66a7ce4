//! Captures of real connections: what is in the file, and what it shows of the link.
//!
//! - [`Reader`] reads pcap and pcapng, [`content`] the headers of a packet;
//! - [`Connections`] finds the TCP connections of a capture, [`Seen`] is what was seen of one;
//! - [`History`] is the sender's view of a connection: what it sent, what became of each
//!   transmission, and what each acknowledgement said;
//! - [`Link`] is the link behind it, each property with an interval: [`Estimate`].
//!
//! Nothing here reads a clock or opens a file. The sender must be where the capture was made:
//! round trips, queueing and losses are told from what it sent and what came back.

mod chance;
mod clock;
mod connections;
mod error;
mod estimate;
mod file;
mod gaps;
mod history;
mod link;
mod loss;
mod rate;
mod round_trip;
#[cfg(test)]
mod samples;
mod waits;
mod wire;

pub use connections::{Connection, Connections, Seen, Side};
pub use error::ReadError;
pub use estimate::Estimate;
pub use file::{Reader, Record};
pub use history::{Acked, Builder, Fate, History, Sent};
pub use link::Link;
pub use loss::{Losses, Proportion};
pub use wire::{Content, Segment, content};
