//! Controls of the ABI as congestion controls of bentpipe.

#![allow(
    unsafe_code,
    reason = "a connection's state is a pointer that may move between threads"
)]

use crate::bentpipe::{self, Control, NONE, flag};
use crate::sources::Sources;
use crate::{LoadError, cache, library};
use bentpipe_cc::own::Definition;
use bentpipe_cc::{
    Ack, CongestionControl, Loss, OwnControl, Parameter, RecoveryExit, Repair, Timeout, Window,
};
use bentpipe_units::{Duration, Rate, Segments};
use core::ffi::c_void;
use std::fs;
use std::path::Path;

/// The control in `built`, a shared library; `path` is what the user named.
pub(crate) fn load(
    name: Option<&str>,
    path: &Path,
    built: &Path,
    sources: &Sources,
) -> Result<OwnControl, LoadError> {
    let wrong = |reason: String| LoadError::Library {
        path: path.to_owned(),
        reason,
    };
    // A copy: cargo may replace the file while it is in use, and a second version
    // of a file of the same name would not be loaded.
    let copy = format!("{}{}", sources.hash, std::env::consts::DLL_SUFFIX);
    let copy = cache::file(&copy, |to| {
        let copied = fs::copy(built, to);
        copied.map(drop).map_err(|e| LoadError::cache(to, &e))
    })?;
    let export = library::open(&copy).map_err(wrong)?;
    let control = export.control;
    let mut parameters = Vec::new();
    for parameter in export.parameters {
        let (name, default) = (parameter.name.as_str(), parameter.default);
        let range = (parameter.minimum, parameter.maximum);
        if !(range.0..=range.1).contains(&default) {
            return Err(wrong(format!(
                "the default of `{name}` is {default}: expected a number from {} to {}",
                range.0, range.1
            )));
        }
        let (unit, meaning) = (parameter.unit.as_str(), parameter.meaning.as_str());
        parameters.push(Parameter::of_number(name, default, range, unit, meaning));
    }
    let names: Vec<&'static str> = parameters.iter().map(|parameter| parameter.name).collect();
    let own = control.name.as_str();
    let name = name.unwrap_or(own).to_owned();
    let definition = Definition {
        summary: control.summary.as_str().to_owned(),
        origin: path.display().to_string(),
        parameters,
        ..Definition::new(name.clone(), sources.hash.clone())
    };
    let made = OwnControl::new(definition, move |parameters| {
        let values: Vec<f64> = names.iter().map(|name| parameters.number(name)).collect();
        let connection = Connection::new(control, name.clone(), &values)?;
        Ok(Box::new(connection))
    });
    made.map_err(|source| LoadError::Build {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

/// A connection of a control behind the ABI.
#[derive(Debug)]
struct Connection {
    control: &'static Control,
    name: String,
    /// From `create`; given to `destroy` once.
    state: *mut c_void,
}

// SAFETY: the trait behind the ABI requires `Send` of its implementations, and a
// connection is used by one thread at a time.
unsafe impl Send for Connection {}

impl Drop for Connection {
    fn drop(&mut self) {
        (self.control.destroy)(self.state);
    }
}

fn nanoseconds(time: Option<Duration>) -> u64 {
    time.map_or(NONE, Duration::as_nanos)
}

fn bits(rate: Option<Rate>) -> f64 {
    rate.map_or(f64::NAN, |rate| rate.bps_f64())
}

fn flags(all: &[(bool, u32)]) -> u32 {
    all.iter().map(|(set, flag)| u32::from(*set) * flag).sum()
}

fn outside(window: &Window) -> bentpipe::Window {
    bentpipe::Window {
        cwnd: window.cwnd,
        ssthresh: window.ssthresh,
        pacing_rate: bits(window.pacing_rate),
        mss: window.mss,
        send_quantum: window.send_quantum,
    }
}

fn ack_outside(ack: &Ack) -> bentpipe::Ack {
    let sample = ack.rate_sample.as_ref();
    let known = |time: Duration| {
        if time == Duration::MAX {
            NONE
        } else {
            time.as_nanos()
        }
    };
    bentpipe::Ack {
        now_ns: ack.now.as_nanos(),
        acked: ack.acked,
        delivered: ack.delivered,
        lost: ack.lost,
        flight_before: ack.flight_before,
        flight: ack.flight,
        outstanding: ack.outstanding,
        receive_window: ack.receive_window,
        rtt_ns: nanoseconds(ack.rtt),
        min_rtt_ns: known(ack.min_rtt),
        smoothed_rtt_ns: ack.smoothed_rtt.as_nanos(),
        delivery_rate: bits(ack.delivery_rate),
        sample_rate: bits(sample.map(|sample| sample.rate)),
        sample_interval_ns: sample.map_or(0, |sample| sample.interval.as_nanos()),
        sample_delivered: sample.map_or(0.0, |sample| sample.delivered),
        sample_prior_delivered: sample.map_or(0.0, |sample| sample.prior_delivered),
        mss: ack.mss,
        flags: flags(&[
            (ack.duplicate, flag::DUPLICATE),
            (ack.congestion_echo, flag::ECN),
            (ack.cwnd_limited, flag::CWND_LIMITED),
            (ack.round_start, flag::ROUND_START),
            (ack.in_recovery, flag::IN_RECOVERY),
            (
                sample.is_some_and(|sample| sample.app_limited),
                flag::APP_LIMITED,
            ),
        ]),
    }
}

impl Connection {
    fn new(control: &'static Control, name: String, values: &[f64]) -> Result<Connection, String> {
        let state = (control.create)(values.as_ptr());
        let connection = Connection {
            control,
            name,
            state,
        };
        match connection.message() {
            Some(message) => Err(message),
            None => Ok(connection),
        }
    }

    fn message(&self) -> Option<String> {
        let text = (self.control.message)(self.state);
        let text = text.as_str();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A call with the window in the form of the ABI.
    #[inline]
    fn call(
        &self,
        window: &mut Window,
        body: impl FnOnce(*mut c_void, &mut bentpipe::Window) -> i32,
    ) {
        let mut outside = outside(window);
        if body(self.state, &mut outside) != 0 {
            // The guard asks why.
            window.cwnd = f64::NAN;
            return;
        }
        window.cwnd = outside.cwnd;
        window.ssthresh = outside.ssthresh;
        window.send_quantum = outside.send_quantum;
        let rate = outside.pacing_rate;
        // A negative rate becomes 0, which the guard refuses.
        window.pacing_rate = (!rate.is_nan()).then(|| Rate::from_bps_f64(rate.max(0.0)));
    }
}

impl CongestionControl for Connection {
    fn name(&self) -> &str {
        &self.name
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.call(window, |state, window| {
            (self.control.on_established)(state, nanoseconds(rtt), window)
        });
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        let ack = ack_outside(ack);
        self.call(window, |state, window| {
            (self.control.on_sample)(state, &ack, window)
        });
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let ack = ack_outside(ack);
        self.call(window, |state, window| {
            (self.control.on_ack)(state, &ack, window)
        });
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let loss = bentpipe::Loss {
            now_ns: loss.now.as_nanos(),
            flight: loss.flight,
            outstanding: loss.outstanding,
            smoothed_rtt_ns: loss.smoothed_rtt.as_nanos(),
            min_rtt_ns: loss.min_rtt.as_nanos(),
            mss: loss.mss,
            flags: flags(&[(loss.ecn, flag::ECN)]),
        };
        self.call(window, |state, window| {
            (self.control.on_loss)(state, &loss, window)
        });
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        let timeout = bentpipe::Timeout {
            now_ns: timeout.now.as_nanos(),
            flight: timeout.flight,
            outstanding: timeout.outstanding,
            min_rtt_ns: timeout.min_rtt.as_nanos(),
            mss: timeout.mss,
            flags: flags(&[(timeout.first, flag::FIRST)]),
        };
        self.call(window, |state, window| {
            (self.control.on_timeout)(state, &timeout, window)
        });
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        let exit = bentpipe::RecoveryExit {
            now_ns: exit.now.as_nanos(),
            flight: exit.flight,
            min_rtt_ns: exit.min_rtt.as_nanos(),
            mss: exit.mss,
            flags: flags(&[(exit.recovery_fix, flag::RECOVERY_FIX)]),
        };
        self.call(window, |state, window| {
            (self.control.on_recovery_exit)(state, &exit, window)
        });
    }

    fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        let before = outside(before);
        self.call(window, |state, window| {
            (self.control.on_spurious)(state, &before, window)
        });
    }

    fn after_idle(&mut self, initial_window: Segments, window: &mut Window) {
        self.call(window, |state, window| {
            (self.control.after_idle)(state, initial_window, window)
        });
    }

    fn on_control(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        let ack = ack_outside(ack);
        let repair = match repair {
            Repair::None => 0,
            Repair::Recovery => 1,
            Repair::Timeout => 2,
        };
        self.call(window, |state, window| {
            (self.control.on_control)(state, &ack, repair, window)
        });
    }

    fn owns_window(&self) -> bool {
        self.control.properties & 1 != 0
    }

    fn needs_rate_samples(&self) -> bool {
        self.control.properties & 2 != 0
    }

    fn failure(&self) -> Option<String> {
        self.message()
    }
}
