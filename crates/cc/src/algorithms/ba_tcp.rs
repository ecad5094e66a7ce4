//! BA-TCP: a bandwidth-aware TCP, whose receiver sets the window.
//!
//! Source: Gerla, Weng & Lo Cigno, "BA-TCP: a bandwidth aware TCP for satellite
//! networks", ICCCN 1999, of which the abstract could be read, and Salamanca (2008),
//! section 1.2.2. They say: fields of an IPv6 extension header carry the round-trip
//! propagation delay (RTPD) and the available bandwidth (ABW) to the receiver, which
//! computes a generalised advertised window from them; that window controls what the
//! source injects, so that connections of different round trips share a bottleneck
//! fairly, and queues stay empty; ends and networks without it go on working.
//!
//! Routers are queues of kind `bandwidth-aware`, which write the fields; the receiver
//! advertises ABW x RTPD. The sender's cwnd is that window, from the first ACK that
//! brings it. As long as no router has written anything the sender is Reno.
//!
//! It has no parameters.
//!
//! Left open, with the reading chosen:
//! - A loss is repaired without reducing the window while routers send feedback: they report the
//!   available bandwidth, and their queues stay short, so losses are channel errors. A timeout sets
//!   cwnd to 1 until the next ACK.
//! - A window that opens at once could send a burst: the transport paces.
//! - RTPD counts the links behind `bandwidth-aware` queues, and assumes that the return path is as
//!   long as the forward path. Links without such a queue add nothing: give each link with a delay
//!   that matters such a queue.

use crate::declaration::{
    Algorithm, Control, Described, Family, LossRecovery, PathHeader, TransportDefaults,
    WindowPacing,
};
use crate::{Ack, CWND_LIMIT, CongestionControl, Loss, Phase, RecoveryExit, Timeout, Window};
use bentpipe_units::{Rate, Segments};

/// The sender of BA-TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BaTcp {
    /// Routers have reported the available bandwidth.
    available: Option<Rate>,
    /// The last advertised window, segments.
    advertised: Segments,
}

impl BaTcp {
    /// A sender that has not met a router yet.
    #[must_use]
    pub const fn new() -> BaTcp {
        BaTcp {
            available: None,
            advertised: 1.0,
        }
    }
}

impl Algorithm for BaTcp {
    fn controls() -> Vec<Control<BaTcp>> {
        let described = Described {
            name: "ba-tcp",
            summary: "routers write bandwidth and delay into packets; the receiver advertises \
                      their product",
            source: "Gerla, Weng & Lo Cigno 1999 (abstract), Salamanca 2008, section 1.2.2",
            open: "how a router measures what is available: see the queue `bandwidth-aware`; \
                   losses cut nothing while routers speak",
            family: Family::Explicit,
            transport: TransportDefaults {
                summary: "the receiver advertises the bandwidth-delay product that routers \
                          write; needs queues of kind `bandwidth-aware`",
                source: "Gerla, Weng & Lo Cigno 1999 (our reading of its abstract)",
                recovery: Some(LossRecovery::Sack),
                pacing: Some(WindowPacing {
                    gain: 1.2,
                    initial_burst: 4,
                }),
                path_header: PathHeader::Bandwidth,
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, |()| BaTcp::new())]
    }
}

impl CongestionControl for BaTcp {
    named!("ba-tcp");
    always!(needs_bandwidth);

    fn on_sample(&mut self, ack: &Ack, _: &mut Window) {
        self.advertised = ack.receive_window;
    }

    fn on_bandwidth(&mut self, available: Rate, window: &mut Window) {
        self.available = Some(available);
        window.cwnd = self.advertised.clamp(1.0, CWND_LIMIT);
        window.ssthresh = window.cwnd.max(2.0);
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if self.available.is_none() && ack.cwnd_limited {
            window.grow_per_ack(window.in_slow_start());
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        if self.available.is_none() {
            window.ssthresh = (loss.flight / 2.0).max(2.0);
            window.cwnd = window.ssthresh;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if self.available.is_none() && timeout.first {
            window.ssthresh = (timeout.flight / 2.0).max(2.0);
        }
        window.cwnd = 1.0;
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        if self.available.is_none() {
            exit.leave(window.ssthresh, window);
        }
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        self.available
    }

    fn phase(&self, window: &Window) -> Phase {
        if self.available.is_some() {
            Phase::Own("explicit")
        } else {
            window.phase()
        }
    }
}
