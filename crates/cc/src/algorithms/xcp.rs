//! XCP: the sender's part of the explicit control protocol.
//!
//! Sources: D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High
//! Bandwidth-Delay Product Networks", SIGCOMM 2002; `xcp/xcp-end-sys.cc` of
//! ns-2.35. P-XCP: K. Zhou, K. L. Yeung, V. O. K. Li, "P-XCP: a transport layer
//! protocol for satellite IP networks", GLOBECOM 2004.
//!
//! Data packets carry a congestion header, which the transport fills in and
//! routers change; the receiver sends what they left of it back. Feedback of F
//! bytes a second changes the window: cwnd = max(1, cwnd + F x srtt / MSS).
//! Nothing else makes it grow. Losses have Reno's reaction: half of what is in
//! flight, one segment after a timeout. A sender of P-XCP keeps its window at a
//! triple duplicate ACK and only repairs: its losses come from the link, since
//! routers keep queues short.
//!
//! It has no parameters.
//!
//! Left open, with the reading chosen:
//! - Feedback is taken from every ACK, duplicates and those of recovery, too.
//!   ns-2's Reno agent takes that of ACKs that advance, and so does the profile
//!   `ns-2` here; what its duplicate ACKs carried is lost.
//! - The end of recovery leaves the window alone: feedback has moved it since.
//! - ssthresh means nothing; it is kept for the outcome.
//! - A timeout cuts P-XCP's window, too.
//!
//! Example: cwnd 100, srtt 0.6 s, MSS 1000 B, feedback 2000 B/s: cwnd 101.2.

use crate::declaration::{Algorithm, Control, Described, Family, PathHeader, TransportDefaults};
use crate::{Ack, CWND_LIMIT, CongestionControl, Feedback, Loss, Phase, RecoveryExit, Window};

/// The sender of XCP or P-XCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xcp {
    /// P-XCP: a loss found by duplicate ACKs leaves the window.
    keeps_window: bool,
}

impl Xcp {
    /// XCP, whose losses halve the window.
    #[must_use]
    pub const fn new() -> Xcp {
        Xcp {
            keeps_window: false,
        }
    }

    /// The sender with P-XCP's reaction to losses.
    #[must_use]
    pub const fn p_xcp() -> Xcp {
        Xcp { keeps_window: true }
    }
}

impl Default for Xcp {
    fn default() -> Xcp {
        Xcp::new()
    }
}

impl Algorithm for Xcp {
    fn controls() -> Vec<Control<Xcp>> {
        let xcp = Described {
            name: "xcp",
            summary: "routers write into packets by how much the window is to change",
            source: "Katabi, Handley & Rohrs 2002; ns-2.35 xcp/",
            open: "feedback is taken from every ACK; the end of recovery leaves the window alone",
            family: Family::Explicit,
            transport: TransportDefaults {
                summary: "explicit control: routers on the path set the window; needs queues of \
                          kind `xcp`",
                source: "Katabi, Handley & Rohrs 2002",
                path_header: PathHeader::Congestion,
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        let p_xcp = Described {
            name: "p-xcp",
            summary: "XCP that keeps its window at a triple duplicate ACK",
            source: "Zhou, Yeung & Li 2004 (abstract)",
            open: "a timeout cuts the window; the routers' part is an option of the queue `xcp`",
            transport: TransportDefaults {
                summary: "XCP that keeps its window when three duplicate ACKs show a loss; needs \
                          queues of kind `xcp`",
                source: "Zhou, Yeung & Li 2004 (our reading of its abstract)",
                ..xcp.transport
            },
            ..xcp
        };
        vec![
            Control::new(xcp, |()| Xcp::new()),
            Control::new(p_xcp, |()| Xcp::p_xcp()),
        ]
    }
}

impl CongestionControl for Xcp {
    always!(needs_feedback);
    ignores!(on_ack, on_recovery_exit);

    fn name(&self) -> &str {
        if self.keeps_window { "p-xcp" } else { "xcp" }
    }

    fn on_feedback(&mut self, feedback: &Feedback, window: &mut Window) {
        let mss = f64::from(feedback.mss.max(1));
        let segments = feedback.change * feedback.smoothed_rtt.as_secs() / mss;
        window.cwnd = (window.cwnd + segments).clamp(1.0, CWND_LIMIT);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        if self.keeps_window {
            return;
        }
        let half = loss.flight / 2.0;
        window.ssthresh = half.max(2.0);
        window.cwnd = half.max(1.0);
    }

    fn phase(&self, _: &Window) -> Phase {
        Phase::Own("explicit")
    }
}
