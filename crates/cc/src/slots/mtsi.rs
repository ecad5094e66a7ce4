//! MTSI: Multiple Thresholds, Smoothed Increase.
//!
//! Sources: Marchese 2006, eq. 3-5 (rule A); Marchese 2001, eq. 5-6 (rule B).
//! An ACK of slow start adds F segments. n thresholds thr_1 < ... < thr_n on
//! the window w from before the ACK choose a slope K_j, j being the smallest
//! index with w below thr_j:
//! - rule A: F = F of the last ACK + K_j; F = 1 once w >= thr_n;
//! - rule B: F = K_j x N, N being the number of ACKs of the connection; F = 1
//!   above.
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
//! - The paper does not specify losses. A timeout resets F of rule A to F_0; the count of rule B
//!   continues, as that of all ACKs of the connection.
//! - N counts every ACK that advances, also while the window is not in use, in
//!   recovery and in congestion avoidance. Duplicates, of which slow start has
//!   none, do not count. F itself moves only with an ACK that grows the window.
//! - The text confines F to slow start (`strict`), but the transfer times of
//!   2006, table 8, cannot be reached that way: there the senders kept using F
//!   after losses. `linux-2.2-equality` lets F act wherever `cwnd <= ssthresh`,
//!   which on Linux 2.2 includes the first ACK after recovery;
//!   `below-threshold` lets it act at every w below thr_n, also in congestion
//!   avoidance, and comes nearest to the printed times. In congestion avoidance
//!   above thr_n, F is 1 as the rule says.

use super::newreno::{Halve, Reno};
use super::{SEGMENTS, SEGMENTS_OR_NONE, marchese};
use crate::declaration::{Control, Described, TransportDefaults, of_slots};
use crate::hoe::HoeOff;
use crate::parameter::{ParameterSet, Reader, number, numbers, parameters, word, words};
use crate::slot::{Parts, SlowStart};
use crate::{Ack, BuildError, Parameter, Window};
use bentpipe_units::Segments;

/// The control `mtsi`.
pub(crate) fn mtsi() -> Control<Parts<Mtsi, Reno, Halve, HoeOff>> {
    of_slots(Described {
        name: "mtsi",
        summary: "slow start with multiple thresholds and smoothed increase",
        source: "Marchese 2006, eq. 3-5 (rule A); Marchese 2001, eq. 5-6 (rule B)",
        open: "F before the first ACK: 0; the sign of rule B's test: both, `lt` by default; \
               behaviour after losses: slow start only, F = F_0 after a timeout (tables 8-10 of \
               2006 need scope `below-threshold`)",
        transport: TransportDefaults {
            summary: "multi-threshold slow start 20-30-40, initial window 6, buffers of 320 KiB",
            source: "Marchese 2006, eq. 3-5",
            ..marchese::TRANSPORT
        },
        settles: true,
        ..Described::NEW
    })
}

words! {
    /// How F follows from the slopes.
    pub enum MtsiRule {
        /// F grows by the slope (Marchese 2006).
        A = "A",
        /// F is the slope times the number of ACKs (Marchese 2001).
        B = "B",
    }
}

words! {
    /// Whether a window equal to a threshold is below it.
    pub enum Tie {
        /// No: w < thr.
        Lt = "lt",
        /// Yes: w <= thr.
        Le = "le",
    }
}

words! {
    /// Where F acts.
    pub enum Scope {
        /// In slow start, as the host defines it.
        Strict = "strict",
        /// Wherever `cwnd <= ssthresh`, on every host.
        Linux22Equality = "linux-2.2-equality",
        /// Wherever cwnd is below the last threshold.
        BelowThreshold = "below-threshold",
    }
}

parameters! {
    /// Settings of [`Mtsi`].
    pub struct MtsiParameters {
        thresholds: Vec<f64> = numbers(&[20.0, 30.0, 40.0], "segments", SEGMENTS),
            "windows at which the slope changes, ascending";
        slopes: Vec<f64> = numbers(&[4.0, 2.0, 1.0], "segments", SEGMENTS_OR_NONE),
            "slope K below each threshold, as many as thresholds";
        rule: MtsiRule = word(), "A: F grows by K (2006); B: F = K x number of ACKs (2001)";
        tie: Tie = word(), "whether a window equal to a threshold is below it (le)";
        scope: Scope = word(),
            "where F acts: slow start, cwnd <= ssthresh, or every cwnd below the last threshold";
        f0: f64 = number(0.0, "segments", SEGMENTS_OR_NONE), "F before the first ACK";
    }
}

/// MTSI is read with the check that its lists belong together.
impl ParameterSet for Mtsi {
    fn declare(list: &mut Vec<Parameter>) {
        MtsiParameters::declare(list);
    }

    fn read(reader: &Reader<'_>) -> Result<Mtsi, BuildError> {
        let given = MtsiParameters::read(reader)?;
        let (thresholds, slopes) = (&given.thresholds, &given.slopes);
        if thresholds.windows(2).any(|pair| pair[0] >= pair[1]) {
            let expected = "thresholds that ascend".to_owned();
            return Err(reader.bad("thresholds", &thresholds.clone().into(), expected));
        }
        if thresholds.len() != slopes.len() {
            let expected = format!("as many slopes as thresholds ({})", thresholds.len());
            return Err(reader.bad("slopes", &slopes.clone().into(), expected));
        }
        Ok(Mtsi::new(thresholds, slopes)
            .with_rule(given.rule, given.tie)
            .with_scope(given.scope)
            .with_f0(given.f0))
    }
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

    /// Sets the rule and the treatment of equality.
    #[must_use]
    pub fn with_rule(mut self, rule: MtsiRule, tie: Tie) -> Mtsi {
        self.rule = rule;
        self.tie = tie;
        self
    }

    /// Sets the scope.
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Mtsi {
        self.scope = scope;
        self
    }

    /// Sets F before the first ACK.
    #[must_use]
    pub fn with_f0(mut self, f0: Segments) -> Mtsi {
        self.f0 = f0;
        self.f = f0;
        self
    }

    #[inline]
    fn is_below(&self, cwnd: Segments, threshold: Segments) -> bool {
        match self.tie {
            Tie::Lt => cwnd < threshold,
            Tie::Le => cwnd <= threshold,
        }
    }

    /// F of the ACK that finds the window at `cwnd`.
    #[inline]
    fn advance(&mut self, cwnd: Segments) -> Segments {
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
}

fills! { Mtsi, "mtsi", "multiple thresholds (Marchese 2006, eq. 3-5)",
    |parameters: Mtsi| parameters
}

impl SlowStart for Mtsi {
    #[inline]
    fn on_sample(&mut self, ack: &Ack, _: &mut Window) {
        if ack.acked > 0.0 {
            self.acks += 1.0;
        }
    }

    #[inline]
    fn on_ack(&mut self, _: &Ack, window: &mut Window, _: bool) {
        window.cwnd += self.advance(window.cwnd);
    }

    #[inline]
    fn on_avoidance_ack(&mut self, window: &Window) {
        if !self.is_below(window.cwnd, self.last) {
            self.f = 1.0;
        }
    }

    #[inline]
    fn claims(&self, window: &Window) -> bool {
        match self.scope {
            Scope::Strict => false,
            Scope::Linux22Equality => window.cwnd <= window.ssthresh,
            Scope::BelowThreshold => self.is_below(window.cwnd, self.last),
        }
    }

    fn on_timeout(&mut self) {
        self.f_before = self.f;
        self.f = self.f0;
    }

    fn on_spurious(&mut self) {
        self.f = self.f.max(self.f_before);
        self.f_before = 0.0;
    }
}
