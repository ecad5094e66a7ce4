//! The hub's side of the association.

use super::heartbeat::{self, Notice};
use super::tails::Tails;
use super::terminals::{Association, Associations};
use super::{Close, HANDSHAKE, split, throttle::Throttle, words};
use crate::config::Config;
use crate::operate::{Path, SharedState};
use crate::policy::Policy;
use crate::shares::Shares;
use crate::tunnel::bond;
use crate::tunnel::budget::Budget;
use crate::tunnel::codec::{CARRIES_BONDS, CARRIES_UDP, Hello, UNDERSTANDS_SUBSCRIBERS, Welcome};
use crate::tunnel::credentials::{Credentials, Keys};
use crate::tunnel::keys::PublicKey;
use crate::tunnel::known::Knowledge;
use crate::tunnel::moving::Streams;
use crate::tunnel::sharing::Gate;
use crate::tunnel::socket::ShapedSocket;
use crate::tunnel::steering::Seat;
use crate::tunnel::transport::{self, HALF_OPEN, HALF_OPEN_SHARE, Sending};
use crate::udp::{self, Exit};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Connecting, Connection, Endpoint, Incoming, ServerConfig, VarInt};
use ring::hkdf;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinHandle, JoinSet};

/// How long a terminal may take to send new connections elsewhere once it knows that this hub stops.
pub(crate) const SWITCH: Duration = Duration::from_millis(1500);

/// The hub's side: it accepts terminals until it is dropped.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    endpoint: Endpoint,
    socket: Arc<ShapedSocket>,
    connections: u32,
    handshake: Duration,
    half_open: Arc<Semaphore>,
    shares: Arc<Shares>,
    associations: Associations,
    accepted: mpsc::Sender<Association>,
    state: Arc<SharedState>,
    /// It takes no more associations.
    refuses: AtomicBool,
    /// What terminals are told that come from now on.
    notice: Mutex<Option<Notice>>,
    /// What the next handshake is made with, which a reload changes.
    server: Mutex<ServerConfig>,
    /// Another handle of the socket.
    seat: Seat,
    sending: Sending,
    /// The number of this process.
    process: u64,
    /// Where flows of UDP may go.
    policy: Policy,
}

/// How handshakes are made with these keys.
fn server_config(keys: &Keys) -> io::Result<ServerConfig> {
    let tls = keys
        .identity
        .server(&keys.peers)
        .map_err(io::Error::other)?;
    let quic = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    let secret = keys.identity.derive("address validation");
    let token = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&secret);
    let mut server = ServerConfig::new(Arc::new(quic), Arc::new(token));
    server
        .max_incoming(HALF_OPEN)
        .incoming_buffer_size(16 * 1024)
        .incoming_buffer_size_total(1 << 20);
    Ok(server)
}

/// What the servers of all links of a hub have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common<'a> {
    pub(crate) credentials: &'a Credentials,
    /// The number of this process, which no earlier one had.
    pub(crate) process: u64,
    pub(crate) state: &'a Arc<SharedState>,
    pub(crate) policy: &'a Policy,
}

impl Server {
    /// Begins to listen at `seat`; new associations come out of the channel, and flows of UDP go where
    /// the policy allows. It is called in a runtime of tokio.
    ///
    /// # Errors
    /// The key is unusable, or the socket is.
    pub(crate) fn start(
        config: &Config,
        seat: Seat,
        sending: Sending,
        common: Common<'_>,
    ) -> io::Result<(Server, mpsc::Receiver<Association>)> {
        let Common {
            credentials,
            process,
            state,
            policy,
        } = common;
        let keys = credentials.now();
        let server = server_config(&keys)?;
        let (accepted, associations) = mpsc::channel(HALF_OPEN);
        let shaper = sending.knowledge().shaper();
        let (endpoint, socket) = transport::endpoint(
            seat.socket.try_clone()?,
            &keys.identity,
            seat.instance,
            Some(server.clone()),
            shaper,
        )?;
        let shared = Arc::new(Shared {
            endpoint,
            socket,
            server: Mutex::new(server),
            seat,
            sending,
            process,
            policy: policy.clone(),
            connections: u32::try_from(config.limits.connections).unwrap_or(u32::MAX),
            handshake: HANDSHAKE.max(8 * config.link.rtt),
            half_open: Arc::new(Semaphore::new(HALF_OPEN)),
            shares: Shares::new(HALF_OPEN_SHARE, 0),
            associations: Associations::default(),
            state: Arc::clone(state),
            refuses: AtomicBool::new(false),
            notice: Mutex::default(),
            accepted,
        });
        let task = tokio::spawn(listen(Arc::clone(&shared)));
        Ok((Server { shared, task }, associations))
    }

