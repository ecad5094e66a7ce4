//! The QUIC endpoint of a box: its socket, its connection ids, and the settings of
//! the transport.

use super::association::Openable;
use super::beside;
use super::budget::{self, Budget};
use super::controller::{Choice, Factory};
use super::keys::Identity;
use super::known::{self, Knowledge};
use super::measured;
use super::resume::{self, Memory};
use super::shaper::Shaper;
use super::sharing::Gate;
use super::socket::ShapedSocket;
use super::steering::ID_LENGTH;
use super::verified::Verified;
use crate::config::{Bind, Config, Tunnel};
use crate::operate::SharedState;
use bentpipe_quic::turns::{DATAGRAMS_AHEAD, datagrams_ahead};
use bentpipe_units::Rate;
use quinn::{
    AckFrequencyConfig, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig, IdleTimeout,
    MtuDiscoveryConfig, ServerConfig, TransportConfig, VarInt,
};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

/// Buffers of the UDP socket, bytes: what a link of 1 Gbit/s brings in 60 ms, in
/// which this process may wait for a processor.
const SOCKET_BUFFER: usize = 8 << 20;
/// Headers of UDP and IPv6, the longer ones.
const HEADERS: u16 = 48;
/// Packets that may arrive before one acknowledgement; losses and the delay timer
/// bring it earlier.
const PACKETS_AN_ACK: u32 = 9;
/// Datagrams that have arrived and that this process has not taken yet, bytes: a busy machine takes a
/// while. The oldest are dropped.
const DATAGRAMS_RECEIVED: usize = 4 << 20;
/// Connections of the hub whose peer is not yet known; more are not answered.
pub(crate) const HALF_OPEN: usize = 64;
/// Those of one address: a terminal makes as many at once over the fallback, and one address cannot
/// keep the others out.
pub(crate) const HALF_OPEN_SHARE: usize = HALF_OPEN / 2;

/// Binds the UDP socket of a hub; an IPv6 wildcard takes IPv4 as well. A later process may bind
/// [beside](bind_beside) it.
///
/// # Errors
/// The address cannot be bound, or another process has it.
pub fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    // A socket that is not shared finds out whether the address is free: of those that are,
    // there may be several, also of gateways that have nothing to do with each other.
    let alone = bind_socket(address, None, false)?;
    let address = alone.local_addr()?;
    drop(alone);
    bind_beside(address)
}

/// Binds a UDP socket of a hub at an address that an older process of the same hub has as well.
///
/// # Errors
/// The address cannot be bound, or has a socket that is not shared.
pub fn bind_beside(address: SocketAddr) -> io::Result<UdpSocket> {
    bind_socket(address, None, true)
}

/// Binds the UDP socket of a terminal, so that packets leave where `at` says.
///
/// # Errors
/// The address cannot be bound; there is no such interface, or the address is of another kind.
pub(super) fn bind_at(address: SocketAddr, at: Option<&Bind>) -> io::Result<UdpSocket> {
    bind_socket(address, at, false)
}

