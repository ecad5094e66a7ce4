//! The events that a transport reports to its congestion control.
//!
//! Volumes are in segments (units of the MSS) and may be fractional when
//! packets are not full.

use crate::Window;
use bentpipe_units::{Duration, Rate, Segments, Time};

/// The first unacknowledged segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// When it was sent last.
    pub sent_at: Time,
    /// How often it was sent.
    pub transmissions: u32,
}

/// How fast data arrived between the sending of a packet and its
/// acknowledgement (draft-ietf-ccwg-bbr, section 4.1.2; Linux `rate_sample`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Payload delivered over the interval, by full segments.
    pub rate: Rate,
    /// Segments delivered over the interval.
    pub delivered: Segments,
    /// The longer of the sending and the acknowledging time.
    pub interval: Duration,
    /// Segments that had been delivered when the packet was sent.
    pub prior_delivered: Segments,
    /// Segments delivered in the whole connection, this ACK included; of the same count as
    /// `prior_delivered`.
    pub total_delivered: Segments,
    /// The application, not the window, limited the sending.
    pub app_limited: bool,
    /// Segments in flight when the packet was sent, itself not counted.
    pub prior_flight: Segments,
    /// RTT of the packet; `None` where it was sent more than once.
    pub rtt: Option<Duration>,
}

/// The kind of loss repair in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Repair {
    /// No feedback from routers.
    #[default]
    None,
    /// A loss that acknowledgements showed (fast recovery).
    Recovery,
    /// The data that a retransmission timeout declared lost.
    Timeout,
}

/// One received acknowledgement, as the sender sees it after updating its scoreboard.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Time of arrival.
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
    /// Delivery rate sample of the newest packet that this ACK covers; only where
    /// [`crate::CongestionControl::needs_rate_samples`] is true.
    pub rate_sample: Option<RateSample>,
    /// Segments newly found lost.
    pub lost: Segments,
    /// Probes ([`crate::Probes`]) that this ACK answers. Such an ACK is never a
    /// duplicate, and rarely acknowledges anything else.
    pub probes: u32,
    /// Of the normal-priority probes of pairs ([`crate::ProbePattern::Pair`]), those that this ACK
    /// answers; they do not count in `probes`.
    pub high_probes: u32,
    /// True when the receiver echoes an ECN mark.
    pub congestion_echo: bool,
    /// Segments in flight before this ACK was taken into account.
    pub flight_before: Segments,
    /// Segments in flight after it.
    pub flight: Segments,
    /// Segments sent and not acknowledged cumulatively, after this ACK.
    pub outstanding: Segments,
    /// The first of them; `None` when nothing is outstanding.
    pub head: Option<Head>,
    /// True when the sender had filled cwnd before this ACK. A sender that did not need its window
    /// must not grow it, unless the host profile permits it.
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

impl Ack {
    /// Segments delivered in the whole connection, `before` of them by the ACK before this one
    /// (`C.delivered` of draft-ietf-ccwg-bbr, `tp->delivered` of Linux): what the delivery-rate
    /// sampler counts, since the end of a round is compared with its
    /// [`RateSample::prior_delivered`].
    #[inline]
    pub(crate) fn delivered_after(&self, before: Segments) -> Segments {
        match &self.rate_sample {
            Some(sample) => sample.total_delivered,
            None => before + self.delivered,
        }
    }
}

/// The state of a path, as a node that observes it reports to a sender, such as
/// the proxy at its beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathHint {
    /// Payload that the bottleneck carries.
    pub capacity: Rate,
    /// The part of it that is this connection's, 0 to 1.
    pub share: f64,
    /// Connections that have something to send, this one included.
    pub active: u32,
    /// The part of the capacity that they used lately.
    pub utilisation: f64,
    /// Round trip of the path without queues.
    pub min_rtt: Option<Duration>,
}

