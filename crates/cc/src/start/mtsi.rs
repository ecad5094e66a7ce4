//! MTSI: Multiple Thresholds, Smoothed Increase.
//!
//! Sources: Marchese 2006, eq. 3-5 (rule A); Marchese 2001, eq. 5-6 (rule B).
//! An ACK of slow start adds F segments. n thresholds thr_1 < ... < thr_n on
//! the window w from before the ACK choose a slope K_j, j being the smallest
//! index with w below thr_j:
//! - rule A: F = F of the last ACK + K_j; F = 1 once w >= thr_n;
//! - rule B: F = K_j x the number of ACKs of the connection; F = 1 above.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | thresholds | 20, 30, 40 | segments |
//! | slopes | 4, 2, 1 | segments per ACK |
//! | rule | A | |
//! | tie | lt: w < thr_j | |
//! | scope | strict | |
//! | F_0 | 0 | segments |
//!
//! Left open, and the reading chosen:
//! - F before the first ACK is not printed. 0: both rules then agree on the
//!   first three ACKs.
//! - The sign of rule B's test is garbled in print; `lt` and `le` are both
//!   there and differ at w = thr_j exactly.
//! - Nothing is said about losses. A timeout sets F of rule A back to F_0; the
//!   count of rule B goes on, as "all ACKs of the connection" says.
//! - The text confines F to slow start (`strict`), but the transfer times of
//!   2006, table 8, cannot be reached that way: there the senders kept using F
//!   after losses. `linux-2.2-equality` lets F act wherever `cwnd <= ssthresh`,
//!   which on Linux 2.2 includes the first ACK after recovery;
//!   `below-threshold` lets it act at every w below thr_n, also in congestion
//!   avoidance, and comes nearest to the printed times. In congestion avoidance
//!   above thr_n, F is 1 as the rule says.

use crate::{Ack, Window};
use bentpipe_units::Segments;

/// How F follows from the slopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MtsiRule {
    /// F grows by the slope (Marchese 2006).
    #[default]
    A,
    /// F is the slope times the number of ACKs (Marchese 2001).
    B,
}

/// Whether a window equal to a threshold is below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tie {
    /// No: w < thr.
    #[default]
    Lt,
    /// Yes: w <= thr.
    Le,
}

/// Where F acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// In slow start, as the host defines it.
    #[default]
    Strict,
    /// Wherever `cwnd <= ssthresh`, on every host.
    Linux22Equality,
    /// Wherever cwnd is below the last threshold.
    BelowThreshold,
}

/// The state of MTSI in a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Mtsi {
    /// (threshold, slope), ascending by threshold.
    steps: Vec<(Segments, Segments)>,
    /// The last threshold.
    last: Segments,
    rule: MtsiRule,
    tie: Tie,
    scope: Scope,
    f0: Segments,
    f: Segments,
    /// F from before the last timeout, should that prove spurious.
    f_before: Segments,
    acks: f64,
}

impl Mtsi {
    /// Rule A with strict comparison in slow start only. Slopes beyond the
    /// number of thresholds are ignored and missing ones are 1.
    #[must_use]
    pub fn new(thresholds: &[Segments], slopes: &[Segments]) -> Mtsi {
        let slopes = slopes.iter().copied().chain(core::iter::repeat(1.0));
        let mut steps: Vec<_> = thresholds.iter().copied().zip(slopes).collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        Mtsi {
            last: steps.last().map_or(0.0, |step| step.0),
            steps,
            rule: MtsiRule::A,
            tie: Tie::Lt,
            scope: Scope::Strict,
            f0: 0.0,
            f: 0.0,
            f_before: 0.0,
            acks: 0.0,
        }
    }

    /// The same with another rule and treatment of equality.
    #[must_use]
    pub fn with_rule(mut self, rule: MtsiRule, tie: Tie) -> Mtsi {
        self.rule = rule;
        self.tie = tie;
        self
    }

    /// The same with another scope.
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Mtsi {
        self.scope = scope;
        self
    }

    /// The same with another F before the first ACK.
    #[must_use]
    pub fn with_f0(mut self, f0: Segments) -> Mtsi {
        self.f0 = f0;
        self.f = f0;
        self
    }

    /// The scope in which F acts.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    #[inline]
    fn is_below(&self, cwnd: Segments, threshold: Segments) -> bool {
        match self.tie {
            Tie::Lt => cwnd < threshold,
            Tie::Le => cwnd <= threshold,
        }
    }

    #[inline]
    pub(super) fn on_sample(&mut self, ack: &Ack) {
        if ack.cwnd_limited && !ack.duplicate {
            self.acks += 1.0;
        }
    }

    /// F of the ACK that finds the window at `cwnd`.
    #[inline]
    pub(super) fn advance(&mut self, cwnd: Segments) -> Segments {
        self.f = match self.slope(cwnd) {
            None => 1.0,
            Some(slope) => match self.rule {
                MtsiRule::A => self.f + slope,
                MtsiRule::B => slope * self.acks,
            },
        };
        self.f
    }

    #[inline]
    fn slope(&self, cwnd: Segments) -> Option<Segments> {
        if !self.is_below(cwnd, self.last) {
            return None;
        }
        self.steps
            .iter()
            .find(|step| self.is_below(cwnd, step.0))
            .map(|step| step.1)
    }

    #[inline]
    pub(super) fn on_avoidance_ack(&mut self, cwnd: Segments) {
        if !self.is_below(cwnd, self.last) {
            self.f = 1.0;
        }
    }

    #[inline]
    pub(super) fn claims(&self, window: &Window) -> bool {
        match self.scope {
            Scope::Strict => false,
            Scope::Linux22Equality => window.cwnd <= window.ssthresh,
            Scope::BelowThreshold => self.is_below(window.cwnd, self.last),
        }
    }

    pub(super) fn on_timeout(&mut self) {
        self.f_before = self.f;
        self.f = self.f0;
    }

    pub(super) fn on_spurious(&mut self) {
        self.f = self.f.max(self.f_before);
        self.f_before = 0.0;
    }
}
