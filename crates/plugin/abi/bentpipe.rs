//! The interface between bentpipe and a congestion control in a crate of one's
//! own, version 1. `bentpipe cc new` copies this file into the crate; do not edit
//! it. The crate needs no dependency.
//!
//! Implement [`CongestionControl`] and name the type in [`export!`](crate::export):
//!
//! ```ignore
//! mod bentpipe;
//! use bentpipe::{Ack, CongestionControl, Parameters, Window};
//!
//! struct Mine { step: f64 }
//!
//! impl CongestionControl for Mine {
//!     fn new(parameters: &Parameters) -> Mine {
//!         Mine { step: parameters.get("step") }
//!     }
//!     fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
//!         window.cwnd += self.step * ack.acked / window.cwnd;
//!     }
//! }
//!
//! crate::export! {
//!     Mine, "mine", "grows by `step` segments a round trip";
//!     step = 1.0, 0.1 ..= 100.0, "segments", "growth in a round trip";
//! }
//! ```
//!
//! Windows are in segments and may be fractional. Times are nanoseconds of the run.

#![allow(dead_code, unused_macros, clippy::all)]

use core::ffi::c_void;
use std::time::Duration;

/// The version of this interface.
pub const ABI_VERSION: u32 = 1;

/// In a field of nanoseconds: there is none.
pub const NONE: u64 = u64::MAX;

/// A received acknowledgement.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived, ns.
    pub now_ns: u64,
    /// Segments newly acknowledged cumulatively; zero for a duplicate.
    pub acked: f64,
    /// Segments newly delivered, by the cumulative or a selective acknowledgement.
    pub delivered: f64,
    /// Segments newly found lost.
    pub lost: f64,
    /// Segments in flight before this ACK.
    pub flight_before: f64,
    /// Segments in flight after it.
    pub flight: f64,
    /// Segments sent and not acknowledged cumulatively, after it.
    pub outstanding: f64,
    /// The receive window, segments.
    pub receive_window: f64,
    /// RTT sample, ns; [`NONE`] without one.
    pub rtt_ns: u64,
    /// Smallest RTT sample of the connection, ns; [`NONE`] before one.
    pub min_rtt_ns: u64,
    /// Smoothed RTT, ns; zero before a sample.
    pub smoothed_rtt_ns: u64,
    /// Delivery rate over the round trip that ends with this ACK, bit/s; NaN on the
    /// other ACKs.
    pub delivery_rate: f64,
    /// Delivery rate sample of the newest packet, bit/s; NaN without one. Only where
    /// [`CongestionControl::NEEDS_RATE_SAMPLES`].
    pub sample_rate: f64,
    /// The interval of that sample, ns.
    pub sample_interval_ns: u64,
    /// Segments delivered in it.
    pub sample_delivered: f64,
    /// Segments that had been delivered when the packet was sent.
    pub sample_prior_delivered: f64,
    /// Segment size, bytes.
    pub mss: u32,
    /// A sum of [`flag`].
    pub flags: u32,
}

/// Flags of events.
pub mod flag {
    /// Nothing newly acknowledged cumulatively.
    pub const DUPLICATE: u32 = 1;
    /// The receiver echoes an ECN mark; of a loss: nothing was lost.
    pub const ECN: u32 = 2;
    /// The sender had filled its window.
    pub const CWND_LIMITED: u32 = 4;
    /// The first ACK of a round trip.
    pub const ROUND_START: u32 = 8;
    /// The transport is repairing a loss.
    pub const IN_RECOVERY: u32 = 16;
    /// The application limited the sending when the sampled packet left.
    pub const APP_LIMITED: u32 = 32;
    /// The first timeout of a segment.
    pub const FIRST: u32 = 64;
    /// The host leaves recovery with no more than what is in flight and one segment.
    pub const RECOVERY_FIX: u32 = 128;
}

