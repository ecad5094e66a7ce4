//! The terminal's side of the association.

use super::{
    Close, HANDSHAKE, Health, Status, backup::Backup, heartbeat, throttle::Throttle, words,
};
use crate::CloseReason;
use crate::config::{Config, Tunnel};
use crate::operate::{Path, SharedState};
use crate::tunnel::codec::{CARRIES_UDP, Direction, Hello, UNDERSTANDS_SUBSCRIBERS, Welcome};
use crate::tunnel::fallback::{Pool, Settings};
use crate::tunnel::keys::{Identity, PublicKey, SERVER_NAME};
use crate::tunnel::moving::Streams;
use crate::tunnel::sharing::Gate;
use crate::tunnel::stream::{Receiver, Sender};
use crate::tunnel::transport::{self, Sending};
use crate::udp::{self, Entrance};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

/// First and longest time between attempts to connect.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
/// Time until the next attempt where another terminal uses the same key: the two
/// must not take the association from each other all the time.
const REPLACED: Duration = Duration::from_secs(30);
/// Time without an association, in addition to that of the handshakes, after which the hub is tried
/// over TCP.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long connections still go to a hub that is about to stop: less than it takes them for.
const NOTICE: Duration = Duration::from_secs(1);

/// The terminal's side of the association. It connects, and connects again for
/// ever, until it is dropped.
#[derive(Debug)]
pub struct Client {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    endpoint: Endpoint,
    hub: SocketAddr,
    key: String,
    state: Arc<SharedState>,
    config: ClientConfig,
    hello: Hello,
    handshake: Duration,
    status: watch::Sender<Status>,
    current: watch::Sender<Option<Current>>,
    fallback: Option<Arc<Pool>>,
    suspect: mpsc::Sender<Direction>,
    sending: Sending,
    /// The turns of the streams of the association that stands.
    gate: Arc<Gate>,
    /// The flows of UDP.
    entrance: Arc<Entrance>,
}

/// The association that stands.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) connection: Connection,
    /// Its streams, which the fallback may take over.
    pub(super) streams: Option<Arc<Streams>>,
}

impl Client {
    /// Begins to connect. It is called in a runtime of tokio.
    ///
    /// # Errors
    /// The key is unusable, or no socket can be had.
    pub fn start(
        config: &Config,
        tunnel: &Tunnel,
        identity: &Identity,
        peers: &[PublicKey],
        hello: Hello,
        socket: std::net::UdpSocket,
        state: &Arc<SharedState>,
    ) -> io::Result<Client> {
        let tls = identity.client(peers).map_err(io::Error::other)?;
        let quic = QuicClientConfig::try_from(tls).map_err(io::Error::other)?;
        let mut client = ClientConfig::new(Arc::new(quic));
        let sending = Sending::new(config, tunnel, state)?;
        let (transport, gate) = sending.transport(tunnel.address);
        client.transport_config(Arc::new(transport));
        let shaper = sending.knowledge().shaper();
        let (suspect, suspicions) = mpsc::channel(1);
        let handshake = HANDSHAKE.max(8 * config.link.rtt);
        let fallback = if tunnel.fallback {
            let tls = identity.client(peers).map_err(io::Error::other)?;
            let settings = Settings::new(tunnel);
            Some(Arc::new(Pool::new(
                tunnel.address,
                tls,
                settings,
                handshake,
            )))
        } else {
            None
        };
        let instance = u8::try_from(hello.generation & 0xff).unwrap_or(0);
        let shared = Arc::new(Shared {
            endpoint: transport::endpoint(socket, identity, instance, None, shaper)?,
            hub: tunnel.address,
            key: peers.first().map(ToString::to_string).unwrap_or_default(),
            state: Arc::clone(state),
            config: client,
            hello,
            handshake,
            status: watch::Sender::new(Status::new()),
            current: watch::Sender::new(None),
            fallback,
            suspect,
            sending,
            gate,
            entrance: Entrance::new(state),
        });
        let mut tasks = vec![tokio::spawn(keep(Arc::clone(&shared)))];
        if let Some(pool) = &shared.fallback {
            let backup = Backup {
                pool: Arc::clone(pool),
                status: shared.status.clone(),
                current: shared.current.subscribe(),
                state: Arc::clone(state),
                key: shared.key.clone(),
                hub: shared.hub,
                // Both handshakes take three round trips.
                patience: 4 * config.link.rtt + PATIENCE,
            };
            tasks.push(tokio::spawn(backup.watch(suspicions)));
        }
        Ok(Client { shared, tasks })
    }

    /// How the hub answers, as it changes.
    #[must_use]
    pub fn status(&self) -> watch::Receiver<Status> {
        self.shared.status.subscribe()
    }

    /// The flows of UDP.
    pub(crate) fn udp(&self) -> &Arc<Entrance> {
        &self.shared.entrance
    }

    /// The association, while there is one.
    #[must_use]
    pub fn connection(&self) -> Option<Connection> {
        let current = self.shared.current.borrow();
        current.as_ref().map(|current| current.connection.clone())
    }

