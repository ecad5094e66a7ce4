//! Decides when the fallback replaces the association, and when it stops doing so.
//!
//! Blocked UDP is measured: the hub answers neither the handshake nor heartbeats, while it accepts
//! a TLS connection to the same address and port. Attempts over UDP continue meanwhile, and the
//! first success returns new connections to UDP; those on the fallback stay there.
//!
//! Throttled UDP is measured too: if one of the boxes suspects it, TCP and UDP carry data in
//! parallel for a few seconds. The faster one takes new connections for the next ten minutes.

use super::{Health, Status};
use crate::operate::{Path, SharedState};
use crate::tunnel::codec::Direction;
use crate::tunnel::fallback::{Pool, measure};
use quinn::Connection;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Time between attempts over TCP while nothing answers at all.
const AGAIN: Duration = Duration::from_secs(3);
/// How long TCP is used where UDP is throttled, before UDP is tried again.
const FASTER: Duration = Duration::from_secs(600);

/// Whether the hub answers over UDP. One that is about to stop takes no connections over TCP either.
fn answers(status: &Status) -> bool {
    matches!(status.quic, Health::Up | Health::Draining)
}

/// Watches the association, and keeps the fallback ready while it is needed.
pub(super) struct Backup {
    pub(super) pool: Arc<Pool>,
    pub(super) status: watch::Sender<Status>,
    pub(super) current: watch::Receiver<Option<Connection>>,
    pub(super) state: Arc<SharedState>,
    pub(super) key: String,
    pub(super) hub: SocketAddr,
    /// Time without an answer over UDP after which TCP is tried.
    pub(super) patience: Duration,
}

impl Backup {
    /// Runs until it is cancelled.
    pub(super) async fn watch(self, mut suspicions: mpsc::Receiver<Direction>) {
        let mut health = self.status.subscribe();
        loop {
            tokio::select! {
                stops = async { health.wait_for(|status| !answers(status)).await.is_err() } => {
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
            let up = health.wait_for(answers);
            if tokio::time::timeout(self.patience, up).await.is_ok() {
                continue;
            }
            match self.pool.probe().await {
                Ok(()) => self.take_over(false).await,
                Err(error) => {
                    tracing::debug!(hub = %self.hub, %error, "the hub does not answer over TCP either");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    /// Keeps the fallback until UDP works again or, where TCP is only `faster`, for
    /// a while.
    async fn take_over(&self, faster: bool) {
        let hub = self.hub;
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
            let _listed = self.state.list(&self.key, Path::Tls(hub));
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
        let Some(connection) = self.current.borrow().clone() else {
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
                tracing::info!(hub = %self.hub, %why, "TCP to the hub could not be measured");
                return false;
            }
        };
        let millis = u64::try_from(begin.0.elapsed().as_millis()).unwrap_or(u64::MAX);
        let udp = delivered().saturating_sub(begin.1).saturating_mul(1000) / millis.max(1);
        tracing::info!(hub = %self.hub, ?direction, tcp, udp, "bytes a second over TCP and UDP side by side");
        tcp > udp + udp / 2
    }
}