impl Ack {
    /// An ACK of nothing at time zero, for tests.
    pub fn empty() -> Ack {
        Ack {
            now_ns: 0,
            acked: 0.0,
            delivered: 0.0,
            lost: 0.0,
            flight_before: 0.0,
            flight: 0.0,
            outstanding: 0.0,
            receive_window: 1e9,
            rtt_ns: NONE,
            min_rtt_ns: NONE,
            smoothed_rtt_ns: 0,
            delivery_rate: f64::NAN,
            sample_rate: f64::NAN,
            sample_interval_ns: 0,
            sample_delivered: 0.0,
            sample_prior_delivered: 0.0,
            mss: 1448,
            flags: 0,
        }
    }
    /// True where the sender needed its whole window: grow only then.
    pub fn is_cwnd_limited(&self) -> bool {
        self.flags & flag::CWND_LIMITED != 0
    }
    /// True for the first ACK of a round trip.
    pub fn is_round_start(&self) -> bool {
        self.flags & flag::ROUND_START != 0
    }
    /// True where nothing is newly acknowledged cumulatively.
    pub fn is_duplicate(&self) -> bool {
        self.flags & flag::DUPLICATE != 0
    }
    /// True where the receiver echoes an ECN mark.
    pub fn has_ecn_echo(&self) -> bool {
        self.flags & flag::ECN != 0
    }
    /// True while the transport repairs a loss.
    pub fn is_in_recovery(&self) -> bool {
        self.flags & flag::IN_RECOVERY != 0
    }
    /// The RTT sample.
    pub fn rtt(&self) -> Option<Duration> {
        (self.rtt_ns != NONE).then(|| Duration::from_nanos(self.rtt_ns))
    }
    /// The smallest RTT sample.
    pub fn min_rtt(&self) -> Option<Duration> {
        (self.min_rtt_ns != NONE).then(|| Duration::from_nanos(self.min_rtt_ns))
    }
}

/// A loss was found, or an ECN mark echoed: once per window of data.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When, ns.
    pub now_ns: u64,
    /// Segments in flight.
    pub flight: f64,
    /// Segments not acknowledged cumulatively.
    pub outstanding: f64,
    /// Smoothed RTT, ns.
    pub smoothed_rtt_ns: u64,
    /// Smallest RTT sample, ns.
    pub min_rtt_ns: u64,
    /// Segment size, bytes.
    pub mss: u32,
    /// A sum of [`flag`].
    pub flags: u32,
}

impl Loss {
    /// True where an ECN mark was echoed and nothing was lost.
    pub fn is_ecn(&self) -> bool {
        self.flags & flag::ECN != 0
    }
}

/// The retransmission timer ran out.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// When, ns.
    pub now_ns: u64,
    /// Segments in flight.
    pub flight: f64,
    /// Segments not acknowledged cumulatively.
    pub outstanding: f64,
    /// Smallest RTT sample, ns.
    pub min_rtt_ns: u64,
    /// Segment size, bytes.
    pub mss: u32,
    /// A sum of [`flag`].
    pub flags: u32,
}

impl Timeout {
    /// True for the first timeout of a segment: only that lowers ssthresh.
    pub fn is_first(&self) -> bool {
        self.flags & flag::FIRST != 0
    }
}

/// Recovery ends.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RecoveryExit {
    /// When, ns.
    pub now_ns: u64,
    /// Segments in flight.
    pub flight: f64,
    /// Smallest RTT sample, ns.
    pub min_rtt_ns: u64,
    /// Segment size, bytes.
    pub mss: u32,
    /// A sum of [`flag`].
    pub flags: u32,
}

/// What a control moves.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Congestion window, segments; at least 1.
    pub cwnd: f64,
    /// Slow start threshold, segments; infinite until something sets it.
    pub ssthresh: f64,
    /// Rate to pace at, bit/s of payload; NaN leaves pacing to the transport.
    pub pacing_rate: f64,
    /// Segment size, bytes; the transport sets it.
    pub mss: u32,
    /// Segments that a paced sender lets go at once; at least 1.
    pub send_quantum: u32,
}