    /// Knowledge about the link to its terminals.
    pub(crate) fn knowledge(&self) -> &Arc<Knowledge> {
        self.shared.sending.knowledge()
    }

    /// The memory of all streams.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        self.shared.sending.budget()
    }

    /// The established associations.
    #[must_use]
    pub fn associations(&self) -> Vec<Association> {
        let all = self.shared.associations.lock();
        all.values().flatten().cloned().collect()
    }

    /// The same, as they change.
    pub(crate) fn terminals(&self) -> Associations {
        self.shared.associations.clone()
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// The socket is gone.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.shared.endpoint.local_addr()
    }

    /// Makes the next handshakes with these keys, and closes the associations with terminals whose key
    /// is not among them.
    ///
    /// # Errors
    /// The key is unusable: all stays as it was.
    pub(crate) fn hold_to(&self, keys: &Keys) -> io::Result<()> {
        let server = server_config(keys)?;
        if !self.shared.refuses.load(Ordering::SeqCst) {
            self.shared.endpoint.set_server_config(Some(server.clone()));
        }
        *self.shared.server() = server;
        for association in self.associations() {
            if !keys.peers.contains(&association.peer) {
                association.path.note_gone();
                association.connection.close(Close::Unlisted.code(), &[]);
            }
        }
        Ok(())
    }

    /// Accepts no more associations; established ones continue.
    pub fn refuse(&self) {
        self.shared.refuses.store(true, Ordering::SeqCst);
        self.shared.endpoint.set_server_config(None);
    }

    /// Where it listens, and the first byte of its connection ids.
    pub(crate) fn seat(&self) -> &Seat {
        &self.shared.seat
    }

    /// Leaves their packets to older processes at the same address.
    pub(crate) fn leave_to(&self, older: &[Seat]) {
        let instances: Vec<u8> = older.iter().map(|seat| seat.instance).collect();
        self.shared.socket.foreign().leave(&instances);
    }

    /// Leaves all but the packets of its own associations to other processes at the same address.
    pub(crate) fn keep_own(&self) {
        let foreign = self.shared.socket.foreign();
        foreign.keep(self.shared.seat.instance);
    }

    /// Whether all terminals have said that they send new connections to another process.
    pub(crate) fn have_moved(&self) -> bool {
        let associations = self.associations();
        let moved = |it: &Association| it.moved.load(Ordering::Relaxed);
        associations.iter().all(moved)
    }

    /// Tells all terminals that have not moved to another process, and those that come from now on. Returns
    /// how many there were when each knows it, or is lost.
    pub(crate) async fn announce(&self, notice: Notice) -> usize {
        *self.shared.notice() = Some(notice);
        let tell = |Association { connection, .. }| {
            // One that is not reached now learns of it when it is, whoever waits.
            tokio::spawn(async move { heartbeat::send(&connection, notice).await })
        };
        let mut associations = self.associations();
        // Those that are another process's as well need to know no more.
        associations.retain(|it| !it.moved.load(Ordering::Relaxed));
        let telling: Vec<_> = associations.into_iter().map(tell).collect();
        let count = telling.len();
        for told in telling {
            drop(told.await);
        }
        count
    }

    /// Closes all associations; streams that are open are cut.
    pub async fn stop(&self) {
        self.task.abort();
        self.shared.endpoint.close(Close::Stopping.code(), &[]);
        // CONNECTION_CLOSE is sent at once; what follows it is of no use.
        let _ = tokio::time::timeout(Duration::from_millis(200), self.shared.endpoint.wait_idle())
            .await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(shared: Arc<Shared>) {
    while let Some(incoming) = shared.endpoint.accept().await {
        if !incoming.remote_address_validated() {
            // It costs the hub one packet and no memory; a stranger who cannot
            // receive at the address gets no further (RFC 9000, section 8.1.2).
            if let Err(error) = incoming.retry() {
                error.into_incoming().ignore();
            }
            continue;
        }
        let share = shared.shares.take(incoming.remote_address().ip());
        let permit = Arc::clone(&shared.half_open).try_acquire_owned();
        let (Some(share), Ok(permit)) = (share, permit) else {
            incoming.ignore();
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let address = incoming.remote_address();
            let made = tokio::time::timeout(shared.handshake, shared.greet(incoming));
            let association = match made.await {
                Ok(Ok(association)) => association,
                Ok(Err(reason)) => {
                    shared.state.counters.peers_rejected.increment();
                    tracing::info!(%address, reason, "no association");
                    return;
                }
                Err(_) => {
                    tracing::info!(%address, "a handshake has not been completed in time");
                    return;
                }
            };
            drop((permit, share));
            shared.serve(association).await;
        });
    }
}

