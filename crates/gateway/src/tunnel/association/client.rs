//! The terminal's side of the association with one hub.

mod connecting;
mod keeping;

use super::claims::{Claim, Claims};
use super::uplink::Uplink;
use super::{Close, HANDSHAKE, Health, Notice, Status, backup::Backup, heartbeat};
use crate::CloseReason;
use crate::config::{HubAddress, Tunnel};
use crate::operate::SharedState;
use crate::tunnel::bond;
use crate::tunnel::budget::Budget;
use crate::tunnel::codec::{Direction, Hello};
use crate::tunnel::credentials::{Credentials, Keys};
use crate::tunnel::fallback::{Pool, Settings};
use crate::tunnel::keys::PublicKey;
use crate::tunnel::moving::Streams;
use crate::tunnel::sharing::Gate;
use crate::tunnel::socket::ShapedSocket;
use crate::tunnel::stream::{Receiver, Sender};
use crate::tunnel::target::Target;
use crate::udp::Entrance;
use quinn::{Connection, Endpoint};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;

/// Time without an association, in addition to that of the handshakes, after which the hub is tried
/// over TCP.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long connections still go to a hub that is about to stop: less than it takes them for.
const NOTICE: Duration = Duration::from_secs(1);

/// The terminal's side of the association with one hub. It connects, and connects again for
/// ever, until it is dropped.
#[derive(Debug)]
pub(super) struct Client {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

/// What the clients of all hubs have in common.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) state: Arc<SharedState>,
    pub(super) credentials: Arc<Credentials>,
    pub(super) hello: Hello,
    /// The WANs, of which there is one at least.
    pub(super) uplinks: Vec<Arc<Uplink>>,
    pub(super) claims: Claims,
    /// The flows of UDP, which go to the hub in use.
    pub(super) entrance: Arc<Entrance>,
}

#[derive(Debug)]
struct Shared {
    common: Common,
    /// A number that no other client has.
    owner: usize,
    uplink: Arc<Uplink>,
    target: Arc<Target>,
    endpoints: Mutex<Endpoints>,
    handshake: Duration,
    status: watch::Sender<Status>,
    current: watch::Sender<Option<Current>>,
    fallback: Option<Arc<Pool>>,
    suspect: mpsc::Sender<Direction>,
    /// Another hub answers, so that there is no haste.
    relaxed: AtomicBool,
    /// It does not any more.
    hurry: Notify,
    /// The association is the last: those with the other process are another client's.
    last: AtomicBool,
    /// It has just become so.
    finishes: Notify,
    /// The address of the association that stands.
    claim: Mutex<Option<Claim>>,
}

/// The sockets of IPv4 and IPv6, made when an address of their kind is tried.
type Endpoints = [Option<(Endpoint, Arc<ShapedSocket>)>; 2];

/// The association that stands.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) connection: Connection,
    /// Its streams, which the fallback may take over.
    pub(super) streams: Option<Arc<Streams>>,
    /// The turns of its streams.
    gate: Arc<Gate>,
    /// The hub's key.
    peer: PublicKey,
    /// The same for bonded connections, and the process of the hub, where it takes them.
    path: Arc<bond::Path>,
    process: Option<u64>,
    /// The part of its rate that the hub was told to send at; locked while it is being told.
    part: Arc<tokio::sync::Mutex<u16>>,
}

/// A way of a bonded connection that is about to begin.
#[derive(Debug)]
pub(super) struct Leg {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) path: Arc<bond::Path>,
    /// The process of the hub.
    pub(super) hub: u64,
}

impl Common {
    /// The memory of all streams.
    pub(super) fn budget(&self) -> &Arc<Budget> {
        self.uplinks[0].sending.budget()
    }
}