/// What the connections of a host to one peer share: TCP control block
/// interdependence (RFC 9040).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedState {
    /// This connection's equal part of the windows of all connections that have
    /// something to send; where there are none, the whole of what the last ones had.
    pub cwnd: Segments,
    /// The same of the slow start thresholds; infinite where none was set.
    pub ssthresh: Segments,
    /// Connections that have something to send, this one included.
    pub active: u32,
    /// Time since any of them had something to send; zero while one has.
    pub age: Duration,
}

/// What the routers on the path leave a sender (XCP), as an ACK brings it back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// Time of arrival.
    pub now: Time,
    /// The change of throughput, bytes a second, the sum over the packets that
    /// the ACK answers.
    pub change: f64,
    /// Smoothed RTT, zero before a sample: that which the packets carried.
    pub smoothed_rtt: Duration,
    /// Segment size in bytes.
    pub mss: u32,
}

/// A loss was found and recovery begins: called once per window of data.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Time at which the sender detected the loss.
    pub now: Time,
    /// Segments in flight when the loss was found (not counting what limited
    /// transmit sent).
    pub flight: Segments,
    /// Segments sent and not acknowledged cumulatively.
    pub outstanding: Segments,
    /// True when the receiver echoed an ECN mark and nothing was lost.
    pub ecn: bool,
    /// The first unacknowledged segment, before it is sent again.
    pub head: Option<Head>,
    /// Smoothed RTT of the retransmission timer; zero before a sample.
    pub smoothed_rtt: Duration,
    /// Smallest RTT sample of the connection.
    pub min_rtt: Duration,
    /// Segment size in bytes.
    pub mss: u32,
}

/// The retransmission timer ran out.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// Time at which the timer expired.
    pub now: Time,
    /// Segments in flight at that time.
    pub flight: Segments,
    /// Segments sent and not acknowledged cumulatively.
    pub outstanding: Segments,
    /// True for the first timeout of a segment; a second one must not lower
    /// ssthresh again (RFC 5681, section 3.1).
    pub first: bool,
    /// Smallest RTT sample of the connection.
    pub min_rtt: Duration,
    /// Segment size in bytes.
    pub mss: u32,
}

/// The queue at the sender's own node: that of the terminal's MAC, or of the
/// first link of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueReport {
    /// Time of the report.
    pub now: Time,
    /// Length of the queue, packets.
    pub waiting: f64,
    /// Packets that may wait, where there is a bound.
    pub limit: Option<f64>,
    /// Frames of the medium since the last report, at least one. One report may cover several
    /// frames in which the sender could do nothing.
    pub frames: u32,
}

/// Recovery ends: everything sent before the loss has been acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryExit {
    /// Time of the event.
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

impl Timeout {
    /// The window of RFC 5681, section 3.1: the first timeout of a segment sets
    /// ssthresh to what `cut` leaves of the flight.
    #[inline]
    pub(crate) fn reduce(&self, window: &mut Window, cut: impl FnOnce(Segments) -> Segments) {
        if self.first {
            window.ssthresh = cut(self.flight);
        }
        window.cwnd = 1.0;
    }
}

/// Half of the flight, at least two segments (RFC 5681, equation 4).
#[inline]
pub(crate) fn half(flight: Segments) -> Segments {
    (flight / 2.0).max(2.0)
}

impl RecoveryExit {
    /// The window at the end of a recovery that leaves `cwnd`: RFC 3782, section
    /// 3, step 5.
    #[inline]
    pub fn leave(&self, cwnd: Segments, window: &mut Window) {
        window.cwnd = if self.recovery_fix {
            cwnd.min(self.flight + 1.0)
        } else {
            cwnd
        };
    }

    /// The same in the agents of ns-2: cwnd is what recovery made of it, unless
    /// `exit_recovery_fix_` is on.
    pub(crate) fn leave_as_agent(&self, window: &mut Window) {
        if self.recovery_fix {
            self.leave(window.ssthresh, window);
        }
    }
}
