//! The hub: on the Internet's side of the satellite, it connects to servers on
//! behalf of its terminals' clients.

use crate::config::{Config, Tunnel};
use crate::operate::SharedState;
use crate::operate::records::Record;
use crate::policy::Policy;
use crate::relay::{self, Closed, Dialer, Meter, Timeouts, Toward};
use crate::terminal::most;
use crate::tunnel::association::{Association, Associations, Common, HANDSHAKE, SWITCH, Server};
use crate::tunnel::bond::{Bonds, Joined, Path};
use crate::tunnel::budget::Budget;
use crate::tunnel::codec::{self, CONNECTED, MOST_OPEN, Request, Resume, Subflow};
use crate::tunnel::credentials::{Credentials, Keys};
use crate::tunnel::fallback::{Accepted, Listener, Settings, measure};
use crate::tunnel::keys::PublicKey;
use crate::tunnel::moving::{self, Streams};
use crate::tunnel::sharing::Subscriber;
use crate::tunnel::transport::Sending;
use crate::tunnel::{Receiver, Sender, transport};
use crate::usage::Holder;
use crate::{CloseReason, Open};
use bytes::{Bytes, BytesMut};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

/// Longest time for telling the terminals that the hub stops.
const ANNOUNCE: Duration = Duration::from_secs(5);

/// A running hub: the box on the Internet's side.
#[derive(Debug)]
pub struct Hub {
    /// One for each WAN of its terminals, `[link]` first.
    fronts: Vec<Front>,
    engine: Arc<Engine>,
    tasks: Vec<JoinHandle<()>>,
}

/// Where terminals arrive over one WAN.
#[derive(Clone, Debug)]
struct Front {
    server: Arc<Server>,
    fallback: Option<Arc<Listener>>,
}

/// State shared by all connections of all terminals.
#[derive(Debug)]
struct Engine {
    state: Arc<SharedState>,
    outage: Duration,
    dialer: Dialer,
    timeouts: Timeouts,
    policy: Policy,
    /// No new connections are taken.
    refuses: watch::Sender<bool>,
    /// Those of each WAN.
    terminals: Vec<Associations>,
    bonds: Arc<Bonds>,
    budget: Arc<Budget>,
    /// The keys of the terminals that are served.
    keys: watch::Sender<Arc<Keys>>,
}

/// How a connection reaches the hub.
enum Way {
    /// By a stream of QUIC, with its index.
    Quic(Arc<Streams>, u64),
    /// By a connection of the fallback.
    Tls,
    /// By several of these.
    Bonded,
}

/// A connection of a terminal that has reached the hub.
struct Reached {
    sender: Sender,
    receiver: Receiver,
    terminal: PublicKey,
    way: Way,
    path: Arc<Path>,
}

impl Hub {
    /// Begins to serve terminals. It is called in a runtime of tokio.
    ///
    /// # Errors
    /// A key is unusable, or the address is taken.
    pub fn start(config: &Config, state: Arc<SharedState>) -> io::Result<Hub> {
        let address = config.tunnel.as_ref().map(|tunnel| tunnel.listen);
        let address = address.ok_or_else(|| io::Error::other("a hub needs `[tunnel]`"))?;
        Hub::start_on(config, state, transport::bind(address)?, 0)
    }

