//! DCTCP: a mark cuts by half of the part of the packets that is marked.
//!
//! Source: RFC 8257, section 3.3: in every window of data alpha = (1 - g) alpha + g
//! M, with M the part of what was acknowledged that ACKs with ECN echo covered; the
//! first echo of a window sets cwnd and ssthresh to cwnd (1 - alpha / 2). Losses and
//! timeouts are Reno's (section 3.5). The receiver's part (section 3.2) is the
//! transport's.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | g | 1/16 | gain of the estimate |
//! | alpha | 1 | estimate before the first window |
//!
//! Left open, and the reading chosen: the window of data is the round trip that the
//! transport counts; ssthresh is at least 2.

use super::newreno::{Reno, Standard};
use crate::declaration::{Control, Described, EcnEcho, TransportDefaults, of_slots};
use crate::hoe::HoeOff;
use crate::parameter::{number, parameters};
use crate::slot::{LossReaction, Parts};
use crate::{Ack, Loss, Window};
use bentpipe_units::Segments;

/// The control `dctcp`.
pub(crate) fn dctcp() -> Control<Parts<Standard, Reno, Dctcp, HoeOff>> {
    of_slots(Described {
        name: "dctcp",
        on_linux: Some("dctcp-linux"),
        summary: "cuts by the part of the packets that is marked",
        source: "RFC 8257, section 3.3",
        open: "a window of data is a round trip of the transport; ssthresh is at least 2",
        transport: TransportDefaults {
            summary: "DCTCP: ECN marks cut in proportion",
            source: "RFC 8257",
            ecn: Some(true),
            ecn_echo: EcnEcho::EachChange,
            ..TransportDefaults::NEW
        },
        ..Described::NEW
    })
}

parameters! {
    /// Settings of [`Dctcp`].
    #[derive(Copy)]
    pub struct DctcpParameters {
        g: f64 = number(0.0625, "", (1e-6, 1.0)), "gain of the estimate";
        alpha: f64 = number(1.0, "", (0.0, 1.0)), "estimate before the first window";
    }
}

/// Reduction by alpha/2 of DCTCP, with alpha estimated once per window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dctcp {
    g: f64,
    /// The part of the packets that is marked.
    alpha: f64,
    /// Delivered in this window of data, and by ACKs with an echo.
    delivered: Segments,
    marked: Segments,
}

fills! { Dctcp, "dctcp", "half of the part that is marked (RFC 8257)",
    |p: DctcpParameters| Dctcp {
        g: p.g,
        alpha: p.alpha,
        delivered: 0.0,
        marked: 0.0,
    }
}

impl LossReaction for Dctcp {
    fn on_sample(&mut self, ack: &Ack) {
        self.delivered += ack.delivered;
        if ack.congestion_echo {
            self.marked += ack.delivered;
        }
        if ack.round_start && self.delivered > 0.0 {
            let part = (self.marked / self.delivered).min(1.0);
            self.alpha = (1.0 - self.g) * self.alpha + self.g * part;
            (self.delivered, self.marked) = (0.0, 0.0);
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        window.ssthresh = if loss.ecn {
            window.cwnd * (1.0 - self.alpha / 2.0)
        } else {
            loss.flight / 2.0
        }
        .max(2.0);
        window.cwnd = window.ssthresh;
    }
}
