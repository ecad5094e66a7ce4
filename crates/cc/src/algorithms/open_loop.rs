//! Open loop: a rate that is a parameter.
//!
//! Source: CCSDS 714.0-B (SCPS-TP), where a link whose capacity is known and
//! reserved needs no congestion control; named in Salamanca (2008), section
//! 1.2.3.2, only by its protocol. The rules here are our reading.
//!
//! | parameter | default | |
//! |---|---|---|
//! | rate | 1 Mbit/s | payload that leaves, whatever happens |
//!
//! Packets are spaced at the rate; cwnd is the receive window, so that nothing
//! but buffers limits. Losses, timeouts and marks change nothing.

use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{number, parameters};
use crate::{Ack, CWND_LIMIT, CongestionControl, Loss, Phase, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Rate, Segments};

parameters! {
    /// Settings of [`OpenLoop`].
    pub struct OpenLoopParameters {
        rate: f64 = number(1.0, "Mbit/s", (0.000_001, 1_000_000.0)),
            "payload that leaves, whatever happens";
    }
}

/// A sender with a fixed rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenLoop {
    rate: Rate,
    receive_window: Segments,
}

impl OpenLoop {
    /// A sender of `rate` payload.
    #[must_use]
    pub const fn new(rate: Rate) -> OpenLoop {
        OpenLoop {
            rate,
            receive_window: CWND_LIMIT,
        }
    }

    fn open(&self, window: &mut Window) {
        window.pacing_rate = Some(self.rate);
        window.cwnd = self.receive_window;
    }
}

impl Algorithm for OpenLoop {
    fn controls() -> Vec<Control<OpenLoop>> {
        let described = Described {
            name: "open-loop",
            summary: "sends at a given rate whatever happens",
            source: "CCSDS 714.0-B (SCPS-TP without congestion control)",
            open: "all of it is our reading: no window, no reaction",
            family: Family::Explicit,
            transport: TransportDefaults {
                summary: "sends at a given rate whatever happens, for a link that is known and \
                          reserved",
                source: "CCSDS 714.0-B without congestion control (our reading)",
                ..TransportDefaults::NEW
            },
            settles: true,
            ..Described::NEW
        };
        vec![Control::new(described, |p: OpenLoopParameters| {
            OpenLoop::new(Rate::from_bps_f64(p.rate * 1e6))
        })]
    }
}

impl CongestionControl for OpenLoop {
    named!("open-loop");
    ignores!(on_loss, on_timeout, on_recovery_exit, after_idle);

    fn on_open(&mut self, receive_window: Segments) {
        self.receive_window = receive_window.clamp(1.0, CWND_LIMIT);
    }

    fn on_established(&mut self, _: Option<Duration>, window: &mut Window) {
        self.open(window);
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        // A lost SYN has made the window small.
        if ack.cwnd_limited {
            self.open(window);
        }
    }

    fn phase(&self, _: &Window) -> Phase {
        Phase::Own("open_loop")
    }
}
