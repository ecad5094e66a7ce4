//! TCP-STAR: windows from the available bandwidth, after losses and while they
//! grow.
//!
//! Source: Obata, Ishida, Takeuchi & Hanasaki, "TCP-STAR: TCP Congestion Control
//! Method for Satellite Internet", IEICE Trans. Commun. E89-B(6), 2006, as the
//! survey of Salamanca 2008 describes it: congestion window setting (CWS) by
//! the cause of a loss, lift window control (LWC) by Jersey's available
//! bandwidth estimate, acknowledgement error notification (AEN) against needless
//! retransmissions. Its laws could not be read. These are ours:
//!
//! - CWS: a loss is congestion where the queue has warned (ECN) or cwnd is above
//!   (1 + margin) ownd: both to half. Else it is an error: ssthresh = cwnd =
//!   min(cwnd, ownd). A timeout sets ssthresh = ownd and cwnd = 1.
//! - LWC: an ACK that finds cwnd below `lift` x ownd adds up to `lift_step`
//!   segments, and never less than NewReno would.
//! - AEN: what the host does about spurious timeouts and retransmissions (Eifel,
//!   D-SACK); the transport `star` turns it on.
//!
//! ownd = RTTmin x ABE / MSS (`Abe`).
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | margin | 0.25 | share of ownd by which cwnd may exceed it before a loss is congestion |
//! | lift | 0.75 | share of ownd that growth is lifted up to |
//! | lift_step | 2 | segments that an ACK lifts by at most |

use super::abe::Abe;
use super::after_loss::AfterLoss;
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{number, parameters};
use crate::{Ack, CWND_LIMIT, CongestionControl, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::{Rate, Segments};

parameters! {
    /// Settings of STAR.
    pub struct StarSettings {
        margin: f64 = number(0.25, "", (0.0, 100.0)),
            "share of the fitting window by which cwnd may exceed it before a loss is congestion";
        lift: f64 = number(0.75, "", (0.0, 1.0)),
            "share of the fitting window that growth is lifted up to; 0 lifts nothing";
        lift_step: f64 = number(2.0, "segments", (1.0, 1000.0)),
            "segments that an ACK lifts by at most";
    }
}

/// State of TCP-STAR for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Star {
    settings: StarSettings,
    abe: Abe,
    warned: bool,
    after_loss: AfterLoss,
}

impl Star {
    /// STAR with these settings.
    #[must_use]
    pub fn new(settings: StarSettings) -> Star {
        Star {
            settings,
            abe: Abe::default(),
            warned: false,
            after_loss: AfterLoss::NONE,
        }
    }

    /// Increase of the window per ACK.
    fn step(&self, ack: &Ack, window: &Window) -> Segments {
        let standard = if window.in_slow_start() {
            1.0
        } else {
            1.0 / window.cwnd
        };
        let fits = self.abe.window(ack.min_rtt, ack.mss).unwrap_or(0.0);
        let lift = (self.settings.lift * fits - window.cwnd).min(self.settings.lift_step);
        standard.max(lift)
    }
}

impl Algorithm for Star {
    fn controls() -> Vec<Control<Star>> {
        let described = Described {
            name: "star",
            summary: "Jersey's estimate sets the window after errors and lifts its growth",
            source: "Obata et al. 2006, as Salamanca 2008 describes it",
            open: "all laws: ours. A loss is congestion with a mark or with cwnd above the \
                   fitting window; an ACK lifts cwnd towards a share of that window; notification \
                   of ACK errors: the host's undo of spurious retransmissions",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "windows from the available bandwidth after errors and while growing; \
                          undo, ECN",
                source: "Obata et al. 2006 (our reading of a survey)",
                ecn: Some(true),
                // Replaces the notification of acknowledgement errors.
                timestamps: Some(true),
                undo: Some(true),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, Star::new)]
    }
}

impl CongestionControl for Star {
    named!("star");

    fn on_sample(&mut self, ack: &Ack, _: &mut Window) {
        self.abe.on_sample(ack);
        self.warned = ack.congestion_echo;
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            return;
        }
        let before = window.cwnd;
        let after = before + self.step(ack, window);
        window.cwnd = after.min(CWND_LIMIT.max(before));
        self.after_loss.grow(window.cwnd - before);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let fits = self.abe.window(loss.min_rtt, loss.mss);
        let half = (loss.flight / 2.0).max(2.0);
        let above = fits.is_none_or(|w| window.cwnd > (1.0 + self.settings.margin) * w);
        let left = match fits {
            Some(fits) if !(loss.ecn || self.warned || above) => fits,
            _ => half,
        };
        let cut = left < window.cwnd;
        window.cwnd = window.cwnd.min(left);
        window.ssthresh = window.cwnd.max(2.0);
        self.after_loss = AfterLoss::new(cut, window);
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.after_loss.leave(exit, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            let fits = self.abe.window(timeout.min_rtt, timeout.mss);
            window.ssthresh = fits.unwrap_or((timeout.flight / 2.0).max(2.0));
        }
        window.cwnd = 1.0;
        self.after_loss = AfterLoss::NONE;
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        self.abe.rate()
    }
}
