//! The terminal: on the users' side of the satellite, it carries the connections
//! that reach it through the tunnel to one of its hubs.

use crate::config::Config;
use crate::descriptors;
use crate::entry::{Arrival, Reply};
use crate::intercept::Plan;
use crate::operate::SharedState;
use crate::operate::records::Record;
use crate::relay::{self, Closed, Meter, Timeouts, Toward};
use crate::shares::{Share, Shares};
use crate::tunnel::association::{Health, Hubs, Status};
use crate::tunnel::codec::{self, CONNECTED, Hello, MOST_OPEN};
use crate::tunnel::credentials::Keys;
use crate::tunnel::known::Knowledge;
use crate::tunnel::sharing::Subscriber;
use crate::tunnel::{Receiver, Sender};
use crate::usage::{Class, Holder};
use crate::{CloseReason, Destination, sys, udp};
use bytes::Bytes;
use socket2::SockRef;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long a new connection waits for an association, and for its answer no
/// longer than a client would.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the request waits for the client's first bytes, so that both leave in
/// one packet; clients of protocols in which the server speaks first send none.
const FIRST_BYTES: Duration = Duration::from_millis(3);
/// Most bytes that leave with the request.
const MOST_FIRST: usize = 16 * 1024;
/// Longest wait for the hub's answer to a request that is confirmed: longer than
/// the hub tries to connect.
const ANSWER: Duration = Duration::from_secs(60);

/// Associations of UDP that one address of a client may have, once half of all are there.
const ASSOCIATIONS: usize = 64;
/// All of them at a time.
const ALL_ASSOCIATIONS: usize = 1024;

/// After how long a silent client is asked whether it is there: its net costs nothing, and who is gone
/// holds a connection at both boxes until then.
const CLIENTS_ASKED: Duration = Duration::from_secs(60);

/// A running terminal: the box on the users' side.
#[derive(Debug)]
pub struct Terminal {
    hubs: Hubs,
    state: Arc<SharedState>,
    timeouts: Timeouts,
    associations: Arc<Shares>,
}

impl Terminal {
    /// Begins to connect to its hubs. It is called in a runtime of tokio.
    ///
    /// # Errors
    /// The key or the peer's key is unusable, or no socket can be had.
    pub fn start(config: &Config, state: Arc<SharedState>, hello: Hello) -> io::Result<Terminal> {
        let tunnel = config
            .tunnel
            .as_ref()
            .ok_or_else(|| io::Error::other("a terminal needs `[tunnel]`"))?;
        let keys = Keys::read(tunnel).map_err(io::Error::other)?;
        let hubs = Hubs::start(config, tunnel, keys, hello, &state)?;
        Ok(Terminal {
            hubs,
            state,
            timeouts: Timeouts {
                keepalive: CLIENTS_ASKED,
                ..Timeouts::default()
            },
            associations: Shares::new(ASSOCIATIONS, ALL_ASSOCIATIONS / 2),
        })
    }

    /// How the hub in use answers, as it changes.
    #[must_use]
    pub fn status(&self) -> watch::Receiver<Status> {
        self.hubs.status()
    }

    /// Waits until connections can be carried.
    pub async fn ready(&self) {
        let mut status = self.status();
        let serves = |status: &Status| matches!(status.health, Health::Up | Health::Fallback);
        // The sender lives as long as the client.
        let _ = status.wait_for(serves).await;
    }

    /// Carries one connection from its arrival to its end.
    pub async fn serve(&self, arrival: Arrival) -> Closed {
        let counters = &self.state.counters;
        let _active = counters.connections_active.hold();
        if counters.connections_active.get() > most(&self.state) {
            counters.connections_turned_away.increment();
            arrival.reply.failed(arrival.tcp, CloseReason::Limit).await;
            return cut_before(CloseReason::Limit);
        }
        if arrival.reply == Reply::Associate {
            return self.associate(arrival).await;
        }
        counters.connections_opened.increment();
        let (began, meter) = (Instant::now(), Meter::default());
        let client = arrival.tcp.peer_addr().ok();
        let server = arrival.open.destination.clone();
        let closed = self.carry(arrival, &meter).await;
        self.state.record(|| {
            let subscribers = &self.state.config().subscribers;
            let subscriber = client.map(|client| Subscriber::of(client.ip(), subscribers));
            Record {
                protocol: "tcp",
                client,
                server: server.to_string(),
                subscriber: subscriber.map(|it| it.to_string()),
                terminal: None,
                began,
                up: closed.up,
                down: closed.down,
                cut: closed.cut,
            }
        });
        match closed.cut {
            None => counters.connections_ended.increment(),
            Some(why) => counters.cut(why).increment(),
        }
        closed
    }