    /// As [`Hub::start`], on a UDP socket that is bound. `instance` is the first byte
    /// of its connection ids.
    ///
    /// # Errors
    /// As [`Hub::start`].
    pub fn start_on(
        config: &Config,
        state: Arc<SharedState>,
        socket: std::net::UdpSocket,
        instance: u8,
    ) -> io::Result<Hub> {
        let tunnel = config
            .tunnel
            .as_ref()
            .ok_or_else(|| io::Error::other("a hub needs `[tunnel]`"))?;
        let credentials = Credentials::new(Keys::read(tunnel).map_err(io::Error::other)?);
        let policy = Policy::new(config.policy.clone(), config.role);
        let bonds = Bonds::new(tunnel.outage);
        let common = Common {
            credentials: &credentials,
            instance,
            process: bonds.hub(),
            state: &state,
            policy: &policy,
        };
        let mut sendings = Sending::all(config, tunnel, &state)?.into_iter();
        let first = sendings
            .next()
            .map(|sending| (config.clone(), socket, sending));
        let mut links = Vec::from_iter(first);
        for (wan, sending) in config.wans.iter().zip(sendings) {
            let address = SocketAddr::new(tunnel.listen.ip(), wan.port);
            links.push((config.over(wan), transport::bind(address)?, sending));
        }
        let (mut servers, mut arriving) = (Vec::new(), Vec::new());
        for (config, socket, sending) in links {
            let (server, associations) = Server::start(&config, socket, sending, common)?;
            servers.push((Arc::new(server), config));
            arriving.push(associations);
        }
        let (server, _) = servers
            .first()
            .ok_or_else(|| io::Error::other("a hub has a link"))?;
        let engine = Arc::new(Engine {
            state,
            outage: tunnel.outage,
            dialer: Dialer::default(),
            timeouts: Timeouts::default(),
            policy: Policy::new(config.policy.clone(), config.role),
            refuses: watch::Sender::new(false),
            terminals: servers
                .iter()
                .map(|(server, _)| server.terminals())
                .collect(),
            bonds,
            budget: Arc::clone(server.budget()),
            keys: watch::Sender::new(credentials.now()),
        });
        let mut fronts = Vec::new();
        for (server, config) in servers {
            let fallback = match tunnel.fallback {
                true => Some(Arc::new(fall_back(&engine, &config, tunnel, &server)?)),
                false => None,
            };
            fronts.push(Front { server, fallback });
        }
        let mut tasks: Vec<_> = arriving
            .into_iter()
            .map(|associations| tokio::spawn(arrive(Arc::clone(&engine), associations)))
            .collect();
        tasks.push(tokio::spawn(follow(
            Arc::clone(&engine),
            credentials,
            fronts.clone(),
        )));
        Ok(Hub {
            fronts,
            engine,
            tasks,
        })
    }

    /// The established associations.
    #[must_use]
    pub fn associations(&self) -> Vec<Association> {
        let fronts = self.fronts.iter();
        fronts.flat_map(|it| it.server.associations()).collect()
    }

    /// The UDP address that it listens on for `[link]`.
    ///
    /// # Errors
    /// The socket is gone.
    pub fn address(&self) -> io::Result<SocketAddr> {
        let front = self.fronts.first();
        front.map_or_else(
            || Err(io::ErrorKind::NotFound.into()),
            |it| it.server.address(),
        )
    }

    /// Lets the terminals know that this hub is about to stop, so that they send new connections
    /// elsewhere, and then takes no more: see [`Hub::refuse`]. It takes a few seconds at most, in
    /// which new connections are still served.
    pub async fn drain(&self) {
        let begin = Instant::now();
        // Where only TLS reaches this hub, no word does: the handshakes that fail from now on tell it,
        // while requests on connections that are made already are served.
        let mut by_tls = false;
        let mut announcing = JoinSet::new();
        for Front { server, fallback } in self.fronts.clone() {
            if let Some(fallback) = fallback {
                fallback.refuse();
                by_tls |= fallback.has_connections();
            }
            announcing.spawn(async move { server.announce_stop(ANNOUNCE).await });
        }
        announcing.join_all().await;
        if by_tls {
            tokio::time::sleep(SWITCH.saturating_sub(begin.elapsed())).await;
        }
        self.refuse();
    }

    /// Accepts no more associations and connections; open ones continue. A new connection is cut at
    /// once, on established associations and on the idle connections of the fallback.
    pub fn refuse(&self) {
        self.engine.refuses.send_replace(true);
        for Front { server, fallback } in &self.fronts {
            server.refuse();
            if let Some(fallback) = fallback {
                fallback.refuse();
            }
        }
    }

