//! One connection: an endpoint, and around it what an endpoint of a simulation has no need of.
//!
//! - Options are negotiated before the endpoint exists as it will be. A client's SYN comes from an
//!   endpoint that offers everything; when the answer says what holds, another one is opened at the
//!   same time in the past and takes its place. Endpoints have no clock, so it is as if it had been
//!   the only one.
//! - Data segments carry an acknowledgement; an ACK that a data segment carries at once, or that only
//!   a timer would send after one has carried it, does not leave.
//! - An endpoint looks at acknowledgement, SACK blocks and window of a segment with data only where
//!   that advances: it gets them as a segment of their own, behind the data.
//! - Nagle's algorithm in Minshall's form, `TCP_CORK` and `MSG_MORE` hold the last, short segment
//!   of what was written back.
//! - What the application has not read is counted here; the endpoint takes it for read.

use crate::script::{Segment, TcpOption, flag};
use crate::wire::{Offers, Wire};
use bentpipe_tcp::packet::{Packet, ecn, flags};
use bentpipe_tcp::{ConnectionState, Endpoint, Transport, TransportError};
use bentpipe_units::{Bytes, Time};

/// A segment that has left, and when.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    pub(crate) segment: Segment,
}

/// What the application asked of how its data leaves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Holding {
    pub(crate) no_delay: bool,
    pub(crate) cork: bool,
    /// The write says that more follows.
    pub(crate) more: bool,
}

/// A connection.
pub(crate) struct Connection {
    pub(crate) endpoint: Endpoint,
    pub(crate) wire: Wire,
    pub(crate) sent: Vec<Sent>,
    offers: Offers,
    /// For a client: when the SYN was sent and its timer ran out.
    opened: Vec<Time>,
    /// Written and not given to the endpoint yet, bytes.
    held: u64,
    pub(crate) holding: Holding,
    /// When what is held back leaves although nothing is acknowledged.
    flush_at: Time,
    pub(crate) written: u64,
    read: u64,
    /// One past the last byte sent; with the FIN, one more.
    high: u64,
    /// The end of the last short segment that left.
    short_until: u64,
    /// The highest acknowledgement that left, with data and at all.
    acknowledged_with_data: u64,
    last_acknowledged: u64,
    /// Up to where the peer may send.
    edge: u64,
    /// The window of the last segment that arrived.
    peer_window: u32,
    /// The timestamp to echo.
    stamp_recent: u32,
    pub(crate) data_received_at: Time,
    /// The application has closed its descriptor.
    pub(crate) is_orphan: bool,
    /// The application reads no more.
    pub(crate) is_deaf: bool,
    /// No more is written.
    pub(crate) is_shut: bool,
    /// The host has forgotten it.
    pub(crate) is_gone: bool,
}

impl Connection {
    fn around(endpoint: Endpoint, wire: Wire, offers: Offers, now: Time) -> Connection {
        Connection {
            endpoint,
            wire,
            sent: Vec::new(),
            offers,
            opened: Vec::new(),
            held: 0,
            holding: Holding::default(),
            flush_at: Time::MAX,
            written: 0,
            read: 0,
            high: 0,
            short_until: 0,
            acknowledged_with_data: 0,
            last_acknowledged: 0,
            edge: 0,
            peer_window: 0,
            stamp_recent: 0,
            data_received_at: now,
            is_orphan: false,
            is_deaf: false,
            is_shut: false,
            is_gone: false,
        }
    }

    /// A client's: its SYN leaves.
    pub(crate) fn connect(
        transport: &Transport,
        wire: Wire,
        offers: Offers,
        now: Time,
    ) -> Result<Connection, TransportError> {
        let endpoint = Endpoint::new(transport, transport.controller()?, 0);
        let mut connection = Connection::around(endpoint, wire, offers, now);
        let mut out = Vec::new();
        connection.endpoint.open(now, &mut out);
        connection.opened.push(now);
        connection.leave(now, out);
        Ok(connection)
    }

    /// A server's, for the SYN that has arrived: its answer leaves.
    pub(crate) fn answer(
        transport: &Transport,
        wire: Wire,
        offers: Offers,
        now: Time,
        syn: &Segment,
    ) -> Result<Connection, TransportError> {
        let endpoint = Endpoint::new(transport, transport.controller()?, 0);
        let mut connection = Connection::around(endpoint, wire, offers, now);
        // What a SYN cannot carry was refused before.
        if let Ok(packet) = connection.wire.incoming(syn, 0, 0) {
            connection.stamp_recent = packet.timestamp;
            let mut out = Vec::new();
            connection.endpoint.on_packet(now, &packet, &mut out);
            connection.leave(now, out);
        }
        Ok(connection)
    }

