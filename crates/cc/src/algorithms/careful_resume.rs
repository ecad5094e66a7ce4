//! Careful Resume: a connection that remembers the path jumps to half of what
//! the path carried last time, paced over a round trip, and takes it back if it
//! was too much. Around CUBIC.
//!
//! Source: RFC 9959, sections 3 and 4.
//!
//! | phase | window | until |
//! |---|---|---|
//! | reconnaissance | as CUBIC | the initial window is acknowledged: on if nothing was lost and the smallest RTT is above half of the saved one and at most ten times it; else normal |
//! | unvalidated | half of the saved window, constant, paced over one RTT | it is in flight, or an ACK for a part of it, or one RTT: what is in flight becomes the window |
//! | validating | as CUBIC | the last unvalidated segment is acknowledged |
//! | safe retreat | half of PipeSize, constant; entered by a loss or mark in the two phases before | the last unvalidated segment is acknowledged: ssthresh is half of PipeSize |
//! | normal | as CUBIC | |
//!
//! PipeSize is what was in flight when the jump began, and what of the jump has
//! arrived since.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | saved_cwnd | 500 | segments; what the path carried last time |
//! | saved_rtt | 600 ms | smallest RTT of that time |
//! | max_jump | 1,000,000 | segments |
//!
//! and those of CUBIC. The defaults are one bandwidth-delay product of 10 Mbit/s
//! at 600 ms.
//!
//! Left open, and the reading chosen:
//! - How parameters are saved, aged and given to one connection only is not modelled: the scenario
//!   provides the saved parameters.
//! - Section 3.3 lets every ACK raise PipeSize; the examples (appendix B) count
//!   only those for unvalidated segments, and so does this.
//! - Section 3.5 reduces to no more than half of PipeSize; the example takes at
//!   least the initial window. Here: half of PipeSize, at least 2.
//! - Phases change with ACKs. That the last unvalidated segment has left is
//!   seen at the next ACK, and the window is what was in flight before it.
//! - The jump waits for an ACK that finds the window in use: a sender that does
//!   not need it stays in reconnaissance (section 4.2).
//! - A jump below the window that is there already is not made.
//! - CUBIC takes PipeSize, not the jump, for its last maximum after a retreat.
//!
//! After the jump slow start continues, and HyStart++ leaves it a round late. On 10 Mbit/s at 600
//! ms with a queue of one bandwidth-delay product the overrun costs a transfer of 5.3 MB more than
//! the jump saved; with a deep queue the jump saves some three round trips.

use crate::declaration::{Algorithm, Control, Described, Family};
use crate::parameter::{number, parameters, time};
use crate::slot::Parts;
use crate::slots::{Cubic, CubicReaction, HyStart};
use crate::{Ack, Classic, CongestionControl, HostRules, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Rate, Segments, Time};

/// Beta of the RFC: what of PipeSize becomes ssthresh after a retreat.
const RETREAT_BETA: f64 = 0.5;
/// Part of the saved window that the jump may take.
const JUMP: f64 = 0.5;

/// Permitted range of the saved window and the jump, segments.
const SAVED: (f64, f64) = (1.0, 1_000_000_000.0);

parameters! {
    /// Settings of [`CarefulResume`] besides those of CUBIC.
    pub struct SavedPath {
        saved_cwnd: f64 = number(500.0, "segments", SAVED),
            "what the path carried in a round trip when it was used last";
        saved_rtt: Duration =
            time(Duration::from_millis(600), (Duration::from_micros(1), Duration::from_secs(3600))),
            "smallest RTT of that time";
        max_jump: f64 = number(1_000_000.0, "segments", SAVED), "no jump exceeds it";
    }
}

/// The phases of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Reconnaissance,
    Unvalidated {
        since: Time,
        /// The RTT that the jump is paced over.
        rtt: Duration,
    },
    Validating,
    SafeRetreat,
    Normal,
}

