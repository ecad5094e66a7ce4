//! Astart: Westwood whose slow start ends where its bandwidth estimate says.
//!
//! Source: Wang, Pau, Yamada, Sanadidi & Gerla, "TCP Startup Performance in
//! Large Bandwidth Delay Networks", INFOCOM 2004, as the survey of Salamanca
//! 2008 describes it: ssthresh is reset adaptively to BWE x RTTmin during slow
//! start, so that it ends neither too early nor with a full queue.
//!
//! Parameters and everything else: those of Westwood ([`Westwood`]).
//!
//! Only the survey could be read. These readings are ours:
//! - ssthresh = max(2, BWE x RTTmin / MSS) at every ACK that advances, up and
//!   down, from the first estimate until the first loss, and again after a
//!   timeout until the next loss. Where cwnd is above, it grows by 1/cwnd per ACK
//!   until the estimate has caught up, and then by one again.
//! - The estimate is Westwood's BWE, not the eligible rate of the paper.
//!
//! [`Westwood`]: crate::slots::Westwood

use crate::declaration::{Algorithm, Control, Described, Family, LossRecovery, TransportDefaults};
use crate::slot::Parts;
use crate::slots::{Reno, Standard, Westwood, fitting_window};
use crate::{Ack, Classic, CongestionControl, Loss, Phase, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Rate};

/// Astart for one connection: adaptive start, then Westwood's reaction to loss.
#[derive(Clone, Debug)]
pub struct Astart {
    westwood: Classic,
    /// No loss since the start or the last timeout.
    starting: bool,
}

impl Astart {
    /// Astart on this Westwood.
    #[must_use]
    pub const fn new(westwood: Classic) -> Astart {
        Astart {
            westwood,
            starting: true,
        }
    }
}

/// The Westwood that a control builds on.
pub(super) type WestwoodParts = Parts<Standard, Reno, Westwood>;

impl Algorithm for Astart {
    fn controls() -> Vec<Control<Astart>> {
        let described = Described {
            name: "astart",
            summary: "Westwood whose estimate resets ssthresh all through slow start",
            source: "Wang et al. 2004, as Salamanca 2008 describes it",
            open: "ssthresh follows the estimate up and down at every ACK until the first loss and \
                   after a timeout; the estimate: Westwood's",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "Westwood whose slow start follows the bandwidth estimate",
                source: "Wang et al. 2004 (our reading of a survey)",
                recovery: Some(LossRecovery::NewReno),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, |parts: WestwoodParts| {
            Astart::new(Classic::from_parts("westwood", parts))
        })]
    }
}

impl CongestionControl for Astart {
    named!("astart");
    delegates!(westwood: on_established, on_ack, on_recovery_exit, on_spurious);
    delegates!(westwood: phase, bandwidth_estimate);

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.westwood.on_sample(ack, window);
        if !self.starting || ack.duplicate {
            return;
        }
        let bandwidth = self.bandwidth_estimate().map_or(0.0, Rate::bps_f64);
        if let Some(fits) = fitting_window(bandwidth, ack.min_rtt, ack.mss) {
            window.ssthresh = fits;
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        self.starting = false;
        self.westwood.on_loss(loss, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.starting = true;
        self.westwood.on_timeout(timeout, window);
    }
}
