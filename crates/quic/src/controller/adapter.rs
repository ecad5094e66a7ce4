//! The interface that quinn calls: reports to the congestion control, and queries.

use super::{Adapter, Path, UNPACED};
use bentpipe_units::Rate;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller as QuicController, ControllerMetrics};
use std::any::Any;
use std::time::Instant;

impl<P: Path> QuicController for Adapter<P> {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        self.lock().sent(now, bytes);
    }

    fn on_ack(
        &mut self,
        _now: Instant,
        sent: Instant,
        bytes: u64,
        _app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.acknowledged(sent, bytes, rtt.get());
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        self.lock().acknowledge(now, in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.lock()
            .congested(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.lock().resize(new_mtu);
    }

    fn window(&self) -> u64 {
        let state = self.lock();
        let window = state.bytes();
        let room = state.flight + 2 * u64::from(state.mtu) < window;
        if room && (state.is_held_back(window) || state.path.is_paced_outside(state.pace.is_some()))
        {
            return UNPACED;
        }
        window
    }

    fn metrics(&self) -> ControllerMetrics {
        let state = self.lock();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = state.bytes();
        metrics.ssthresh = state
            .window
            .ssthresh
            .is_finite()
            .then(|| (state.window.ssthresh * state.mss()) as u64);
        metrics.pacing_rate = state.window.pacing_rate.map(Rate::bps);
        metrics
    }

    fn clone_box(&self) -> Box<dyn QuicController> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.lock().initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
