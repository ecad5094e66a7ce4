//! Links: queue, transmitter, propagation, channel.
//!
//! A [`Link`] is one direction between two nodes and a FIFO: packets wait in
//! its own ring and only its head needs a place in anybody's event queue. It
//! reads no clock and knows no packet format: virtual time drives it in the
//! simulator, the wall clock in an emulator, with the same drops for the same
//! seed and arrivals.

mod channel;
mod counters;
mod delays;
mod link;
mod offered;
mod queue;
mod red;
mod settings;

pub use channel::Channel;
pub use counters::Counters;
pub use delays::DelayHistogram;
pub use link::Link;
pub use offered::{Admission, Offered, Verdict};
pub use red::{AdaptiveSettings, RedMode, RedPreset, RedSettings};
pub use settings::{ChannelSettings, Limit, LinkSettings, QueueSettings};
