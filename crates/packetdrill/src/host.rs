//! The host under test: descriptors, sockets, and the system calls that scripts make.

mod calls;
mod options;
mod poll;

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

/// The smallest MSS that the kernel takes (`tcp_min_snd_mss`).
const LEAST_MSS: u32 = 48;

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
        let mss = u32::from(own.min(theirs.mss.unwrap_or(536))).max(LEAST_MSS);
        wire.mss = match both.timestamps {
            true => mss - TIMESTAMP_BYTES,
            false => mss,
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
            single_segments: false,
            ..KernelSettings::DEFAULT
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
        if call.name == "poll" {
            return self.poll(call);
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
