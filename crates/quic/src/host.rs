//! One end of a connection: an endpoint of quinn-proto with its one connection.

use crate::IP_HEADERS;
use crate::clock::Clock;
use crate::controller::View;
use crate::datagrams::Datagrams;
use crate::limit::Limit;
use crate::pacer::Pacer;
use crate::seeds::{self, Ids, ResetKey, TokenKey};
use crate::session::Sessions;
use crate::settings::{Factory, Pacing, Settings, SettingsError};
use crate::streams::{Exchanges, Sending, USUAL_URGENCY};
use bentpipe_cc::{Controller, Fault};
use bentpipe_units::{Duration as Span, Rate, Time};
use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::ControllerFactory;
use quinn_proto::{
    ClientConfig, ConnectionError, ConnectionEvent, ConnectionHandle, DatagramEvent, EcnCodepoint,
    Endpoint, EndpointConfig, Event, ServerConfig, Side, StreamEvent, Transmit,
    ValidationTokenConfig, VarInt,
};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Addresses of the two ends (RFC 5737).
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 50_000);
const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 443);

/// A datagram on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The payload of UDP.
    pub payload: BytesMut,
    /// Sent as ECN-capable (ECT(0)); on arrival, whether a router marked it is told besides.
    pub ecn_capable: bool,
}

/// Counts of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sum {
    /// Datagrams sent.
    pub datagrams: u64,
    /// Payload of UDP sent, bytes.
    pub bytes: u64,
    /// Packets that were found lost (RFC 9002, section 6.1), those of path MTU discovery not
    /// counted.
    pub lost: u64,
    /// Bytes of those.
    pub lost_bytes: u64,
    /// ACK frames received.
    pub acks: u64,
}

/// One end of a connection.
pub struct Host {
    clock: Clock,
    side: Side,
    endpoint: Endpoint,
    client: Option<ClientConfig>,
    connection: Option<(ConnectionHandle, quinn_proto::Connection)>,
    /// Ours; `None` with a control of quinn's own.
    factory: Option<Arc<Factory>>,
    pacing: Pacing,
    batch: usize,
    ecn: bool,
    pacer: Pacer,
    /// What quinn-proto writes packets to.
    buffer: Vec<u8>,
    ready: VecDeque<Datagram>,
    sending: Sending,
    exchanges: Exchanges,
    datagrams: Datagrams,
    received: u64,
    /// How the receiver's limit grows; `None` where it is one window from the start.
    limit: Option<Limit>,
    is_connected: bool,
    error: Option<String>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Host");
        out.field("side", &self.side)
            .field("sending", &self.sending)
            .field("received", &self.received);
        out.finish_non_exhaustive()
    }
}

impl Host {
    /// The end that opens the connection ([`Side::Client`]) or the other, with one of our
    /// congestion controls.
    ///
    /// # Errors
    /// QUIC does not allow the settings.
    pub fn new(
        side: Side,
        settings: &Settings,
        control: Controller,
        seed: u64,
    ) -> Result<Host, SettingsError> {
        let factory = Arc::new(Factory::new(control, seed, settings));
        let mut host = Host::with(side, settings, factory.clone(), seed)?;
        host.factory = Some(factory);
        Ok(host)
    }