fn bind_socket(address: SocketAddr, at: Option<&Bind>, shared: bool) -> io::Result<UdpSocket> {
    let address = match at {
        Some(Bind::Address(own)) => SocketAddr::new(*own, address.port()),
        _ => address,
    };
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    // The kernel's limits may make them smaller.
    socket.set_recv_buffer_size(SOCKET_BUFFER)?;
    socket.set_send_buffer_size(SOCKET_BUFFER)?;
    if let Some(Bind::Interface(name)) = at {
        socket.bind_device(Some(name.as_bytes()))?;
    }
    socket.set_reuse_port(shared)?;
    socket.bind(&address.into())?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Listens on TCP, for the fallback.
///
/// # Errors
/// The address cannot be bound.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Makes the endpoint on a bound socket, which it shares with repairs.
pub(crate) fn endpoint(
    socket: UdpSocket,
    identity: &Identity,
    instance: u8,
    server: Option<ServerConfig>,
    shaper: &Arc<Shaper>,
) -> io::Result<(Endpoint, Arc<ShapedSocket>)> {
    // The key of stateless resets stays the same after a restart, so that the
    // other box learns from its next packet that its association is gone (RFC
    // 9000, section 10.3).
    let reset = hmac::Key::new(hmac::HMAC_SHA256, &identity.derive("stateless reset"));
    let mut config = EndpointConfig::new(Arc::new(reset));
    config.cid_generator(move || Box::new(Ids { instance }));
    // The bit tells its packets from repairs.
    config.grease_quic_bit(false);
    let socket = ShapedSocket::new(socket, Arc::clone(shaper))?;
    let runtime = Arc::new(quinn::TokioRuntime);
    let shared = Arc::clone(&socket);
    let endpoint = Endpoint::new_with_abstract_socket(config, server, shared, runtime)?;
    Ok((endpoint, socket))
}

/// How a box sends into the satellite link: the settings of its associations.
#[derive(Debug)]
pub(crate) struct Sending {
    knowledge: Arc<Knowledge>,
    budget: Arc<Budget>,
    choice: Choice,
    outage: Duration,
    window: u64,
    wan: Option<String>,
    config: Config,
}

impl Sending {
    /// Those of all links that the configuration has, `[link]` first. The rate of that follows `state`.
    ///
    /// # Errors
    /// A configured congestion control cannot run over QUIC.
    pub(crate) fn all(
        config: &Config,
        tunnel: &Tunnel,
        state: &Arc<SharedState>,
    ) -> io::Result<Vec<Sending>> {
        let memory = config.limits.memory;
        let links = 1 + config.wans.len();
        let budget = Budget::of_links(links, memory, memory, tunnel.stream_window);
        tokio::spawn(budget::keep(Arc::downgrade(&budget), Arc::clone(state)));
        let mut all = vec![Sending::new(0, config, tunnel, None, state, &budget)?];
        for (at, wan) in (1..).zip(&config.wans) {
            let (over, port) = (config.over(wan), Some(wan.port));
            all.push(Sending::new(at, &over, tunnel, port, state, &budget)?);
        }
        Ok(all)
    }

    fn new(
        number: usize,
        config: &Config,
        tunnel: &Tunnel,
        port: Option<u16>,
        state: &Arc<SharedState>,
        budget: &Arc<Budget>,
    ) -> io::Result<Sending> {
        let link = &config.link;
        let choice = Choice::named(&link.transport).map_err(io::Error::other)?;
        let rate = match number {
            0 => *state.rate().borrow(),
            _ => link.configured(),
        };
        let knowledge = Knowledge::of(link, rate, config.role);
        if number == 0 {
            tokio::spawn(known::follow(Arc::downgrade(&knowledge), state.rate()));
        }
        // The hub's terminals are many, and their paths end in one link.
        let mut path = match tunnel.hubs.first() {
            Some(hub) => hub.to_string(),
            None => tunnel.listen.to_string(),
        };
        if let Some(port) = port {
            path = format!("{path}-{port}");
        }
        let memory = Memory::of(&path).filter(|_| choice.name() == resume::TRANSPORT);
        let choice = match memory.as_ref().and_then(Memory::parameters) {
            Some(parameters) => choice.with(parameters),
            None => choice,
        };
        measured::start(number, &knowledge, memory, budget, state);
        beside::start(&knowledge, state, link);
        Ok(Sending {
            knowledge,
            choice,
            outage: tunnel.outage,
            window: tunnel.stream_window,
            wan: config.wan_name(number).map(str::to_owned),
            config: config.clone(),
            budget: Arc::clone(budget),
        })
    }

    /// The name of the link, where there are several.
    pub(crate) fn wan(&self) -> Option<&str> {
        self.wan.as_deref()
    }

    /// Knowledge about the link.
    pub(crate) const fn knowledge(&self) -> &Arc<Knowledge> {
        &self.knowledge
    }

    /// The memory of all streams.
    pub(crate) const fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The settings of an association with the box at `peer`, for either side, and the turns of its
    /// streams: those of one association at a time.
    pub(crate) fn transport(&self, peer: SocketAddr) -> (TransportConfig, Arc<Gate>) {
        let mut transport = TransportConfig::default();
        // The heartbeat keeps the association and any NAT on the way alive.
        transport.keep_alive_interval(None);
        transport.max_idle_timeout(Some(
            IdleTimeout::try_from(self.outage).unwrap_or_else(|_| VarInt::MAX.into()),
        ));
        transport.initial_rtt(self.knowledge.rtt());
        transport.stream_receive_window(varint(self.window));
        // As much as is free; the budget follows it, and cuts who stalls before the window that
        // all share is full.
        transport.receive_window(varint(self.budget.window(1)));
        transport.send_window(u64::MAX);
        // A box opens streams to the hub only, and the hub counts them once it knows
        // the terminal.
        transport.max_concurrent_bidi_streams(VarInt::from_u32(1));
        // For what boxes have to say about the path.
        transport.max_concurrent_uni_streams(VarInt::from_u32(4));
        transport.datagram_receive_buffer_size(Some(DATAGRAMS_RECEIVED));
        // quinn sends datagrams before data of streams, in the order in which it has them.
        let rate = self.config.link.configured().map_or(0.0, Rate::bps_f64);
        let few = datagrams_ahead((rate / 8.0 * DATAGRAMS_AHEAD.as_secs_f64()) as u64);
        // At most a megabyte.
        transport.datagram_send_buffer_size(few as usize);
        transport.allow_spin(false);
        transport.qlog_stream(crate::operate::qlog::stream(&self.config));
        // Packets of the configured size leave from the first on: the search for
        // it would cost round trips. Where the path turns out to carry less, quinn
        // goes back to 1200 bytes and searches.
        let payload = self.config.link.packet.saturating_sub(HEADERS).max(1200);
        let mut search = MtuDiscoveryConfig::default();
        search.upper_bound(payload);
        transport.initial_mtu(payload);
        transport.mtu_discovery_config(Some(search));
        // The return link is often the slow one.
        let mut acks = AckFrequencyConfig::default();
        acks.ack_eliciting_threshold(VarInt::from_u32(PACKETS_AN_ACK));
        transport.ack_frequency_config(Some(acks));
        let shaped = self.knowledge.shaper().peer(peer);
        let knowledge = Arc::clone(&self.knowledge);
        let gate = Gate::new(&knowledge, &shaped, self.config.udp.share);
        let control = Verified {
            inner: Arc::new(Factory::new(
                self.choice.clone(),
                Arc::clone(&knowledge),
                Arc::clone(&shaped),
            )),
            verifies: self.choice.trusts_rate(),
            knowledge,
            peer: shaped,
            address: peer,
        };
        transport.congestion_controller_factory(Arc::new(Openable {
            inner: Arc::new(control),
            gate: Arc::clone(&gate),
        }));
        (transport, gate)
    }
}

fn varint(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}

/// Random connection ids whose first byte is the process's own, so that the packets
/// of an older process can be told apart while it drains.
#[derive(Debug)]
struct Ids {
    instance: u8,
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut id = [0; ID_LENGTH];
        // Without randomness, ids collide and quinn asks for another.
        let _ = SystemRandom::new().fill(&mut id);
        id[0] = self.instance;
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        ID_LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// A random number.
pub(crate) fn random() -> u64 {
    let mut bytes = [0; 8];
    let _ = SystemRandom::new().fill(&mut bytes);
    u64::from_ne_bytes(bytes)
}
