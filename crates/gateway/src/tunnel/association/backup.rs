//! When the fallback takes the place of the association, and when it does not any
//! more.
//!
//! That UDP does not pass is measured: the hub does not answer there, neither the
//! handshake nor heartbeats, while a TLS connection to the same address and port is
//! accepted. Attempts over UDP go on meanwhile, and the first success takes new
//! connections back; those that the fallback carries stay where they are.

use super::{Health, Status};
use crate::operate::{Board, Path};
use crate::tunnel::fallback::Pool;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Time between attempts over TCP while nothing answers at all.
const AGAIN: Duration = Duration::from_secs(3);

/// Watches the association, and keeps the fallback ready while it is needed.
pub(super) async fn watch(
    pool: Arc<Pool>,
    status: watch::Sender<Status>,
    board: Arc<Board>,
    key: String,
    hub: SocketAddr,
    patience: Duration,
) {
    let mut health = status.subscribe();
    loop {
        let unanswered = |status: &Status| status.quic != Health::Up;
        if health.wait_for(unanswered).await.is_err() {
            return;
        }
        let up = health.wait_for(|status| status.quic == Health::Up);
        if tokio::time::timeout(patience, up).await.is_ok() {
            continue;
        }
        if let Err(error) = pool.probe().await {
            tracing::debug!(%hub, %error, "the hub does not answer over TCP either");
            tokio::time::sleep(AGAIN).await;
            continue;
        }
        let fallen_back = status.send_if_modified(|status| status.fall_back(true));
        if fallen_back {
            tracing::warn!(
                %hub,
                "the hub answers over TCP and not over UDP: each new connection gets a TLS connection of its own"
            );
            let _listed = board.list(&key, Path::Tls(hub));
            let _active = board.counters.fallback_active.hold();
            tokio::select! {
                error = pool.keep_warm() => {
                    tracing::warn!(%hub, %error, "the hub does not answer over TCP any more");
                }
                _ = health.wait_for(|status| status.quic == Health::Up) => {
                    tracing::info!(%hub, "the hub answers over UDP again");
                }
            }
        }
        status.send_if_modified(|status| status.fall_back(false));
        pool.cool();
    }
}
