//! A congestion control that lets heartbeats exceed a full window.
//!
//! When the link goes while a window of data is in flight, only QUIC's probes can be sent, at ever
//! longer intervals. Each heartbeat therefore opens the window for two packets beyond what is in
//! flight; the first acknowledgement closes it.

use crate::tunnel::sharing::Gate;
use bentpipe_units::Rate;
use quinn::Connection;
use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics};
use quinn_proto::RttEstimator;
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a heartbeat may send, bytes: two packets, one of which may carry data that
/// waits.
const ALLOWANCE: u64 = 2 * 1500;
/// Least room for a packet, bytes.
const PACKET: u64 = 1200;
/// What a round trip may exceed twice the smoothed one by and still count in full.
const SLACK: Duration = Duration::from_millis(100);

/// Makes congestion controls that heartbeats can open, and that tell a [`Gate`] what is sent.
pub(crate) struct Openable<F> {
    pub(crate) inner: Arc<F>,
    pub(crate) gate: Arc<Gate>,
}

impl<F: ControllerFactory + Send + Sync + 'static> ControllerFactory for Openable<F> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Opening {
            inner: Arc::clone(&self.inner).build(now, current_mtu),
            state: Arc::default(),
            gate: Arc::clone(&self.gate),
            newest: None,
            rtt: Duration::ZERO,
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

/// What the other box has acknowledged, and the bytes in flight.
pub(in crate::tunnel) fn progress(connection: &Connection) -> (Acknowledged, u64) {
    state(connection).map_or_else(Default::default, |state| {
        (*state.acknowledged(), state.in_flight.load(Relaxed))
    })
}

/// What the acknowledgements of the other box have shown.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tunnel) struct Acknowledged {
    /// When the newest packet that is acknowledged was sent.
    pub(in crate::tunnel) newest: Option<Instant>,
    /// Smoothed round trip. One that is far longer than those before counts in part, so that an
    /// acknowledgement that an outage held back hardly changes it, while a queue that builds up does
    /// after a few acknowledgements.
    pub(in crate::tunnel) rtt: Option<Duration>,
}

impl Acknowledged {
    /// Takes an acknowledgement, at `now`, of packets of which the newest left at `sent`.
    fn take(&mut self, now: Instant, sent: Instant) {
        if self.newest.is_some_and(|newest| sent <= newest) {
            return;
        }
        self.newest = Some(sent);
        let sample = now.saturating_duration_since(sent);
        self.rtt = Some(match self.rtt {
            None => sample,
            Some(rtt) => (7 * rtt + sample.min(2 * rtt + SLACK)) / 8,
        });
    }
}

/// A congestion control and the opening in its window.
struct Opening {
    inner: Box<dyn Controller>,
    state: Arc<State>,
    gate: Arc<Gate>,
    /// When the newest packet of the current acknowledgement was sent.
    newest: Option<Instant>,
    /// The smoothed round trip.
    rtt: Duration,
}

impl Opening {
    /// Whether the window has no room for a packet.
    fn is_full(&self) -> bool {
        self.state.in_flight.load(Relaxed) + PACKET > self.window()
    }

    /// What the window allows in a round trip.
    fn allowed(&self) -> Option<Rate> {
        let seconds = self.rtt.as_secs_f64();
        (seconds > 0.0).then(|| Rate::from_bps_f64(self.inner.window() as f64 * 8.0 / seconds))
    }
}

#[derive(Debug, Default)]
struct State {
    /// Bytes in flight, those included that were lost since the last
    /// acknowledgement.
    in_flight: AtomicU64,
    /// The window while it is open, otherwise 0.
    window: AtomicU64,
    acknowledged: Mutex<Acknowledged>,
}

impl State {
    fn acknowledged(&self) -> MutexGuard<'_, Acknowledged> {
        self.acknowledged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Controller for Opening {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.state.in_flight.fetch_add(bytes, Relaxed);
        self.inner.on_sent(now, bytes, last_packet_number);
        self.gate.sent(bytes, self.is_full());
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.newest = self.newest.max(Some(sent));
        self.rtt = rtt.get();
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
        if let Some(sent) = self.newest.take() {
            self.state.acknowledged().take(now, sent);
        }
        self.inner
            .on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        self.gate
            .acknowledged(self.is_full(), app_limited, self.allowed());
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
        self.gate.lost(lost_bytes);
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
            gate: Arc::clone(&self.gate),
            newest: None,
            rtt: self.rtt,
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_round_trip_as_long_as_an_outage_hardly_counts() {
        let begin = Instant::now();
        let mut acknowledged = Acknowledged::default();
        for at in [0, 100, 200] {
            acknowledged.take(begin + MS(at + 20), begin + MS(at));
        }
        assert_eq!(acknowledged.rtt, Some(MS(20)));
        // Sent before the outage, acknowledged after it.
        acknowledged.take(begin + MS(8_300), begin + MS(300));
        assert_eq!(acknowledged.newest, Some(begin + MS(300)));
        assert_eq!(acknowledged.rtt, Some(MS(35)));
        // An acknowledgement of older packets says nothing about the path now.
        acknowledged.take(begin + MS(9_000), begin + MS(250));
        assert_eq!(acknowledged.newest, Some(begin + MS(300)));
        assert_eq!(acknowledged.rtt, Some(MS(35)));
    }

    #[test]
    fn a_queue_that_stays_counts_after_a_few_acknowledgements() {
        let begin = Instant::now();
        let mut acknowledged = Acknowledged::default();
        acknowledged.take(begin + MS(20), begin);
        for at in 1..40 {
            acknowledged.take(begin + MS(at + 2_000), begin + MS(at));
        }
        assert!(acknowledged.rtt.unwrap() > MS(1_900), "{acknowledged:?}");
    }
}