    /// Opens a stream, or takes a connection of the fallback; waits up to `patience`
    /// for either.
    ///
    /// # Errors
    /// There is none, or it is lost.
    pub async fn open(&self, patience: Duration) -> Result<(Sender, Receiver), CloseReason> {
        let mut status = self.shared.status.subscribe();
        let open = async {
            loop {
                let (health, since) = {
                    let status = status.borrow_and_update();
                    (status.health, status.since)
                };
                if let (Health::Fallback, Some(pool)) = (health, &self.shared.fallback) {
                    let (sender, receiver) = pool.take().await?;
                    self.shared.state.counters.fallback_connections.increment();
                    let budget = self.shared.sending.budget();
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
                    let budget = self.shared.sending.budget();
                    let sender = Sender::quic(send)
                        .shared(&self.shared.gate)
                        .budgeted(budget);
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

    /// Closes the association and makes no other; streams that are open are cut.
    pub async fn stop(&self) {
        self.abort();
        self.shared.endpoint.close(Close::Stopping.code(), &[]);
        // CONNECTION_CLOSE is sent at once; what follows it is of no use.
        let _ = tokio::time::timeout(Duration::from_millis(200), self.shared.endpoint.wait_idle())
            .await;
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
        let lost = match shared.connect().await {
            Ok((connection, hub)) => {
                wait = BACKOFF.0;
                shared.serve(&connection, hub).await
            }
            Err(lost) => lost,
        };
        let reason = words(&lost);
        if let ConnectionError::ApplicationClosed(close) = &lost
            && close.error_code == Close::Replaced.code()
        {
            wait = REPLACED;
        }
        shared.status.send_if_modified(|status| {
            if status.reason.as_ref() != Some(&reason) || status.quic != Health::Down {
                tracing::warn!(hub = %shared.hub, reason, "no association with the hub");
            }
            status.late = false;
            status.enter(Health::Down);
            status.reason = Some(reason.clone());
            true
        });
        tokio::time::sleep(wait).await;
        wait = (2 * wait).min(BACKOFF.1);
    }
}

impl Shared {
    /// One attempt: both handshakes, and the greeting, in which the hub says what it understands.
    async fn connect(&self) -> Result<(Connection, u8), ConnectionError> {
        let greeted = async {
            let connection = self
                .endpoint
                .connect_with(self.config.clone(), self.hub, SERVER_NAME)
                .map_err(|error| {
                    tracing::error!(hub = %self.hub, %error, "cannot connect");
                    ConnectionError::LocallyClosed
                })?
                .await?;
            // The hub has authenticated this box only when it answers.
            match greet(&connection, self.hello).await {
                Ok(hub) => {
                    self.gate.open(hub & UNDERSTANDS_SUBSCRIBERS != 0);
                    Ok((connection, hub))
                }
                Err(Some(lost)) => Err(lost),
                Err(None) => {
                    connection.close(Close::Protocol.code(), &[]);
                    Err(connection.closed().await)
                }
            }
        };
        tokio::time::timeout(self.handshake, greeted)
            .await
            .unwrap_or(Err(ConnectionError::TimedOut))
    }

    /// Serves an association until it is lost.
    async fn serve(&self, connection: &Connection, hub: u8) -> ConnectionError {
        tracing::info!(hub = %self.hub, rtt = ?connection.rtt(), "associated with the hub");
        let moves = self.fallback.is_some();
        self.current.send_replace(Some(Current {
            connection: connection.clone(),
            streams: moves.then(|| Streams::of(connection)),
        }));
        self.status.send_modify(|status| {
            status.enter(Health::Up);
            status.rtt = Some(connection.rtt());
            status.reason = None;
            status.associations += 1;
        });
        let counters = &self.state.counters;
        counters.associations_opened.increment();
        let listed = self.state.list(&self.key, Path::Quic(connection.clone()));
        let budget = self.sending.budget();
        let mut throttle = Throttle::new(self.sending.knowledge(), budget);
        let mut lost_before = None;
        let mut leaving = JoinSet::new();
        if hub & CARRIES_UDP != 0 {
            let (gate, state) = (Arc::clone(&self.gate), Arc::clone(&self.state));
            leaving.spawn(udp::leave(connection.clone(), gate, state));
            self.entrance.open(&self.gate);
        }
        let take = |datagram| self.entrance.take(datagram);
        let lost = heartbeat::keep(connection, take, |beat| {
            listed.note_lost(beat.lost);
            let outage = beat.lost.is_some();
            let up = throttle.suspects(Instant::now(), outage, self.gate.waited(), &beat.stats);
            if up || beat.warned {
                let direction = if up { Direction::Up } else { Direction::Down };
                // Where one is being looked into, this one waits for its successor.
                let _ = self.suspect.try_send(direction);
            }
            listed.note_draining(beat.drains);
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
                            tracing::warn!("{reason}");
                        }
                        Some(reason) => {
                            counters.outages.add(changed.into());
                            tracing::warn!("{reason}");
                        }
                        None => tracing::info!("the hub answers again"),
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
        self.entrance.close();
        self.gate.close();
        counters.associations_lost.increment();
        lost
    }
}

/// Sends the greeting on the first stream and waits for the hub's; returns the bits that say what the hub
/// understands. `Err(None)` is an answer that makes no sense.
async fn greet(connection: &Connection, hello: Hello) -> Result<u8, Option<ConnectionError>> {
    let lost = |connection: &Connection| connection.close_reason();
    let (mut send, mut receive) = connection.open_bi().await.map_err(Some)?;
    if send.write_all(&hello.encode()).await.is_err() {
        return Err(lost(connection));
    }
    // Both directions end with the greeting.
    let _ = send.finish();
    let mut bytes = [0; Welcome::LENGTH];
    if receive.read_exact(&mut bytes).await.is_err() {
        return Err(lost(connection));
    }
    // An older hub has nothing more to say.
    let mut more = [0];
    let _ = receive.read_exact(&mut more).await;
    Welcome::decode(bytes).map_err(|_| None)?;
    Ok(more[0])
}
