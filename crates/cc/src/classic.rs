//! How the three slots work together, and the dispatch of a [`Controller`].
//!
//! An ACK below ssthresh goes to the slow start, any other one to congestion
//! avoidance. Two exceptions: hosts on which `cwnd <= ssthresh` is slow start
//! (Linux 2.2), and a slow start that claims ACKs above ssthresh as well (MTSI
//! in its below-threshold scope). An ACK for which the sender did not need its
//! window grows nothing (RFC 7661, section 4).

use crate::avoidance::Growth;
use crate::controller::CongestionControl as _;
use crate::model::Model;
use crate::{
    Ack, Avoidance, Classic, Controller, Feedback, Hoe, HostRules, Loss, PathKnowledge, Phase,
    QueueReport, Reaction, RecoveryExit, Repair, Start, Timeout, Whole, Window,
};
use bentpipe_units::{Duration, Rate, Segments, Time};
use std::borrow::Cow;

/// No built-in algorithm grows cwnd above this: 2^30 segments, as many as the
/// largest receive window (RFC 7323) holds bytes.
pub const CWND_LIMIT: Segments = (1u64 << 30) as f64;

impl Classic {
    /// A combination of three slots under a name.
    #[must_use]
    pub fn from_slots(
        name: impl Into<Cow<'static, str>>,
        start: Start,
        avoidance: Avoidance,
        reaction: Reaction,
    ) -> Classic {
        Classic {
            name: name.into(),
            start,
            avoidance,
            reaction,
            hoe: None,
            equality_is_slow_start: false,
            recovering: false,
        }
    }

    /// The same with Hoe's estimate.
    #[must_use]
    pub fn with_hoe(mut self, hoe: Hoe) -> Classic {
        self.hoe = Some(hoe);
        self
    }

    /// Takes over what the host does around its algorithms. A rule that is
    /// false leaves the setting of the algorithm alone, and a rule about Reno
    /// or halving does nothing to an algorithm that has neither; the windows of
    /// Westwood are whole and left alone where those of halving are.
    pub fn apply_host_rules(&mut self, rules: HostRules) {
        self.equality_is_slow_start |= rules.equality_is_slow_start;
        if let Avoidance::Reno(reno) = &mut self.avoidance
            && rules.integer_avoidance
        {
            reno.growth = Growth::Integer;
        }
        match &mut self.reaction {
            Reaction::Halve(halve) => {
                halve.whole |= rules.whole_ssthresh;
                halve.exact |= rules.exact_halves;
            }
            Reaction::Westwood(westwood) if rules.exact_halves => westwood.follow_agent(),
            Reaction::WestwoodPlus(westwood) if rules.exact_halves => westwood.follow_agent(),
            _ => {}
        }
    }

