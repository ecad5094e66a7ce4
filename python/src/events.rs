//! What a congestion control in Python is given: the events and the window, with
//! times in seconds, rates in bit/s and volumes in segments.

use bentpipe::cc::{Ack, Loss, Timeout, Window};
use bentpipe::units::{Duration, Rate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Seconds; missing where there is no sample yet.
fn sampled(time: Duration) -> Option<f64> {
    (time != Duration::MAX && !time.is_zero()).then(|| time.as_secs())
}

/// Declares a view of an event: a class whose properties read the event.
macro_rules! view {
    ($(#[$about:meta])* $view:ident of $event:ident {
        $($(#[$doc:meta])* $name:ident: $kind:ty = $read:expr;)*
    }) => {
        $(#[$about])*
        #[pyclass(module = "bentpipe._bentpipe")]
        #[derive(Default)]
        pub(crate) struct $view(Option<$event>);

        impl $view {
            /// Is of this event from now on.
            pub(crate) fn fill(&mut self, event: &$event) {
                self.0 = Some(event.clone());
            }

            fn event(&self) -> PyResult<&$event> {
                let kept = || PyValueError::new_err("it is valid during the call only");
                self.0.as_ref().ok_or_else(kept)
            }
        }

        #[pymethods]
        impl $view {
            $($(#[$doc])*
            #[getter]
            fn $name(&self) -> PyResult<$kind> {
                let read: fn(&$event) -> $kind = $read;
                self.event().map(read)
            })*

            fn __repr__(&self) -> String {
                self.0.as_ref().map_or_else(String::new, |event| format!("{event:?}"))
            }
        }
    };
}

view! {
    /// One received acknowledgement.
    AckView of Ack {
        /// When it arrived, s.
        now_s: f64 = |ack| ack.now.as_secs();
        /// Segments newly acknowledged cumulatively.
        acked: f64 = |ack| ack.acked;
        /// Segments newly known to have arrived.
        delivered: f64 = |ack| ack.delivered;
        /// True if nothing is newly acknowledged cumulatively.
        duplicate: bool = |ack| ack.duplicate;
        /// RTT sample of this ACK, s.
        rtt_s: Option<f64> = |ack| ack.rtt.map(Duration::as_secs);
        /// Smallest RTT sample of the connection, s.
        min_rtt_s: Option<f64> = |ack| sampled(ack.min_rtt);
        /// Smoothed RTT, s.
        smoothed_rtt_s: Option<f64> = |ack| sampled(ack.smoothed_rtt);
        /// Delivery rate over the round trip that ended with this ACK.
        delivery_rate_bps: Option<f64> = |ack| ack.delivery_rate.map(Rate::bps_f64);
        /// Delivery rate sample of the newest packet that it covers.
        rate_sample_bps: Option<f64> = |ack| ack.rate_sample.map(|sample| sample.rate.bps_f64());
        /// True if the application limited the sending that it measures.
        app_limited: bool = |ack| ack.rate_sample.is_some_and(|sample| sample.app_limited);
        /// Segments newly found lost.
        lost: f64 = |ack| ack.lost;
        /// True when the receiver echoes an ECN mark.
        congestion_echo: bool = |ack| ack.congestion_echo;
        /// Segments in flight before this ACK.
        flight_before: f64 = |ack| ack.flight_before;
        /// Segments in flight after it.
        flight: f64 = |ack| ack.flight;
        /// Segments sent and not acknowledged cumulatively.
        outstanding: f64 = |ack| ack.outstanding;
        /// True when the sender had filled cwnd before this ACK.
        cwnd_limited: bool = |ack| ack.cwnd_limited;
        /// True for the first ACK of a new round trip.
        round_start: bool = |ack| ack.round_start;
        /// True while a loss is being repaired.
        in_recovery: bool = |ack| ack.in_recovery;
        /// The receive window, segments.
        receive_window: f64 = |ack| ack.receive_window;
        /// Segment size.
        mss_bytes: u32 = |ack| ack.mss;
    }
}

view! {
    /// A loss was found and recovery begins.
    LossView of Loss {
        /// When, s.
        now_s: f64 = |loss| loss.now.as_secs();
        /// Segments in flight when it was found.
        flight: f64 = |loss| loss.flight;
        /// Segments sent and not acknowledged cumulatively.
        outstanding: f64 = |loss| loss.outstanding;
        /// True when the receiver echoed an ECN mark and nothing was lost.
        ecn: bool = |loss| loss.ecn;
        /// Smoothed RTT, s.
        smoothed_rtt_s: Option<f64> = |loss| sampled(loss.smoothed_rtt);
        /// Smallest RTT sample of the connection, s.
        min_rtt_s: Option<f64> = |loss| sampled(loss.min_rtt);
        /// Segment size.
        mss_bytes: u32 = |loss| loss.mss;
    }
}

view! {
    /// The retransmission timer ran out.
    TimeoutView of Timeout {
        /// When, s.
        now_s: f64 = |timeout| timeout.now.as_secs();
        /// Segments in flight.
        flight: f64 = |timeout| timeout.flight;
        /// Segments sent and not acknowledged cumulatively.
        outstanding: f64 = |timeout| timeout.outstanding;
        /// True for the first timeout of a segment.
        first: bool = |timeout| timeout.first;
        /// Smallest RTT sample of the connection, s.
        min_rtt_s: Option<f64> = |timeout| sampled(timeout.min_rtt);
        /// Segment size.
        mss_bytes: u32 = |timeout| timeout.mss;
    }
}

/// True for a window of at least one segment.
fn usable(segments: f64) -> bool {
    (1.0..=f64::INFINITY).contains(&segments)
}

/// The window, which a control moves.
#[pyclass(module = "bentpipe._bentpipe")]
#[derive(Debug, Default)]
pub(crate) struct WindowView {
    /// Congestion window, segments.
    #[pyo3(get, set)]
    cwnd: f64,
    /// Slow start threshold, segments; infinite until something sets it.
    #[pyo3(get, set)]
    ssthresh: f64,
    /// Rate to pace at, bit/s of payload; `None` leaves pacing to the transport.
    #[pyo3(get, set)]
    pacing_rate_bps: Option<f64>,
    /// Segment size.
    #[pyo3(get)]
    mss_bytes: u32,
}

#[pymethods]
impl WindowView {
    /// True below ssthresh.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    fn __repr__(&self) -> String {
        format!("Window(cwnd={}, ssthresh={})", self.cwnd, self.ssthresh)
    }
}

impl WindowView {
    /// Shows this window.
    pub(crate) fn fill(&mut self, window: &Window) {
        self.cwnd = window.cwnd;
        self.ssthresh = window.ssthresh;
        self.pacing_rate_bps = window.pacing_rate.map(Rate::bps_f64);
        self.mss_bytes = window.mss;
    }

    /// Moves `window` to what it shows now.
    ///
    /// # Errors
    /// If no transport can use it.
    pub(crate) fn read(&self, window: &mut Window) -> PyResult<()> {
        if !usable(self.cwnd) {
            let text = format!("cwnd must be at least 1 segment, not {}", self.cwnd);
            return Err(PyValueError::new_err(text));
        }
        if !usable(self.ssthresh) {
            let text = format!("ssthresh must be at least 1 segment, not {}", self.ssthresh);
            return Err(PyValueError::new_err(text));
        }
        window.cwnd = self.cwnd;
        window.ssthresh = self.ssthresh;
        window.pacing_rate = match self.pacing_rate_bps {
            None => None,
            Some(rate) if (1.0..1e15).contains(&rate) => Some(Rate::from_bps(rate as u64)),
            Some(rate) => {
                let text = format!("pacing_rate_bps must be from 1 to 1e15, not {rate}");
                return Err(PyValueError::new_err(text));
            }
        };
        Ok(())
    }
}
