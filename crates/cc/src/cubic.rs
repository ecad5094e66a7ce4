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

use crate::{Ack, Loss, Timeout, Window};
use bentpipe_units::math;
use bentpipe_units::{Segments, Time};

/// CUBIC's growth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    /// Constant C, segments per cubed second.
    pub c: f64,
    /// What the reaction leaves of the window; fast convergence and the
    /// Reno-friendly region need it.
    pub beta: f64,
    /// Leave room for new flows when W_max falls.
    pub fast_convergence: bool,
    /// Never slower than Reno.
    pub reno_friendly: bool,
    /// Step by segments acknowledged instead of ACKs.
    pub per_segment: bool,
    state: State,
    /// From before the last cut.
    undo: State,
}

/// What CUBIC remembers.
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
    /// What Reno's window would be.
    w_est: Segments,
}

impl Default for Cubic {
    fn default() -> Cubic {
        Cubic {
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
            reno_friendly: true,
            per_segment: false,
            state: State::default(),
            undo: State::default(),
        }
    }
}

impl Cubic {
    /// K: seconds until the cubic is back at `w_max` from `cwnd`.
    #[must_use]
    pub fn k(&self, w_max: Segments, cwnd: Segments) -> f64 {
        if cwnd < w_max {
            math::cbrt((w_max - cwnd) / self.c)
        } else {
            0.0
        }
    }

    /// W_cubic `t` seconds into the epoch.
    #[inline]
    fn window_at(&self, t: f64) -> Segments {
        let x = t - self.state.k;
        self.c * x * x * x + self.state.w_max
    }

    fn begin_epoch(&mut self, now: Time, cwnd: Segments) -> Time {
        self.state.k = self.k(self.state.w_max, cwnd);
        self.state.w_max = self.state.w_max.max(cwnd);
        self.state.w_est = cwnd;
        self.state.idle_since = None;
        now
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
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
        let count = if self.per_segment { ack.acked } else { 1.0 };
        window.cwnd = (cwnd + count * (target - cwnd) / cwnd).min(target);

        if self.reno_friendly {
            let alpha = if self.state.w_est >= self.state.prior {
                1.0
            } else {
                3.0 * (1.0 - self.beta) / (1.0 + self.beta)
            };
            self.state.w_est += alpha * (ack.acked / cwnd).min(1.0);
            if self.window_at(t) < self.state.w_est {
                window.cwnd = cwnd.max(self.state.w_est);
            }
        }
    }

    #[inline]
    pub(crate) fn on_idle_ack(&mut self, now: Time) {
        if self.state.epoch.is_some() && self.state.idle_since.is_none() {
            self.state.idle_since = Some(now);
        }
    }

    pub(crate) fn on_loss(&mut self, before: Segments) {
        self.undo = self.state;
        let yields = self.fast_convergence && before < self.state.w_max;
        self.state.w_max = if yields {
            before * (1.0 + self.beta) / 2.0
        } else {
            before
        };
        self.state.prior = before;
        self.state.epoch = None;
    }

    pub(crate) fn on_timeout(&mut self, before: Segments, first: bool) {
        if first {
            self.undo = self.state;
            self.state.prior = before;
        }
        // K = 0 and W_max = cwnd when congestion avoidance begins again.
        self.state.w_max = 0.0;
        self.state.epoch = None;
    }

    pub(crate) fn on_spurious(&mut self) {
        self.state = self.undo;
    }
}

/// CUBIC's cut: ssthresh = beta x flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicReaction {
    /// What is left of the window.
    pub beta: f64,
}

impl CubicReaction {
    pub(crate) fn on_loss(self, loss: &Loss, window: &mut Window) {
        window.ssthresh = (self.beta * loss.flight).max(2.0);
        window.cwnd = window.ssthresh;
    }

    pub(crate) fn on_timeout(self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            window.ssthresh = (self.beta * timeout.flight).max(2.0);
        }
        window.cwnd = 1.0;
    }
}