/// Careful Resume around a congestion control made of slots.
#[derive(Clone, Debug)]
pub struct CarefulResume {
    base: Classic,
    saved_cwnd: Segments,
    saved_rtt: Duration,
    max_jump: Segments,
    phase: Phase,
    initial_window: Segments,
    min_rtt: Duration,
    /// Segments acknowledged cumulatively and in any way, and those sent and not
    /// acknowledged, at the last ACK.
    acked: Segments,
    delivered: Segments,
    outstanding: Segments,
    /// In flight when the jump began, and delivered until all of that will have
    /// been.
    flight: Segments,
    jump_begins: Segments,
    /// Segments up to the last unvalidated one.
    last_unvalidated: Segments,
}

impl CarefulResume {
    /// `base` on a path that carried `saved_cwnd` segments per `saved_rtt`.
    #[must_use]
    pub fn new(
        base: Classic,
        saved_cwnd: Segments,
        saved_rtt: Duration,
        max_jump: Segments,
    ) -> CarefulResume {
        CarefulResume {
            base,
            saved_cwnd,
            saved_rtt,
            max_jump,
            phase: Phase::Reconnaissance,
            initial_window: 0.0,
            min_rtt: Duration::MAX,
            acked: 0.0,
            delivered: 0.0,
            outstanding: 0.0,
            flight: 0.0,
            jump_begins: 0.0,
            last_unvalidated: 0.0,
        }
    }

    /// The part of the path's capacity that has been confirmed.
    fn pipe_size(&self) -> Segments {
        self.flight + (self.delivered - self.jump_begins).max(0.0)
    }

    fn path_is_confirmed(&self) -> bool {
        self.min_rtt > self.saved_rtt / 2 && self.min_rtt <= self.saved_rtt * 10
    }

    fn jump(&mut self, ack: &Ack, window: &mut Window) {
        let jump = (JUMP * self.saved_cwnd).min(self.max_jump);
        let rtt = ack.rtt.unwrap_or(self.min_rtt);
        if !self.path_is_confirmed() || jump <= window.cwnd || rtt.is_zero() {
            self.phase = Phase::Normal;
            return;
        }
        self.phase = Phase::Unvalidated {
            since: ack.now,
            rtt,
        };
        self.flight = ack.outstanding;
        self.jump_begins = self.delivered + ack.outstanding;
        self.last_unvalidated = self.acked + ack.outstanding;
        window.cwnd = jump;
        let bits = jump * f64::from(ack.mss) * 8.0;
        window.pacing_rate = Some(Rate::from_bps_f64(bits / rtt.as_secs()));
    }

    /// The jump is over: what it brought into flight is to be validated.
    fn end_jump(&mut self, flight: Segments, window: &mut Window) {
        window.pacing_rate = None;
        let pipe = self.pipe_size();
        if flight < self.initial_window || flight <= pipe {
            // The application did not use it.
            window.cwnd = pipe.max(self.initial_window).min(window.cwnd);
            self.phase = Phase::Normal;
        } else {
            window.cwnd = flight.min(window.cwnd);
            self.last_unvalidated = self.acked + self.outstanding;
            self.phase = Phase::Validating;
        }
    }

    fn check_jump(&mut self, ack: &Ack, window: &mut Window) {
        let Phase::Unvalidated { since, rtt } = self.phase else {
            return;
        };
        let flight = ack.outstanding + ack.acked;
        if window.cwnd - flight < 1.0 {
            self.end_jump(window.cwnd.min(flight), window);
        } else if self.acked > self.last_unvalidated || ack.now.since(since) > rtt {
            self.end_jump(ack.outstanding, window);
        }
    }

    /// Never to a window above `before`.
    fn retreat(&mut self, before: Segments, window: &mut Window) {
        window.pacing_rate = None;
        window.cwnd = (self.pipe_size() / 2.0).max(2.0).min(before);
        self.last_unvalidated = self.acked + self.outstanding;
        self.phase = Phase::SafeRetreat;
    }