    /// The answer to a client's SYN has arrived, and the connection runs `transport` over `wire`.
    pub(crate) fn settle(
        &mut self,
        transport: &Transport,
        wire: Wire,
        now: Time,
        answer: &Segment,
    ) -> Result<(), String> {
        let controller = transport.controller().map_err(|error| error.to_string())?;
        let mut endpoint = Endpoint::new(transport, controller, 0);
        let mut before = Vec::new();
        for (i, at) in self.opened.iter().enumerate() {
            match i {
                0 => endpoint.open(*at, &mut before),
                _ => endpoint.on_deadline(*at, &mut before),
            }
        }
        self.endpoint = endpoint;
        self.wire = wire;
        let packet = self.wire.incoming(answer, 0, 0)?;
        self.stamp_recent = packet.timestamp;
        self.data_received_at = now;
        let mut out = Vec::new();
        self.endpoint.on_packet(now, &packet, &mut out);
        self.leave(now, out);
        Ok(())
    }

    pub(crate) fn state(&self) -> ConnectionState {
        self.endpoint.state()
    }

    /// True once data can flow, and after that.
    pub(crate) fn is_open(&self) -> bool {
        self.endpoint.is_open()
    }

    pub(crate) fn deadline(&self) -> Time {
        match self.is_gone {
            true => Time::MAX,
            false => self.endpoint.deadline().min(self.flush_at),
        }
    }

    pub(crate) fn on_deadline(&mut self, now: Time) {
        if now >= self.flush_at {
            self.hold(
                now,
                Holding {
                    no_delay: true,
                    ..Holding::default()
                },
            );
        }
        if now < self.endpoint.deadline() {
            return;
        }
        let mut out = Vec::new();
        if self.state() == ConnectionState::SynSent {
            self.opened.push(now);
        }
        self.endpoint.on_deadline(now, &mut out);
        // An ACK that data carried meanwhile.
        let carried = self.acknowledged_with_data;
        out.retain(|packet| !is_plain_ack(packet) || packet.acknowledgement > carried);
        self.leave(now, out);
    }

    /// A segment has arrived.
    pub(crate) fn arrive(&mut self, now: Time, segment: &Segment) -> Result<(), String> {
        let una = self.endpoint.acknowledged().get();
        let packet = self.wire.incoming(segment, una, self.received())?;
        if !self.accepts(segment, &packet) {
            return Ok(());
        }
        let carries = packet.payload > 0 || packet.has(flags::FIN);
        if self.wire.timestamps
            && packet.sequence <= self.last_acknowledged
            && packet
                .timestamp
                .wrapping_sub(self.stamp_recent)
                .cast_signed()
                >= 0
        {
            self.stamp_recent = packet.timestamp;
        }
        if packet.payload > 0 {
            self.data_received_at = now;
        }
        let mut out = Vec::new();
        if carries && self.is_open() {
            let data = Packet {
                acknowledgement: packet.acknowledgement.min(una),
                sack_count: 0,
                ..packet
            };
            let mut answers = Vec::new();
            self.endpoint.on_packet(now, &data, &mut answers);
            let bare = Packet {
                payload: 0,
                flags: packet.flags & !(flags::FIN | flags::CWR),
                ecn: ecn::NOT_CAPABLE,
                ..packet
            };
            let updates = packet.window != self.peer_window && packet.acknowledgement == una;
            if packet.sack_count > 0 || packet.acknowledgement > una || updates {
                self.endpoint.on_packet(now, &bare, &mut out);
            }
            if out.iter().any(|packet| packet.payload > 0) {
                answers.retain(|answer| !is_plain_ack(answer));
            }
            self.leave(now, answers);
        } else {
            self.endpoint.on_packet(now, &packet, &mut out);
        }
        if packet.acknowledgement >= una {
            self.peer_window = packet.window;
        }
        self.leave(now, out);
        self.push(now);
        if self.state() == ConnectionState::Closed {
            self.is_gone = true;
        }
        Ok(())
    }

    /// RFC 9293, section 3.10.7.4: whether a segment is looked at.
    fn accepts(&self, segment: &Segment, packet: &Packet) -> bool {
        if !self.is_open() {
            return true;
        }
        if packet.has(flags::RST) {
            return packet.sequence == self.received();
        }
        segment.flags & (flag::ACK | flag::SYN) != 0 && packet.acknowledgement <= self.high
    }

    /// Everything of the peer below this has arrived; its FIN takes a number.
    pub(crate) fn received(&self) -> u64 {
        self.endpoint.delivered().get() + u64::from(self.endpoint.is_finished())
    }

