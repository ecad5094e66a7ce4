//! Complete Knowledge: a sender that knows the rate of its path and does not probe
//! for it.
//!
//! Source: Marchese 2006, section 2 ("a new stack, totally adapted to the
//! satellite link, can be designed over the gateway ... a performance upper
//! bound"), which leaves its design to future study. All of this is our reading.
//!
//! | parameter | default | |
//! |---|---|---|
//! | rate | 0 | payload rate, Mbit/s; 0: that of the path hints ([`PathHint`]) |
//! | weight | 1 | its part where several share a bottleneck |
//! | window_gain | 2 | window in bandwidth-delay products |
//!
//! Packets are paced at the rate from the first segment on. The window is a
//! bound, not a control: `window_gain` times rate x smallest RTT, or the receive
//! window before an RTT is known. Losses are repaired, paced like everything
//! else, and change nothing.
//!
//! Left open, and the reading chosen:
//! - Who shares: the connections of that kind whose way crosses the same
//!   bottleneck and that have something to send, by weight. Others are unknown;
//!   what they take is lost to a queue.
//! - A sender with neither a rate nor a path hint stays at its initial window.

use crate::declaration::{Algorithm, Control, Described, Family, LossRecovery, TransportDefaults};
use crate::parameter::{number, parameters};
use crate::{
    Ack, CWND_LIMIT, CongestionControl, Loss, PathHint, Phase, RecoveryExit, Repair, Timeout,
    Window,
};
use bentpipe_units::{Duration, Rate, Segments};

parameters! {
    /// Settings of [`CompleteKnowledge`].
    pub struct CompleteKnowledgeParameters {
        rate: f64 = number(0.0, "Mbit/s", (0.0, 1_000_000.0)),
            "payload that leaves; 0: its share of the bottleneck on its way";
        weight: f64 = number(1.0, "", (0.001, 1_000.0)),
            "its part where several share a bottleneck";
        window_gain: f64 = number(2.0, "", (1.0, 100.0)),
            "most in flight, in bandwidth-delay products";
    }
}

/// A sender at a known rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompleteKnowledge {
    rate: Option<Rate>,
    /// The rate is a parameter: path hints do not change it.
    given: bool,
    window_gain: f64,
    receive_window: Segments,
}

impl CompleteKnowledge {
    /// A sender of `rate` payload, or of the rate of the path hints.
    #[must_use]
    pub const fn new(rate: Option<Rate>, window_gain: f64) -> CompleteKnowledge {
        CompleteKnowledge {
            rate,
            given: rate.is_some(),
            window_gain,
            receive_window: CWND_LIMIT,
        }
    }

    fn set(&self, rtt: Option<Duration>, window: &mut Window) {
        let Some(rate) = self.rate else { return };
        window.pacing_rate = Some(rate);
        let known = rtt.filter(|rtt| !rtt.is_zero() && *rtt != Duration::MAX);
        let bound = known.map_or(self.receive_window, |rtt| {
            let bits = rate.bps_f64() * rtt.as_secs() * self.window_gain;
            (bits / 8.0 / f64::from(window.mss.max(1))).max(4.0)
        });
        window.cwnd = bound.clamp(1.0, CWND_LIMIT);
    }
}

impl Algorithm for CompleteKnowledge {
    fn controls() -> Vec<Control<CompleteKnowledge>> {
        let described = Described {
            name: "complete-knowledge",
            summary: "is told the rate of its path and paces at it: no probing, no cuts",
            source: "Marchese 2006, section 2 (the architecture, left to future study)",
            open: "all of it is our reading: who shares a bottleneck, and by what",
            family: Family::Explicit,
            transport: TransportDefaults {
                summary: "is told the rate of its path and paces at it from the first segment",
                source: "Marchese 2006, section 2 (our reading)",
                // The leg is known, so a timeout carries no new information.
                recovery: Some(LossRecovery::SackRepeat),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, |p: CompleteKnowledgeParameters| {
            let rate = (p.rate > 0.0).then(|| Rate::from_bps_f64(p.rate * 1e6));
            CompleteKnowledge::new(rate, p.window_gain)
        })]
    }
}

impl CongestionControl for CompleteKnowledge {
    named!("complete-knowledge");
    always!(owns_window);
    ignores!(
        on_ack,
        on_loss,
        on_timeout,
        on_recovery_exit,
        on_spurious,
        after_idle
    );

    fn on_open(&mut self, receive_window: Segments) {
        self.receive_window = receive_window.clamp(1.0, CWND_LIMIT);
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.set(rtt, window);
    }

    fn on_path(&mut self, path: &PathHint, window: &mut Window) {
        if !self.given {
            self.rate = Some(Rate::from_bps_f64(path.capacity.bps_f64() * path.share));
            self.set(path.min_rtt, window);
        }
    }

    fn on_control(&mut self, ack: &Ack, _: Repair, window: &mut Window) {
        self.set(Some(ack.min_rtt), window);
    }

    fn needs_path(&self) -> bool {
        !self.given
    }

    fn phase(&self, _: &Window) -> Phase {
        Phase::Own("told")
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        self.rate
    }
}