    /// The name under which results are listed.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The connection is established; called once, before anything is sent.
    pub fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.start.on_established(rtt, window);
        self.hoe.iter_mut().for_each(|hoe| hoe.on_established(rtt));
    }

    /// Every ACK, duplicates included, before [`Classic::on_ack`].
    #[inline]
    pub fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.recovering = ack.in_recovery;
        if let Some(hoe) = &mut self.hoe {
            hoe.on_sample(ack, window);
        }
        self.start.on_sample(ack, window);
        self.avoidance.on_sample(ack);
        self.reaction.on_sample(ack);
    }

    /// An ACK that advances: grow.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            self.avoidance.on_idle_ack(ack.now);
            return;
        }
        if self.takes_slow_start_step(window) {
            let estimate_pending = self.hoe.as_ref().is_some_and(Hoe::is_pending);
            self.start.on_ack(ack, window, estimate_pending);
        } else {
            self.start.on_avoidance_ack(window);
            self.avoidance.on_ack(ack, window, self.hoe.as_ref());
        }
        window.cwnd = window.cwnd.min(CWND_LIMIT);
    }

    /// A loss was found: set ssthresh and cwnd.
    pub fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let before = window.cwnd;
        self.reaction.on_loss(loss, window);
        self.start.on_loss();
        self.hoe.iter_mut().for_each(Hoe::stop);
        self.avoidance.on_loss(before);
        self.recovering = !loss.ecn;
    }

    /// The retransmission timer ran out.
    pub fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        let before = window.cwnd;
        self.reaction.on_timeout(timeout, window);
        self.start.on_timeout();
        self.hoe.iter_mut().for_each(Hoe::stop);
        self.avoidance.on_timeout(before, timeout.first);
        self.recovering = false;
    }

    /// Recovery ended.
    pub fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.reaction.on_recovery_exit(exit, window);
        self.recovering = false;
    }

    /// The last loss or timeout was spurious: restores what it changed
    /// (Eifel response, RFC 4015; RFC 9438, section 4.9).
    pub fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        window.cwnd = window.cwnd.max(before.cwnd);
        window.ssthresh = before.ssthresh;
        self.start.on_spurious();
        self.avoidance.on_spurious();
        self.recovering = false;
    }

    /// Where the algorithm stands.
    #[must_use]
    pub fn phase(&self, window: &Window) -> Phase {
        if self.recovering {
            Phase::Recovery
        } else if self.is_slow_start(window) {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// The bandwidth that the reaction (Westwood family) or else Hoe's
    /// estimate believes in.
    #[must_use]
    pub fn bandwidth_estimate(&self) -> Option<Rate> {
        self.reaction
            .bandwidth_estimate()
            .or_else(|| self.hoe.as_ref().and_then(Hoe::bandwidth_estimate))
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

/// Calls the same method of whichever arm is there.
macro_rules! dispatch {
    ($self:ident, $method:ident $(, $argument:expr)*) => {
        match $self {
            Controller::Classic(classic) => classic.$method($($argument),*),
            Controller::Whole(whole) => whole.$method($($argument),*),
            Controller::Custom(custom) => custom.$method($($argument),*),
        }
    };
}

impl Controller {
    /// The name under which results are listed.
    #[must_use]
    pub fn name(&self) -> &str {
        dispatch!(self, name)
    }

    /// The connection is established; called once, before anything is sent.
    pub fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        dispatch!(self, on_established, rtt, window);
    }

    /// Every ACK, duplicates and those of recovery included, before
    /// [`Controller::on_ack`]: take samples.
    #[inline]
    pub fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        dispatch!(self, on_sample, ack, window);
    }

    /// An ACK that advances: grow the window.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        dispatch!(self, on_ack, ack, window);
    }

    /// A loss was found: set ssthresh and cwnd.
    pub fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        dispatch!(self, on_loss, loss, window);
    }

    /// The retransmission timer ran out.
    pub fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        dispatch!(self, on_timeout, timeout, window);
    }

    /// Recovery ended.
    pub fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        dispatch!(self, on_recovery_exit, exit, window);
    }

    /// The last loss or timeout was spurious; `before` is the window from
    /// before it.
    pub fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        dispatch!(self, on_spurious, before, window);
    }

    /// The receive window when the connection is established.
    pub fn on_open(&mut self, receive_window: Segments) {
        match self {
            Controller::Classic(_) => {}
            Controller::Whole(whole) => whole.on_open(receive_window),
            Controller::Custom(custom) => custom.on_open(receive_window),
        }
    }

    /// New data is sent after an idle time, on hosts that restart then.
    pub fn after_idle(&mut self, initial_window: Segments, window: &mut Window) {
        match self {
            Controller::Classic(_) => window.cwnd = window.cwnd.min(initial_window),
            Controller::Whole(whole) => whole.after_idle(initial_window, window),
            Controller::Custom(custom) => custom.after_idle(initial_window, window),
        }
    }

    /// Where the algorithm stands, for time series.
    #[must_use]
    pub fn phase(&self, window: &Window) -> Phase {
        dispatch!(self, phase, window)
    }

    /// The bandwidth that the algorithm believes in, for time series.
    #[must_use]
    pub fn bandwidth_estimate(&self) -> Option<Rate> {
        dispatch!(self, bandwidth_estimate)
    }

    /// The last call for every ACK, where [`Controller::owns_window`].
    #[inline]
    pub fn on_control(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        match self {
            Controller::Classic(_) => {}
            Controller::Whole(whole) => whole.on_control(ack, repair, window),
            Controller::Custom(custom) => custom.on_control(ack, repair, window),
        }
    }

    /// Sending begins again after an idle time, where
    /// [`Controller::needs_rate_samples`].
    pub fn on_restart(&mut self, now: Time, window: &mut Window) {
        match self {
            Controller::Classic(_) => {}
            Controller::Whole(whole) => whole.on_restart(now, window),
            Controller::Custom(custom) => custom.on_restart(now, window),
        }
    }

    /// The queue at the sender's own node, where
    /// [`Controller::wants_queue_reports`].
    pub fn on_queue(&mut self, report: &QueueReport, window: &mut Window) {
        match self {
            Controller::Classic(_) => {}
            Controller::Whole(whole) => whole.on_queue(report, window),
            Controller::Custom(custom) => custom.on_queue(report, window),
        }
    }

    /// True where the algorithm hears of the queue at its own node.
    #[must_use]
    pub fn wants_queue_reports(&self) -> bool {
        match self {
            Controller::Classic(_) => false,
            Controller::Whole(whole) => whole.wants_queue_reports(),
            Controller::Custom(custom) => custom.wants_queue_reports(),
        }
    }

    /// Seeds the algorithm's own random choices.
    pub fn seed(&mut self, seed: u64) {
        match self {
            Controller::Classic(_) => {}
            Controller::Whole(whole) => whole.seed(seed),
            Controller::Custom(custom) => custom.seed(seed),
        }
    }

    /// True where the algorithm sets the window in every state.
    #[must_use]
    pub fn owns_window(&self) -> bool {
        match self {
            Controller::Classic(_) => false,
            Controller::Whole(whole) => whole.owns_window(),
            Controller::Custom(custom) => custom.owns_window(),
        }
    }

    /// True where [`Ack::rate_sample`] is wanted.
    #[must_use]
    pub fn needs_rate_samples(&self) -> bool {
        match self {
            Controller::Classic(_) => false,
            Controller::Whole(whole) => whole.needs_rate_samples(),
            Controller::Custom(custom) => custom.needs_rate_samples(),
        }
    }

    /// Feedback of routers on the path, where [`Controller::needs_feedback`].
    pub fn on_feedback(&mut self, feedback: &Feedback, window: &mut Window) {
        match self {
            Controller::Classic(_) => {}
            Controller::Whole(whole) => whole.on_feedback(feedback, window),
            Controller::Custom(custom) => custom.on_feedback(feedback, window),
        }
    }

    /// Knowledge about the path, where [`Controller::needs_path`].
    pub fn on_path(&mut self, path: &PathKnowledge, window: &mut Window) {
        match self {
            Controller::Classic(_) => {}
            Controller::Whole(whole) => whole.on_path(path, window),
            Controller::Custom(custom) => custom.on_path(path, window),
        }
    }

    /// True where somebody is to tell about the path.
    #[must_use]
    pub fn needs_path(&self) -> bool {
        match self {
            Controller::Classic(_) => false,
            Controller::Whole(whole) => whole.needs_path(),
            Controller::Custom(custom) => custom.needs_path(),
        }
    }

    /// True where packets are to carry a congestion header.
    #[must_use]
    pub fn needs_feedback(&self) -> bool {
        match self {
            Controller::Classic(_) => false,
            Controller::Whole(whole) => whole.needs_feedback(),
            Controller::Custom(custom) => custom.needs_feedback(),
        }
    }

    /// Takes over what the host does around its algorithms; an algorithm that
    /// is not made of slots, or a user's own, is left alone.
    pub fn apply_host_rules(&mut self, rules: HostRules) {
        match self {
            Controller::Classic(classic) => classic.apply_host_rules(rules),
            Controller::Whole(Whole::Model(Model::CarefulResume(resume))) => {
                resume.apply_host_rules(rules);
            }
            Controller::Whole(_) | Controller::Custom(_) => {}
        }
    }
}

impl From<Classic> for Controller {
    fn from(classic: Classic) -> Controller {
        Controller::Classic(classic)
    }
}

impl From<Whole> for Controller {
    fn from(whole: Whole) -> Controller {
        Controller::Whole(whole)
    }
}