impl Window {
    /// A window with segments of 1448 bytes, for tests.
    pub fn new(cwnd: f64) -> Window {
        Window {
            cwnd,
            ssthresh: f64::INFINITY,
            pacing_rate: f64::NAN,
            mss: 1448,
            send_quantum: 1,
        }
    }
    /// True below ssthresh.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
    /// Paces `segments` a round trip of `rtt`.
    pub fn pace(&mut self, segments: f64, rtt: Duration) {
        let bits = segments * f64::from(self.mss) * 8.0;
        self.pacing_rate = (bits / rtt.as_secs_f64().max(1e-9)).max(1.0);
    }
}

/// The values of the parameters that `export!` declares.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a> {
    names: &'a [Parameter],
    values: &'a [f64],
}

impl Parameters<'_> {
    /// The value of a parameter; NaN if `export!` declares none of that name.
    pub fn get(&self, name: &str) -> f64 {
        let at = self.names.iter().position(|parameter| parameter.name.as_str() == name);
        at.and_then(|at| self.values.get(at)).copied().unwrap_or(f64::NAN)
    }
}

/// A congestion control of one connection. What is left out has the defaults of
/// RFC 5681.
pub trait CongestionControl: Send + 'static {
    /// True for a control that sets the window in every state of the transport, by
    /// [`CongestionControl::on_control`]: the transport then leaves it alone in
    /// recovery and after an idle time.
    const OWNS_WINDOW: bool = false;
    /// True where the fields `sample_*` of [`Ack`] are needed.
    const NEEDS_RATE_SAMPLES: bool = false;

    /// The control of a new connection.
    fn new(parameters: &Parameters) -> Self;

    /// An ACK that advances: grow the window.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);

    /// The connection is established; `rtt` is the sample of the handshake.
    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        let _ = (rtt, window);
    }

    /// Every ACK, duplicates included, before `on_ack`: take samples.
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        let _ = (ack, window);
    }

    /// A loss: set ssthresh and cwnd.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        window.ssthresh = (loss.flight / 2.0).max(2.0);
        window.cwnd = window.ssthresh;
    }

    /// The retransmission timer ran out.
    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if timeout.is_first() {
            window.ssthresh = (timeout.flight / 2.0).max(2.0);
        }
        window.cwnd = 1.0;
    }

    /// Recovery ended.
    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        window.cwnd = if exit.flags & flag::RECOVERY_FIX != 0 {
            window.ssthresh.min(exit.flight + 1.0)
        } else {
            window.ssthresh
        };
    }

    /// The last loss or timeout was spurious; `before` is the window from before it.
    fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        window.cwnd = window.cwnd.max(before.cwnd);
        window.ssthresh = before.ssthresh;
    }

    /// New data after an idle time.
    fn after_idle(&mut self, initial_window: f64, window: &mut Window) {
        window.cwnd = window.cwnd.min(initial_window);
    }

    /// The last call for every ACK, where [`CongestionControl::OWNS_WINDOW`];
    /// `repair` is 0 for nothing, 1 in fast recovery, 2 after a timeout.
    fn on_control(&mut self, ack: &Ack, repair: u32, window: &mut Window) {
        let _ = (ack, repair, window);
    }
}

/// A text that lives as long as the library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// UTF-8.
    pub at: *const u8,
    /// Bytes.
    pub len: usize,
}

impl Text {
    /// The text.
    pub const fn new(text: &'static str) -> Text {
        Text {
            at: text.as_ptr(),
            len: text.len(),
        }
    }
    /// The text; empty where it is not UTF-8.
    pub fn as_str(&self) -> &str {
        // SAFETY: `at` and `len` are those of a `str` that lives as long as `self`:
        // they are set by `new`, or by the other side of the interface, which
        // promises the same.
        let bytes = unsafe { core::slice::from_raw_parts(self.at, self.len) };
        core::str::from_utf8(bytes).unwrap_or("")
    }
}

