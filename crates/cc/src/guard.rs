//! The guard between a transport and a congestion control that is not built in.
//!
//! A user's control may return a window that no transport can use, or
//! panic. The guard keeps the window as it was, stops calling the control, and
//! records the fault; the simulation asks for it and ends the run with a message.

use crate::watch::Watch;
use crate::{
    Ack, CWND_LIMIT, CongestionControl, Feedback, HostRules, Loss, PathHint, Phase, QueueReport,
    RecoveryExit, Repair, SharedState, Timeout, Window,
};
use bentpipe_units::{Duration, Rate, Segments, Time};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a user's congestion control had to be stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// Name of the control.
    pub control: String,
    /// The call that it failed in.
    pub call: &'static str,
    /// When, as of the last event that carried a time.
    pub at: Time,
    /// Description of the error.
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

/// A user's congestion control under guard.
#[derive(Debug)]
pub struct Guarded {
    control: Box<dyn CongestionControl>,
    name: String,
    now: Time,
    fault: Option<Box<Fault>>,
    watch: Watch,
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

/// The error in a window.
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
            watch: Watch::new(),
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
        self.watch.tell(&self.name, call, self.now);
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
        if self.fault.is_some() {
            return;
        }
        self.watch.tell(&self.name, call, self.now);
        if let Err(what) = caught(|| body(&mut *self.control)) {
            self.fail(call, what);
        }
    }

    /// What a question is answered with, or `otherwise` where it panics.
    fn asks<T>(
        &self,
        question: &'static str,
        otherwise: T,
        body: impl FnOnce(&dyn CongestionControl) -> T,
    ) -> T {
        self.watch.tell(&self.name, question, self.now);
        caught(|| body(&*self.control)).unwrap_or(otherwise)
    }
}

/// Passes calls on under guard: those that move the window, those that only tell
/// something, and questions, which a control that panics answers with the default.
macro_rules! guarded {
    (moves: $($event:ident($($arg:ident: $type:ty),*) $(at $now:expr)?;)*) => {$(
        #[inline]
        fn $event(&mut self, $($arg: $type,)* window: &mut Window) {
            let now: Option<Time> = None$(.or(Some($now)))?;
            self.moves(stringify!($event), now, window, |it, window| it.$event($($arg,)* window));
        }
    )*};
    (takes: $($event:ident($($arg:ident: $type:ty),*) $(at $now:expr)?;)*) => {$(
        fn $event(&mut self, $($arg: $type),*) {
            $(self.now = $now;)?
            self.takes(stringify!($event), |it| it.$event($($arg),*));
        }
    )*};
    (asks: $($question:ident($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {$(
        fn $question(&self, $($arg: $type),*) -> $answer {
            self.asks(stringify!($question), Default::default(), |it| it.$question($($arg),*))
        }
    )*};
}

impl CongestionControl for Guarded {
    fn name(&self) -> &str {
        &self.name
    }

    guarded! { moves:
        on_ack(ack: &Ack) at ack.now;
        on_established(rtt: Option<Duration>);
        on_sample(ack: &Ack) at ack.now;
        on_feedback(feedback: &Feedback) at feedback.now;
        on_bandwidth(available: Rate);
        on_shared(shared: &SharedState);
        on_loss(loss: &Loss) at loss.now;
        on_timeout(timeout: &Timeout) at timeout.now;
        on_recovery_exit(exit: &RecoveryExit) at exit.now;
        on_spurious(before: &Window);
        after_idle(initial_window: Segments);
        on_control(ack: &Ack, repair: Repair) at ack.now;
        on_restart(now: Time) at now;
        on_queue(report: &QueueReport) at report.now;
        on_path(path: &PathHint);
    }

    guarded! { takes:
        on_open(receive_window: Segments);
        on_error_report(corrupted: u32);
        on_transmission_start(now: Time, idle: Duration) at now;
        seed(seed: u64);
        apply_host_rules(rules: HostRules);
    }

    guarded! { asks:
        owns_window() -> bool;
        needs_rate_samples() -> bool;
        needs_queue_reports() -> bool;
        needs_path() -> bool;
        needs_feedback() -> bool;
        needs_bandwidth() -> bool;
        shares_state() -> bool;
        needs_error_reports() -> bool;
        phase(window: &Window) -> Phase;
        bandwidth_estimate() -> Option<Rate>;
    }

    fn failure(&self) -> Option<String> {
        self.fault().map(|fault| fault.what.clone())
    }
}
