//! The forwarding core: packets on their paths through links and media.
//!
//! A [`Network`] moves packets from link to link and leaves everything else to
//! its [`Driver`]: the event queue or clock, the packets themselves, the
//! counters. The simulator drives it in virtual time, the live emulator by the
//! wall clock, so that the same arrivals meet the same drops.
//!
//! | file | subject |
//! |---|---|
//! | `in_flight.rs` | what a link holds of a packet |
//! | `paths.rs` | routes, and when they change |
//! | `lookahead.rs` | links that are offered packets before these arrive |
//! | `network.rs` | one hop: admission, arrival, the next link |
//! | `service.rs` | event-driven links: polling, verdicts, detours |
//! | `media.rs` | links that share a medium |

mod in_flight;
mod lookahead;
mod media;
mod network;
mod paths;
mod service;

pub use in_flight::InFlight;
pub use lookahead::Lookahead;
pub use media::Media;
pub use network::{Arrival, Network};
pub use paths::{Path, Paths};

use crate::{Feedback, Link, PacketMeta, Stamp, Verdict, XcpHeader};
use bentpipe_units::Time;

/// Packets and their bytes at the IP layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of packets.
    pub packets: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl Count {
    /// Adds one packet of `bytes`.
    #[inline]
    pub fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// The sum of both.
    #[must_use]
    pub const fn plus(self, other: Count) -> Count {
        Count {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
        }
    }

    /// The difference of both; `other` is part of `self`.
    #[must_use]
    pub fn less(self, other: Count) -> Count {
        debug_assert!(self.packets >= other.packets && self.bytes >= other.bytes);
        Count {
            packets: self.packets.saturating_sub(other.packets),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

/// A packet that will not arrive.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// The packet; [`InFlight::hop`] is the hop at which it is lost.
    pub packet: InFlight,
    /// The link that loses it.
    pub link: u32,
    /// Why: [`Verdict::QueueDrop`], [`Verdict::ChannelLoss`] or
    /// [`Verdict::OutageLoss`].
    pub verdict: Verdict,
    /// When the packet enters the link, if that lies ahead; now otherwise.
    pub enters: Time,
    /// When the packet is lost, which may lie ahead: a queue drops it on entry,
    /// a channel destroys it when its transmission ends, an outage when it
    /// begins.
    pub at: Time,
    /// When the transmitter of the link will have sent all that it has taken.
    pub link_free_at: Time,
}

/// What surrounds a [`Network`]: its event queue, its packets, its counters.
///
/// Components, for which events are scheduled, are the links by their number
/// and then the media.
pub trait Driver {
    /// [`Network::arrive`] is to be called for `component` at `at`.
    fn schedule(&mut self, at: Time, component: u32);

    /// A queue marks a packet's ECN field.
    fn mark(&mut self, packet: &InFlight);

    /// The queue of link number `link` notifies the sender of a packet that it
    /// has admitted of congestion.
    fn notify(&mut self, now: Time, link: u32, packet: &InFlight) {
        let _ = (now, link, packet);
    }

    /// A packet is lost.
    fn lose(&mut self, now: Time, loss: &Loss, paths: &Paths);

    /// Link number `link` has admitted a packet whose transmission ends at `sent` and which arrives
    /// at `at` in another part of the network, where [`Network::land`] takes it. Only where
    /// [`Paths::cut`] says so.
    fn cross(&mut self, link: u32, sent: Time, at: Time, packet: &InFlight) {
        let _ = (link, sent, at, packet);
    }

    /// What link number `link` reads of `packet`.
    #[inline]
    fn meta(&self, link: u32, packet: &InFlight) -> PacketMeta {
        let _ = link;
        packet.meta
    }

    /// A packet is offered to the link of its hop.
    #[inline]
    fn offered(&mut self, packet: &InFlight) {
        let _ = packet;
    }

    /// A packet has arrived at the far end of the link of its hop.
    #[inline]
    fn delivered(&mut self, packet: &InFlight) {
        let _ = packet;
    }

    /// A packet leaves its path before the link of its hop and continues at hop `hop` of another
    /// path.
    fn divert(&mut self, packet: &InFlight, hop: u32) {
        let _ = (packet, hop);
    }

    /// The congestion header (XCP) of a packet that carries one; an empty one represents a
    /// bandwidth header (BA-TCP).
    fn congestion_header(&mut self, packet: &InFlight) -> Option<XcpHeader> {
        let _ = packet;
        None
    }

    /// A router writes `feedback` into the congestion header of a packet.
    fn write_feedback(&mut self, packet: &InFlight, feedback: Feedback) {
        let _ = (packet, feedback);
    }

    /// A router adds `stamp` to the bandwidth header (BA-TCP) of a packet.
    fn write_stamp(&mut self, packet: &InFlight, stamp: Stamp) {
        let _ = (packet, stamp);
    }

    /// Takes the acknowledgements that `packet` makes superfluous out of the
    /// queue of a link that [filters](Link::filters_acks) them.
    fn filter(&mut self, now: Time, link: &mut Link<InFlight>, packet: &InFlight) {
        let _ = (now, link, packet);
    }
}