/// A parameter: a number in a range.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// As scenarios write it.
    pub name: Text,
    /// What it means.
    pub meaning: Text,
    /// Its unit.
    pub unit: Text,
    /// What holds where nothing is said.
    pub default: f64,
    /// The smallest value.
    pub minimum: f64,
    /// The largest value.
    pub maximum: f64,
}

/// What a call returns: 0 if all is well, else the control has failed and
/// [`Control::message`] says why.
pub type Status = i32;

/// The control in a library. All functions but `create` take what `create`
/// returned, from one thread at a time.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// [`ABI_VERSION`].
    pub version: u32,
    /// Bytes of this structure.
    pub size: u32,
    /// As scenarios write it.
    pub name: Text,
    /// What it does, in a line.
    pub summary: Text,
    /// The parameters.
    pub parameters: *const Parameter,
    /// How many there are.
    pub parameter_count: usize,
    /// 1: owns the window; 2: needs rate samples.
    pub properties: u32,
    /// Makes the control of a connection from a value for each parameter.
    pub create: extern "C" fn(*const f64) -> *mut c_void,
    /// Ends it.
    pub destroy: extern "C" fn(*mut c_void),
    /// Why it failed.
    pub message: extern "C" fn(*mut c_void) -> Text,
    /// RTT in ns, or [`NONE`].
    pub on_established: extern "C" fn(*mut c_void, u64, &mut Window) -> Status,
    pub on_sample: extern "C" fn(*mut c_void, &Ack, &mut Window) -> Status,
    pub on_ack: extern "C" fn(*mut c_void, &Ack, &mut Window) -> Status,
    pub on_loss: extern "C" fn(*mut c_void, &Loss, &mut Window) -> Status,
    pub on_timeout: extern "C" fn(*mut c_void, &Timeout, &mut Window) -> Status,
    pub on_recovery_exit: extern "C" fn(*mut c_void, &RecoveryExit, &mut Window) -> Status,
    pub on_spurious: extern "C" fn(*mut c_void, &Window, &mut Window) -> Status,
    pub after_idle: extern "C" fn(*mut c_void, f64, &mut Window) -> Status,
    pub on_control: extern "C" fn(*mut c_void, &Ack, u32, &mut Window) -> Status,
}

// SAFETY: constant data and functions.
unsafe impl Sync for Control {}
// SAFETY: constant texts.
unsafe impl Sync for Parameter {}

/// The functions behind [`Control`], for one type.
pub mod glue {
    use super::*;
    use std::panic::{catch_unwind, AssertUnwindSafe};

    /// A control with what it said when it failed.
    struct Cell<C> {
        control: Option<C>,
        message: String,
    }

    fn call<C>(cell: *mut c_void, body: impl FnOnce(&mut C)) -> Status {
        // SAFETY: `cell` comes from `create` of the same type, is used by one thread
        // at a time, and not after `destroy`: bentpipe promises it.
        let cell = unsafe { &mut *cell.cast::<Cell<C>>() };
        let Some(control) = &mut cell.control else {
            return 1;
        };
        match catch_unwind(AssertUnwindSafe(|| body(control))) {
            Ok(()) => 0,
            Err(payload) => {
                cell.message = words(&*payload);
                1
            }
        }
    }

    fn words(payload: &(dyn core::any::Any + Send)) -> String {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        match text {
            Some(text) => format!("it panicked: {text}"),
            None => "it panicked".to_owned(),
        }
    }

    pub fn create<C: CongestionControl>(names: &'static [Parameter], values: *const f64) -> *mut c_void {
        // SAFETY: bentpipe passes as many values as there are parameters.
        let values: &[f64] = match names.len() {
            0 => &[],
            count => unsafe { core::slice::from_raw_parts(values, count) },
        };
        let made = catch_unwind(AssertUnwindSafe(|| C::new(&Parameters { names, values })));
        let (control, message) = match made {
            Ok(control) => (Some(control), String::new()),
            Err(payload) => (None, words(&*payload)),
        };
        Box::into_raw(Box::new(Cell { control, message })).cast()
    }

