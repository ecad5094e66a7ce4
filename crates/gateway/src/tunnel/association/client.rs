//! The terminal's side of the association with one hub.

mod connecting;

use super::claims::{Claim, Claims};
use super::tails::Tails;
use super::uplink::Uplink;
use super::{
    Close, HANDSHAKE, Health, Notice, Status, backup::Backup, heartbeat, split, throttle::Throttle,
    words,
};
use crate::CloseReason;
use crate::config::{HubAddress, Tunnel};
use crate::operate::{Path, SharedState};
use crate::tunnel::bond;
use crate::tunnel::budget::Budget;
use crate::tunnel::codec::{CARRIES_UDP, Direction, Hello};
use crate::tunnel::credentials::{Credentials, Keys};
use crate::tunnel::fallback::{Pool, Settings};
use crate::tunnel::keys::PublicKey;
use crate::tunnel::moving::Streams;
use crate::tunnel::sharing::Gate;
use crate::tunnel::socket::ShapedSocket;
use crate::tunnel::stream::{Receiver, Sender};
use crate::tunnel::target::Target;
use crate::udp::{self, Entrance};
use connecting::{Failure, Made};
use quinn::{Connection, ConnectionError, Endpoint};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

/// First and longest time between attempts to connect.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
/// The longest to a hub that is not needed, since another one answers: attempts are packets of full
/// size on the link that all share.
const RELAXED: Duration = Duration::from_secs(10);
/// Time until the next attempt where another terminal uses the same key: the two
/// must not take the association from each other all the time.
const REPLACED: Duration = Duration::from_secs(30);
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
        let mut tasks = vec![tokio::spawn(keep(Arc::clone(&shared)))];
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

async fn keep(shared: Arc<Shared>) {
    let mut wait = BACKOFF.0;
    loop {
        let connected = tokio::select! {
            biased;
            () = shared.finishes.notified() => return shared.end(None),
            connected = shared.connect() => connected,
        };
        let lost = match connected {
            Ok(made) if shared.last.load(Ordering::Relaxed) => {
                made.connection.close(Close::Stopping.code(), &[]);
                return shared.end(None);
            }
            Ok(made) => {
                wait = BACKOFF.0;
                let lost = shared.serve(made).await;
                if shared.last.load(Ordering::Relaxed) {
                    return shared.end(Some(&lost));
                }
                Failure::from(lost)
            }
            Err(lost) => lost,
        };
        if lost.replaced {
            wait = REPLACED;
        }
        shared.renew_endpoints();
        shared.status.send_if_modified(|status| {
            let reason = &lost.reason;
            if status.reason.as_ref() != Some(reason) || status.quic != Health::Down {
                tracing::warn!(hub = %shared.target.hub(), reason, "no association with the hub");
            }
            status.late = false;
            status.enter(Health::Down);
            status.reason = Some(reason.clone());
            true
        });
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shared.finishes.notified() => return shared.end(None),
            () = shared.hurry.notified(), if !lost.replaced => wait = BACKOFF.0,
        }
        let most = match shared.relaxed.load(Ordering::Relaxed) {
            true => RELAXED,
            false => BACKOFF.1,
        };
        wait = (2 * wait).min(most);
    }
}

impl Shared {
    /// Holds the address of the association that stands, in place of another.
    fn claim(&self, claim: Option<Claim>) {
        *self.claim.lock().unwrap_or_else(PoisonError::into_inner) = claim;
    }

    /// Ends without another association, as the last of them was lost.
    fn end(&self, lost: Option<&ConnectionError>) {
        let hub = self.target.hub();
        match lost {
            Some(ConnectionError::ApplicationClosed(_)) | None => {
                tracing::info!(%hub, "the hub's old process has ended");
            }
            Some(lost) => {
                let reason = words(lost);
                tracing::warn!(%hub, reason, "the association with the hub's old process is lost");
            }
        }
        self.status.send_modify(|status| {
            status.enter(Health::Down);
        });
    }

    /// Serves an association until it is lost.
    async fn serve(&self, mut made: Made) -> ConnectionError {
        self.claim(made.claim.take());
        let lost = self.carry(&made).await;
        self.claim(None);
        lost
    }

