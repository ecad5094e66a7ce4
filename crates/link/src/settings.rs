//! What a link is, as a scenario describes it.

use crate::QueueSettings;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

/// One direction between two nodes: queue, transmitter, propagation, channel.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkSettings {
    /// Transmission rate.
    pub rate: Rate,
    /// One-way propagation delay.
    pub one_way_delay: Duration,
    /// What waits for the transmitter. The packet in transmission does not
    /// count.
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

impl Limit {
    /// True if one packet of `more` bytes may join `packets` of `bytes` in all.
    #[inline]
    pub(crate) fn admits(self, packets: u64, bytes: u64, more: u32) -> bool {
        match self {
            Limit::Packets(n) => packets < u64::from(n),
            Limit::Bytes(n) => bytes.saturating_add(u64::from(more)) <= n.get(),
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
    /// The same two states in time: bursts last, whether packets come or not. A
    /// packet is lost whose transmission ends in the bad state.
    Bursts {
        /// Long-run share of the time in the bad state.
        packet_error_rate: Ratio,
        /// Mean time in the bad state.
        mean_burst: Duration,
    },
}