impl Client {
    /// Begins to connect. It is called in a runtime of tokio.
    pub(super) fn start(
        tunnel: &Tunnel,
        hub: &HubAddress,
        common: &Common,
        uplink: &Arc<Uplink>,
    ) -> Client {
        // A handshake takes two round trips, and one more for the hub to know the address.
        let target = Target::new(uplink.target(hub), 4 * uplink.rtt + PATIENCE);
        let (suspect, suspicions) = mpsc::channel(1);
        let handshake = HANDSHAKE.max(8 * uplink.rtt);
        let fallback = tunnel.fallback.then(|| {
            let (target, credentials) = (Arc::clone(&target), Arc::clone(&common.credentials));
            Arc::new(Pool::new(
                target,
                credentials,
                Settings::new(tunnel).leaving(uplink.bind.clone()),
                handshake,
            ))
        });
        static OWNERS: AtomicUsize = AtomicUsize::new(0);
        let shared = Arc::new(Shared {
            common: common.clone(),
            owner: OWNERS.fetch_add(1, Ordering::Relaxed),
            uplink: Arc::clone(uplink),
            target,
            endpoints: Mutex::default(),
            handshake,
            status: watch::Sender::new(Status::new()),
            current: watch::Sender::new(None),
            fallback,
            suspect,
            relaxed: AtomicBool::new(false),
            hurry: Notify::new(),
            last: AtomicBool::new(false),
            finishes: Notify::new(),
            claim: Mutex::default(),
        });
        let mut tasks = vec![tokio::spawn(keeping::keep(Arc::clone(&shared)))];
        if let Some(pool) = &shared.fallback {
            let backup = Backup {
                pool: Arc::clone(pool),
                status: shared.status.clone(),
                current: shared.current.subscribe(),
                state: Arc::clone(&common.state),
                // Both handshakes take three round trips.
                wan: uplink.name.clone(),
                patience: 4 * uplink.rtt + PATIENCE,
            };
            tasks.push(tokio::spawn(backup.watch(suspicions)));
        }
        Client { shared, tasks }
    }

    /// Whose associations these are, to the flows of UDP.
    pub(super) fn owner(&self) -> usize {
        self.shared.owner
    }

    /// The name of its WAN, where there are several.
    pub(super) fn wan(&self) -> Option<&str> {
        self.shared.uplink.name.as_deref()
    }