    /// The same with any control that quinn-proto takes, such as its own.
    ///
    /// # Errors
    /// QUIC does not allow the settings.
    pub fn with(
        side: Side,
        settings: &Settings,
        control: Arc<dyn ControllerFactory + Send + Sync>,
        seed: u64,
    ) -> Result<Host, SettingsError> {
        settings.check()?;
        let transport = settings.transport(control);
        let sessions = Sessions::new(settings)?;
        let mut config = EndpointConfig::new(Arc::new(ResetKey(seed)));
        config.rng_seed(Some(seeds::endpoint(seed)));
        config.cid_generator(move || Box::new(Ids::new(seed)));
        let (client, server) = match side {
            Side::Client => {
                let mut client = ClientConfig::new(sessions.client);
                client.transport_config(transport);
                client.initial_dst_cid_provider(Arc::new(move || seeds::first_destination(seed)));
                (Some(client), None)
            }
            Side::Server => {
                let mut server = ServerConfig::new(sessions.server, Arc::new(TokenKey));
                server.transport_config(transport);
                let mut tokens = ValidationTokenConfig::default();
                tokens.sent(0);
                server.validation_token_config(tokens);
                (None, Some(Arc::new(server)))
            }
        };
        Ok(Host {
            clock: Clock::new(),
            side,
            endpoint: Endpoint::new(Arc::new(config), server, true, None),
            client,
            connection: None,
            factory: None,
            pacing: settings.pacing,
            batch: settings.batch.max(1),
            ecn: settings.ecn,
            pacer: Pacer::default(),
            buffer: Vec::new(),
            ready: VecDeque::new(),
            sending: Sending::default(),
            exchanges: Exchanges::default(),
            datagrams: Datagrams::default(),
            received: 0,
            limit: settings
                .initial_receive_window
                .map(|initial| Limit::new(initial, settings.receive_window)),
            is_connected: false,
            error: None,
        })
    }

    /// A client opens the connection. Poll [`Host::transmit`] afterwards, as after every call.
    pub fn open(&mut self, now: Time) {
        let Some(client) = self.client.take() else {
            return;
        };
        let now = self.clock.instant(now);
        match self.endpoint.connect(now, client, SERVER, "server") {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => self.error = Some(error.to_string()),
        }
        // With a ticket data leave at once.
        self.fill();
    }

    /// The application writes `bytes` more to its one stream; with `last` nothing follows.
    pub fn write(&mut self, bytes: u64, last: bool) {
        self.sending.write(bytes, last);
        self.fill();
    }

    /// The application has nothing more to send than what the stream has taken.
    pub fn withdraw(&mut self) {
        self.sending.withdraw();
        self.exchanges.withdraw();
        self.fill();
    }

    /// A client asks: a request of `bytes` on a stream of its own (RFC 9114, section 4.1).
    pub fn ask(&mut self, bytes: u64) {
        self.exchanges.ask(bytes);
        self.fill();
    }

    /// A server answers the oldest request that has arrived in whole and is not answered yet, with
    /// `bytes` on the request's stream. False if there is none.
    pub fn answer(&mut self, bytes: u64) -> bool {
        self.answer_urgently(bytes, USUAL_URGENCY)
    }

    /// The number of the request that [`Host::answer`] answers, counted from zero in the order in
    /// which they were asked; `None` if none waits.
    #[must_use]
    pub fn requested(&self) -> Option<u64> {
        self.exchanges.requested()
    }

    /// The number of a request whose response has arrived in whole, each once and in the order in
    /// which they arrived.
    pub fn responded(&mut self) -> Option<u64> {
        self.exchanges.responded()
    }

    /// Answers as [`Host::answer`] does. What is more urgent, from 0, the most, to 7, is sent before
    /// what is less; those of one urgency take turns (RFC 9218, section 4.1).
    pub fn answer_urgently(&mut self, bytes: u64, urgency: u8) -> bool {
        let answers = self.exchanges.answer(bytes, urgency);
        if answers {
            self.fill();
        }
        answers
    }

    /// Responses that have arrived in whole so far; at a server, requests.
    #[must_use]
    pub const fn completed(&self) -> u64 {
        self.exchanges.completed
    }

    /// Sends a datagram of `bytes`, at least 8 and at most [`crate::largest_datagram`], of which
    /// nothing is sent again (RFC 9221). They are numbered from zero; one that is sent while
    /// [`Host::may_send`] is false is lost.
    pub fn send_datagram(&mut self, bytes: u64) {
        if let Some((_, connection)) = &mut self.connection {
            self.datagrams.send(connection, bytes);
        }
    }

    /// The number of a datagram that has arrived, each once and in the order in which they did.
    pub fn take_datagram(&mut self) -> Option<u64> {
        self.datagrams.take()
    }

