//! What the two sides of a flow do, each on its own thread, by the clock
//! of the run. They are the applications of `bentpipe-traffic` on real sockets.

use super::clock::Clock;
use super::gauges::Gauges;
use super::host::Host;
use super::message::Message;
use super::names::Names;
use super::quic::Quic;
use super::setup::Setup;
use super::socket::{self, Connection, PORT};
use super::tls;
use bentpipe_quic::session::Flights;
use bentpipe_traffic::{Application, Exchange, Next, Requester, Source, interleaved};
use bentpipe_units::{Bytes, Duration, Time};
use socket2::Socket;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The most unsent data that the kernel holds where an application may stop
/// in the middle: the kernel sends what it holds.
const UNSENT: u32 = 64 * 1024;

/// Bytes of a datagram that number it, where it has a deadline.
pub(crate) const NUMBER: usize = 8;

/// Bytes without end.
const ENDLESS: u64 = u64::MAX;

/// A flow, as its two sides know it.
#[derive(Clone, Debug)]
pub(crate) struct Work<'a> {
    /// Index of the flow.
    pub(crate) flow: usize,
    pub(crate) name: &'a str,
    pub(crate) application: &'a Application,
    /// The handshake of TLS that precedes the data of a connection.
    pub(crate) tls: Option<Flights>,
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    pub(crate) seed: u64,
    /// Interval of time series.
    pub(crate) series: Option<Duration>,
    pub(crate) clock: &'a Clock,
    pub(crate) gauges: &'a Gauges,
    /// The look-up of a name, which precedes the connection.
    pub(crate) names: Option<&'a Names>,
    pub(crate) messages: Sender<Message>,
}

/// A flow over TCP.
#[derive(Debug)]
pub(crate) struct Tcp<'a> {
    pub(crate) setup: &'a Setup,
    /// What is written goes at once, whether it fills a segment or not. For
    /// bulk data that would cut segments where the window ends.
    pub(crate) prompt: bool,
    /// The hosts `from` and `to`, and the flow's address at each.
    pub(crate) hosts: [&'a Host; 2],
    pub(crate) addresses: [SocketAddr; 2],
}

/// What a flow's sides begin with.
#[derive(Debug)]
pub(crate) enum Ready<'a> {
    /// The connection's parameters, and the socket of the side that is called.
    Tcp(Tcp<'a>, Socket),
    /// The sockets of both sides.
    Udp([Socket; 2]),
    /// A flow over QUIC.
    Quic(Box<Quic>),
}

/// Task of a thread.
pub(crate) type Side<'a> = Box<dyn FnOnce() + Send + 'a>;

/// True for bulk data.
pub(crate) fn is_bulk(application: &Application) -> bool {
    matches!(
        application,
        Application::Transfer { .. } | Application::Persistent
    )
}

/// The bytes of all of a batch.
fn all(batch: &[Exchange], bytes: impl Fn(&Exchange) -> Bytes) -> u64 {
    batch.iter().map(|one| bytes(one).get()).sum()
}

/// Which side opens the connection: 0 is `from`, which sends the data.
pub(crate) fn opener(application: &Application) -> usize {
    usize::from(application.asks())
}

impl Tcp<'_> {
    /// The socket that waits to be called.
    pub(crate) fn listener(&self, side: usize) -> io::Result<Socket> {
        let local = SocketAddr::new(self.addresses[side].ip(), PORT);
        self.hosts[side].enter(|| {
            let socket = self.socket(local, side)?;
            socket::listen(&socket, self.setup)?;
            Ok(socket)
        })
    }

    fn socket(&self, local: SocketAddr, side: usize) -> io::Result<Socket> {
        let socket = socket::tcp(self.setup, local, side == 0)?;
        socket.set_tcp_nodelay(self.prompt)?;
        Ok(socket)
    }

    /// Opens a connection from `side`; `None` if the run is over.
    fn open<'c>(&'c self, side: usize, clock: &'c Clock) -> io::Result<Option<Connection<'c>>> {
        let local = SocketAddr::new(self.addresses[side].ip(), 0);
        let remote = SocketAddr::new(self.addresses[1 - side].ip(), PORT);
        let host = self.hosts[side];
        let socket = host.enter(|| self.socket(local, side))?;
        let begin =
            |socket: &Socket| host.with_options(self.setup, || socket.connect(&remote.into()));
        let opened = socket::connected(socket, clock, begin)?;
        opened
            .map(|socket| Connection::new(socket, self.setup, clock))
            .transpose()
    }

    fn accept<'c>(
        &'c self,
        listener: &Socket,
        clock: &'c Clock,
    ) -> io::Result<Option<Connection<'c>>> {
        let accepted = socket::accepted(listener, clock)?;
        accepted
            .map(|socket| Connection::new(socket, self.setup, clock))
            .transpose()
    }
}

