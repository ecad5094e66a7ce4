//! What stands between a transport and a congestion control that is not built in.
//!
//! A control of one's own may return a window that no transport can use, or
//! panic. The guard keeps the window as it was, stops calling the control, and
//! records the fault; the simulation asks for it and ends the run with a message.

use crate::{
    Ack, CWND_LIMIT, CongestionControl, Feedback, HostRules, Loss, PathHint, Phase, QueueReport,
    RecoveryExit, Repair, SharedState, Timeout, Window,
};
use bentpipe_units::{Duration, Rate, Segments, Time};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a congestion control of one's own had to be stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// The control.
    pub control: String,
    /// The call that it failed in.
    pub call: &'static str,
    /// When, as of the last event that carried a time.
    pub at: Time,
    /// What was wrong, in words for people.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault {
            control,
            call,
            at,
            what,
        } = self;
        write!(
            f,
            "congestion control `{control}` failed at {at} in `{call}`: {what}"
        )
    }
}

/// A congestion control of one's own under guard.
#[derive(Debug)]
pub struct Guarded {
    control: Box<dyn CongestionControl>,
    name: String,
    now: Time,
    fault: Option<Box<Fault>>,
}

/// The part of a window that a control sets.
#[derive(Clone, Copy)]
struct Kept {
    cwnd: Segments,
    ssthresh: Segments,
    pacing_rate: Option<Rate>,
    send_quantum: u32,
}

impl Kept {
    fn of(window: &Window) -> Kept {
        Kept {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            pacing_rate: window.pacing_rate,
            send_quantum: window.send_quantum,
        }
    }

    fn restore(self, window: &mut Window) {
        window.cwnd = self.cwnd;
        window.ssthresh = self.ssthresh;
        window.pacing_rate = self.pacing_rate;
        window.send_quantum = self.send_quantum;
    }
}

/// True for a window that a transport can use. One test for the usual case; NaN
/// fails every comparison.
#[inline]
fn is_usable(window: &Window) -> bool {
    window.cwnd >= 1.0
        && window.cwnd <= CWND_LIMIT
        && window.ssthresh >= 1.0
        && window.send_quantum >= 1
        && window.pacing_rate != Some(Rate::ZERO)
}

/// What is wrong with a window.
fn complaint(window: &Window) -> String {
    if !(window.cwnd >= 1.0 && window.cwnd <= CWND_LIMIT) {
        return format!(
            "cwnd is {}: expected a number of segments from 1 to {CWND_LIMIT}",
            window.cwnd
        );
    }
    if window.ssthresh.is_nan() || window.ssthresh < 1.0 {
        return format!(
            "ssthresh is {}: expected at least 1 segment, or infinity",
            window.ssthresh
        );
    }
    if window.send_quantum < 1 {
        return "the send quantum is 0: expected at least 1 segment".to_owned();
    }
    "the pacing rate is 0: expected a rate above 0, or none".to_owned()
}

/// The text of a panic, where it has one.
#[must_use]
pub fn panic_text(payload: &(dyn Any + Send)) -> Option<String> {
    let text = payload.downcast_ref::<&str>();
    text.map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
}

/// What `call` returns, or the message of its panic.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        panic_text(&*payload).map_or_else(
            || "it panicked".to_owned(),
            |text| format!("it panicked: {text}"),
        )
    })
}

impl Guarded {
    /// `control`, which results and messages list under `name`.
    pub(crate) fn new(name: impl Into<String>, control: Box<dyn CongestionControl>) -> Guarded {
        Guarded {
            control,
            name: name.into(),
            now: Time::ZERO,
            fault: None,
        }
    }

    /// Why the control was stopped, if it was.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }

    #[cold]
    fn fail(&mut self, call: &'static str, what: String) {
        self.fault = Some(Box::new(Fault {
            control: self.name.clone(),
            call,
            at: self.now,
            what,
        }));
    }

    /// A call that may change the window.
    #[inline]
    fn moves(
        &mut self,
        call: &'static str,
        now: Option<Time>,
        window: &mut Window,
        body: impl FnOnce(&mut dyn CongestionControl, &mut Window),
    ) {
        if self.fault.is_some() {
            return;
        }
        self.now = now.unwrap_or(self.now);
        let before = Kept::of(window);
        let done = caught(|| body(&mut *self.control, window));
        if done.is_ok() && is_usable(window) {
            return;
        }
        let own = || caught(|| self.control.failure()).ok().flatten();
        let what = match done {
            Err(panic) => panic,
            Ok(()) => own().unwrap_or_else(|| complaint(window)),
        };
        before.restore(window);
        self.fail(call, what);
    }