    async fn carry(&self, arrival: Arrival, meter: &Meter) -> Closed {
        let Arrival {
            mut tcp,
            mut open,
            first,
            reply,
        } = arrival;
        let mut request = Vec::with_capacity(MOST_OPEN);
        if codec::encode(&open, &mut request).is_err() {
            reply.failed(tcp, CloseReason::NoSuchName).await;
            return cut_before(CloseReason::NoSuchName);
        }
        let (mut sender, mut receiver) = match self.hubs.open(PATIENCE).await {
            Ok(halves) => halves,
            Err(why) => {
                reply.failed(tcp, why).await;
                return cut_before(why);
            }
        };
        let config = self.state.config();
        let client = tcp.peer_addr().map(|client| client.ip()).ok();
        let subscriber = client.map(|client| Subscriber::of(client, &config.subscribers));
        let subscriber = subscriber.unwrap_or_default();
        let holder = Holder {
            terminal: None,
            subscriber,
        };
        let dscp = sys::dscp(&tcp);
        let (subscribers, priority) = (&config.subscribers, &config.priority);
        let urgency = subscribers.urgency(&open.destination, dscp, priority);
        let class = Class::Tcp(urgency);
        let member = self.state.usages().join(holder, class, &config);
        sender.classify(urgency, subscriber, &member);
        receiver.classify(&member);
        // The hub does not see the client's packets.
        let by_dscp = urgency != subscribers.urgency(&open.destination, None, priority);
        open.urgency = by_dscp.then_some(urgency);
        if (open.source.is_none() || by_dscp) && sender.names_subscriber() {
            open.subscriber = subscriber.net().map(|net| net.address());
            request.clear();
            // It could be encoded without.
            let _ = codec::encode(&open, &mut request);
        }
        let first = if open.confirm || !first.is_empty() {
            first
        } else {
            match first_bytes(&tcp).await {
                Ok(first) => first,
                Err(why) => return cut(&mut sender, &mut receiver, why),
            }
        };
        let early = u64::try_from(first.len()).unwrap_or(0);
        request.extend_from_slice(&first);
        let begun = begin(&mut sender, &mut receiver, request.into(), open.confirm).await;
        if let Err(why) = begun {
            cut(&mut sender, &mut receiver, why);
            reply.failed(tcp, why).await;
            return cut_before(why);
        }
        meter.count_up(early);
        if let Err(why) = reply.connected(&mut tcp).await {
            return cut(&mut sender, &mut receiver, why);
        }
        let toward = Toward::Client;
        relay::pump(
            tcp,
            toward,
            sender,
            receiver,
            Bytes::new(),
            &self.timeouts,
            meter,
        )
        .await
    }

    /// Carries the datagrams of a SOCKS5 client for as long as its connection stands.
    async fn associate(&self, arrival: Arrival) -> Closed {
        let Arrival {
            mut tcp,
            open,
            reply,
            ..
        } = arrival;
        let (association, _share) = match self.association(&tcp, &open.destination) {
            Ok(made) => made,
            Err(why) => {
                reply.failed(tcp, why).await;
                return cut_before(why);
            }
        };
        let answered = match association.address() {
            Ok(address) => Reply::associated(&mut tcp, address).await,
            Err(error) => Err(error),
        };
        if let Err(error) = answered {
            return cut_before(CloseReason::from_io(&error));
        }
        // A client that is gone without a word has it no longer than a connection.
        relay::keep_alive(&tcp, &self.timeouts);
        tokio::select! {
            () = association.run() => {}
            () = left(&mut tcp) => {}
        }
        // Nothing of it is lost: it ends in order.
        let _ = SockRef::from(&tcp).set_linger(None);
        Closed {
            up: 0,
            down: 0,
            cut: None,
        }
    }

