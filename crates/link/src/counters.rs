//! Counters of a link.

use bentpipe_units::Duration;

/// Counters of a link since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets offered to the link, dropped ones included.
    pub offered: u64,
    /// Packets that the queue dropped, early and forced.
    pub queue_drops: u64,
    /// Those of them that were dropped early, to signal congestion.
    pub early_drops: u64,
    /// Packets whose ECN field the queue marked, or whose sender it notified.
    pub marks: u64,
    /// Packets that the channel destroyed.
    pub channel_losses: u64,
    /// Packets that were lost because the link was down or its route ended.
    pub outage_losses: u64,
    /// Transmissions of packets that had been transmitted before.
    pub repeats: u64,
    /// Bytes of the packets that will arrive, framing not counted.
    pub accepted_bytes: u64,
    /// Bytes of the packets that the channel or an outage destroyed, framing
    /// not counted.
    pub lost_bytes: u64,
    /// Sum of the queueing delays of all packets transmitted.
    pub queueing: Duration,
    /// Most packets that waited at once.
    pub max_packets: u64,
    /// Most bytes that waited at once.
    pub max_bytes: u64,
}