    /// Takes what the endpoint sends.
    fn leave(&mut self, now: Time, packets: Vec<Packet>) {
        for mut packet in packets {
            if packet.has(flags::SYN) {
                self.edge = self.edge.max(u64::from(packet.window));
                let segment = self.wire.handshake(&packet, &self.offers);
                self.sent.push(Sent { at: now, segment });
                continue;
            }
            let carries = packet.payload > 0 || packet.has(flags::FIN);
            let plain = is_plain_ack(&packet) || packet.sack_count > 0;
            let received = match plain {
                true => packet.acknowledgement,
                false => self.received(),
            };
            if plain {
                if packet.timestamp_echo == 0 {
                    // Nothing but the SYN has come.
                    packet.timestamp_echo = self.stamp_recent;
                }
                self.edge = self
                    .edge
                    .max(packet.acknowledgement + u64::from(packet.window));
            } else {
                packet.timestamp_echo = self.stamp_recent;
                packet.timestamp = (now.as_nanos() / 1_000) as u32;
                packet.flags |= flags::ACK;
            }
            if carries {
                let end = packet.sequence + u64::from(packet.payload);
                if u32::from(packet.payload) % self.wire.mss != 0 && end > self.short_until {
                    self.short_until = end;
                }
                self.high = self.high.max(end + u64::from(packet.has(flags::FIN)));
                self.acknowledged_with_data = received;
            }
            self.last_acknowledged = received;
            let segment = self.wire.outgoing(&packet, received, self.edge);
            self.sent.push(Sent { at: now, segment });
        }
    }

    /// The application writes; `more` if it says that more follows.
    pub(crate) fn write(&mut self, now: Time, bytes: u64, more: bool) {
        self.held = self.held.saturating_add(bytes);
        self.written = self.written.saturating_add(bytes);
        self.hold(
            now,
            Holding {
                more,
                ..self.holding
            },
        );
    }

    /// Gives the endpoint what need not be held back.
    pub(crate) fn hold(&mut self, now: Time, holding: Holding) {
        let unsent = self.written.saturating_sub(self.high.min(self.written));
        let short = unsent % u64::from(self.wire.mss.max(1));
        let una = self.endpoint.acknowledged().get();
        let waits = self.short_until > una;
        let keeps = short > 0
            && !self.is_shut
            && (holding.cork || holding.more || (!holding.no_delay && waits));
        let due = match keeps {
            true => self.held.saturating_sub(short),
            false => self.held,
        };
        if due > 0 {
            self.held -= due;
            let mut out = Vec::new();
            self.endpoint.write(now, Bytes::new(due), &mut out);
            self.leave(now, out);
        }
        // The kernel's timer for closed windows sends it in the end.
        let idle = self.high <= self.endpoint.acknowledged().get();
        self.flush_at = match self.held > 0 && idle {
            true => now + self.endpoint.rtt().rto(),
            false => Time::MAX,
        };
    }

    /// What was held back may go after an acknowledgement.
    fn push(&mut self, now: Time) {
        if self.held > 0 {
            self.hold(now, self.holding);
        }
    }

    /// Bytes that wait for the application to read them.
    pub(crate) fn readable(&self) -> u64 {
        self.endpoint.delivered().get() - self.read
    }

    /// The application reads at most `bytes`.
    pub(crate) fn read(&mut self, bytes: u64) -> u64 {
        let taken = self.readable().min(bytes);
        self.read += taken;
        taken
    }

    /// The application writes no more.
    pub(crate) fn shut(&mut self, now: Time) {
        if std::mem::replace(&mut self.is_shut, true) {
            return;
        }
        self.hold(now, self.holding);
        let mut out = Vec::new();
        self.endpoint.close(now, &mut out);
        self.leave(now, out);
    }

    /// The application closes its descriptor.
    pub(crate) fn close(&mut self, now: Time) {
        self.is_orphan = true;
        if self.state() == ConnectionState::SynSent {
            self.endpoint.vanish();
            self.is_gone = true;
        } else if self.readable() > 0 {
            // RFC 2525, section 2.17.
            let mut out = Vec::new();
            self.endpoint.abort(now, &mut out);
            self.leave(now, out);
            self.is_gone = true;
        } else {
            self.shut(now);
        }
    }

    /// A segment has come to a connection that the host has forgotten: a RST is the answer.
    pub(crate) fn refuse(&mut self, now: Time, segment: &Segment) {
        if segment.flags & flag::RST != 0 {
            return;
        }
        let answers = segment
            .acknowledgement
            .filter(|_| segment.flags & flag::ACK != 0);
        let takes = segment.payload
            + u32::from(segment.flags & flag::SYN != 0)
            + u32::from(segment.flags & flag::FIN != 0);
        let segment = Segment {
            flags: match answers {
                Some(_) => flag::RST,
                None => flag::RST | flag::ACK,
            },
            sequence: answers.unwrap_or(0),
            payload: 0,
            acknowledgement: match answers {
                Some(_) => None,
                None => Some(segment.sequence.wrapping_add(takes)),
            },
            window: Some(0),
            ecn: None,
            options: Some(Vec::<TcpOption>::new()),
        };
        self.sent.push(Sent { at: now, segment });
    }
}

/// True for an empty acknowledgement without anything else to say.
fn is_plain_ack(packet: &Packet) -> bool {
    packet.payload == 0 && packet.flags & !flags::ECE == flags::ACK && packet.sack_count == 0
}
