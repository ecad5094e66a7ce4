//! The Rust and the C of one control, told the same events.

use bentpipe_cc::{
    Ack, Controller, Loss, Parameters, RecoveryExit, Repair, Timeout, Window, build, build_slots,
};
use bentpipe_units::{Duration, Segments};

const MSS: u32 = 1448;

/// How far apart the two were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Differences {
    pub(crate) events: u64,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) losses: u64,
    pub(crate) timeouts: u64,
    pub(crate) undone: u64,
}

pub(crate) struct Pair {
    rust: Controller,
    c: Controller,
    /// The window of the Rust, which the stream follows.
    pub(crate) reference: Window,
    other: Window,
    before: (Window, Window),
    pub(crate) recovery_fix: bool,
    /// The C sets the window in every state.
    owns_window: bool,
    /// What the two do with the window in recovery is another matter (the
    /// kernel's rate reduction); what comes out at its end is compared again.
    in_recovery: bool,
    pub(crate) differences: Differences,
    first: Option<String>,
}

impl Pair {
    pub(crate) fn new(
        (rust, rust_settings): (&str, &Parameters),
        (c, c_settings): (&str, &Parameters),
        initial_window: Segments,
        recovery_fix: bool,
    ) -> Pair {
        // Slow start, congestion avoidance and reaction, or the name of a control.
        let rust = match rust.split('/').collect::<Vec<_>>()[..] {
            [start, avoidance, reaction] => build_slots(start, avoidance, reaction, rust_settings)
                .unwrap()
                .into(),
            _ => build(rust, rust_settings).unwrap(),
        };
        let c = build(c, c_settings).unwrap();
        let mut window = Window::new(initial_window);
        window.mss = MSS;
        Pair {
            owns_window: c.owns_window(),
            rust,
            c,
            reference: window.clone(),
            other: window.clone(),
            before: (window.clone(), window),
            recovery_fix,
            in_recovery: false,
            differences: Differences::default(),
            first: None,
        }
    }

    /// What was seen when the two were first more than a segment apart.
    pub(crate) fn first_difference(&self) -> Option<&str> {
        self.first.as_deref()
    }

    pub(crate) fn begin(&mut self, rtt: Duration, receive_window: Segments) {
        self.rust.on_open(receive_window);
        self.c.on_open(receive_window);
        self.rust.on_established(Some(rtt), &mut self.reference);
        self.c.on_established(Some(rtt), &mut self.other);
        self.compare("established", None);
    }

    fn compare(&mut self, what: &str, ack: Option<&Ack>) {
        let differences = &mut self.differences;
        differences.events += 1;
        let apart = (self.reference.cwnd.floor() - self.other.cwnd).abs();
        let ssthresh = match (self.reference.ssthresh, self.other.ssthresh) {
            (a, b) if a.is_finite() && b.is_finite() => (a.floor() - b).abs(),
            (a, b) if a == b => 0.0,
            _ => f64::INFINITY,
        };
        if self.in_recovery {
            return;
        }
        differences.ssthresh = differences.ssthresh.max(ssthresh);
        differences.cwnd = differences.cwnd.max(apart);
        if self.first.is_none() && (ssthresh > 1.0 || apart > 1.0) {
            self.first = Some(format!(
                "{what} {}: Rust {:.3} ssthresh {:.3}, C {} ssthresh {}: {ack:?}",
                differences.events,
                self.reference.cwnd,
                self.reference.ssthresh,
                self.other.cwnd,
                self.other.ssthresh,
            ));
        }
    }

    pub(crate) fn on_sample(&mut self, ack: &Ack) {
        self.rust.on_sample(ack, &mut self.reference);
        self.c.on_sample(ack, &mut self.other);
        self.reference.actions = bentpipe_cc::Actions::default();
        self.compare("sample", Some(ack));
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack) {
        self.rust.on_ack(ack, &mut self.reference);
        self.c.on_ack(ack, &mut self.other);
        if !self.owns_window {
            self.compare("ack", Some(ack));
        }
    }

    pub(crate) fn on_control(&mut self, ack: &Ack, repair: Repair) {
        if self.owns_window {
            self.c.on_control(ack, repair, &mut self.other);
            self.compare("control", Some(ack));
        }
    }

    pub(crate) fn on_loss(&mut self, loss: &Loss) {
        self.before = (self.reference.clone(), self.other.clone());
        self.in_recovery = true;
        self.differences.losses += 1;
        self.rust.on_loss(loss, &mut self.reference);
        self.c.on_loss(loss, &mut self.other);
        self.compare("loss", None);
    }

    pub(crate) fn on_timeout(&mut self, timeout: &Timeout) {
        self.before = (self.reference.clone(), self.other.clone());
        self.in_recovery = false;
        self.differences.timeouts += 1;
        self.rust.on_timeout(timeout, &mut self.reference);
        self.c.on_timeout(timeout, &mut self.other);
        self.compare("timeout", None);
    }

    pub(crate) fn on_recovery_exit(&mut self, exit: &RecoveryExit) {
        self.in_recovery = false;
        self.rust.on_recovery_exit(exit, &mut self.reference);
        self.c.on_recovery_exit(exit, &mut self.other);
        self.compare("exit", None);
    }

    pub(crate) fn on_spurious(&mut self) {
        self.in_recovery = false;
        self.differences.undone += 1;
        self.rust.on_spurious(&self.before.0, &mut self.reference);
        self.c.on_spurious(&self.before.1, &mut self.other);
        self.compare("spurious", None);
    }
}
