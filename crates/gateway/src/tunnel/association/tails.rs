//! Repairs for the tails of one association ([`crate::tunnel::coding`]): what both of its sides do.

use super::heartbeat::{self, Beat};
use crate::operate::SharedState;
use crate::tunnel::coding::Seen;
use crate::tunnel::sharing::Gate;
use crate::tunnel::socket::{Repairs, ShapedSocket};
use bentpipe_units::Rate;
use quinn::Connection;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How often the other box learns how many of its packets were restored.
const TELLS: Duration = Duration::from_secs(1);

/// Watches the path of an association whose tails are coded; dropped, it ends that.
#[derive(Debug)]
pub(super) struct Tails(Option<Watched>);

#[derive(Debug)]
struct Watched {
    connection: Connection,
    gate: Arc<Gate>,
    state: Arc<SharedState>,
    seen: Mutex<Reported>,
}

/// What was reported of an association.
#[derive(Debug)]
struct Reported {
    /// The address of the other box.
    address: SocketAddr,
    /// Packets that were restored, and are counted.
    restored: u64,
}

impl Tails {
    /// Begins to send repairs, and to say that this box reads them; where the configuration does not want
    /// them, nothing is done. The tasks end with `tasks`.
    pub(super) fn start(
        connection: &Connection,
        gate: &Arc<Gate>,
        socket: &Arc<ShapedSocket>,
        state: &Arc<SharedState>,
        tasks: &mut JoinSet<()>,
    ) -> Tails {
        let codes = state.config().tunnel.as_ref().is_some_and(|it| it.coding);
        if !codes {
            return Tails(None);
        }
        let (connection, gate) = (connection.clone(), Arc::clone(gate));
        let address = connection.remote_address();
        gate.coding().paths().attach(address, gate.coding());
        tasks.spawn(tell(connection.clone(), Arc::clone(&gate)));
        tasks.spawn(protect(
            connection.clone(),
            Arc::clone(&gate),
            Repairs::new(socket),
            Arc::clone(state),
        ));
        Tails(Some(Watched {
            connection,
            gate,
            state: Arc::clone(state),
            seen: Mutex::new(Reported {
                address,
                restored: 0,
            }),
        }))
    }

    /// Takes what a look at the association has shown.
    pub(super) fn see(&self, beat: &Beat) {
        let Some(watched) = &self.0 else { return };
        watched.report();
        let gate = &watched.gate;
        let seen = Seen {
            sent: beat.stats.path.sent_packets,
            lost: beat.stats.path.lost_packets,
            restored: beat.restored.map(u64::from),
            rtt: beat.rtt,
            rate: gate.rate().map(Rate::from_bps_f64),
            interrupted: beat.lost.is_some() || gate.peer().is_held(),
        };
        gate.coding().see(Instant::now(), &seen);
    }
}

impl Watched {
    /// Follows the other box to another address, and counts what was restored.
    fn report(&self) {
        let coding = self.gate.coding();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let address = self.connection.remote_address();
        if address != seen.address {
            coding.paths().detach(seen.address, coding);
            coding.paths().attach(address, coding);
            seen.address = address;
        }
        let restored = coding.restored();
        let more = restored - seen.restored;
        self.state.counters.packets_restored.add(more);
        seen.restored = restored;
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.report();
        let seen = self.seen.get_mut().unwrap_or_else(PoisonError::into_inner);
        let coding = self.gate.coding();
        coding.paths().detach(seen.address, coding);
    }
}

/// Sends repairs as they are due.
async fn protect(
    connection: Connection,
    gate: Arc<Gate>,
    mut repairs: Repairs,
    state: Arc<SharedState>,
) {
    let coding = gate.coding();
    loop {
        let due = coding.due(|| gate.is_idle()).await;
        let way = (connection.remote_address(), connection.local_ip());
        for datagram in coding.repairs(&due) {
            if repairs.send(way, &datagram, due.ecn).await.is_err() {
                // QUIC sends what is missing again.
                break;
            }
            state.counters.repairs_sent.increment();
        }
    }
}

/// Says at the start that this box reads repairs, and from then on how many packets it has restored.
async fn tell(connection: Connection, gate: Arc<Gate>) {
    let mut told = None;
    loop {
        let restored = u32::try_from(gate.coding().restored()).unwrap_or(u32::MAX);
        if told != Some(restored) {
            if heartbeat::send_restored(&connection, restored)
                .await
                .is_err()
            {
                return;
            }
            told = Some(restored);
        }
        tokio::time::sleep(TELLS).await;
    }
}
