//! SaTPEP: windows that a proxy sets by the use of its satellite link.
//!
//! Source: Velenis, Kalogeras & Maglaris 2002 (abstract; named in Salamanca
//! 2008, section 2.2): a splitting proxy at the gateway monitors the use of the
//! satellite link and gives each connection a window that reflects the bandwidth
//! that is free; losses are found by negative acknowledgements. The formula was
//! not available: the rule here is our reading, not the original.
//!
//! | parameter | default | |
//! |---|---|---|
//! | threshold | 0.95 | utilisation of the link below which it is redistributed |
//!
//! Every round trip the proxy reports the capacity C of its link, in payload, how
//! many connections N are active on it, and which part u of it they use:
//!
//! - u < threshold: W = C RTTmin / (MSS N)
//! - else: W = r RTTmin / MSS, with r what this connection delivered in its last
//!   round trip
//!
//! and at least the initial window. Selective acknowledgements replace the negative ones: each hole
//! is retransmitted, and no loss, timeout or mark makes the window smaller.
//!
//! With the literal rule a connection that joins a full link gets only what it can take from the
//! others, until the utilisation falls below the threshold.

use crate::declaration::{Algorithm, Control, Described, Family, LossRecovery, TransportDefaults};
use crate::parameter::{number, parameters};
use crate::{Ack, CongestionControl, Loss, PathHint, Phase, RecoveryExit, Repair, Timeout, Window};
use bentpipe_units::{Duration, Rate, Segments};

parameters! {
    /// Settings of [`SatPep`].
    pub struct SatPepParameters {
        threshold: f64 = number(0.95, "", (0.0, 1.0)),
            "use of the link below which it is shared out again";
    }
}

/// A connection of a SaTPEP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SatPep {
    threshold: f64,
    initial_window: Segments,
    min_rtt: Option<Duration>,
    /// Delivered over the last round trip.
    rate: Option<Rate>,
    window: Segments,
}

impl SatPep {
    /// A connection that shares the link out below this use of it.
    #[must_use]
    pub const fn new(threshold: f64) -> SatPep {
        SatPep {
            threshold,
            initial_window: 0.0,
            min_rtt: None,
            rate: None,
            window: 0.0,
        }
    }

    fn begin(&mut self, window: &Window) {
        if self.initial_window == 0.0 {
            self.initial_window = window.cwnd.max(1.0);
            self.window = self.initial_window;
        }
    }
}

impl Algorithm for SatPep {
    fn controls() -> Vec<Control<SatPep>> {
        let described = Described {
            name: "satpep",
            summary: "a window set by the proxy that sees how its link is used; no cuts",
            source: "Velenis, Kalogeras & Maglaris 2002 (abstract)",
            open: "the window rule is our reading; SACK stands for negative acknowledgements",
            family: Family::Explicit,
            transport: TransportDefaults {
                summary: "a window set by the proxy that sees how its satellite link is used",
                source: "Velenis, Kalogeras & Maglaris 2002 (abstract; our reading)",
                // The leg is known, so a timeout carries no new information.
                recovery: Some(LossRecovery::SackRepeat),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, |p: SatPepParameters| {
            SatPep::new(p.threshold)
        })]
    }
}

impl CongestionControl for SatPep {
    named!("satpep");
    always!(owns_window, needs_path);
    ignores!(
        on_ack,
        on_loss,
        on_timeout,
        on_recovery_exit,
        on_spurious,
        after_idle
    );

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.begin(window);
        self.min_rtt = self.min_rtt.or(rtt);
    }

    fn on_path(&mut self, path: &PathHint, window: &mut Window) {
        self.begin(window);
        let rate = if path.utilisation < self.threshold {
            Some(path.capacity.bps_f64() / f64::from(path.active.max(1)))
        } else {
            self.rate.map(Rate::bps_f64)
        };
        let rtt = self.min_rtt.or(path.min_rtt);
        if let (Some(rate), Some(rtt)) = (rate, rtt) {
            let segments = rate * rtt.as_secs() / 8.0 / f64::from(window.mss.max(1));
            self.window = segments.max(self.initial_window);
        }
        window.cwnd = self.window;
    }

    fn on_sample(&mut self, ack: &Ack, _: &mut Window) {
        if ack.min_rtt != Duration::MAX {
            self.min_rtt = Some(ack.min_rtt);
        }
        self.rate = ack.delivery_rate.or(self.rate);
    }

    fn on_control(&mut self, _: &Ack, _: Repair, window: &mut Window) {
        self.begin(window);
        window.cwnd = self.window;
    }

    fn phase(&self, _: &Window) -> Phase {
        Phase::Own("told")
    }
}