    /// Closes the connection. What is not acknowledged is not sent again.
    pub fn close(&mut self, now: Time) {
        let now = self.clock.instant(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
    }

    /// Gives the streams what they take.
    fn fill(&mut self) {
        let may_send = self.may_send();
        if let Some((_, connection)) = self.connection.as_mut().filter(|_| may_send) {
            self.sending.fill(connection);
            self.exchanges.fill(connection);
        }
    }

    /// A datagram arrives, `marked` by a router on its way or not.
    pub fn receive(&mut self, now: Time, datagram: Datagram, marked: bool) {
        let at = self.clock.instant(now);
        let peer = match self.side {
            Side::Client => SERVER,
            Side::Server => CLIENT,
        };
        let ecn = match (marked, datagram.ecn_capable) {
            (true, _) => Some(EcnCodepoint::Ce),
            (false, true) => Some(EcnCodepoint::Ect0),
            (false, false) => None,
        };
        self.buffer.clear();
        let buffer = &mut self.buffer;
        match self
            .endpoint
            .handle(at, peer, None, ecn, datagram.payload, buffer)
        {
            None => {}
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.take(event),
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, at, &mut self.buffer, None) {
                    Ok(connection) => {
                        self.connection = Some(connection);
                        self.follow();
                    }
                    Err(error) => {
                        self.error = Some(error.cause.to_string());
                        if let Some(transmit) = error.response {
                            self.queue(&transmit);
                        }
                    }
                }
            }
            Some(DatagramEvent::Response(transmit)) => self.queue(&transmit),
        }
    }

    fn take(&mut self, event: ConnectionEvent) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_event(event);
            self.follow();
        }
    }

    /// Follows up on what has happened to the connection.
    fn follow(&mut self) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut fills = false;
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => {
                    self.is_connected = true;
                    fills = true;
                }
                // One of the two ends has nothing more to do.
                Event::ConnectionLost {
                    reason: ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed,
                } => {}
                Event::ConnectionLost { reason } => self.error = Some(reason.to_string()),
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(stream) = connection.streams().accept(dir) {
                        self.received += self.exchanges.read(connection, stream);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => {
                    self.received += self.exchanges.read(connection, id);
                }
                Event::Stream(StreamEvent::Writable { .. } | StreamEvent::Available { .. }) => {
                    fills = true;
                }
                Event::Stream(StreamEvent::Finished { id }) => self.sending.finished(id),
                Event::DatagramReceived => self.received += self.datagrams.read(connection),
                Event::Stream(StreamEvent::Stopped { .. })
                | Event::HandshakeDataReady
                | Event::DatagramsUnblocked => {}
            }
        }
        if let Some(limit) = &mut self.limit
            && limit.follow(self.received, connection)
        {
            self.limit = None;
        }
        if fills {
            self.fill();
        }
    }

    /// Splits what quinn-proto has written into datagrams.
    fn queue(&mut self, transmit: &Transmit) {
        let ecn_capable = self.ecn && transmit.ecn.is_some();
        let written = &self.buffer[..transmit.size];
        for part in written.chunks(transmit.segment_size.unwrap_or(transmit.size).max(1)) {
            self.ready.push_back(Datagram {
                payload: BytesMut::from(part),
                ecn_capable,
            });
        }
    }

    /// The next datagram that leaves at `now`. It is to be asked until it has none, after every
    /// other call and when [`Host::deadline`] is over.
    pub fn transmit(&mut self, now: Time) -> Option<Datagram> {
        if self.ready.is_empty() {
            self.build(now);
        }
        self.ready.pop_front()
    }

    fn build(&mut self, now: Time) {
        let rate = self.rate();
        if let Some(rate) = rate {
            self.pacer.limit(now, rate, self.credit());
        }
        // Who only asks or acknowledges is not paced (RFC 9002, section 7.7).
        let has_data =
            self.sending.has_begun() || self.exchanges.has_answered() || self.datagrams.has_begun();
        let sends = has_data && self.may_send();
        let pace = rate.filter(|_| sends);
        match pace {
            Some(_) if !self.pacer.admits(now) => return,
            Some(_) => {}
            // A control that no longer paces holds nothing back.
            None => self.pacer.release(),
        }
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        let batch = match pace {
            Some(rate) => Pacer::quantum(rate, connection.current_mtu() + IP_HEADERS, self.batch),
            None => self.batch,
        };
        self.buffer.clear();
        let at = self.clock.instant(now);
        if let Some(transmit) = connection.poll_transmit(at, batch, &mut self.buffer) {
            self.queue(&transmit);
            if let Some(rate) = pace {
                let headers = self.ready.len() * usize::from(IP_HEADERS);
                let bytes = (transmit.size + headers) as u64;
                self.pacer.sent(bytes, rate);
            }
        }
    }

    /// The rate at which data are spaced here, if they are.
    fn rate(&self) -> Option<Rate> {
        let adapter = self.factory.as_ref()?.made.get()?;
        let gain = match self.pacing {
            Pacing::Window(gain) => Some(gain),
            Pacing::Quinn | Pacing::Off => None,
        };
        adapter.pace_at(gain, IP_HEADERS)
    }

    /// Bytes of packets that may follow another one at once where packets are spaced here: what
    /// the control lets go together.
    fn credit(&self) -> u64 {
        let view = self.view();
        view.map_or(0, |view| {
            u64::from(view.quantum.saturating_sub(1)) * u64::from(view.mtu + IP_HEADERS)
        })
    }

    /// A timer is due at `now`.
    pub fn on_deadline(&mut self, now: Time) {
        let at = self.clock.instant(now);
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|due| due <= at)
        {
            connection.handle_timeout(at);
            self.follow();
        }
    }

    /// When a timer is due next; [`Time::MAX`] without one.
    pub fn deadline(&mut self) -> Time {
        let clock = self.clock;
        let timer = self.connection.as_mut().and_then(|(_, c)| c.poll_timeout());
        let timer = timer.map_or(Time::MAX, |at| clock.time(at));
        self.pacer.wakes_at().map_or(timer, |at| timer.min(at))
    }

    /// This end may send data: the connection exists, or the client has a ticket for 0-RTT packets,
    /// which a server answers before the handshake is complete.
    #[must_use]
    pub fn may_send(&self) -> bool {
        let early = |(_, c): &(ConnectionHandle, quinn_proto::Connection)| c.has_0rtt();
        self.is_connected || self.connection.as_ref().is_some_and(early)
    }

    /// Both ends may send data.
    #[must_use]
    pub const fn is_connected(&self) -> bool {
        self.is_connected
    }

    /// Bytes of the other end's streams that have arrived in order, and of its datagrams.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// The other end has acknowledged all of this end's stream.
    #[must_use]
    pub const fn is_acknowledged(&self) -> bool {
        self.sending.is_acknowledged()
    }

    /// Why there is no connection any more.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Why a user's own congestion control was stopped, if one was.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.factory.as_ref()?.made.get()?.fault()
    }

    /// What the congestion control has come to; `None` before the connection exists and with one of
    /// quinn's own.
    #[must_use]
    pub fn view(&self) -> Option<View> {
        Some(self.factory.as_ref()?.made.get()?.view())
    }

    /// quinn's window, bytes.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        let (_, connection) = self.connection.as_ref()?;
        Some(connection.congestion_state().metrics().congestion_window)
    }

    /// quinn's smoothed round trip.
    #[must_use]
    pub fn rtt(&self) -> Option<Span> {
        let (_, connection) = self.connection.as_ref()?;
        Some(Span::from_nanos(connection.rtt().as_nanos() as u64))
    }

    /// Counts so far.
    #[must_use]
    pub fn sum(&self) -> Sum {
        let Some((_, connection)) = &self.connection else {
            return Sum::default();
        };
        let stats = connection.stats();
        Sum {
            datagrams: stats.udp_tx.datagrams,
            bytes: stats.udp_tx.bytes,
            lost: stats.path.lost_packets,
            lost_bytes: stats.path.lost_bytes,
            acks: stats.frame_rx.acks,
        }
    }
}

#[cfg(test)]
mod tests;
