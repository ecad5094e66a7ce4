//! Links: queue, transmitter, propagation, channel.
//!
//! A [`Link`] is one direction between two nodes. Packets in flight stay on it in
//! their order, so that only the next arrival needs an entry in an event queue. A
//! link reads no clock and is independent of the packet format: virtual time
//! drives it in the simulator, the wall clock in an emulator, with the same
//! drops for the same seed and arrivals. [`Link::build`] builds it from a
//! [`LinkPlan`].
//!
//! Most links are *precomputed*: queue, transmitter and channel decide over a
//! packet when it is offered, and its arrival is known at once, also where the
//! link changes with time ([`Timeline`]). Where a waiting packet may still be
//! dropped or marked, a link is *event-driven* ([`Link::is_event_driven`]):
//! packets wait in it, the transmitter takes them one by one, and
//! [`Link::poll_verdict`] reports what became of them.
//!
//! Queue disciplines are in `queue/`, one file each. [`forward`] moves packets
//! along their paths through links.
//!
//! A [`medium`] is shared by several terminals: each of them is a link, whose
//! packets go when the rule of access lets them.

mod arq;
mod channel;
mod coding;
mod counters;
mod cursor;
mod delays;
mod fade;
pub mod forward;
pub mod jitter;
mod link;
pub mod medium;
mod modcod;
mod packet;
mod pool;
mod queue;
mod ring;
mod settings;
pub mod slots;
#[cfg(test)]
mod testing;
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
pub use jitter::{DelayDistribution, JitterSettings};
pub use link::{Link, LinkPlan};
pub use modcod::{DVB_S2, ModCod, ModCodError};
pub use packet::{Admission, PacketMeta, Verdict};
pub use pool::PacketPool;
pub use queue::*;
pub use settings::{ChannelSettings, Limit, LinkConflict, LinkSettings};
pub use slots::{SlotSettings, Way};
pub use timeline::{
    InFlightPolicy, Loss, Means, Opportunities, Piece, State, Timeline, TimelineError, WhenDown,
};