    fn end_retreat(&mut self, window: &mut Window) {
        window.ssthresh = (RETREAT_BETA * self.pipe_size()).max(2.0);
        self.phase = Phase::Normal;
    }

    fn stop(&mut self, window: &mut Window) {
        window.pacing_rate = None;
        self.phase = Phase::Normal;
    }
}

impl Algorithm for CarefulResume {
    fn controls() -> Vec<Control<CarefulResume>> {
        let described = Described {
            name: "careful-resume",
            summary: "CUBIC that jumps to half of what the path carried last time",
            source: "RFC 9959",
            open: "PipeSize counts unvalidated segments only; the retreat has no floor of the \
                   initial window; saving and ageing of parameters is left to the scenario",
            family: Family::Model,
            ..Described::NEW
        };
        type Settings = (SavedPath, Parts<HyStart, Cubic, CubicReaction>);
        vec![Control::new(described, |(saved, cubic): Settings| {
            let base = Classic::from_parts("careful-resume", cubic);
            CarefulResume::new(base, saved.saved_cwnd, saved.saved_rtt, saved.max_jump)
        })]
    }
}

impl CongestionControl for CarefulResume {
    named!("careful-resume");
    delegates!(base: apply_host_rules, bandwidth_estimate);

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.initial_window = window.cwnd;
        self.min_rtt = rtt.unwrap_or(Duration::MAX);
        self.base.on_established(rtt, window);
    }

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.acked += ack.acked;
        self.delivered += ack.delivered;
        self.outstanding = ack.outstanding;
        self.min_rtt = self.min_rtt.min(ack.rtt.unwrap_or(Duration::MAX));
        self.base.on_sample(ack, window);
        let too_fast = ack.rtt.is_some_and(|rtt| rtt < self.saved_rtt / 2);
        if too_fast && matches!(self.phase, Phase::Unvalidated { .. }) {
            // Another path.
            self.retreat(window.cwnd, window);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        match self.phase {
            Phase::Reconnaissance => {
                self.base.on_ack(ack, window);
                if self.acked >= self.initial_window && ack.cwnd_limited {
                    self.jump(ack, window);
                }
            }
            Phase::Unvalidated { .. } => self.check_jump(ack, window),
            Phase::Validating => {
                self.base.on_ack(ack, window);
                if self.acked >= self.last_unvalidated {
                    self.phase = Phase::Normal;
                }
            }
            Phase::SafeRetreat => {
                if self.acked >= self.last_unvalidated {
                    self.end_retreat(window);
                }
            }
            Phase::Normal => self.base.on_ack(ack, window),
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let unvalidated = matches!(self.phase, Phase::Unvalidated { .. } | Phase::Validating);
        if unvalidated {
            let before = window.cwnd;
            window.cwnd = self.pipe_size().max(2.0);
            self.base.on_loss(loss, window);
            self.retreat(before, window);
        } else {
            if self.phase == Phase::Reconnaissance {
                self.stop(window);
            }
            self.base.on_loss(loss, window);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.stop(window);
        self.base.on_timeout(timeout, window);
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        let cwnd = window.cwnd;
        self.base.on_recovery_exit(exit, window);
        if self.phase == Phase::SafeRetreat {
            self.end_retreat(window);
            window.cwnd = window.cwnd.min(cwnd);
        }
    }

    fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        self.stop(window);
        self.base.on_spurious(before, window);
    }

    fn phase(&self, window: &Window) -> crate::Phase {
        match self.phase {
            Phase::Reconnaissance => crate::Phase::Own("reconnaissance"),
            Phase::Unvalidated { .. } => crate::Phase::Own("unvalidated"),
            Phase::Validating => crate::Phase::Own("validating"),
            Phase::SafeRetreat => crate::Phase::Own("safe_retreat"),
            Phase::Normal => self.base.phase(window),
        }
    }
}
