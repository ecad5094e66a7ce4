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
//! timeout. The paper adds a per ACK and has receivers acknowledge every segment
//! in mind: the default is the step per ACK; with an ACK per two segments it takes
//! twice the time between losses that the paper gives, and `count = segments`, as in
//! today's Linux and ns-3, restores that.

use super::newreno::Standard;
use super::{Counted, SEGMENTS};
use crate::declaration::{Control, Described, Family, TransportDefaults, of_slots};
use crate::hoe::HoeOff;
use crate::parameter::{number, parameters, word};
use crate::slot::{CongestionAvoidance, LossReaction, Parts};
use crate::{Ack, Hoe, Loss, Timeout, Window};
use bentpipe_units::Segments;

/// The control `scalable`.
pub(crate) fn scalable() -> Control<Parts<Standard, Scalable, ScalableReaction, HoeOff>> {
    of_slots(Described {
        name: "scalable",
        on_linux: Some("scalable-linux"),
        summary: "growth and cut in proportion to the window",
        source: "Kelly 2003",
        open: "per ACK as the paper says; below 16 segments Reno, growth and cut",
        family: Family::LargeWindow,
        transport: TransportDefaults {
            summary: "grows by a hundredth per round trip, loses an eighth",
            ..TransportDefaults::NEW
        },
        settles: true,
        ..Described::NEW
    })
}

parameters! {
    /// Growth and cut of Scalable TCP.
    #[derive(Copy)]
    pub struct Scalable {
        increase: f64 = number(0.01, "segments", (1e-6, 1.0)),
            "what an ACK adds in congestion avoidance";
        decrease: f64 = number(0.125, "", (0.01, 0.9)), "part of the window that a loss takes";
        low_window: f64 = number(16.0, "segments", SEGMENTS), "below this window it is Reno";
        count: Counted = word(), "what a step of congestion avoidance counts";
    }
}

fills! { Scalable, "scalable", "a part of the window per round trip (Kelly 2003)",
    |parameters: Scalable| parameters
}

impl CongestionAvoidance for Scalable {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window, _: Option<&Hoe>) {
        let step = if window.cwnd < self.low_window {
            1.0 / window.cwnd
        } else {
            self.increase
        };
        // A stretch ACK adds at most the window.
        window.cwnd += (step * self.count.of(ack)).min(window.cwnd);
    }
}

/// The cut of Scalable TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalableReaction(Scalable);

impl ScalableReaction {
    fn cut(&self, w: Segments) -> Segments {
        let left = if w < self.0.low_window {
            0.5
        } else {
            1.0 - self.0.decrease
        };
        (w * left).max(2.0)
    }
}

fills! { ScalableReaction, "scalable", "7/8 of what is in flight (Kelly 2003)",
    |parameters: Scalable| ScalableReaction(parameters)
}

impl LossReaction for ScalableReaction {
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        window.ssthresh = self.cut(loss.flight);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        timeout.reduce(window, |flight| self.cut(flight));
    }
}
