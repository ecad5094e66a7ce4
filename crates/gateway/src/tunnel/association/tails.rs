//! Repairs for the tails of one association ([`crate::tunnel::coding`]): what both of its sides do.

use super::heartbeat::{self, Beat};
use crate::operate::SharedState;
use crate::tunnel::coding::{Coding, Seen};
use crate::tunnel::sharing::Gate;
use quinn::Connection;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How often the other box learns how many of its packets were restored.
const TELLS: Duration = Duration::from_secs(1);

/// Watches the path of an association.
#[derive(Debug)]
pub(super) struct Tails(Option<Arc<Gate>>);

impl Tails {
    /// Begins to send repairs, and to say that this box reads them; where the configuration does not want
    /// them, nothing is done. The tasks end with `tasks`.
    pub(super) fn start(
        connection: &Connection,
        gate: &Arc<Gate>,
        state: &Arc<SharedState>,
        tasks: &mut JoinSet<()>,
    ) -> Tails {
        let codes = state.config().tunnel.as_ref().is_some_and(|it| it.coding);
        if !codes {
            return Tails(None);
        }
        let (of, gate) = (connection.clone(), Arc::clone(gate));
        tasks.spawn(tell(of, Arc::clone(&gate), Arc::clone(state)));
        tasks.spawn(protect(
            connection.clone(),
            Arc::clone(&gate),
            Arc::clone(state),
        ));
        Tails(Some(gate))
    }

    /// Takes what a look at the association has shown.
    pub(super) fn see(&self, beat: &Beat) {
        let Some(gate) = &self.0 else { return };
        let peer = gate.peer();
        let seen = Seen {
            sent: beat.stats.path.sent_packets,
            lost: beat.stats.path.lost_packets,
            restored: beat.restored.map(u64::from),
            rtt: beat.rtt,
            rate: gate.rate().map(bentpipe_units::Rate::from_bps_f64),
            interrupted: beat.lost.is_some() || peer.is_held(),
        };
        peer.coding().see(Instant::now(), &seen);
    }
}

/// Sends repairs as they are due.
async fn protect(connection: Connection, gate: Arc<Gate>, state: Arc<SharedState>) {
    let Some(mut repairs) = gate.peer().repairs() else {
        return;
    };
    loop {
        let due = gate.peer().coding().due(|| gate.is_idle()).await;
        let address = connection.remote_address();
        for datagram in due.datagrams {
            if repairs.send(address, &datagram, due.ecn).await.is_err() {
                // QUIC sends what is missing again.
                break;
            }
            state.counters.repairs_sent.increment();
        }
    }
}

/// Says at the start that this box reads repairs, and from then on how many packets it has restored.
async fn tell(connection: Connection, gate: Arc<Gate>, state: Arc<SharedState>) {
    let restored = |coding: &Coding| u32::try_from(coding.restored()).unwrap_or(u32::MAX);
    let mut told = None;
    loop {
        let now = restored(gate.peer().coding());
        if told != Some(now) {
            let more = now.saturating_sub(told.unwrap_or(0));
            state.counters.packets_restored.add(u64::from(more));
            if heartbeat::send_restored(&connection, now).await.is_err() {
                return;
            }
            told = Some(now);
        }
        tokio::time::sleep(TELLS).await;
    }
}