    /// Connections that are open.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.engine.state.counters.connections_active.get()
    }

    /// Closes all associations; connections that are open are reset.
    pub async fn stop(&self) {
        self.engine.bonds.stop();
        for front in &self.fronts {
            front.server.stop().await;
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Takes the keys that a reload changes: a terminal that is removed is let go at once, with all of its
/// connections, and one that is added may come.
async fn follow(engine: Arc<Engine>, credentials: Arc<Credentials>, fronts: Vec<Front>) {
    let mut configs = engine.state.follow_config();
    while configs.changed().await.is_ok() {
        let config = Arc::clone(&configs.borrow_and_update());
        let renewed = config.tunnel.as_ref().and_then(|it| credentials.renew(it));
        let Some(keys) = renewed else { continue };
        for Front { server, fallback } in &fronts {
            let held = server.hold_to(&keys).and_then(|()| {
                let tls = keys.identity.server(&keys.peers);
                tls.map_err(io::Error::other)
            });
            match (held, fallback) {
                (Ok(tls), Some(fallback)) => fallback.hold_to(tls),
                (Ok(_), None) => {}
                (Err(error), _) => tracing::error!(%error, "the new keys cannot be used"),
            }
        }
        engine.keys.send_replace(keys);
    }
}

/// Listens for connections of the fallback, on TCP at the address of UDP.
fn fall_back(
    engine: &Arc<Engine>,
    config: &Config,
    tunnel: &Tunnel,
    server: &Server,
) -> io::Result<Listener> {
    let listener = transport::listen(server.address()?)?;
    let path = Path::tls(server.knowledge());
    let keys = Arc::clone(&engine.keys.borrow());
    let (listener, mut accepted) = Listener::start(
        tokio::net::TcpListener::from_std(listener)?,
        keys.identity
            .server(&keys.peers)
            .map_err(io::Error::other)?,
        Settings::new(tunnel),
        HANDSHAKE.max(8 * config.link.rtt),
        config.limits.connections,
    );
    let (engine, budget) = (Arc::clone(engine), Arc::clone(server.budget()));
    tokio::spawn(async move {
        while let Some(accepted) = accepted.recv().await {
            let Accepted {
                peer,
                address,
                sender,
                receiver,
                place,
            } = accepted;
            tracing::debug!(%peer, %address, "a connection of the fallback");
            let engine = Arc::clone(&engine);
            let reached = Reached {
                sender: sender.budgeted(&budget),
                receiver: receiver.budgeted(&budget),
                terminal: peer,
                way: Way::Tls,
                path: Arc::clone(&path),
            };
            tokio::spawn(async move {
                let removed = engine.removed(peer);
                tokio::select! {
                    () = engine.connection(reached) => {}
                    // Both of its ends are reset.
                    () = removed => tracing::info!(%peer, "a connection of a terminal that is removed"),
                }
                drop(place);
            });
        }
    });
    Ok(listener)
}

/// Serves the terminals that arrive over one WAN.
async fn arrive(engine: Arc<Engine>, mut associations: mpsc::Receiver<Association>) {
    let mut serving = JoinSet::new();
    while let Some(association) = associations.recv().await {
        serving.spawn(serve(Arc::clone(&engine), association));
        while serving.try_join_next().is_some() {}
    }
}

/// Serves a terminal until its association is lost. Connections end by themselves
/// then, since their streams do, unless they have others.
async fn serve(engine: Arc<Engine>, association: Association) {
    while let Some((sender, receiver, index)) = association.accept().await {
        let engine = Arc::clone(&engine);
        let reached = Reached {
            sender,
            receiver,
            terminal: association.peer,
            way: Way::Quic(Arc::clone(association.streams()), index),
            path: Arc::clone(association.path()),
        };
        tokio::spawn(async move { engine.connection(reached).await });
    }
}

impl Engine {
    /// Waits until no new connections are taken.
    async fn refused(&self) {
        let mut refuses = self.refuses.subscribe();
        // The sender lives as long as the engine.
        let _ = refuses.wait_for(|refuses| *refuses).await;
    }

    /// Waits until a terminal is no longer among the peers.
    async fn removed(&self, peer: PublicKey) {
        let mut keys = self.keys.subscribe();
        let gone = keys.wait_for(|keys| !keys.peers.contains(&peer));
        if gone.await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Serves one connection of a client, or one of its subflows.
    async fn connection(&self, reached: Reached) {
        let Reached {
            mut sender,
            mut receiver,
            terminal,
            way,
            path,
        } = reached;
        let counters = &self.state.counters;
        // A connection of the fallback waits here until a client needs it. Once this hub refuses, its
        // end says so to a terminal that UDP does not reach: the next client goes elsewhere.
        let idle = matches!(way, Way::Tls);
        let mut request = tokio::select! {
            biased;
            read = tokio::time::timeout(self.outage, request(&mut receiver)) => {
                read.unwrap_or(Err(CloseReason::TimedOut))
            }
            () = self.refused(), if idle => Err(CloseReason::Limit),
        };
        if let (Ok(Request::Resume(resume)), Way::Tls) = (&request, &way) {
            request = match self
                .resume(*resume, &terminal, &mut sender, &mut receiver)
                .await
            {
                Ok(Resumed::New(open)) => Ok(Request::Open(open)),
                Ok(Resumed::Known(route)) => {
                    return moving::adopt(&route, sender, receiver, resume.start).await;
                }
                Err(why) => Err(why),
            };
        } else if let (Ok(Request::Open(_)), Way::Quic(streams, index)) = (&request, &way)
            && !streams.take(*index)
        {
            // The terminal has sent the request over the fallback, and it has been executed.
            request = Err(CloseReason::Reset);
        }
        let open = match request {
            Ok(Request::Open(open)) => open,
            Ok(Request::Measure(direction)) => {
                return measure::answer(direction, sender, receiver).await;
            }
            Ok(Request::Subflow(subflow)) if !matches!(way, Way::Bonded) => {
                let reached = Reached {
                    sender,
                    receiver,
                    terminal,
                    way,
                    path,
                };
                return Box::pin(self.subflow(reached, &subflow)).await;
            }
            Ok(Request::Resume(_) | Request::Subflow(_)) => {
                return cut(&mut sender, &mut receiver, CloseReason::Failed);
            }
            Err(why) => return cut(&mut sender, &mut receiver, why),
        };
        sender.note_served();
        let _active = counters.connections_active.hold();
        let refuses = *self.refuses.borrow();
        if refuses || counters.connections_active.get() > most(&self.state) {
            counters.connections_turned_away.increment();
            return cut(&mut sender, &mut receiver, CloseReason::Limit);
        }
        counters.connections_opened.increment();
        let config = self.state.config();
        let client = open.subscriber.or(open.source.map(|source| source.ip()));
        let subscriber = client.map(|client| Subscriber::of(client, &config.subscribers));
        let subscriber = subscriber.unwrap_or_default();
        let holder = Holder {
            terminal: Some(terminal),
            subscriber,
        };
        let member = self.state.usages().join(holder, &config);
        let own = config
            .subscribers
            .urgency(&open.destination, None, &config.priority);
        sender.classify(open.urgency.unwrap_or(own), subscriber, &member);
        receiver.classify(&member);
        let began = Instant::now();
        let closed = match self.begin(&open, &mut sender).await {
            Ok(tcp) => {
                let (toward, early, meter) = (Toward::Server, Bytes::new(), Meter::default());
                relay::pump(tcp, toward, sender, receiver, early, &self.timeouts, &meter).await
            }
            Err(why) => {
                sender.cut(why);
                receiver.stop(why);
                Closed {
                    up: 0,
                    down: 0,
                    cut: Some(why),
                }
            }
        };
        self.state.record(|| Record {
            protocol: "tcp",
            client: open.source,
            server: open.destination.to_string(),
            subscriber: Some(subscriber.to_string()),
            terminal: Some(terminal.to_string()),
            began,
            up: closed.up,
            down: closed.down,
            cut: closed.cut,
        });
        match closed.cut {
            None => counters.connections_ended.increment(),
            Some(why) => counters.cut(why).increment(),
        }
    }

    /// Adds a subflow to its connection, which the first one opens, and serves that then.
    async fn subflow(&self, reached: Reached, subflow: &Subflow) {
        let Reached {
            mut sender,
            mut receiver,
            terminal,
            path,
            ..
        } = reached;
        match self.bonds.join(terminal, subflow, &self.budget) {
            Joined::Opens(bond, halves) => {
                let (bonded, receives) = *halves;
                bond.attach(sender, receiver, &path, None);
                let path = Arc::clone(&path);
                let whole = Reached {
                    sender: bonded,
                    receiver: receives,
                    terminal,
                    way: Way::Bonded,
                    path,
                };
                tokio::select! {
                    () = self.connection(whole) => {}
                    () = self.removed(terminal) => bond.fail(),
                }
                self.bonds.end(terminal, subflow.id);
            }
            Joined::Adds(bond) => bond.attach(sender, receiver, &path, None),
            // How it has ended the other box knows by another subflow, or never.
            Joined::Ended => cut(&mut sender, &mut receiver, CloseReason::Reset),
            Joined::Unknown => cut(&mut sender, &mut receiver, CloseReason::PeerGone),
        }
    }

    /// Finds the connection that a terminal brings to the fallback, or takes its request for a new one.
    async fn resume(
        &self,
        resume: Resume,
        peer: &PublicKey,
        sender: &mut Sender,
        receiver: &mut Receiver,
    ) -> Result<Resumed, CloseReason> {
        let mut terminals = self.terminals.iter();
        let streams = terminals.find_map(|it| it.streams(peer, resume.tag));
        let streams = streams.ok_or(CloseReason::PeerGone)?;
        if resume.start > 0 || !streams.take(resume.index) {
            // What has ended has told its end over QUIC.
            let route = streams.find(resume.index).ok_or(CloseReason::Failed)?;
            return Ok(Resumed::Known(route));
        }
        sender.send(codec::encode_resumed(0)).await?;
        let request = tokio::time::timeout(self.outage, request(receiver)).await;
        match request.unwrap_or(Err(CloseReason::TimedOut))? {
            Request::Open(open) => Ok(Resumed::New(open)),
            _ => Err(CloseReason::Failed),
        }
    }

    /// Connects, and answers.
    async fn begin(&self, open: &Open, sender: &mut Sender) -> Result<TcpStream, CloseReason> {
        let tcp = tokio::select! {
            tcp = self.connect(open) => tcp?,
            // The client has gone in the meantime.
            why = sender.stopped() => return Err(why),
        };
        if open.confirm {
            sender.send(Bytes::from_static(&[CONNECTED])).await?;
        }
        Ok(tcp)
    }

    async fn connect(&self, open: &Open) -> Result<TcpStream, CloseReason> {
        let config = self.state.config();
        let policy = self.policy.under(&config.policy);
        let source = policy.source(open.source, config.intercept.as_ref());
        let mut why = CloseReason::NoSuchName;
        for address in policy.resolve(&open.destination).await? {
            match relay::connect(address, source, &self.dialer).await {
                Ok(tcp) => return Ok(tcp),
                Err(cut) => why = cut,
            }
        }
        Err(why)
    }
}

/// What comes of a request to go on with a connection.
enum Resumed {
    /// The hub had not seen it.
    New(Open),
    /// The hub has it.
    Known(Arc<moving::Route>),
}

fn cut(sender: &mut Sender, receiver: &mut Receiver, why: CloseReason) {
    sender.cut(why);
    receiver.stop(why);
}

/// Reads the request at the stream's start, and nothing of what follows it.
async fn request(receiver: &mut Receiver) -> Result<Request, CloseReason> {
    let mut bytes = BytesMut::new();
    loop {
        match codec::decode_request(&bytes) {
            Ok(Some((request, length))) => {
                receiver.put_back(bytes.split_off(length).freeze());
                return Ok(request);
            }
            Ok(None) => {}
            Err(malformed) => {
                tracing::warn!(%malformed, "a request that cannot be read");
                return Err(CloseReason::Failed);
            }
        }
        // It ends before the request does, or it never began.
        let more = receiver
            .receive(MOST_OPEN)
            .await?
            .ok_or(CloseReason::Failed)?;
        bytes.extend_from_slice(&more);
    }
}
