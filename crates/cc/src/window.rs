//! The window, and the other actions that a congestion control may request of the
//! transport.

use bentpipe_units::{Duration, Rate, Segments};

/// The phase of a congestion control; the names are those of qlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    /// Growing from the initial window or after a timeout.
    #[default]
    SlowStart,
    /// Probing slowly above ssthresh.
    CongestionAvoidance,
    /// Recovery from a loss.
    Recovery,
    /// A phase that only this algorithm has, by its name.
    Own(&'static str),
}

impl Phase {
    /// The name that outcomes and qlog use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Phase::SlowStart => "slow_start",
            Phase::CongestionAvoidance => "congestion_avoidance",
            Phase::Recovery => "recovery",
            Phase::Own(name) => name,
        }
    }
}

/// The window that a controller moves, in segments. The transport owns it and
/// sends while flight + len <= min(floor(cwnd) x MSS, send buffer, receive
/// window).
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Congestion window, segments; at least 1.
    pub cwnd: Segments,
    /// Slow start threshold, segments; infinite until something sets it.
    pub ssthresh: Segments,
    /// Bytes of a segment (MSS); the transport sets it.
    pub mss: u32,
    /// The rate to pace at, where the controller sets one;
    /// `None` leaves pacing to the transport's setting. It counts payload: a
    /// controller has the MSS and not the headers.
    pub pacing_rate: Option<Rate>,
    /// Segments that a paced sender lets go at once before it waits for as long
    /// as they take at the pacing rate; at least 1.
    pub send_quantum: u32,
    /// What else the transport is asked to do; it takes this after each call.
    pub actions: Actions,
}

/// No built-in algorithm grows cwnd above this: 2^30 segments, as many as the
/// largest receive window (RFC 7323) holds bytes.
pub const CWND_LIMIT: Segments = (1u64 << 30) as f64;

/// What a controller requests of the transport besides moving the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// Send the first unacknowledged segment again now, without waiting for
    /// more duplicate ACKs (Vegas).
    pub retransmit_head: bool,
    /// Take everything outstanding for lost and send it again (Bulk Repeat).
    pub repeat_all: bool,
    /// Send these low-priority packets from now on; they replace what is left
    /// of an earlier request.
    pub probes: Option<Box<Probes>>,
    /// Send the next so many new segments at low priority (Fast Start).
    pub low_priority: u32,
    /// The retransmission timeout that was just reported does not double the
    /// next one (Bulk Repeat).
    pub keeps_rto: bool,
    /// Take the rate samples of what is sent from now on for limited by the
    /// application, until what is in flight has arrived: the controller holds
    /// the sending back itself (BBR while it probes for the RTT).
    pub limits_rate: bool,
}

/// Low-priority packets that queues drop first (TCP-Peach).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probes {
    /// Number of probes; in slots ([`ProbePattern::Slots`]) the number of slots.
    pub count: u32,
    /// Time before the first and between two of them; zero sends them at once.
    /// It begins with the first segment of the connection. In slots the length of a slot.
    pub interval: Duration,
    /// Payload of the probes.
    pub content: ProbeContent,
    /// What goes at each interval.
    pub pattern: ProbePattern,
}

/// What a sender of probes sends at each interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ProbePattern {
    /// A probe of low priority.
    #[default]
    Single,
    /// A probe of low priority and behind it one of normal priority, whose answers
    /// are counted apart ([`crate::Ack::high_probes`]; TP-Planet's NIX segments).
    Pair,
    /// Time slots with more and more probes of low priority, evenly spaced in each:
    /// one in the first, twice as many in each further slot up to `threshold`, then
    /// in even steps up to `most` in the last slot (TP-Planet's Immediate Start).
    Slots {
        /// Probes a slot up to which they double, at least 1.
        threshold: u32,
        /// Probes in the last slot.
        most: u32,
    },
}

impl ProbePattern {
    /// Probes in slot `slot`, from 0, of `slots`; 1 at each interval of the other
    /// patterns.
    #[must_use]
    pub fn probes_in(self, slot: u32, slots: u32) -> u32 {
        let ProbePattern::Slots { threshold, most } = self else {
            return 1;
        };
        let most = most.max(1);
        let threshold = threshold.clamp(1, most);
        let doubled = 1_u32.checked_shl(slot).unwrap_or(threshold);
        if doubled < threshold {
            return doubled;
        }
        // The first slot with `threshold` probes, and the slots from there to the last.
        let reached = u32::BITS - (threshold - 1).leading_zeros();
        let all = u64::from(slots.saturating_sub(reached + 1).max(1));
        let passed = u64::from(slot.saturating_sub(reached)).min(all);
        threshold + (u64::from(most - threshold) * passed / all) as u32
    }
}

/// Payload of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ProbeContent {
    /// A copy of the last segment sent: the receiver throws it away (TCP-Peach's
    /// dummy segments).
    #[default]
    Copy,
    /// Unacknowledged segments, the oldest first: they repair losses, too
    /// (TCP-Peach+'s NIL segments).
    Unacknowledged,
}

impl Actions {
    /// True if nothing is asked.
    #[must_use]
    #[inline]
    pub const fn is_none(&self) -> bool {
        !self.retransmit_head
            && !self.repeat_all
            && self.probes.is_none()
            && self.low_priority == 0
            && !self.keeps_rto
            && !self.limits_rate
    }
}

impl Window {
    /// The window of a new connection, with segments of 1460 bytes.
    #[must_use]
    pub fn new(initial_window: Segments) -> Window {
        Window {
            cwnd: initial_window,
            ssthresh: f64::INFINITY,
            mss: 1460,
            pacing_rate: None,
            send_quantum: 1,
            actions: Actions::default(),
        }
    }

    /// Slow start or congestion avoidance, by ssthresh.
    #[must_use]
    #[inline]
    pub fn phase(&self) -> Phase {
        if self.in_slow_start() {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// True below ssthresh: slow start by the strict test of RFC 5681.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// One ACK's growth by the count of ACKs: a segment where the window `doubles`
    /// each round trip, else 1/cwnd. Returns what was added.
    pub(crate) fn grow_per_ack(&mut self, doubles: bool) -> Segments {
        let before = self.cwnd;
        let step = if doubles { 1.0 } else { 1.0 / before };
        self.cwnd = (before + step).min(CWND_LIMIT.max(before));
        self.cwnd - before
    }
}
