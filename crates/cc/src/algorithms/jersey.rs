//! TCP-Jersey: the queues warn of congestion, so a loss without a warning is
//! the channel's.
//!
//! Source: Xu, Tian & Ansari, "TCP-Jersey for Wireless IP Communications", IEEE
//! JSAC 22(4), 2004: available bandwidth estimation (ABE) and congestion warning
//! (CW). A router that warns marks every packet while its average queue is
//! above a threshold, and the receiver echoes the mark.
//!
//! | | without a warning | with one |
//! |---|---|---|
//! | ACK | as NewReno | ssthresh = cwnd = ownd, once a round trip |
//! | three duplicate ACKs | retransmit only | the same, and retransmit |
//! | timeout | ssthresh = ownd, cwnd = 1 | the same |
//!
//! ownd = RTTmin x ABE / MSS (`Abe`).
//!
//! It has no parameters. Where no queue marks (drop-tail), it never cuts before
//! a timeout: that is what the paper asks of the network.
//!
//! Only the abstract was available. The readings of open points:
//! - The mark is ECN's, echoed as in RFC 3168: the receiver continues echoing until the sender says
//!   that it reduced its window, so a warning acts once a round trip.
//! - A warning never raises cwnd: cwnd = min(cwnd, ownd).
//! - A duplicate ACK that echoes a mark makes its loss one of congestion.
//! - Before there is an estimate, half of the flight.

use super::abe::Abe;
use super::after_loss::AfterLoss;
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::{Ack, CongestionControl, Loss, Phase, RecoveryExit, Timeout, Window};
use bentpipe_units::{Rate, Segments};

/// State of TCP-Jersey for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Jersey {
    abe: Abe,
    /// The last ACK echoed a mark.
    warned: bool,
    after_loss: AfterLoss,
}

impl Default for Jersey {
    fn default() -> Jersey {
        Jersey {
            abe: Abe::default(),
            warned: false,
            after_loss: AfterLoss::NONE,
        }
    }
}

/// ssthresh and cwnd to what fits, or to half of the flight.
fn cut(fits: Option<Segments>, flight: Segments, window: &mut Window) {
    window.ssthresh = fits.unwrap_or((flight / 2.0).max(2.0));
    window.cwnd = window.cwnd.min(window.ssthresh);
}

impl Algorithm for Jersey {
    fn controls() -> Vec<Control<Jersey>> {
        let described = Described {
            name: "jersey",
            summary: "cuts to the available bandwidth where queues warn; other losses are only \
                      repaired",
            source: "Xu, Tian & Ansari 2004, as its abstract and surveys have it",
            open: "the warning is an ECN mark, echoed and answered once a round trip; it never \
                   raises cwnd; the RTT of the estimate: smoothed. Where no queue marks it cuts \
                   only at timeouts",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "cuts where queues mark (ECN); where none does, only timeouts cut it",
                source: "Xu, Tian & Ansari 2004 (a reading of its abstract)",
                ecn: Some(true),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, |()| Jersey::default())]
    }
}

impl CongestionControl for Jersey {
    named!("jersey");

    fn on_sample(&mut self, ack: &Ack, _: &mut Window) {
        self.abe.on_sample(ack);
        self.warned = ack.congestion_echo;
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            return;
        }
        let doubles = window.in_slow_start();
        self.after_loss.grow(window.grow_per_ack(doubles));
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let warned = loss.ecn || self.warned;
        if warned {
            cut(self.abe.window(loss.min_rtt, loss.mss), loss.flight, window);
        }
        self.after_loss = AfterLoss::new(warned, window);
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.after_loss.leave(exit, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            let fits = self.abe.window(timeout.min_rtt, timeout.mss);
            cut(fits, timeout.flight, window);
        }
        window.cwnd = 1.0;
        self.after_loss = AfterLoss::NONE;
    }

    fn phase(&self, window: &Window) -> Phase {
        if self.warned {
            Phase::Own("congestion_warning")
        } else {
            window.phase()
        }
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        self.abe.rate()
    }
}