/// The handshake and the greeting.
async fn greet(
    connecting: Connecting,
    welcome: Vec<u8>,
    connections: u32,
    gate: Arc<Gate>,
    sending: &Sending,
) -> Result<Association, String> {
    let connection = connecting.await.map_err(|error| words(&error))?;
    let lost = |connection: &Connection| match connection.close_reason() {
        Some(error) => words(&error),
        None => "no greeting".to_owned(),
    };
    // The verifier has accepted the key before.
    let peer = PublicKey::of_connection(&connection).ok_or_else(|| "no key".to_owned())?;
    let Ok((mut send, mut receive)) = connection.accept_bi().await else {
        return Err(lost(&connection));
    };
    let mut hello = [0; Hello::LENGTH];
    if receive.read_exact(&mut hello).await.is_err() {
        return Err(lost(&connection));
    }
    let hello = Hello::decode(hello).map_err(|error| {
        connection.close(Close::Protocol.code(), &[]);
        error.to_string()
    })?;
    // Only now may the terminal open streams. The greeting's has ended.
    connection.set_max_concurrent_bi_streams(VarInt::from_u32(connections));
    if send.write_all(&welcome).await.is_err() || send.finish().is_err() {
        return Err(lost(&connection));
    }
    Ok(Association {
        peer,
        since: Instant::now(),
        streams: Streams::of(&connection),
        path: bond::Path::quic(&connection, &gate, sending.knowledge()),
        connection,
        hello,
        gate,
        budget: Arc::clone(sending.budget()),
        moved: Arc::default(),
    })
}

impl Shared {
    fn notice(&self) -> std::sync::MutexGuard<'_, Option<Notice>> {
        self.notice.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn server(&self) -> std::sync::MutexGuard<'_, ServerConfig> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes an association, which has its own congestion control.
    async fn greet(&self, incoming: Incoming) -> Result<Association, String> {
        let (settings, gate) = self.sending.transport(incoming.remote_address());
        let mut config = self.server().clone();
        config.transport_config(Arc::new(settings));
        let connecting = incoming
            .accept_with(Arc::new(config))
            .map_err(|error| words(&error))?;
        let udp = match self.state.config().udp.carries() {
            true => CARRIES_UDP,
            false => 0,
        };
        let connections = self.connections;
        let mut welcome = Welcome { connections }.encode().to_vec();
        if self.sending.wan().is_some() {
            welcome.push(UNDERSTANDS_SUBSCRIBERS | CARRIES_BONDS | udp);
            welcome.extend(self.process.to_be_bytes());
        } else {
            welcome.push(UNDERSTANDS_SUBSCRIBERS | udp);
        }
        greet(connecting, welcome, connections, gate, &self.sending).await
    }