    /// A call that leaves the window alone.
    fn takes(&mut self, call: &'static str, body: impl FnOnce(&mut dyn CongestionControl)) {
        if self.fault.is_none()
            && let Err(what) = caught(|| body(&mut *self.control))
        {
            self.fail(call, what);
        }
    }

    /// What a question is answered with, or `otherwise` where it panics.
    fn asks<T>(&self, otherwise: T, body: impl FnOnce(&dyn CongestionControl) -> T) -> T {
        caught(|| body(&*self.control)).unwrap_or(otherwise)
    }
}

impl CongestionControl for Guarded {
    fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.moves("on_ack", Some(ack.now), window, |it, window| {
            it.on_ack(ack, window)
        });
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.moves("on_established", None, window, |it, window| {
            it.on_established(rtt, window)
        });
    }

    fn on_open(&mut self, receive_window: Segments) {
        self.takes("on_open", |it| it.on_open(receive_window));
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.moves("on_sample", Some(ack.now), window, |it, window| {
            it.on_sample(ack, window)
        });
    }

    fn on_feedback(&mut self, feedback: &Feedback, window: &mut Window) {
        let now = Some(feedback.now);
        self.moves("on_feedback", now, window, |it, window| {
            it.on_feedback(feedback, window)
        });
    }

    fn on_bandwidth(&mut self, available: Rate, window: &mut Window) {
        self.moves("on_bandwidth", None, window, |it, window| {
            it.on_bandwidth(available, window)
        });
    }

    fn on_shared(&mut self, shared: &SharedState, window: &mut Window) {
        self.moves("on_shared", None, window, |it, window| {
            it.on_shared(shared, window)
        });
    }

    fn on_error_report(&mut self, corrupted: u32) {
        self.takes("on_error_report", |it| it.on_error_report(corrupted));
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        self.moves("on_loss", Some(loss.now), window, |it, window| {
            it.on_loss(loss, window)
        });
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        let now = Some(timeout.now);
        self.moves("on_timeout", now, window, |it, window| {
            it.on_timeout(timeout, window)
        });
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        let now = Some(exit.now);
        self.moves("on_recovery_exit", now, window, |it, window| {
            it.on_recovery_exit(exit, window);
        });
    }

    fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        self.moves("on_spurious", None, window, |it, window| {
            it.on_spurious(before, window)
        });
    }

    fn after_idle(&mut self, initial_window: Segments, window: &mut Window) {
        self.moves("after_idle", None, window, |it, window| {
            it.after_idle(initial_window, window);
        });
    }

    #[inline]
    fn on_control(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        self.moves("on_control", Some(ack.now), window, |it, window| {
            it.on_control(ack, repair, window);
        });
    }

    fn on_restart(&mut self, now: Time, window: &mut Window) {
        self.moves("on_restart", Some(now), window, |it, window| {
            it.on_restart(now, window)
        });
    }

    fn on_transmission_start(&mut self, now: Time, idle: Duration) {
        self.now = now;
        self.takes("on_transmission_start", |it| {
            it.on_transmission_start(now, idle)
        });
    }

    fn on_queue(&mut self, report: &QueueReport, window: &mut Window) {
        let now = Some(report.now);
        self.moves("on_queue", now, window, |it, window| {
            it.on_queue(report, window)
        });
    }

    fn on_path(&mut self, path: &PathHint, window: &mut Window) {
        self.moves("on_path", None, window, |it, window| {
            it.on_path(path, window)
        });
    }

    fn seed(&mut self, seed: u64) {
        self.takes("seed", |it| it.seed(seed));
    }

    fn apply_host_rules(&mut self, rules: HostRules) {
        self.takes("apply_host_rules", |it| it.apply_host_rules(rules));
    }

    fn owns_window(&self) -> bool {
        self.asks(false, |it| it.owns_window())
    }

    fn needs_rate_samples(&self) -> bool {
        self.asks(false, |it| it.needs_rate_samples())
    }

    fn needs_queue_reports(&self) -> bool {
        self.asks(false, |it| it.needs_queue_reports())
    }

    fn needs_path(&self) -> bool {
        self.asks(false, |it| it.needs_path())
    }

    fn needs_feedback(&self) -> bool {
        self.asks(false, |it| it.needs_feedback())
    }

    fn needs_bandwidth(&self) -> bool {
        self.asks(false, |it| it.needs_bandwidth())
    }

    fn shares_state(&self) -> bool {
        self.asks(false, |it| it.shares_state())
    }

    fn needs_error_reports(&self) -> bool {
        self.asks(false, |it| it.needs_error_reports())
    }

    fn phase(&self, window: &Window) -> Phase {
        self.asks(Phase::default(), |it| it.phase(window))
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        self.asks(None, |it| it.bandwidth_estimate())
    }

    fn failure(&self) -> Option<String> {
        self.fault().map(|fault| fault.what.clone())
    }
}
