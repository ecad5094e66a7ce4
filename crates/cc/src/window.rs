//! What a congestion control moves.

use bentpipe_units::{Rate, Segments};

/// Where a controller stands; the names are those of qlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    /// Growing from the initial window or after a timeout.
    #[default]
    SlowStart,
    /// Probing slowly above ssthresh.
    CongestionAvoidance,
    /// Repairing a loss.
    Recovery,
}

impl Phase {
    /// The name that outcomes and qlog use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Phase::SlowStart => "slow_start",
            Phase::CongestionAvoidance => "congestion_avoidance",
            Phase::Recovery => "recovery",
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
    /// The rate to pace at, where the controller wants pacing at its own rate;
    /// `None` leaves pacing to the transport's setting.
    pub pacing_rate: Option<Rate>,
}

impl Window {
    /// The window of a new connection.
    #[must_use]
    pub fn new(initial_window: Segments) -> Window {
        Window {
            cwnd: initial_window,
            ssthresh: f64::INFINITY,
            pacing_rate: None,
        }
    }

    /// True below ssthresh: slow start by the strict test of RFC 5681.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}
