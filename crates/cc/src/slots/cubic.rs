//! CUBIC: a window that is a cubic function of the time since the last loss.
//!
//! Source: RFC 9438; section 4.2 (the function), 4.3 (the Reno-friendly
//! region), 4.4 and 4.5 (below and above W_max), 4.6 (the cut), 4.7 (fast
//! convergence), 4.8 (timeout), 4.9 (undo), 5.8 (idle times).
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | c | 0.4 | segments / s^3 |
//! | beta | 0.7 | |
//! | fast_convergence | true | |
//! | reno_friendly | true | |
//! | count | acks | `segments` multiplies the step by the segments an ACK covers |
//!
//! Left open, and the reading chosen:
//! - Section 4.2 steps once per ACK, which under delayed ACKs follows the cubic
//!   more slowly than it says; `count = segments` follows it with any receiver
//!   but never passes the target.
//! - Before the first cut there is no W_max: K = 0 and W_max = cwnd where
//!   congestion avoidance begins, and the Reno-friendly window grows with
//!   alpha = 1. The same after a timeout, as section 4.8 says.
//! - Time in which the window was not used does not count: the epoch is moved
//!   by it.

use super::Counted;
use super::hystart::HyStart;
use crate::declaration::{Control, Described, TransportDefaults, of_slots};
use crate::hoe::HoeOff;
use crate::parameter::{flag, number, parameters, word};
use crate::slot::{CongestionAvoidance, LossReaction, Parts};
use crate::{Ack, Hoe, Loss, Timeout, Window};
use bentpipe_units::math;
use bentpipe_units::{Segments, Time};

/// The control `cubic`.
pub(crate) fn cubic() -> Control<Parts<HyStart, Cubic, CubicReaction, HoeOff>> {
    of_slots(Described {
        name: "cubic",
        on_linux: Some("cubic-linux"),
        summary: "the default of most hosts: a cubic of the time since the last loss",
        source: "RFC 9438; slow start: HyStart++ (RFC 9406)",
        open: "a step per ACK as section 4.2 says, `count = segments` for delayed ACKs; after a \
               timeout K = 0 and W_max = cwnd",
        transport: TransportDefaults {
            summary: "the default of most hosts, with HyStart++",
            source: "RFC 9438, RFC 9406",
            ..TransportDefaults::NEW
        },
        settles: true,
        ..Described::NEW
    })
}

parameters! {
    /// Settings of [`Cubic`].
    #[derive(Copy)]
    pub struct CubicParameters {
        c: f64 = number(0.4, "segments/s^3", (1e-6, 1e6)), "constant C of the cubic";
        beta: f64 = number(0.7, "", (0.1, 0.99)),
            "what the cut leaves of the window (Linux: 717/1024)";
        fast_convergence: bool = flag(true), "leave room for new flows when the window peaks lower";
        reno_friendly: bool = flag(true), "never slower than Reno";
        count: Counted = word(), "what a step of congestion avoidance counts";
    }
}

/// Window growth in congestion avoidance by the cubic function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    parameters: CubicParameters,
    state: State,
    /// From before the last cut.
    undo: State,
}

/// The state of CUBIC between ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct State {
    /// The window before the last cut, or less by fast convergence; 0 before
    /// any.
    w_max: Segments,
    /// cwnd before the last cut.
    prior: Segments,
    /// The time from the start of the epoch to W_max, seconds.
    k: f64,
    /// When this stage of congestion avoidance began, idle time left out.
    epoch: Option<Time>,
    /// Since when the window is not used.
    idle_since: Option<Time>,
    /// Estimate of Reno's window, segments.
    w_est: Segments,
}

impl Cubic {
    /// K: seconds until the cubic is back at `w_max` from `cwnd`.
    #[must_use]
    pub fn k(&self, w_max: Segments, cwnd: Segments) -> f64 {
        if cwnd < w_max {
            math::cbrt((w_max - cwnd) / self.parameters.c)
        } else {
            0.0
        }
    }

    /// W_cubic `t` seconds into the epoch.
    #[inline]
    fn window_at(&self, t: f64) -> Segments {
        let x = t - self.state.k;
        self.parameters.c * x * x * x + self.state.w_max
    }

    fn begin_epoch(&mut self, now: Time, cwnd: Segments) -> Time {
        self.state.k = self.k(self.state.w_max, cwnd);
        self.state.w_max = self.state.w_max.max(cwnd);
        self.state.w_est = cwnd;
        self.state.idle_since = None;
        now
    }
}

fills! { Cubic, "cubic", "a cubic of the time since the loss (RFC 9438)",
    |parameters: CubicParameters| Cubic {
        parameters,
        state: State::default(),
        undo: State::default(),
    }
}

impl CongestionAvoidance for Cubic {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window, _: Option<&Hoe>) {
        let cwnd = window.cwnd;
        let mut epoch = match self.state.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(ack.now, cwnd),
        };
        if let Some(idle) = self.state.idle_since.take() {
            epoch += ack.now.since(idle);
        }
        self.state.epoch = Some(epoch);

        let t = ack.now.since(epoch).as_secs();
        let target = self
            .window_at(t + ack.smoothed_rtt.as_secs())
            .clamp(cwnd, 1.5 * cwnd);
        let count = self.parameters.count.of(ack);
        window.cwnd = (cwnd + count * (target - cwnd) / cwnd).min(target);

        if self.parameters.reno_friendly {
            let alpha = if self.state.w_est >= self.state.prior {
                1.0
            } else {
                3.0 * (1.0 - self.parameters.beta) / (1.0 + self.parameters.beta)
            };
            self.state.w_est += alpha * (ack.acked / cwnd).min(1.0);
            if self.window_at(t) < self.state.w_est {
                window.cwnd = cwnd.max(self.state.w_est);
            }
        }
    }

    #[inline]
    fn on_idle_ack(&mut self, now: Time) {
        if self.state.epoch.is_some() && self.state.idle_since.is_none() {
            self.state.idle_since = Some(now);
        }
    }

    fn on_loss(&mut self, before: Segments) {
        self.undo = self.state;
        let yields = self.parameters.fast_convergence && before < self.state.w_max;
        self.state.w_max = if yields {
            before * (1.0 + self.parameters.beta) / 2.0
        } else {
            before
        };
        self.state.prior = before;
        self.state.epoch = None;
    }

    fn on_timeout(&mut self, before: Segments, first: bool) {
        if first {
            self.undo = self.state;
            self.state.prior = before;
        }
        // K = 0 and W_max = cwnd when congestion avoidance begins again.
        self.state.w_max = 0.0;
        self.state.epoch = None;
    }

    fn on_spurious(&mut self) {
        self.state = self.undo;
    }
}

parameters! {
    /// CUBIC's cut: ssthresh = beta x flight.
    #[derive(Copy)]
    pub struct CubicReaction {
        beta: f64 = number(0.7, "", (0.1, 0.99)),
            "what the cut leaves of the window (Linux: 717/1024)";
    }
}

fills! { CubicReaction, "cubic", "beta x what is in flight (RFC 9438)",
    |parameters: CubicReaction| parameters
}

impl LossReaction for CubicReaction {
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        window.ssthresh = (self.beta * loss.flight).max(2.0);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        timeout.reduce(window, |flight| (self.beta * flight).max(2.0));
    }
}
