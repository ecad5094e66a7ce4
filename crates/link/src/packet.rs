//! The part of a packet that links read, and their verdicts.

use crate::{Feedback, Stamp};
use bentpipe_units::Time;

/// The part of a packet that a link reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMeta {
    /// Bytes at the IP layer; framing comes on top.
    pub bytes: u32,
    /// The packet may be marked where it would be dropped otherwise.
    pub ecn_capable: bool,
    /// The packet may be dropped first: see
    /// [`PriorityDropSettings`](crate::PriorityDropSettings).
    pub low_priority: bool,
    /// The flow of the packet and its direction, as a number or a hash.
    pub flow: u32,
}

impl PacketMeta {
    /// A packet of `bytes` that is neither ECN-capable nor of low priority.
    #[must_use]
    pub const fn plain(bytes: u32) -> PacketMeta {
        PacketMeta {
            bytes,
            ecn_capable: false,
            low_priority: false,
            flow: 0,
        }
    }
}

/// Fate of a packet that was offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It will arrive at the far end.
    Accepted,
    /// It will arrive at the far end with its ECN field marked.
    Marked,
    /// It continues unchanged, and its sender is to be notified of congestion.
    Notified,
    /// It waits in an event-driven link, which reports later what becomes of it
    /// ([`Link::poll_verdict`](crate::Link::poll_verdict)).
    Waits,
    /// The router leaves it this change of throughput (XCP).
    Feedback(Feedback),
    /// The router writes its share and the link's delay into it (BA-TCP).
    Stamped(Stamp),
    /// The queue dropped it.
    QueueDrop,
    /// It will be transmitted and destroyed on the way; it never arrives.
    ChannelLoss,
    /// It is transmitted while the link is down, or on the way when its route
    /// ends: see [`Timeline`](crate::Timeline).
    OutageLoss,
}

/// Decision of queue, transmitter and channel about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It arrives at the far end.
    Arrives {
        /// Arrival time at the end of the link.
        at: Time,
        /// The queue marks its ECN field.
        marked: bool,
    },
    /// The packet never arrives.
    Lost {
        /// [`Verdict::QueueDrop`], [`Verdict::ChannelLoss`] or
        /// [`Verdict::OutageLoss`].
        verdict: Verdict,
        /// When it is lost: now in the queue, at the end of its transmission
        /// in the channel, or when the link goes down.
        at: Time,
    },
    /// The link is event-driven and has decided nothing: it must be given the
    /// packet itself ([`Link::offer`](crate::Link::offer)).
    EventDriven,
}
