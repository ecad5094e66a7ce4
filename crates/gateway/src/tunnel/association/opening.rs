//! A congestion control that lets heartbeats exceed a full window.
//!
//! When the link goes while a window of data is in flight, only QUIC's probes can be sent, at ever
//! longer intervals. Each heartbeat therefore opens the window for two packets beyond what is in
//! flight; the first acknowledgement closes it.

use quinn::Connection;
use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics};
use quinn_proto::RttEstimator;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// What a heartbeat may send, bytes: two packets, one of which may carry data that
/// waits.
const ALLOWANCE: u64 = 2 * 1500;

/// Makes congestion controls that heartbeats can open.
pub(crate) struct Openable<F>(pub(crate) Arc<F>);

impl<F: ControllerFactory + Send + Sync + 'static> ControllerFactory for Openable<F> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Opening {
            inner: Arc::clone(&self.0).build(now, current_mtu),
            state: Arc::default(),
        })
    }
}

fn state(connection: &Connection) -> Option<Arc<State>> {
    let control = connection.congestion_state().into_any();
    let control = control.downcast::<Opening>().ok()?;
    Some(Arc::clone(&control.state))
}

/// Lets the next heartbeat pass.
pub(super) fn open(connection: &Connection) {
    if let Some(state) = state(connection) {
        let in_flight = state.in_flight.load(Relaxed);
        state.window.store(in_flight + ALLOWANCE, Relaxed);
    }
}

/// How often the other box has acknowledged anything, and the bytes in flight.
pub(super) fn progress(connection: &Connection) -> (u64, u64) {
    state(connection).map_or((0, 0), |state| {
        let acknowledgements = state.acknowledgements.load(Relaxed);
        (acknowledgements, state.in_flight.load(Relaxed))
    })
}

/// A congestion control and the opening in its window.
struct Opening {
    inner: Box<dyn Controller>,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes in flight, those included that were lost since the last
    /// acknowledgement.
    in_flight: AtomicU64,
    /// The window while it is open, otherwise 0.
    window: AtomicU64,
    acknowledgements: AtomicU64,
}

impl Controller for Opening {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.state.in_flight.fetch_add(bytes, Relaxed);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.state.in_flight.store(in_flight, Relaxed);
        self.state.window.store(0, Relaxed);
        self.state.acknowledgements.fetch_add(1, Relaxed);
        self.inner
            .on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner
            .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window().max(self.state.window.load(Relaxed))
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Opening {
            inner: self.inner.clone_box(),
            state: Arc::clone(&self.state),
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