    /// The address at which it answers, or may.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.shared.target.last()
    }

    /// Says whether another hub answers, so that attempts to reach this one may be rare.
    pub(super) fn relax(&self, relaxed: bool) {
        if self.shared.relaxed.swap(relaxed, Ordering::Relaxed) && !relaxed {
            self.shared.hurry.notify_one();
        }
    }

    /// Whether the hub has said that its process has handed over.
    pub(super) fn is_handed_over(&self) -> bool {
        self.shared.status.borrow().handed_over
    }

    /// Lets the association end with the process that it is with, and makes no other: attempts, and the
    /// fallback, would lead to the new process. Another client may have one at the same address.
    pub(super) fn finish(&self) {
        self.shared.last.store(true, Ordering::Relaxed);
        self.shared.finishes.notify_one();
        self.shared.claim(None);
        if let [_, backup] = &self.tasks[..] {
            backup.abort();
        }
        if let Some(pool) = &self.shared.fallback {
            pool.cool();
        }
        self.shared.status.send_modify(|status| {
            status.fall_back(false, false);
        });
    }

    /// Tells the process that has handed over that nothing new comes to it.
    pub(super) fn tell_moved(&self) {
        if let Some(current) = self.shared.current.borrow().clone() {
            tokio::spawn(async move {
                let _ = heartbeat::send(&current.connection, Notice::HandedOver).await;
            });
        }
    }

    /// Whether it has ended, and none follows.
    pub(super) fn is_over(&self) -> bool {
        let last = self.shared.last.load(Ordering::Relaxed);
        last && self.shared.current.borrow().is_none()
    }

    /// Bytes that have arrived over QUIC, and the association that brought them; `None` without one.
    pub(super) fn arrived(&self) -> Option<(usize, u64)> {
        let current = self.shared.current.borrow();
        let connection = &current.as_ref()?.connection;
        Some((connection.stable_id(), connection.stats().udp_rx.bytes))
    }

    /// Tells the hub at which part of its rate it is to send, unless it knows. One word at a time is
    /// under way, so that an outage does not gather them.
    pub(super) fn tell_part(&self, part: u16) {
        let Some(current) = self.shared.current.borrow().clone() else {
            return;
        };
        let told = Arc::clone(&current.part);
        let Ok(mut told) = told.try_lock_owned() else {
            return;
        };
        if *told != part {
            tokio::spawn(async move {
                if heartbeat::send_part(&current.connection, part)
                    .await
                    .is_ok()
                {
                    *told = part;
                }
            });
        }
    }

    /// Gives up what stands with a hub whose key is not among `keys`.
    pub(super) fn hold_to(&self, keys: &Keys) {
        let current = self.shared.current.borrow().clone();
        if let Some(current) = current.filter(|current| !keys.peers.contains(&current.peer)) {
            current.path.note_gone();
            current.connection.close(Close::Unlisted.code(), &[]);
        }
        if let Some(pool) = &self.shared.fallback {
            // The next are made with the keys that hold now.
            pool.cool();
        }
    }

    /// How the hub answers, as it changes.
    pub(super) fn status(&self) -> watch::Receiver<Status> {
        self.shared.status.subscribe()
    }

    /// Opens a stream, or takes a connection of the fallback; waits up to `patience`
    /// for either.
    ///
    /// # Errors
    /// There is none, or it is lost.
    pub(super) async fn open(&self, patience: Duration) -> Result<(Sender, Receiver), CloseReason> {
        let mut status = self.shared.status.subscribe();
        let open = async {
            loop {
                let (health, since) = {
                    let status = status.borrow_and_update();
                    (status.health, status.since)
                };
                if let (Health::Fallback, Some(pool)) = (health, &self.shared.fallback) {
                    let (sender, receiver) = pool.take().await?;
                    self.shared
                        .common
                        .state
                        .counters
                        .fallback_connections
                        .increment();
                    let budget = self.shared.uplink.sending.budget();
                    return Ok((sender.budgeted(budget), receiver.budgeted(budget)));
                }
                // Until interception is off, connections come that the hub still takes.
                if health == Health::Draining && since.elapsed() > NOTICE {
                    return Err(CloseReason::PeerGone);
                }
                // In an outage, what is written waits for its end, or for the fallback.
                let current = self.shared.current.borrow().clone();
                if let Some(current) = current
                    && let Ok((send, receive)) = current.connection.open_bi().await
                {
                    let index = send.id().index();
                    let budget = self.shared.uplink.sending.budget();
                    let sender = Sender::quic(send).shared(&current.gate).budgeted(budget);
                    let receiver = Receiver::quic(receive).budgeted(budget);
                    return Ok(match current.streams {
                        Some(streams) => {
                            let route = streams.add(index);
                            (sender.routed(&route), receiver.routed(&route))
                        }
                        None => (sender, receiver),
                    });
                }
                status.changed().await.map_err(|_| CloseReason::PeerGone)?;
            }
        };
        tokio::time::timeout(patience, open)
            .await
            .unwrap_or(Err(CloseReason::PeerGone))
    }

    /// Whether it carries bonded connections now.
    pub(super) fn bonds(&self) -> bool {
        let up = self.shared.status.borrow().quic == Health::Up;
        let current = self.shared.current.borrow();
        up && current.as_ref().is_some_and(|it| it.process.is_some())
    }

    /// The association that stands, as bonded connections see it.
    pub(super) fn path(&self) -> Option<Arc<bond::Path>> {
        let current = self.shared.current.borrow();
        current.as_ref().map(|it| Arc::clone(&it.path))
    }

    /// Opens a stream for a bonded connection; `None` where that is not possible.
    pub(super) async fn leg(&self) -> Option<Leg> {
        let current = self.shared.current.borrow().clone()?;
        let hub = current.process?;
        let (send, receive) = current.connection.open_bi().await.ok()?;
        Some(Leg {
            sender: Sender::quic(send).shared(&current.gate),
            receiver: Receiver::quic(receive),
            path: current.path,
            hub,
        })
    }

    /// Closes the association and makes no other; streams that are open are cut.
    pub(super) async fn stop(&self) {
        self.abort();
        let endpoints = self.shared.endpoints().clone();
        for (endpoint, _) in endpoints.iter().flatten() {
            endpoint.close(Close::Stopping.code(), &[]);
        }
        for (endpoint, _) in endpoints.iter().flatten() {
            // CONNECTION_CLOSE is sent at once; what follows it is of no use.
            let _ = tokio::time::timeout(Duration::from_millis(200), endpoint.wait_idle()).await;
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.abort();
    }
}

impl Client {
    fn abort(&self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
