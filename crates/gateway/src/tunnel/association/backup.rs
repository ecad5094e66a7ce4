//! Decides when the fallback replaces the association, and when it stops doing so.
//!
//! Blocked UDP is measured: the hub answers neither the handshake nor heartbeats, while it accepts
//! a TLS connection to the same address and port. Attempts over UDP continue meanwhile, and the
//! first success returns new connections to UDP; those on the fallback stay there.
//!
//! An association that stands is given up sooner than one that has yet to be made: its heartbeats
//! are few packets, and go unanswered only where nothing passes. The hub is tried over TCP as soon as
//! some are late. Requests that wait for QUIC go over to the fallback as well.
//!
//! Throttled UDP is measured too: if one of the boxes suspects it, TCP and UDP carry data in
//! parallel for a few seconds. The faster one takes new connections for the next ten minutes.

use super::{Health, Status, client::Current};
use crate::operate::{Path, SharedState};
use crate::tunnel::codec::Direction;
use crate::tunnel::fallback::{Pool, measure};
use crate::tunnel::moving;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Time between attempts over TCP while nothing answers at all.
const AGAIN: Duration = Duration::from_secs(3);
/// Time between looks for requests that wait for QUIC.
const LOOK: Duration = Duration::from_millis(100);
/// How long TCP is used where UDP is throttled, before UDP is tried again.
const FASTER: Duration = Duration::from_secs(600);

/// Whether the hub answers over UDP. One that is about to stop takes no connections over TCP either.
fn answers(status: &Status) -> bool {
    matches!(status.quic, Health::Up | Health::Draining)
}

/// Whether there is no reason to look for another way.
fn is_well(status: &Status) -> bool {
    answers(status) && !status.late
}

/// Watches the association, and keeps the fallback ready while it is needed.
pub(super) struct Backup {
    pub(super) pool: Arc<Pool>,
    pub(super) status: watch::Sender<Status>,
    pub(super) current: watch::Receiver<Option<Current>>,
    pub(super) state: Arc<SharedState>,
    /// The WAN, where there are several.
    pub(super) wan: Option<String>,
    /// Time without an association after which TCP is tried.
    pub(super) patience: Duration,
}

impl Backup {
    /// Runs until it is cancelled.
    pub(super) async fn watch(self, mut suspicions: mpsc::Receiver<Direction>) {
        let mut health = self.status.subscribe();
        loop {
            tokio::select! {
                stops = async { health.wait_for(|status| !is_well(status)).await.is_err() } => {
                    if stops {
                        return;
                    }
                }
                direction = suspicions.recv() => {
                    let Some(direction) = direction else { return };
                    if self.is_tcp_faster(direction).await {
                        self.take_over(true).await;
                    }
                    continue;
                }
            }
            if health.borrow().quic == Health::Down {
                let well = health.wait_for(is_well);
                if tokio::time::timeout(self.patience, well).await.is_ok() {
                    continue;
                }
            }
            let streams = self.current.borrow().clone().and_then(|it| it.streams);
            let waiting = streams.map_or(0, |it| it.count_waiting(Instant::now()));
            let probed = tokio::select! {
                probed = self.pool.warm_up(waiting) => probed,
                _ = health.wait_for(is_well) => continue,
            };
            if let Err(error) = probed {
                tracing::debug!(hub = %self.pool.target().hub(), %error, "the hub does not answer over TCP either");
                let well = health.wait_for(is_well);
                let _ = tokio::time::timeout(AGAIN, well).await;
                continue;
            }
            // Where heartbeats are only late, it is not known yet.
            let known = |status: &Status| is_well(status) || !answers(status);
            match health.wait_for(known).await.map(|status| is_well(&status)) {
                Ok(false) => self.take_over(false).await,
                Ok(true) => self.pool.cool(),
                Err(_) => return,
            }
        }
    }

    /// Takes requests that wait for QUIC over to the fallback.
    async fn bring_over(&self) {
        loop {
            let current = self.current.borrow().clone();
            if let Some(streams) = current.and_then(|current| current.streams) {
                for (index, route) in streams.waiting(Instant::now()) {
                    let (pool, tag) = (Arc::clone(&self.pool), streams.tag());
                    let state = Arc::clone(&self.state);
                    tokio::spawn(async move {
                        if moving::go_over(&pool, tag, index, &route).await {
                            state.counters.fallback_connections.increment();
                        }
                    });
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Keeps the fallback until UDP works again or, where TCP is only `faster`, for
    /// a while.
    async fn take_over(&self, faster: bool) {
        let hub = self.pool.target().hub();
        let changed = self
            .status
            .send_if_modified(|status| status.fall_back(true, faster));
        if changed {
            let why = if faster {
                "UDP is throttled, and TCP to the hub is faster"
            } else {
                "the hub answers over TCP and not over UDP"
            };
            tracing::warn!(%hub, "{why}: each new connection gets a TLS connection of its own");
            let peer = self.pool.peer().map(|peer| peer.to_string());
            let address = self.pool.target().last();
            let _listed = address.map(|address| {
                self.state.list(
                    &peer.unwrap_or_default(),
                    self.wan.as_deref(),
                    Path::Tls(address),
                )
            });
            let _active = self.state.counters.fallback_active.hold();
            let mut health = self.status.subscribe();
            let again = async {
                if faster {
                    tokio::time::sleep(FASTER).await;
                } else {
                    // It fails where the terminal stops.
                    let _ = health.wait_for(answers).await;
                }
            };
            tokio::select! {
                () = self.bring_over(), if !faster => {}
                error = self.pool.keep_warm() => {
                    tracing::warn!(%hub, %error, "the hub does not answer over TCP any more");
                }
                () = again => tracing::info!(%hub, "new connections go over UDP again"),
            }
        }
        self.status
            .send_if_modified(|status| status.fall_back(false, false));
        self.pool.cool();
    }

    /// Measures TCP, and UDP at the same time.
    async fn is_tcp_faster(&self, direction: Direction) -> bool {
        let Some(Current { connection, .. }) = self.current.borrow().clone() else {
            return false;
        };
        let delivered = || {
            let stats = connection.stats();
            match direction {
                Direction::Up => stats.udp_tx.bytes.saturating_sub(stats.path.lost_bytes),
                Direction::Down => stats.udp_rx.bytes,
            }
        };
        let mut begin = (Instant::now(), delivered());
        let started = || begin = (Instant::now(), delivered());
        let tcp = match measure::measure(&self.pool, direction, started).await {
            Ok(tcp) => tcp,
            Err(why) => {
                tracing::info!(hub = %self.pool.target().hub(), %why, "TCP to the hub could not be measured");
                return false;
            }
        };
        let millis = u64::try_from(begin.0.elapsed().as_millis()).unwrap_or(u64::MAX);
        let udp = delivered().saturating_sub(begin.1).saturating_mul(1000) / millis.max(1);
        tracing::info!(hub = %self.pool.target().hub(), ?direction, tcp, udp, "bytes a second over TCP and UDP side by side");
        tcp > udp + udp / 2
    }
}
