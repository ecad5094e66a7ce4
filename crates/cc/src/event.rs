//! What a transport tells its congestion control.
//!
//! Volumes are in segments (units of the MSS) and may be fractional when
//! packets are not full.

use bentpipe_units::{Duration, Rate, Segments, Time};

/// One received acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Segments newly acknowledged cumulatively; zero for a duplicate.
    pub acked: Segments,
    /// Segments newly delivered: cumulatively acknowledged or selectively
    /// acknowledged, each counted once, when first known to have arrived.
    pub delivered: Segments,
    /// True for a duplicate ACK: nothing newly acknowledged cumulatively.
    pub duplicate: bool,
    /// RTT sample of this ACK, where it gives one (Karn's rule or timestamps).
    pub rtt: Option<Duration>,
    /// Smallest RTT sample of the connection; [`Duration::MAX`] before one.
    pub min_rtt: Duration,
    /// Smoothed RTT of the retransmission timer; zero before a sample.
    pub smoothed_rtt: Duration,
    /// Delivery rate over the round trip that ended with this ACK; `None` on the
    /// other ACKs.
    pub delivery_rate: Option<Rate>,
    /// Segments in flight before this ACK was taken into account.
    pub flight_before: Segments,
    /// Segments in flight after it.
    pub flight: Segments,
    /// True when the sender had filled cwnd before this ACK. A sender that did
    /// not need its window must not grow it, unless the host profile says so.
    pub cwnd_limited: bool,
    /// True for the first ACK of a new round trip (the first that covers data
    /// sent after the round began).
    pub round_start: bool,
    /// True while the transport is repairing a loss.
    pub in_recovery: bool,
    /// The receive window limit, segments: nothing above it can be sent.
    pub receive_window: Segments,
    /// Segment size in bytes (MSS).
    pub mss: u32,
}

/// A loss was found and recovery begins: called once per window of data.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When.
    pub now: Time,
    /// Segments in flight when the loss was found (not counting what limited
    /// transmit sent).
    pub flight: Segments,
    /// True when the receiver echoed an ECN mark and nothing was lost.
    pub ecn: bool,
    /// Smallest RTT sample of the connection.
    pub min_rtt: Duration,
    /// Segment size in bytes.
    pub mss: u32,
}

/// The retransmission timer ran out.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// When.
    pub now: Time,
    /// Segments in flight at that time.
    pub flight: Segments,
    /// True for the first timeout of a segment; a second one must not lower
    /// ssthresh again (RFC 5681, section 3.1).
    pub first: bool,
    /// Smallest RTT sample of the connection.
    pub min_rtt: Duration,
    /// Segment size in bytes.
    pub mss: u32,
}

/// Recovery ends: everything sent before the loss has been acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryExit {
    /// When.
    pub now: Time,
    /// Segments in flight.
    pub flight: Segments,
    /// True when the host sets cwnd to no more than what is in flight plus one
    /// (the recovery fix of RFC 3782, section 3 step 5, option 1).
    pub recovery_fix: bool,
    /// Smallest RTT sample of the connection.
    pub min_rtt: Duration,
    /// Segment size in bytes.
    pub mss: u32,
}