impl<'a> Work<'a> {
    pub(crate) fn tell(&self, message: Message) {
        // The watcher may have ended; then the message is of no use.
        let _ = self.messages.send(message);
    }

    fn sends_from(&self, connection: &Connection<'_>) -> io::Result<()> {
        self.tell(Message::SendsFrom(self.flow, connection.watched()?));
        Ok(())
    }

    /// True once the application offers no more.
    fn has_stopped(&self) -> bool {
        self.stops_before(self.clock.now())
    }

    /// True where it offers no more at `at`.
    pub(crate) fn stops_before(&self, at: Time) -> bool {
        self.stop.is_some_and(|stop| at >= stop)
    }

    /// The tasks of the two sides, and of the resolver if there is one, each for its own thread.
    pub(crate) fn sides(self, ready: &'a Ready<'_>) -> Vec<Side<'a>> {
        let (other, resolver) = (self.clone(), self.clone());
        let mut sides: Vec<Side<'a>> = match ready {
            Ready::Udp([from, to]) => vec![
                Box::new(move || self.report("from", self.send_datagrams(from))),
                Box::new(move || other.report("to", other.receive_datagrams(to))),
            ],
            Ready::Quic(quic) => {
                if self.application.asks() {
                    let (batches, asked) = channel();
                    vec![
                        Box::new(move || self.report("from", quic.answer(&self, &asked))),
                        Box::new(move || other.report("to", quic.ask(&other, &batches))),
                    ]
                } else {
                    vec![
                        Box::new(move || self.report("from", quic.send(&self))),
                        Box::new(move || other.report("to", quic.receive(&other))),
                    ]
                }
            }
            Ready::Tcp(tcp, listener) if self.application.asks() => {
                let (batches, asked) = channel();
                vec![
                    Box::new(move || self.report("from", self.answer(tcp, listener, &asked))),
                    Box::new(move || other.report("to", other.ask(tcp, &batches))),
                ]
            }
            Ready::Tcp(tcp, listener) => vec![
                Box::new(move || self.report("from", self.send(tcp))),
                Box::new(move || other.report("to", other.receive(tcp, listener))),
            ],
        };
        if let Some(names) = resolver.names {
            let serve = move || resolver.report("resolver", names.serve(resolver.clock));
            sides.push(Box::new(serve));
        }
        sides
    }

    /// Says if a side failed.
    fn report(&self, side: &str, result: io::Result<()>) {
        if let Err(e) = result
            && !self.clock.is_over()
        {
            self.tell(Message::Failed(self.flow, format!("{side}: {e}")));
        }
    }

    /// Waits until the connection may be opened, and returns since when; `None` if it does not come to
    /// that.
    pub(crate) fn starts(&self) -> io::Result<Option<Time>> {
        if !self.clock.wait_until(self.start) || !self.knows_peer()? {
            return Ok(None);
        }
        // The model's time, not that at which the thread woke up.
        Ok(Some(match self.names {
            None => self.start,
            Some(_) => self.clock.now(),
        }))
    }

    /// Looks the name of the other side up, if that is due; false if it does not come to an answer.
    fn knows_peer(&self) -> io::Result<bool> {
        match self.names {
            None => Ok(true),
            Some(names) => names.look_up(self.clock, self.stop),
        }
    }

    /// The side `from` of a flow that it opens: it sends.
    fn send(&self, tcp: &Tcp<'_>) -> io::Result<()> {
        let Some(begun) = self.starts()? else {
            return Ok(());
        };
        let Some(mut connection) = tcp.open(0, self.clock)? else {
            return Ok(());
        };
        self.sends_from(&connection)?;
        if let Some(tls) = &self.tls
            && !tls::as_client(tls, &mut connection)?
        {
            return Ok(());
        }
        match self.application {
            Application::Transfer { size } => {
                if connection.write(size.get(), || self.has_stopped())? {
                    connection.finish()?;
                }
            }
            Application::Persistent => {
                if self.stop.is_some() {
                    connection.hold_unsent(UNSENT)?;
                }
                connection.write(ENDLESS, || self.has_stopped())?;
            }
            // Behind TLS it begins when the data may pass.
            _ => {
                let begun = self.tls.as_ref().map_or(begun, |_| self.clock.now());
                self.at_rate(begun, |bytes| {
                    connection.write(bytes.get(), || self.has_stopped())
                })?;
            }
        }
        self.clock.wait_for_end();
        Ok(())
    }

    /// Calls `send` for every packet of a source with a rate that starts at `begun`, when it is due,
    /// until that says no.
    fn at_rate(
        &self,
        begun: Time,
        mut send: impl FnMut(Bytes) -> io::Result<bool>,
    ) -> io::Result<()> {
        let (Application::ConstantRate { packet_size, .. }
        | Application::OnOff { packet_size, .. }) = self.application
        else {
            return Ok(());
        };
        let Some(mut source) = Source::new(self.application, self.seed, self.name) else {
            return Ok(());
        };
        source.start(begun);
        loop {
            // The model's time, not that at which the thread woke up: being late
            // once does not make the rate less.
            let due = source.next();
            let stops = self.stop.is_some_and(|stop| due >= stop);
            if stops || !self.clock.wait_until(due) {
                return Ok(());
            }
            if source.sends(due) && !send(*packet_size)? {
                return Ok(());
            }
        }
    }

    /// The side `to` of a flow that `from` opens: it reads.
    fn receive(&self, tcp: &Tcp<'_>, listener: &Socket) -> io::Result<()> {
        let Some(mut connection) = tcp.accept(listener, self.clock)? else {
            return Ok(());
        };
        if let Some(tls) = &self.tls
            && !tls::as_server(tls, &mut connection)?
        {
            return Ok(());
        }
        while connection.read(ENDLESS)?.is_some() {}
        connection.finish()?;
        self.clock.wait_for_end();
        Ok(())
    }

    /// The side `from` of exchanges: it answers those that come through `asked`
    /// when their requests have arrived.
    fn answer(
        &self,
        tcp: &Tcp<'_>,
        listener: &Socket,
        asked: &Receiver<Vec<Exchange>>,
    ) -> io::Result<()> {
        let mut connection: Option<Connection<'_>> = None;
        while let Ok(batch) = asked.recv() {
            let mut open = match connection.take() {
                Some(open) => open,
                None => match tcp.accept(listener, self.clock)? {
                    Some(mut open) => {
                        self.sends_from(&open)?;
                        if let Some(tls) = &self.tls
                            && !tls::as_server(tls, &mut open)?
                        {
                            return Ok(());
                        }
                        open
                    }
                    None => return Ok(()),
                },
            };
            if !open.read_all(all(&batch, |one| one.request))? {
                break;
            }
            open.write(all(&batch, |one| one.response), || false)?;
            if self.application.reopens() {
                // Until the side that asks closes the connection.
                while open.read(ENDLESS)?.is_some() {}
            } else {
                connection = Some(open);
            }
        }
        self.clock.wait_for_end();
        Ok(())
    }

    /// The side `to` of exchanges: it asks.
    fn ask(&self, tcp: &Tcp<'_>, batches: &Sender<Vec<Exchange>>) -> io::Result<()> {
        let Some(mut requester) = Requester::new(self.application, self.seed, self.name) else {
            return Ok(());
        };
        let mut connection = None;
        let mut next = Next::At(self.start);
        while let Next::At(at) = next {
            if self.stop.is_some_and(|stop| at >= stop) {
                break;
            }
            if !self.clock.wait_until(at) {
                return Ok(());
            }
            match self.exchange(tcp, &mut connection, &mut requester, batches)? {
                Some(follows) => next = follows,
                None => break,
            }
        }
        self.clock.wait_for_end();
        Ok(())
    }

    /// What is asked for at once, over its own connection where the application has one for each.
    /// Returns what follows; `None` if a response did not come.
    fn exchange<'c>(
        &'c self,
        tcp: &'c Tcp<'_>,
        connection: &mut Option<Connection<'c>>,
        requester: &mut Requester,
        batches: &Sender<Vec<Exchange>>,
    ) -> io::Result<Option<Next>> {
        let batch = requester.request(self.clock.now());
        let ends = interleaved(&batch);
        let requests = all(&batch, |one| one.request);
        // The other side waits for it before it accepts a connection.
        if batches.send(batch).is_err() {
            return Ok(None);
        }
        let is_new = connection.is_none();
        let mut open = match connection.take() {
            Some(open) => open,
            None => {
                if !self.knows_peer()? {
                    return Ok(None);
                }
                let Some(mut open) = tcp.open(1, self.clock)? else {
                    return Ok(None);
                };
                if let Some(tls) = &self.tls
                    && !tls::as_client(tls, &mut open)?
                {
                    return Ok(None);
                }
                open
            }
        };
        if !open.write(requests, || false)? {
            return Ok(None);
        }
        if let Some(bytes) = self.tls.as_ref().and_then(|tls| tls::unread(tls, is_new))
            && !open.read_all(bytes)?
        {
            return Ok(None);
        }
        let mut follows = None;
        let mut read = 0;
        for (end, place) in ends {
            if !open.read_all(end - read)? {
                return Ok(None);
            }
            read = end;
            let now = self.clock.now();
            follows = requester.arrived(now, place);
            if let Some(next) = follows {
                self.tell(Message::Reports {
                    flow: self.flow,
                    report: requester.report(now),
                    last: next == Next::Done,
                });
            }
        }
        if !self.application.reopens() {
            *connection = Some(open);
        }
        Ok(follows)
    }

    /// The side `from` of datagrams.
    fn send_datagrams(&self, socket: &Socket) -> io::Result<()> {
        // IP and UDP headers are part of the packet's size.
        let headers = match socket.local_addr()?.as_socket() {
            Some(SocketAddr::V6(_)) => 48,
            _ => 28,
        };
        let mut packet = vec![0; usize::from(u16::MAX)];
        self.at_rate(self.start, |bytes| {
            let payload = (bytes.get() as usize).saturating_sub(headers);
            if let Some(mut deadline) = self.gauges.deadline() {
                let number = deadline.sent(self.clock.now());
                packet[..NUMBER].copy_from_slice(&number.to_be_bytes());
            }
            match socket.send(&packet[..payload.min(packet.len())]) {
                Ok(_) => Ok(true),
                // A packet too many for the device: a real host loses it, too.
                Err(e) if e.raw_os_error() == Some(libc::ENOBUFS) => Ok(true),
                Err(e) => Err(e),
            }
        })
    }

    /// The side `to` of datagrams.
    fn receive_datagrams(&self, socket: &Socket) -> io::Result<()> {
        let mut room = vec![0; usize::from(u16::MAX)];
        while !self.clock.is_over() {
            match (&mut &*socket).read(&mut room) {
                Ok(length) => {
                    let number = room[..length].first_chunk::<NUMBER>();
                    if let (Some(number), Some(mut deadline)) = (number, self.gauges.deadline()) {
                        deadline.arrived(self.clock.now(), u64::from_be_bytes(*number));
                    }
                }
                Err(e) if socket::is_patience(&e) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}