    /// An association for the client of `tcp`, which says from where it will send.
    fn association(
        &self,
        tcp: &TcpStream,
        said: &Destination,
    ) -> Result<(udp::Association, Share), CloseReason> {
        let failed = |error: io::Error| CloseReason::from_io(&error);
        let (local, client) = (tcp.local_addr(), tcp.peer_addr().map_err(failed)?);
        let Destination::Address(said) = said else {
            return Err(CloseReason::NoSuchName);
        };
        let share = self.associations.take(client.ip());
        let share = share.ok_or(CloseReason::Limit)?;
        let (local, entrance) = (local.map_err(failed)?.ip(), self.hubs.udp());
        let association = udp::Association::new(entrance, local, client.ip(), *said)?;
        Ok((association, share))
    }

    /// Carries a flow of UDP, of which `first` is the first datagram, until it ends.
    pub fn serve_udp(&self, arrival: udp::Arrival, first: &[u8]) {
        self.hubs.udp().serve(arrival, first);
    }

    /// Whether UDP is carried now.
    #[must_use]
    pub fn carries_udp(&self) -> bool {
        self.status().borrow().health == Health::Up && self.hubs.udp().is_open()
    }

    /// Takes the UDP that the rules of `plan` bring, until what it returns is dropped.
    ///
    /// # Errors
    /// A socket cannot be had.
    pub(crate) fn intercept_udp(&self, plan: &Plan) -> io::Result<JoinSet<()>> {
        self.hubs.udp().listen(plan)
    }

    /// Leaves new connections to another process of this terminal.
    pub(crate) fn leave(&self) {
        self.hubs.leave();
    }

    /// What is known of its links, `[link]` first.
    pub(crate) fn links(&self) -> Vec<Arc<Knowledge>> {
        self.hubs.links()
    }

    /// Closes the associations and makes no others; connections that are open are
    /// reset.
    pub async fn stop(&self) {
        self.hubs.stop().await;
    }
}

/// Connections that a box may have, by the configuration that is in force and the limit on open
/// files.
pub(crate) fn most(state: &SharedState) -> u64 {
    let falls_back = state.counters.fallback_active.get() > 0;
    let most = descriptors::connections(&state.config(), falls_back);
    u64::try_from(most).unwrap_or(u64::MAX)
}

const fn cut_before(why: CloseReason) -> Closed {
    Closed {
        up: 0,
        down: 0,
        cut: Some(why),
    }
}

fn cut(sender: &mut Sender, receiver: &mut Receiver, why: CloseReason) -> Closed {
    sender.cut(why);
    receiver.stop(why);
    cut_before(why)
}

/// Waits until a client has ended its connection; what it writes means nothing.
async fn left(tcp: &mut TcpStream) {
    let mut read = [0; 256];
    while tcp.read(&mut read).await.is_ok_and(|length| length > 0) {}
}

/// Sends the request and, where it is to be confirmed, waits for the answer.
async fn begin(
    sender: &mut Sender,
    receiver: &mut Receiver,
    request: Bytes,
    confirm: bool,
) -> Result<(), CloseReason> {
    sender.send(request).await?;
    if !confirm {
        return Ok(());
    }
    let answer = tokio::time::timeout(ANSWER, receiver.receive(1));
    match answer.await.unwrap_or(Err(CloseReason::TimedOut))? {
        Some(bytes) if bytes.as_ref() == [CONNECTED] => Ok(()),
        _ => Err(CloseReason::Failed),
    }
}

/// What the client sends within a few milliseconds, possibly nothing. An end is
/// left to whoever reads next.
async fn first_bytes(tcp: &TcpStream) -> Result<Bytes, CloseReason> {
    let read = async {
        loop {
            tcp.readable().await?;
            let mut bytes = Vec::with_capacity(MOST_FIRST);
            match tcp.try_read_buf(&mut bytes) {
                Ok(_) => return Ok(bytes.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    };
    match tokio::time::timeout(FIRST_BYTES, read).await {
        Ok(read) => read.map_err(|error| CloseReason::from_io(&error)),
        Err(_) => Ok(Bytes::new()),
    }
}
