//! Holds the rate of the link against what it delivers.
//!
//! The configured rate, or what the modem says, is a ceiling. An association that finds that less arrives
//! is held to that ([`Estimator`]): its place in the shaper ([`Peer`]), and with it the window of its
//! congestion control, until the link takes more again. Each association finds it for itself, since
//! the links of a hub's terminals fade one by one.

use super::known::Knowledge;
use super::shaper::{Peer, packet_bytes};
use bentpipe_quic::delivery::Estimator;
use bentpipe_units::Rate;
use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics};
use quinn_proto::RttEstimator;
use std::any::Any;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Makes congestion controls whose association is verified, where `verifies` says so: those that would
/// never slow down by themselves.
pub(super) struct Verified<F> {
    pub(super) inner: Arc<F>,
    pub(super) verifies: bool,
    pub(super) knowledge: Arc<Knowledge>,
    pub(super) peer: Arc<Peer>,
    pub(super) address: SocketAddr,
}

impl<F: ControllerFactory + Send + Sync + 'static> ControllerFactory for Verified<F> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, current_mtu);
        if !self.verifies {
            return inner;
        }
        let packet = packet_bytes(usize::from(current_mtu), &self.address);
        let watched = Watched {
            seen: Mutex::new(Seen {
                estimator: Estimator::new(now),
                found: None,
            }),
            knowledge: Arc::clone(&self.knowledge),
            peer: Arc::clone(&self.peer),
            number: self.knowledge.enlist(),
            scale: packet as f64 / f64::from(current_mtu.max(1)),
        };
        Box::new(Verifying {
            inner,
            watched: Arc::new(watched),
            newest: None,
        })
    }
}

/// The estimator of one association, and what it found last: the pace and the rate.
struct Seen {
    estimator: Estimator,
    found: Option<(Option<f64>, Option<f64>)>,
}

/// What is known of one association.
struct Watched {
    seen: Mutex<Seen>,
    knowledge: Arc<Knowledge>,
    peer: Arc<Peer>,
    /// Its number among those that use the link.
    number: u64,
    /// Bytes of an IP packet for each of QUIC's.
    scale: f64,
}

impl Watched {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the estimator see something, and follows it.
    fn see(&self, now: Instant, see: impl FnOnce(&mut Estimator, f64)) {
        let Some(rate) = self.knowledge.rate() else {
            return;
        };
        let found = {
            let mut seen = self.seen();
            see(&mut seen.estimator, rate.bps_f64() / 8.0 / self.scale);
            let found = (seen.estimator.pace(now), seen.estimator.limit());
            if seen.found.replace(found) == Some(found) {
                return;
            }
            found
        };
        let [pace, limit] =
            [found.0, found.1].map(|it| it.map(|rate| Rate::from_bps_f64(rate * 8.0 * self.scale)));
        self.peer.set_rate(pace);
        self.knowledge.verify(self.number, limit);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.knowledge.discharge(self.number);
    }
}

/// A congestion control whose association is verified.
struct Verifying {
    inner: Box<dyn Controller>,
    watched: Arc<Watched>,
    /// When the newest packet of the current acknowledgement was sent.
    newest: Option<Instant>,
}

impl Controller for Verifying {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.watched
            .see(now, |estimator, _| estimator.sent(now, bytes));
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
        self.newest = self.newest.max(Some(sent));
        self.watched.seen().estimator.arrived(sent, bytes);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        if let Some(newest) = self.newest.take() {
            self.watched.see(now, |estimator, ceiling| {
                estimator.acknowledged(now, newest, ceiling);
            });
        }
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
        self.watched
            .see(now, |estimator, _| estimator.lost(lost_bytes));
        self.inner
            .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Verifying {
            inner: self.inner.clone_box(),
            watched: Arc::clone(&self.watched),
            newest: None,
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