    /// Serves an association until it is lost.
    async fn serve(&self, association: Association) {
        let connection = association.connection.clone();
        let (peer, address) = (association.peer, association.address());
        tracing::info!(%peer, %address, rtt = ?connection.rtt(), "associated with a terminal");
        self.replace(&association);
        let notice = *self.notice();
        if let Some(notice) = notice {
            let connection = connection.clone();
            tokio::spawn(async move { heartbeat::send(&connection, notice).await });
        }
        if self.accepted.send(association.clone()).await.is_err() {
            connection.close(Close::Stopping.code(), &[]);
        }
        let counters = &self.state.counters;
        counters.associations_opened.increment();
        let key = peer.to_string();
        // The status has it from now on.
        self.state.usages().terminal(peer, &self.state.config());
        self.hold(&association, &key, split::WHOLE);
        let listed = self
            .state
            .list(&key, self.sending.wan(), Path::Quic(connection.clone()));
        let mut outage = false;
        let mut throttle = Throttle::new(
            self.sending.knowledge(),
            association.gate.peer(),
            &association.budget,
        );
        let exit = Exit::new(&self.state, &self.policy, peer, &association.gate);
        let mut leaving = JoinSet::new();
        let (gate, state) = (Arc::clone(&association.gate), Arc::clone(&self.state));
        leaving.spawn(udp::leave(connection.clone(), gate, state));
        let tails = Tails::start(
            &connection,
            &association.gate,
            &self.socket,
            &self.state,
            &mut leaving,
        );
        let take = |datagram| exit.take(datagram);
        let lost = heartbeat::keep(&connection, take, |beat| {
            listed.note_lost(beat.lost);
            tails.see(&beat);
            if beat.handed_over {
                association.moved.store(true, Ordering::Relaxed);
            }
            self.hold(&association, &key, beat.part);
            if let Some(lost) = beat.lost.filter(|_| !outage) {
                counters.outages.increment();
                tracing::info!(%peer, "{}", lost.words("terminal"));
            }
            outage = beat.lost.is_some();
            if throttle.suspects(
                Instant::now(),
                outage,
                association.gate.waited(),
                &beat.stats,
            ) {
                tracing::info!(%peer, "UDP to the terminal may be throttled");
                let connection = connection.clone();
                tokio::spawn(async move { heartbeat::send(&connection, Notice::Throttled).await });
            }
        })
        .await;
        drop(listed);
        exit.close();
        association.gate.close();
        let dropped = association.gate.take_dropped();
        self.state.counters.udp_dropped.add(dropped);
        counters.associations_lost.increment();
        tracing::info!(%peer, %address, reason = words(&lost), "no longer associated");
        let mut all = self.associations.lock();
        if let Some(of_peer) = all.get_mut(&peer) {
            of_peer.retain(|other| other.connection.stable_id() != connection.stable_id());
            if of_peer.is_empty() {
                all.remove(&peer);
            }
        }
    }

    /// Holds what is sent to a terminal to its part of the rate, in thousandths, and to what the
    /// configuration gives the one with this key.
    fn hold(&self, association: &Association, key: &str, part: u16) {
        let (weight, cap) = self.state.config().terminal_terms(key);
        let part = f64::from(part) / f64::from(split::WHOLE);
        let gate = &association.gate;
        gate.limit(Some(part).filter(|part| *part < 1.0));
        gate.peer().set_cap(cap);
        gate.peer().set_weight(weight);
    }

    /// Closes what the new association replaces: those of a process that is gone,
    /// whose connections would otherwise wait for the outage that is allowed.
    fn replace(&self, new: &Association) {
        let mut all = self.associations.lock();
        let of_peer = all.entry(new.peer).or_default();
        for old in of_peer.iter() {
            // Another process of the same terminal drains, or this one does and has come back.
            let drains = old.hello.lineage == new.hello.lineage
                && old.hello.generation != new.hello.generation;
            if !drains {
                old.path.note_gone();
                old.connection.close(Close::Replaced.code(), &[]);
            }
        }
        of_peer.push(new.clone());
    }
}