    async fn carry(&self, made: &Made) -> ConnectionError {
        let Made {
            connection, gate, ..
        } = made;
        let address = connection.remote_address();
        self.target.answered(address);
        tracing::info!(hub = %self.target.hub(), %address, rtt = ?connection.rtt(), "associated with the hub");
        let moves = self.fallback.is_some();
        self.current.send_replace(Some(Current {
            connection: connection.clone(),
            streams: moves.then(|| Streams::of(connection)),
            gate: Arc::clone(gate),
            peer: made.peer,
            path: bond::Path::quic(connection, gate, self.uplink.sending.knowledge()),
            process: made.process,
            part: Arc::new(tokio::sync::Mutex::new(split::WHOLE)),
        }));
        self.status.send_modify(|status| {
            status.enter(Health::Up);
            status.rtt = Some(connection.rtt());
            status.reason = None;
            status.handed_over = false;
            status.associations += 1;
        });
        let state = &self.common.state;
        let counters = &state.counters;
        counters.associations_opened.increment();
        let wan = self.uplink.name.as_deref();
        let listed = state.list(&made.peer.to_string(), wan, Path::Quic(connection.clone()));
        let budget = self.uplink.sending.budget();
        let mut throttle = Throttle::new(self.uplink.sending.knowledge(), budget);
        let mut lost_before = None;
        let mut leaving = JoinSet::new();
        let entrance = &self.common.entrance;
        let way = (made.hub & CARRIES_UDP != 0).then(|| {
            let (gate, state) = (Arc::clone(gate), Arc::clone(state));
            leaving.spawn(udp::leave(connection.clone(), Arc::clone(&gate), state));
            entrance.open(self.owner, gate)
        });
        let tails = Tails::start(connection, gate, &made.socket, state, &mut leaving);
        let take = |datagram| {
            if let Some(way) = &way {
                entrance.take(way.association(), datagram);
            }
        };
        let lost = heartbeat::keep(connection, take, |beat| {
            listed.note_lost(beat.lost);
            let mut beat = beat;
            if beat.handed_over {
                // Repairs name no process, and would reach the new one.
                beat.restored = None;
            }
            tails.see(&beat);
            let outage = beat.lost.is_some();
            let up = throttle.suspects(Instant::now(), outage, gate.waited(), &beat.stats);
            if up || beat.warned {
                let direction = if up { Direction::Up } else { Direction::Down };
                // Where one is being looked into, this one waits for its successor.
                let _ = self.suspect.try_send(direction);
            }
            listed.note_draining(beat.drains);
            // Who chooses among the hubs follows their states.
            let tells = |status: &mut Status| !std::mem::replace(&mut status.handed_over, true);
            if beat.handed_over && self.status.send_if_modified(tells) {
                tracing::info!(hub = %self.target.hub(), "the hub has handed over to another process");
            }
            let health = match (beat.drains, outage) {
                (true, _) => Health::Draining,
                (false, true) => Health::Outage,
                (false, false) => Health::Up,
            };
            self.status.send_if_modified(|status| {
                let changed = status.quic != health;
                // Which direction it is may be known later.
                let says = changed || lost_before != beat.lost;
                if says {
                    status.reason = beat.lost.map(|lost| lost.words("hub"));
                    match &status.reason {
                        _ if beat.drains => {
                            let reason = "the hub is about to stop, and takes no new connections";
                            status.reason = Some(reason.to_owned());
                            tracing::warn!(hub = %self.target.hub(), "{reason}");
                        }
                        Some(reason) => {
                            counters.outages.add(changed.into());
                            tracing::warn!(hub = %self.target.hub(), "{reason}");
                        }
                        None => tracing::info!(hub = %self.target.hub(), "the hub answers again"),
                    }
                }
                lost_before = beat.lost;
                let late = std::mem::replace(&mut status.late, beat.late) != beat.late;
                status.rtt = Some(beat.rtt);
                status.enter(health);
                says || late
            });
        })
        .await;
        self.current.send_replace(None);
        drop(way);
        gate.close();
        counters.udp_dropped.add(gate.take_dropped());
        counters.associations_lost.increment();
        lost
    }
}
