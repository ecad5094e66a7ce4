//! Scalable TCP: growth and cut in proportion to the window, so that the time
//! between losses does not depend on it.
//!
//! Source: Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area
//! Networks", CCR 33(2), 2003. Congestion avoidance adds a per ACK, a loss takes
//! b of the window. Below the low window, where Reno is faster, it is Reno.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | increase | 0.01 | segments per ACK (a) |
//! | decrease | 0.125 | part of the window (b) |
//! | low_window | 16 | segments |
//! | count | acks | `segments`: a per segment acknowledged |
//!
//! Left open, and the reading chosen: the low window is a threshold on cwnd in
//! congestion avoidance, and on what is halved (the flight) at a loss and at a
//! timeout.

use crate::{Ack, Loss, Timeout, Window};
use bentpipe_units::Segments;

/// Growth and cut of Scalable TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalable {
    /// Segments per ACK, a.
    pub increase: Segments,
    /// Part of the window that a loss takes, b.
    pub decrease: f64,
    /// Below this window it is Reno.
    pub low_window: Segments,
    /// Multiply the step by the segments acknowledged.
    pub per_segment: bool,
}

impl Default for Scalable {
    fn default() -> Scalable {
        Scalable {
            increase: 0.01,
            decrease: 0.125,
            low_window: 16.0,
            per_segment: false,
        }
    }
}

impl Scalable {
    #[inline]
    pub(crate) fn on_ack(&self, ack: &Ack, window: &mut Window) {
        let step = if window.cwnd < self.low_window {
            1.0 / window.cwnd
        } else {
            self.increase
        };
        // A stretch ACK adds at most the window.
        let count = if self.per_segment { ack.acked } else { 1.0 };
        window.cwnd += (step * count).min(window.cwnd);
    }

    fn cut(&self, w: Segments) -> Segments {
        let left = if w < self.low_window {
            0.5
        } else {
            1.0 - self.decrease
        };
        (w * left).max(2.0)
    }

    pub(crate) fn on_loss(&self, loss: &Loss, window: &mut Window) {
        window.ssthresh = self.cut(loss.flight);
        window.cwnd = window.ssthresh;
    }

    pub(crate) fn on_timeout(&self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            window.ssthresh = self.cut(timeout.flight);
        }
        window.cwnd = 1.0;
    }
}
