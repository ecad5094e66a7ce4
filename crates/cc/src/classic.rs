//! How the three slots work together.
//!
//! An ACK below ssthresh goes to the slow start, any other one to congestion
//! avoidance. Two exceptions: hosts on which `cwnd <= ssthresh` is slow start
//! (Linux 2.2), and a slow start that claims ACKs above ssthresh as well (MTSI
//! in its below-threshold scope). An ACK for which the sender did not need its
//! window grows nothing (RFC 7661, section 4).

use crate::slot::{CongestionAvoidance as _, LossReaction as _, Parts, SlowStart as _};
use crate::{
    Ack, Avoidance, CWND_LIMIT, CongestionControl, Hoe, HostRules, Loss, Phase, Reaction,
    RecoveryExit, Start, Timeout, Window,
};
use bentpipe_units::{Duration, Rate};
use std::borrow::Cow;

/// The combination of a slow start, a congestion avoidance and a reaction.
#[derive(Clone, Debug)]
pub struct Classic {
    /// The name under which results are listed.
    pub name: Cow<'static, str>,
    /// The rule for growth below ssthresh.
    pub start: Start,
    /// The rule for growth above ssthresh.
    pub avoidance: Avoidance,
    /// The reaction to loss, timeout and the end of recovery.
    pub reaction: Reaction,
    /// Hoe's estimate of the bandwidth from the first ACKs, where it is used.
    pub hoe: Option<Box<Hoe>>,
    /// `cwnd <= ssthresh` counts as slow start, as in Linux 2.2, where the
    /// first ACK after recovery therefore takes a slow start step. Set by the
    /// host profile, not by the algorithm.
    pub equality_is_slow_start: bool,
    /// True from a loss to the end of its recovery; kept for
    /// [`CongestionControl::phase`].
    pub recovering: bool,
}

impl Classic {
    /// A combination of three slots under a name.
    #[must_use]
    pub fn from_slots(
        name: impl Into<Cow<'static, str>>,
        start: impl Into<Start>,
        avoidance: impl Into<Avoidance>,
        reaction: impl Into<Reaction>,
    ) -> Classic {
        Classic {
            name: name.into(),
            start: start.into(),
            avoidance: avoidance.into(),
            reaction: reaction.into(),
            hoe: None,
            equality_is_slow_start: false,
            recovering: false,
        }
    }

    /// The combination of `parts` under a name.
    pub(crate) fn from_parts<S, A, R, H>(
        name: impl Into<Cow<'static, str>>,
        parts: Parts<S, A, R, H>,
    ) -> Classic
    where
        S: Into<Start>,
        A: Into<Avoidance>,
        R: Into<Reaction>,
    {
        Classic {
            hoe: parts.hoe.map(Box::new),
            ..Classic::from_slots(name, parts.start, parts.avoidance, parts.reaction)
        }
    }

    /// A sender that also estimates ssthresh by Hoe's method.
    #[must_use]
    pub fn with_hoe(mut self, hoe: Hoe) -> Classic {
        self.hoe = Some(Box::new(hoe));
        self
    }

    /// True where the host calls it slow start.
    #[must_use]
    pub fn is_slow_start(&self, window: &Window) -> bool {
        window.cwnd < window.ssthresh
            || (self.equality_is_slow_start
                && window.cwnd <= window.ssthresh
                && !self.start.stops_at_ssthresh())
    }

    fn takes_slow_start_step(&self, window: &Window) -> bool {
        self.is_slow_start(window) || self.start.claims(window)
    }
}

impl CongestionControl for Classic {
    fn name(&self) -> &str {
        &self.name
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.start.on_established(rtt, window);
        self.hoe.iter_mut().for_each(|hoe| hoe.on_established(rtt));
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.recovering = ack.in_recovery;
        if let Some(hoe) = &mut self.hoe {
            hoe.on_sample(ack, window);
        }
        self.start.on_sample(ack, window);
        self.avoidance.on_sample(ack);
        self.reaction.on_sample(ack);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            self.avoidance.on_idle_ack(ack.now);
            return;
        }
        if self.takes_slow_start_step(window) {
            let estimate_pending = self.hoe.as_deref().is_some_and(Hoe::is_pending);
            self.start.on_ack(ack, window, estimate_pending);
        } else {
            self.start.on_avoidance_ack(window);
            self.avoidance.on_ack(ack, window, self.hoe.as_deref());
        }
        window.cwnd = window.cwnd.min(CWND_LIMIT);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let before = window.cwnd;
        self.reaction.on_loss(loss, window);
        self.start.on_loss();
        self.hoe.iter_mut().for_each(|hoe| hoe.stop());
        self.avoidance.on_loss(before);
        self.recovering = !loss.ecn;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        let before = window.cwnd;
        self.reaction.on_timeout(timeout, window);
        self.start.on_timeout();
        self.hoe.iter_mut().for_each(|hoe| hoe.stop());
        self.avoidance.on_timeout(before, timeout.first);
        self.recovering = false;
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.reaction.on_recovery_exit(exit, window);
        self.recovering = false;
    }

    /// Restores the window and the state of the slots (Eifel response, RFC 4015;
    /// RFC 9438, section 4.9).
    fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        window.cwnd = window.cwnd.max(before.cwnd);
        window.ssthresh = before.ssthresh;
        self.start.on_spurious();
        self.avoidance.on_spurious();
        self.recovering = false;
    }

    fn apply_host_rules(&mut self, rules: HostRules) {
        self.equality_is_slow_start |= rules.equality_is_slow_start;
        self.start.apply_host_rules(rules);
        self.avoidance.apply_host_rules(rules);
        self.reaction.apply_host_rules(rules);
    }

    fn phase(&self, window: &Window) -> Phase {
        if self.recovering {
            Phase::Recovery
        } else if self.is_slow_start(window) {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// The estimate of the reaction (Westwood family) or else Hoe's.
    fn bandwidth_estimate(&self) -> Option<Rate> {
        self.reaction
            .bandwidth_estimate()
            .or_else(|| self.hoe.as_deref().and_then(Hoe::bandwidth_estimate))
    }
}
