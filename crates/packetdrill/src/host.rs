//! The host under test: descriptors, sockets, and the system calls that scripts make.

use crate::connection::{Connection, Sent};
use crate::script::{Call, Expression, Segment, flag};
use crate::settings::Kernel;
use crate::wire::{Offers, Wire};
use bentpipe_tcp::{
    ConnectionState, HostProfile, KernelSettings, Recovery, Transport, find_transport,
};
use bentpipe_units::{Bytes, Duration, Time};
use std::collections::{BTreeMap, VecDeque};

/// MTU of the device that packetdrill makes, less the headers.
const DEVICE_MSS: u16 = 1460;

/// Bytes of the timestamps option.
const TIMESTAMP_BYTES: u32 = 12;

/// System calls on sockets that the host has.
const CALLS: [&str; 18] = [
    "bind",
    "listen",
    "accept",
    "accept4",
    "connect",
    "setsockopt",
    "getsockopt",
    "fcntl",
    "ioctl",
    "write",
    "send",
    "sendto",
    "sendmsg",
    "read",
    "recv",
    "recvfrom",
    "shutdown",
    "close",
];

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Returned {
    /// With this value.
    Value(i64),
    /// With -1 and this error.
    Error(&'static str),
    /// With a value that an argument was to receive: what it is to be, and what it is.
    Otherwise(String, String),
    /// It waits for something.
    Blocks,
    /// It needs what is not modelled.
    NotModelled(String),
}

/// What a socket is.
#[derive(Debug)]
enum Role {
    Fresh,
    /// Connections that wait for `accept`.
    Listens(VecDeque<usize>),
    /// Has a connection, by its index.
    Connection(usize),
}

/// A socket, and what was set on it.
#[derive(Debug)]
struct Socket {
    role: Role,
    options: Options,
}

#[derive(Clone, Debug, Default)]
struct Options {
    non_blocking: bool,
    no_delay: bool,
    cork: bool,
    max_segment: Option<u16>,
    /// As the kernel has it: twice what was asked for.
    send_buffer: Option<u64>,
    congestion_control: Option<String>,
}

/// The host.
pub(crate) struct Host {
    pub(crate) kernel: Kernel,
    profile: HostProfile,
    tick: Duration,
    sockets: BTreeMap<i64, Socket>,
    connections: Vec<Connection>,
    /// The connection that packets of the script belong to.
    under_test: Option<usize>,
    /// What its socket said when it listened.
    listening: Option<Options>,
    /// What has left and was not looked at yet, by the index of its connection.
    pub(crate) sent: VecDeque<(usize, Sent)>,
    /// Connections that a handshake has finished and no `accept` has taken.
    announced: Vec<bool>,
}

impl Host {
    pub(crate) fn new(profile: HostProfile, tick: Duration) -> Host {
        Host {
            kernel: Kernel::default(),
            profile,
            tick,
            sockets: BTreeMap::new(),
            connections: Vec::new(),
            under_test: None,
            listening: None,
            sent: VecDeque::new(),
            announced: Vec::new(),
        }
    }

    /// When it acts next without being asked.
    pub(crate) fn deadline(&self) -> Time {
        let deadlines = self.connections.iter().map(Connection::deadline);
        deadlines.min().unwrap_or(Time::MAX)
    }

    pub(crate) fn on_deadline(&mut self, now: Time) {
        for connection in &mut self.connections {
            if connection.deadline() <= now {
                connection.on_deadline(now);
            }
        }
        self.collect();
    }

    /// The connection that code looks at.
    pub(crate) fn connection(&self) -> Option<&Connection> {
        self.connections.get(self.under_test?)
    }

    pub(crate) fn connection_mut(&mut self, index: usize) -> Option<&mut Connection> {
        self.connections.get_mut(index)
    }

    /// Takes what the connections have sent, and announces those that are open.
    fn collect(&mut self) {
        for (index, connection) in self.connections.iter_mut().enumerate() {
            self.sent
                .extend(connection.sent.drain(..).map(|sent| (index, sent)));
            let announced = self.announced.get_mut(index);
            if let Some(announced) = announced.filter(|announced| !**announced)
                && connection.is_open()
            {
                *announced = true;
                let listeners = self.sockets.values_mut().find_map(|s| match &mut s.role {
                    Role::Listens(queue) => Some(queue),
                    _ => None,
                });
                if let Some(queue) = listeners {
                    queue.push_back(index);
                }
            }
        }
    }

    /// A segment arrives.
    pub(crate) fn arrive(&mut self, now: Time, segment: &Segment) -> Result<(), String> {
        let is_syn = segment.flags & (flag::SYN | flag::ACK | flag::RST) == flag::SYN;
        if is_syn && self.listening.is_some() {
            let repeats = self
                .connection()
                .is_some_and(|c| c.state() == ConnectionState::SynReceived);
            if !repeats {
                self.accept_syn(now, segment)?;
                self.collect();
                return Ok(());
            }
        }
        let Some(index) = self.under_test else {
            return Err("a packet before any connection".to_owned());
        };
        let awaits = self.connections[index].state() == ConnectionState::SynSent;
        if awaits && segment.flags & flag::RST == 0 {
            self.settle(now, index, segment)?;
        } else if self.connections[index].is_gone {
            self.connections[index].refuse(now, segment);
        } else {
            self.connections[index].arrive(now, segment)?;
        }
        self.collect();
        Ok(())
    }

    /// A SYN has come to a socket that listens.
    fn accept_syn(&mut self, now: Time, syn: &Segment) -> Result<(), String> {
        if syn.payload > 0 || syn.flags & flag::FIN != 0 {
            return Err("data in a SYN".to_owned());
        }
        let options = self.listening.clone().unwrap_or_default();
        let theirs = Offers::of(syn)?;
        let ours = self.offers(&options);
        let ecn = theirs.ecn && self.kernel.ecn > 0;
        let both = Offers {
            ecn,
            ..common(&ours, &theirs)
        };
        let mut wire = self.wire(&options, &both, &theirs);
        wire.peer_start = syn.sequence;
        wire.shifts = ours.shift.zip(theirs.shift);
        let transport = self.transport(&options, &wire)?;
        let connection = Connection::answer(&transport, wire, both, now, syn)
            .map_err(|error| error.to_string())?;
        self.add(connection, false);
        Ok(())
    }

    fn add(&mut self, connection: Connection, announced: bool) -> usize {
        self.connections.push(connection);
        self.announced.push(announced);
        let index = self.connections.len() - 1;
        self.under_test = Some(index);
        index
    }

    /// The answer to our SYN has come.
    fn settle(&mut self, now: Time, index: usize, answer: &Segment) -> Result<(), String> {
        if answer.flags & (flag::SYN | flag::ACK) != flag::SYN | flag::ACK {
            return Err("a handshake that both ends begin".to_owned());
        }
        let options = self
            .sockets
            .values()
            .find(|s| matches!(s.role, Role::Connection(own) if own == index))
            .map(|s| s.options.clone())
            .unwrap_or_default();
        let theirs = Offers::of(answer)?;
        let ours = self.offers(&options);
        let both = Offers {
            ecn: theirs.ecn && self.kernel.ecn == 1,
            ..common(&ours, &theirs)
        };
        let mut wire = self.wire(&options, &both, &theirs);
        wire.peer_start = answer.sequence;
        wire.shifts = ours.shift.zip(theirs.shift);
        let transport = self.transport(&options, &wire)?;
        self.connections[index].settle(&transport, wire, now, answer)
    }

    fn announced_mss(options: &Options) -> u16 {
        options
            .max_segment
            .map_or(DEVICE_MSS, |mss| mss.min(DEVICE_MSS))
    }

    /// What the host offers in a SYN.
    fn offers(&self, options: &Options) -> Offers {
        Offers {
            mss: Some(Host::announced_mss(options)),
            sack: self.kernel.sack,
            timestamps: self.kernel.timestamps,
            shift: self
                .kernel
                .window_scaling
                .then(|| self.kernel.window_shift()),
            ecn: self.kernel.ecn == 1,
        }
    }

    fn wire(&self, options: &Options, both: &Offers, theirs: &Offers) -> Wire {
        let own = Host::announced_mss(options);
        let mut wire = Wire::new(own);
        // RFC 9293, section 3.7.1: 536 where nothing is said.
        let mss = u32::from(own.min(theirs.mss.unwrap_or(536)));
        wire.mss = match both.timestamps {
            true => mss.saturating_sub(TIMESTAMP_BYTES).max(1),
            false => mss.max(1),
        };
        wire.sack = both.sack;
        wire.timestamps = both.timestamps;
        wire.ecn = both.ecn;
        wire
    }

    /// The transport that a connection runs.
    fn transport(&self, options: &Options, wire: &Wire) -> Result<Transport, String> {
        let control = options.congestion_control.as_ref();
        let control = control.unwrap_or(&self.kernel.congestion_control);
        let Some(named) = find_transport(control) else {
            return Err(format!("the congestion control `{control}`"));
        };
        let mut settings = named.settings();
        settings.profile = Some(self.profile);
        settings.recovery = Some(match wire.sack {
            true => Recovery::Sack,
            false => Recovery::NewReno,
        });
        settings.mss = Some(wire.mss);
        settings.timestamps = Some(wire.timestamps);
        settings.ecn = Some(wire.ecn);
        settings.send_buffer = Some(Bytes::new(1 << 30));
        settings.receive_buffer = Some(Bytes::new(self.kernel.largest_receive_buffer));
        if self.profile == HostProfile::Linux && settings.control().knows("tick") {
            settings.parameters.set("tick", self.tick);
        }
        let mut transport = settings.resolve(control.as_str());
        transport.kernel = KernelSettings {
            tick: self.tick,
            restart_after_idle: Some(self.kernel.restart_after_idle),
            tail_loss_probes: self.kernel.tail_loss_probes,
        };
        Ok(transport)
    }

    /// Makes a system call. Where it `waits`, it was made before and found nothing.
    pub(crate) fn call(&mut self, now: Time, call: &Call, waits: bool) -> Returned {
        let returned = self.dispatch(now, call, waits);
        self.collect();
        returned
    }

    fn dispatch(&mut self, now: Time, call: &Call, waits: bool) -> Returned {
        let argument = |index: usize| call.arguments.get(index).unwrap_or(&Expression::Any);
        if call.name == "socket" {
            return self.socket(call, argument(1));
        }
        let known = CALLS.contains(&call.name.as_str());
        let Some(fd) = argument(0).integer().filter(|_| known) else {
            return Returned::NotModelled(format!("the system call `{}`", call.name));
        };
        if call.arguments.iter().any(|a| a.name() == Some("NULL")) {
            return Returned::NotModelled("invalid pointers".to_owned());
        }
        if !self.sockets.contains_key(&fd) {
            return Returned::NotModelled(format!(
                "the system call `{}` on something else than a socket",
                call.name
            ));
        }
        match call.name.as_str() {
            "bind" => Returned::Value(0),
            "listen" => {
                if let Some(socket) = self.sockets.get_mut(&fd) {
                    socket.role = Role::Listens(VecDeque::new());
                    self.listening = Some(socket.options.clone());
                }
                Returned::Value(0)
            }
            "accept" | "accept4" => self.accept(fd, call),
            "connect" => self.connect(now, fd, waits),
            "setsockopt" => self.set_option(now, fd, call),
            "getsockopt" => self.get_option(fd, call),
            "fcntl" => self.control(fd, argument(1), argument(2)),
            "ioctl" => self.ioctl(fd, argument(1), argument(2)),
            "write" | "send" | "sendto" | "sendmsg" => self.write(now, fd, call),
            "read" | "recv" | "recvfrom" => self.read(fd, argument(2)),
            "shutdown" => self.shutdown(now, fd, argument(1)),
            "close" => self.close(now, fd),
            name => Returned::NotModelled(format!("the system call `{name}`")),
        }
    }

    fn socket(&mut self, call: &Call, kind: &Expression) -> Returned {
        if kind.name() != Some("SOCK_STREAM") && !kind.has("SOCK_STREAM") {
            return Returned::NotModelled("sockets of other protocols than TCP".to_owned());
        }
        let Some(fd) = call.returns.integer().filter(|fd| *fd >= 0) else {
            return Returned::NotModelled("a socket that cannot be made".to_owned());
        };
        let socket = Socket {
            role: Role::Fresh,
            options: Options {
                non_blocking: kind.has("SOCK_NONBLOCK"),
                ..Options::default()
            },
        };
        self.sockets.insert(fd, socket);
        // Descriptors are the script's own.
        Returned::Value(fd)
    }

    fn accept(&mut self, fd: i64, call: &Call) -> Returned {
        let Some(socket) = self.sockets.get_mut(&fd) else {
            return Returned::Error("EBADF");
        };
        let mut options = socket.options.clone();
        let Role::Listens(queue) = &mut socket.role else {
            return Returned::Error("EINVAL");
        };
        let Some(index) = queue.pop_front() else {
            return match options.non_blocking {
                true => Returned::Error("EAGAIN"),
                false => Returned::Blocks,
            };
        };
        let Some(new) = call.returns.integer().filter(|fd| *fd >= 0) else {
            // It is accepted although the script expects an error.
            return Returned::Value(i64::from(u8::MAX));
        };
        options.non_blocking = call.arguments.iter().any(|a| a.has("SOCK_NONBLOCK"));
        if let Some(connection) = self.connections.get_mut(index) {
            connection.holding.no_delay = options.no_delay;
        }
        let socket = Socket {
            role: Role::Connection(index),
            options,
        };
        self.sockets.insert(new, socket);
        self.under_test = Some(index);
        Returned::Value(new)
    }

    fn connect(&mut self, now: Time, fd: i64, waits: bool) -> Returned {
        let Some(socket) = self.sockets.get(&fd) else {
            return Returned::Error("EBADF");
        };
        let options = socket.options.clone();
        if let Role::Connection(index) = socket.role {
            let connection = &self.connections[index];
            return match connection.state() {
                ConnectionState::SynSent if waits => Returned::Blocks,
                ConnectionState::SynSent => Returned::Error("EALREADY"),
                ConnectionState::Reset => Returned::Error("ECONNREFUSED"),
                _ if waits || options.non_blocking => Returned::Value(0),
                _ => Returned::Error("EISCONN"),
            };
        }
        let offers = self.offers(&options);
        let mut wire = self.wire(&options, &offers, &offers);
        wire.mss = u32::from(Host::announced_mss(&options));
        let transport = match self.transport(&options, &wire) {
            Ok(transport) => transport,
            Err(reason) => return Returned::NotModelled(reason),
        };
        let mut connection = match Connection::connect(&transport, wire, offers, now) {
            Ok(connection) => connection,
            Err(error) => return Returned::NotModelled(error.to_string()),
        };
        connection.holding.no_delay = options.no_delay;
        connection.holding.cork = options.cork;
        let index = self.add(connection, true);
        if let Some(socket) = self.sockets.get_mut(&fd) {
            socket.role = Role::Connection(index);
        }
        match options.non_blocking {
            true => Returned::Error("EINPROGRESS"),
            false => Returned::Blocks,
        }
    }

    /// The connection of a descriptor, and its options.
    fn of(&mut self, fd: i64) -> Option<(&mut Connection, &Options)> {
        let socket = self.sockets.get(&fd)?;
        let Role::Connection(index) = socket.role else {
            return None;
        };
        Some((self.connections.get_mut(index)?, &socket.options))
    }

    fn write(&mut self, now: Time, fd: i64, call: &Call) -> Returned {
        let argument = |index: usize| call.arguments.get(index).unwrap_or(&Expression::Any);
        let (bytes, more) = if call.name == "sendmsg" {
            (vector_bytes(argument(1)), argument(2))
        } else {
            (argument(2).integer(), argument(3))
        };
        let unknown = ["MSG_FASTOPEN", "MSG_ZEROCOPY", "MSG_EOR", "MSG_OOB"];
        if let Some(flag) = unknown.iter().find(|flag| more.has(flag)) {
            return Returned::NotModelled(format!("the flag `{flag}`"));
        }
        if call.name == "sendmsg" && has_control(argument(1)) {
            return Returned::NotModelled("control messages of `sendmsg`".to_owned());
        }
        let more = more.has("MSG_MORE");
        let Some(bytes) = bytes.and_then(|bytes| u64::try_from(bytes).ok()) else {
            return Returned::NotModelled("a write of no known length".to_owned());
        };
        let Some((connection, options)) = self.of(fd) else {
            return Returned::Error("EPIPE");
        };
        if connection.is_shut || connection.state() == ConnectionState::Reset {
            return Returned::Error("EPIPE");
        }
        if connection.state() == ConnectionState::SynSent {
            return match options.non_blocking {
                true => Returned::Error("EAGAIN"),
                false => Returned::NotModelled("a write before the handshake ends".to_owned()),
            };
        }
        let queued = connection.written - connection.endpoint.acknowledged().get();
        if options
            .send_buffer
            .is_some_and(|size| queued + bytes > size)
        {
            return Returned::NotModelled(
                "a write that waits for room in the send buffer".to_owned(),
            );
        }
        if bytes > 1 << 28 {
            return Returned::NotModelled("a write of more than 256 MB".to_owned());
        }
        connection.write(now, bytes, more);
        Returned::Value(i64::try_from(bytes).unwrap_or(i64::MAX))
    }

    fn read(&mut self, fd: i64, bytes: &Expression) -> Returned {
        let Some(bytes) = bytes.integer().and_then(|bytes| u64::try_from(bytes).ok()) else {
            return Returned::NotModelled("a read of no known length".to_owned());
        };
        let Some((connection, options)) = self.of(fd) else {
            return Returned::Error("ENOTCONN");
        };
        let taken = connection.read(bytes);
        if taken > 0 || bytes == 0 || connection.endpoint.is_finished() || connection.is_deaf {
            return Returned::Value(i64::try_from(taken).unwrap_or(i64::MAX));
        }
        match (connection.state(), options.non_blocking) {
            (ConnectionState::Reset, _) => Returned::Error("ECONNRESET"),
            (_, true) => Returned::Error("EAGAIN"),
            (_, false) => Returned::Blocks,
        }
    }

    fn shutdown(&mut self, now: Time, fd: i64, how: &Expression) -> Returned {
        let Some((connection, _)) = self.of(fd) else {
            return Returned::Error("ENOTCONN");
        };
        match how.name() {
            Some("SHUT_RD") => connection.is_deaf = true,
            Some("SHUT_WR") => connection.shut(now),
            Some("SHUT_RDWR") => {
                connection.is_deaf = true;
                connection.shut(now);
            }
            _ => return Returned::Error("EINVAL"),
        }
        Returned::Value(0)
    }

    fn close(&mut self, now: Time, fd: i64) -> Returned {
        let Some(socket) = self.sockets.remove(&fd) else {
            return Returned::Error("EBADF");
        };
        match socket.role {
            Role::Fresh => {}
            Role::Listens(_) => {
                self.listening = None;
            }
            Role::Connection(index) => {
                if let Some(connection) = self.connections.get_mut(index) {
                    connection.close(now);
                }
            }
        }
        Returned::Value(0)
    }

    fn control(&mut self, fd: i64, command: &Expression, value: &Expression) -> Returned {
        let Some(socket) = self.sockets.get_mut(&fd) else {
            return Returned::Error("EBADF");
        };
        match command.name() {
            Some("F_GETFL") => Returned::Value(match socket.options.non_blocking {
                true => 0o4002,
                false => 2,
            }),
            Some("F_SETFL") => {
                socket.options.non_blocking = value.has("O_NONBLOCK");
                Returned::Value(0)
            }
            _ => Returned::NotModelled("a command of `fcntl`".to_owned()),
        }
    }

    fn ioctl(&mut self, fd: i64, request: &Expression, value: &Expression) -> Returned {
        let Some((connection, _)) = self.of(fd) else {
            return Returned::NotModelled("`ioctl` without a connection".to_owned());
        };
        let found = match request.name() {
            Some("SIOCINQ" | "FIONREAD") => connection.readable(),
            Some("SIOCOUTQ" | "TIOCOUTQ") => {
                connection.written - connection.endpoint.acknowledged().get()
            }
            _ => return Returned::NotModelled("a request of `ioctl`".to_owned()),
        };
        given(value, i64::try_from(found).unwrap_or(i64::MAX))
    }

    fn set_option(&mut self, now: Time, fd: i64, call: &Call) -> Returned {
        let argument = |index: usize| call.arguments.get(index).unwrap_or(&Expression::Any);
        let Some(option) = argument(2).name().map(str::to_owned) else {
            return Returned::NotModelled("a socket option without a name".to_owned());
        };
        let number = argument(3).integer();
        let on = number.unwrap_or(0) != 0;
        let Some(socket) = self.sockets.get_mut(&fd) else {
            return Returned::Error("EBADF");
        };
        match option.as_str() {
            "SO_REUSEADDR" | "SO_REUSEPORT" | "SO_PRIORITY" | "SO_KEEPALIVE" | "IP_TOS"
            | "IP_MTU_DISCOVER" | "IPV6_TCLASS" => {}
            "TCP_NODELAY" => socket.options.no_delay = on,
            "TCP_CORK" => socket.options.cork = on,
            "TCP_MAXSEG" => {
                let Some(mss) = number.and_then(|n| u16::try_from(n).ok()) else {
                    return Returned::Error("EINVAL");
                };
                if matches!(socket.role, Role::Connection(_)) {
                    return Returned::NotModelled("`TCP_MAXSEG` on an open connection".to_owned());
                }
                socket.options.max_segment = Some(mss);
            }
            "SO_SNDBUF" => {
                let asked = number.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
                socket.options.send_buffer = Some((2 * asked).max(4608));
            }
            "TCP_CONGESTION" => {
                let name = match argument(3) {
                    Expression::Text(name) => name.clone(),
                    Expression::List(items) => match items.first() {
                        Some(Expression::Text(name)) => name.clone(),
                        _ => String::new(),
                    },
                    _ => String::new(),
                };
                if matches!(socket.role, Role::Connection(_)) {
                    return Returned::NotModelled(
                        "`TCP_CONGESTION` on an open connection".to_owned(),
                    );
                }
                socket.options.congestion_control = Some(name);
            }
            name => return Returned::NotModelled(format!("the socket option `{name}`")),
        }
        let options = socket.options.clone();
        if let Role::Listens(_) = socket.role {
            self.listening = Some(options.clone());
        }
        if let Some((connection, _)) = self.of(fd) {
            connection.holding.no_delay = options.no_delay;
            connection.holding.cork = options.cork;
            // Both send what was held back at once.
            let sends = (option == "TCP_NODELAY" && on) || (option == "TCP_CORK" && !on);
            if sends && connection.is_open() {
                let mut holding = connection.holding;
                holding.no_delay = true;
                holding.cork &= option != "TCP_NODELAY";
                connection.hold(now, holding);
            }
        }
        Returned::Value(0)
    }

    fn get_option(&mut self, fd: i64, call: &Call) -> Returned {
        let argument = |index: usize| call.arguments.get(index).unwrap_or(&Expression::Any);
        let Some(socket) = self.sockets.get(&fd) else {
            return Returned::Error("EBADF");
        };
        let connection = match socket.role {
            Role::Connection(index) => self.connections.get(index),
            _ => None,
        };
        let options = &socket.options;
        let found = match argument(2).name() {
            Some("TCP_MAXSEG") => match connection {
                Some(connection) => i64::from(connection.wire.mss),
                None => i64::from(options.max_segment.unwrap_or(536)),
            },
            Some("SO_ERROR") => match connection.map(Connection::state) {
                Some(ConnectionState::Reset) => {
                    return Returned::NotModelled("the error of a reset connection".to_owned());
                }
                _ => 0,
            },
            Some("SO_SNDBUF") if options.send_buffer.is_some() => {
                i64::try_from(options.send_buffer.unwrap_or(0)).unwrap_or(i64::MAX)
            }
            Some("TCP_NODELAY") => i64::from(options.no_delay),
            Some("TCP_CORK") => i64::from(options.cork),
            Some(name) => {
                return Returned::NotModelled(format!("reading the socket option `{name}`"));
            }
            None => return Returned::NotModelled("a socket option without a name".to_owned()),
        };
        given(argument(3), found)
    }
}

/// A call that gave `found`, where the script expects `expected`.
fn given(expected: &Expression, found: i64) -> Returned {
    match expected.integer() {
        Some(number) if number != found => {
            Returned::Otherwise(format!("[{number}]"), format!("[{found}]"))
        }
        _ => Returned::Value(0),
    }
}

/// What both sides of a handshake offer.
fn common(ours: &Offers, theirs: &Offers) -> Offers {
    Offers {
        mss: ours.mss,
        sack: ours.sack && theirs.sack,
        timestamps: ours.timestamps && theirs.timestamps,
        shift: ours.shift.filter(|_| theirs.shift.is_some()),
        ecn: ours.ecn && theirs.ecn,
    }
}

/// Bytes of the vectors in a message.
fn vector_bytes(message: &Expression) -> Option<i64> {
    let Expression::Struct(fields) = message else {
        return None;
    };
    let vectors = fields.iter().find_map(|field| match field {
        Expression::Field(name, value) => match (&**name, &**value) {
            (Expression::Apply(name, _), Expression::List(items)) if name == "msg_iov" => {
                Some(items)
            }
            _ => None,
        },
        _ => None,
    })?;
    let length = |vector: &Expression| match vector {
        Expression::Struct(parts) => parts.get(1)?.integer(),
        _ => None,
    };
    vectors
        .iter()
        .map(length)
        .try_fold(0i64, |sum, n| sum.checked_add(n?))
}

fn has_control(message: &Expression) -> bool {
    let Expression::Struct(fields) = message else {
        return false;
    };
    fields.iter().any(|field| match field {
        Expression::Field(name, _) => match &**name {
            Expression::Name(name) | Expression::Apply(name, _) => name == "msg_control",
            _ => false,
        },
        _ => false,
    })
}