    pub extern "C" fn destroy<C: CongestionControl>(cell: *mut c_void) {
        // SAFETY: as in `call`, and this is the last use of `cell`.
        let cell = unsafe { Box::from_raw(cell.cast::<Cell<C>>()) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(cell)));
    }

    pub extern "C" fn message<C: CongestionControl>(cell: *mut c_void) -> Text {
        // SAFETY: as in `call`.
        let cell = unsafe { &*cell.cast::<Cell<C>>() };
        Text {
            at: cell.message.as_ptr(),
            len: cell.message.len(),
        }
    }

    pub extern "C" fn on_established<C: CongestionControl>(
        cell: *mut c_void,
        rtt_ns: u64,
        window: &mut Window,
    ) -> Status {
        let rtt = (rtt_ns != NONE).then(|| Duration::from_nanos(rtt_ns));
        call::<C>(cell, |it| it.on_established(rtt, window))
    }

    /// The functions that pass their arguments on.
    macro_rules! pass {
        ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
            pub extern "C" fn $name<C: CongestionControl>(
                cell: *mut c_void,
                $($argument: $type,)*
                window: &mut Window,
            ) -> Status {
                call::<C>(cell, |it| it.$name($($argument,)* window))
            }
        )*};
    }

    pass! {
        on_sample(ack: &Ack);
        on_ack(ack: &Ack);
        on_loss(loss: &Loss);
        on_timeout(timeout: &Timeout);
        on_recovery_exit(exit: &RecoveryExit);
        on_spurious(before: &Window);
        after_idle(initial_window: f64);
        on_control(ack: &Ack, repair: u32);
    }
}

/// Exports a type that implements `CongestionControl`: its name, what it does in
/// a line, and its parameters, each with default, range, unit and meaning.
#[macro_export]
macro_rules! export {
    (
        $Control:ty, $name:literal, $summary:literal;
        $($parameter:ident = $default:expr, $minimum:literal ..= $maximum:literal, $unit:literal, $meaning:literal;)*
    ) => {
        const _: () = {
            use $crate::bentpipe as bp;

            static PARAMETERS: &[bp::Parameter] = &[$(bp::Parameter {
                name: bp::Text::new(stringify!($parameter)),
                meaning: bp::Text::new($meaning),
                unit: bp::Text::new($unit),
                default: $default,
                minimum: $minimum,
                maximum: $maximum,
            },)*];

            extern "C" fn create(values: *const f64) -> *mut core::ffi::c_void {
                bp::glue::create::<$Control>(PARAMETERS, values)
            }

            static CONTROL: bp::Control = bp::Control {
                version: bp::ABI_VERSION,
                size: core::mem::size_of::<bp::Control>() as u32,
                name: bp::Text::new($name),
                summary: bp::Text::new($summary),
                parameters: PARAMETERS.as_ptr(),
                parameter_count: PARAMETERS.len(),
                properties: <$Control as bp::CongestionControl>::OWNS_WINDOW as u32
                    + 2 * <$Control as bp::CongestionControl>::NEEDS_RATE_SAMPLES as u32,
                create,
                destroy: bp::glue::destroy::<$Control>,
                message: bp::glue::message::<$Control>,
                on_established: bp::glue::on_established::<$Control>,
                on_sample: bp::glue::on_sample::<$Control>,
                on_ack: bp::glue::on_ack::<$Control>,
                on_loss: bp::glue::on_loss::<$Control>,
                on_timeout: bp::glue::on_timeout::<$Control>,
                on_recovery_exit: bp::glue::on_recovery_exit::<$Control>,
                on_spurious: bp::glue::on_spurious::<$Control>,
                after_idle: bp::glue::after_idle::<$Control>,
                on_control: bp::glue::on_control::<$Control>,
            };

            /// What bentpipe looks for.
            #[no_mangle]
            pub extern "C" fn bentpipe_congestion_control() -> *const bp::Control {
                &CONTROL
            }
        };
    };
}
