//! What a link is, as a scenario describes it.

use crate::codel::CoDelSettings;
use crate::red::RedSettings;
use crate::xcp::XcpSettings;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

/// One direction between two nodes: queue, transmitter, propagation, channel.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkSettings {
    /// Transmission rate.
    pub rate: Rate,
    /// One-way propagation delay.
    pub one_way_delay: Duration,
    /// The waiting room. The packet in transmission does not count.
    pub queue: QueueSettings,
    /// The loss process behind the transmitter.
    pub channel: ChannelSettings,
    /// Bytes that the link's framing adds to every packet on the wire.
    pub framing: Bytes,
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Limit {
    /// Packets of any size.
    Packets(u32),
    /// Bytes of packets, framing not counted.
    Bytes(Bytes),
}

/// A queue discipline and its parameters.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum QueueSettings {
    /// First in, first out; what does not fit is dropped.
    DropTail {
        /// How much may wait.
        limit: Limit,
    },
    /// Random early detection, also adaptive.
    Red(RedSettings),
    /// Controlled delay.
    CoDel(CoDelSettings),
    /// First in, first out, with packets that are dropped first: to a full
    /// queue, a packet of normal priority is admitted in place of the one of
    /// low priority that is nearest to the tail. For transports that send
    /// dummy segments (TCP-Peach).
    PriorityDrop {
        /// How much may wait.
        limit: Limit,
        /// A packet of low priority is admitted only while no more than this
        /// waits with it; `None`: `limit`.
        low_limit: Option<Limit>,
    },
    /// First in, first out, with a router of XCP that shares the link among
    /// the senders.
    Xcp(XcpSettings),
    /// First in, first out; what does not fit is dropped. Before a packet
    /// comes, whoever runs the link takes acknowledgements out that it makes
    /// superfluous ([`Link::drop_waiting`](crate::Link::drop_waiting)): RFC 3449,
    /// section 5.2.1.
    AckFilter {
        /// How much may wait.
        limit: Limit,
    },
}

impl QueueSettings {
    /// How much may wait at most.
    #[must_use]
    pub fn limit(&self) -> Limit {
        match self {
            QueueSettings::DropTail { limit }
            | QueueSettings::PriorityDrop { limit, .. }
            | QueueSettings::AckFilter { limit } => *limit,
            QueueSettings::Red(red) => red.effective_limit(),
            QueueSettings::CoDel(codel) => codel.limit,
            QueueSettings::Xcp(xcp) => xcp.limit,
        }
    }

    /// True if a packet that is let in may still be dropped, or written into:
    /// what becomes of it is known only when the transmitter takes it. See
    /// [`Link::is_event_driven`](crate::Link::is_event_driven).
    #[must_use]
    pub fn is_event_driven(&self) -> bool {
        match self {
            QueueSettings::DropTail { .. } | QueueSettings::Red(_) => false,
            QueueSettings::CoDel(_)
            | QueueSettings::PriorityDrop { .. }
            | QueueSettings::Xcp(_)
            | QueueSettings::AckFilter { .. } => true,
        }
    }
}

/// A loss process and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub enum ChannelSettings {
    /// Nothing is lost.
    Perfect,
    /// Each packet is lost independently.
    Uniform {
        /// Packet error rate.
        packet_error_rate: Ratio,
    },
    /// Each bit of a packet on the wire (framing included) is wrong
    /// independently; a packet with a wrong bit is lost.
    BitErrors {
        /// Bit error rate after any coding.
        bit_error_rate: Ratio,
    },
    /// Two states, good (no loss) and bad (every packet lost), one step per
    /// packet.
    GilbertElliott {
        /// Long-run share of packets lost.
        packet_error_rate: Ratio,
        /// Mean number of packets in a loss burst, at least 1, and at least
        /// p / (1 - p) for the share p to be reached.
        mean_burst: f64,
    },
}
