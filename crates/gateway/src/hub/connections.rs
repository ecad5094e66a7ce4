//! The connections of clients at the hub: each is read its request, connected to its server, and carried.

use crate::operate::SharedState;
use crate::operate::records::Record;
use crate::policy::Policy;
use crate::relay::{self, Closed, Dialer, Meter, Timeouts, Toward};
use crate::terminal::most;
use crate::tunnel::association::{Association, Associations};
use crate::tunnel::bond::{Bonds, Joined, Path};
use crate::tunnel::budget::Budget;
use crate::tunnel::codec::{self, CONNECTED, MOST_OPEN, Request, Resume, Subflow};
use crate::tunnel::credentials::Keys;
use crate::tunnel::fallback::measure;
use crate::tunnel::keys::PublicKey;
use crate::tunnel::moving::{self, Streams};
use crate::tunnel::sharing::Subscriber;
use crate::tunnel::{Receiver, Sender};
use crate::usage::{Class, Holder};
use crate::{CloseReason, Open};
use bytes::{Bytes, BytesMut};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// State shared by all connections of all terminals.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) state: Arc<SharedState>,
    pub(super) outage: Duration,
    pub(super) dialer: Dialer,
    pub(super) timeouts: Timeouts,
    pub(super) policy: Policy,
    /// No new connections are taken.
    pub(super) refuses: watch::Sender<bool>,
    /// Those of each WAN.
    pub(super) terminals: Vec<Associations>,
    pub(super) bonds: Arc<Bonds>,
    pub(super) budget: Arc<Budget>,
    /// The keys of the terminals that are served.
    pub(super) keys: watch::Sender<Arc<Keys>>,
}

/// How a connection reaches the hub.
pub(super) enum Way {
    /// By a stream of QUIC, with its index.
    Quic(Arc<Streams>, u64),
    /// By a connection of the fallback.
    Tls,
    /// By several of these.
    Bonded,
}

/// A connection of a terminal that has reached the hub.
pub(super) struct Reached {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) terminal: PublicKey,
    pub(super) way: Way,
    pub(super) path: Arc<Path>,
}

/// Serves the terminals that arrive over one WAN.
pub(super) async fn arrive(engine: Arc<Engine>, mut associations: mpsc::Receiver<Association>) {
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
    pub(super) async fn removed(&self, peer: PublicKey) {
        let mut keys = self.keys.subscribe();
        let gone = keys.wait_for(|keys| !keys.peers.contains(&peer));
        if gone.await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Serves one connection of a client, or one of its subflows.
    pub(super) async fn connection(&self, reached: Reached) {
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
        let own = config
            .subscribers
            .urgency(&open.destination, None, &config.priority);
        let urgency = open.urgency.unwrap_or(own);
        let class = Class::Tcp(urgency);
        let member = self.state.usages().join(holder, class, &config);
        sender.classify(urgency, subscriber, &member);
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
