//! Links: queue, transmitter, propagation, channel.
//!
//! A [`Link`] is one direction between two nodes and a FIFO: packets wait in
//! its own ring and only its head needs a place in anybody's event queue. It
//! reads no clock and knows no packet format: virtual time drives it in the
//! simulator, the wall clock in an emulator, with the same drops for the same
//! seed and arrivals.
//!
//! Most links are *precomputed*: queue, transmitter and channel decide over a packet
//! when it is offered, and its arrival is known at once. Where a packet that
//! waits may still be dropped or marked, or where the link changes with time
//! ([`Timeline`]), a link is *event-driven* ([`Link::is_event_driven`]): packets wait in
//! it, the transmitter takes them one by one, and what became of them is told
//! by [`Link::poll_verdict`].
//!
//! A [`medium`] is shared by several terminals: each of them is a link, whose
//! packets go when the rule of access lets them.

mod arq;
mod channel;
mod coding;
mod counters;
mod course;
mod delays;
mod fade;
pub mod forward;
mod link;
pub mod medium;
mod packet;
mod queue;
mod ring;
mod settings;
mod timed;
mod timeline;
pub mod trace;
mod transmitter;

pub use arq::{ArqScheme, ArqSettings};
pub use channel::Channel;
pub use coding::{Coding, CodingError};
pub use counters::Counters;
pub use delays::DelayHistogram;
pub use fade::{Fade, Mode};
pub use link::{Link, LinkPlan};
pub use packet::{Admission, PacketMeta, Verdict};
pub use queue::*;
pub use settings::{ChannelSettings, Limit, LinkSettings};
pub use timeline::{
    InFlightPolicy, Loss, Opportunities, Piece, State, Timeline, TimelineError, WhenDown,
};
