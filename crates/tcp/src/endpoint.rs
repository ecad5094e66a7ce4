//! One end of a connection: handshake, sending and receiving half, timers.

mod closing;
mod handshake;
mod one_way;
mod reopen;
mod status;
mod turns;

pub use closing::ConnectionState;
pub(crate) use handshake::SYN_BYTES_OF_NS2;

use crate::options::Recovery;
use crate::packet::{
    CONGESTION_HEADER_BYTES, CORRUPTION_BYTES, MAX_WINDOW, Packet, Snack, Transmit, flags,
    priority, timestamp,
};
use crate::profile::StackKind;
use crate::receiver::holes::Holes;
use crate::receiver::quickack::QuickAck;
use crate::receiver::{Answer, Receiver};
use crate::rtt::RttEstimator;
use crate::sender::Sender;
use crate::sender_core::SenderCounters;
use crate::stack::CongestionState;
use crate::transport::Transport;
use bentpipe_cc::{Controller, EcnEcho, Fault, PathHint, Phase, QueueReport, SharedState};
use bentpipe_units::{Bytes, Duration, Time};
use handshake::Handshake;
use status::is_poll;

/// State of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    /// Not opened yet: listens.
    Closed,
    SynSent,
    SynReceived,
    /// Open, or closing in whatever state of it.
    Established,
    /// Gone by a RST, ours or the peer's.
    Reset,
}

/// The sender's state, for time series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Slow start threshold, segments.
    pub ssthresh: f64,
    /// Segments in flight.
    pub flight: usize,
    /// Segments above the cumulative acknowledgement that arrived, by selective
    /// acknowledgements or, without them, by duplicate ones.
    pub sacked: u32,
    /// Segments taken for lost, sent again or not.
    pub lost: u32,
    /// Retransmissions in flight. This and `lost` are zero on the hosts of ns-2, which keep
    /// another record, and so is `sacked` there without SACK.
    pub retransmitted: u32,
    /// By how many segments what arrives may be out of order before that is a loss.
    pub reordering: u32,
    /// What is suspected or repaired.
    pub congestion_state: CongestionState,
    /// Last RTT sample; zero before one.
    pub rtt: Duration,
    /// RTT samples so far.
    pub rtt_samples: u64,
    /// Phase of the congestion control.
    pub phase: Phase,
}

/// One end of a connection. Sans-I/O: packets and times go in, packets and a
/// deadline come out.
#[derive(Debug)]
pub struct Endpoint {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) connection: Connection,
    /// Present from the first SYN on, until the connection is established where nothing asks for it
    /// later.
    handshake: Option<Box<Handshake>>,
    pub(crate) peer: u32,
    pub(crate) header: u32,
    timestamps: bool,
    /// Packets have the sizes of those of ns-2's one-way agents.
    pub(crate) one_way: bool,
    /// The peer's FIN had arrived when this side was closed.
    pub(crate) closed_second: bool,
    reopened: u32,
    /// Bytes sent, and received, before those of the application.
    preface: [u64; 2],
    /// Bytes of acknowledgements and status reports, at the IP layer.
    answered: u64,
}

/// True for a packet without data or FIN.
#[inline]
fn is_empty(packet: &Packet) -> bool {
    packet.payload == 0 && !packet.has(flags::FIN)
}

/// The receiving half that goes with `sender` where `transport` runs. It advertises
/// at most `window` bytes.
fn receiver_of(transport: &Transport, sender: &Sender, window: u32) -> Receiver {
    let stack = transport.profile.rules().stack;
    let reports = !stack.is_ns2();
    let mut receiver = Receiver::new(transport.delayed_ack, sender.uses_sack(), reports, window);
    if stack == StackKind::Linux {
        let mut quickack = QuickAck::new(transport.delayed_ack, window, sender.core.mss);
        quickack.set_tick(transport.kernel.tick);
        receiver.set_quickack(quickack);
    }
    if transport.ecn && transport.ecn_echo() == EcnEcho::EachChange {
        receiver.set_echoes_changes();
    }
    if transport.recovery == Recovery::Snack {
        receiver.set_holes(Holes::new(sender.core.mss));
    } else if sender.core.cc.needs_error_reports() {
        receiver.count_errors();
    }
    if transport.recovery == Recovery::Stp {
        receiver.set_status();
    }
    receiver
}

impl Endpoint {
    /// An endpoint that runs `transport` with congestion control `cc`; packets
    /// go to endpoint `peer`.
    #[must_use]
    pub fn new(transport: &Transport, cc: Controller, peer: u32) -> Endpoint {
        let rules = transport.profile.rules();
        let advertised = transport.receive_buffer.get() / rules.receive_buffer_divisor;
        let window = advertised.clamp(1, u64::from(MAX_WINDOW)) as u32;
        let one_way = rules.stack.is_ns2();
        let sender = Sender::new(transport, cc, peer, u64::from(window));
        let receiver = receiver_of(transport, &sender, window);
        Endpoint {
            sender,
            receiver,
            connection: Connection::Closed,
            handshake: None,
            peer,
            header: transport.header_bytes(),
            timestamps: transport.timestamps,
            one_way,
            closed_second: false,
            reopened: 0,
            preface: [0; 2],
            answered: 0,
        }
    }

    /// Opens the connection: sends a SYN.
    pub fn open<T: Transmit>(&mut self, now: Time, out: &mut T) {
        self.connection = Connection::SynSent;
        self.send_syn(now, out);
    }

    /// Makes the connection exist, without a handshake.
    pub fn assume_open(&mut self) {
        self.connection = Connection::Established;
        self.sender.established(None);
    }

    /// From now on what segmentation offload puts together is one packet: no link of the way cuts
    /// it.
    pub fn send_whole(&mut self) {
        self.sender.core.sends_whole = true;
    }

    /// True where the congestion control is a user's own, which may fail.
    #[must_use]
    pub fn has_own_control(&self) -> bool {
        matches!(self.sender.core.cc, Controller::Custom(_))
    }

    /// Why a user's congestion control had to be stopped, if it was.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.sender.core.cc.fault()
    }

    /// True where the congestion control uses knowledge of its path.
    #[must_use]
    pub fn wants_path(&self) -> bool {
        self.sender.core.cc.needs_path()
    }

    /// Passes knowledge of the path to the congestion control.
    pub fn tell_path(&mut self, path: &PathHint) {
        self.sender
            .core
            .cc
            .on_path(path, &mut self.sender.core.window);
        self.sender.core.take_requests();
    }

    /// True where the congestion control shares its window with other connections of
    /// the host.
    #[must_use]
    pub fn shares_state(&self) -> bool {
        self.sender.core.cc.shares_state()
    }

    /// Passes what the connections of the host share to the congestion control.
    pub fn share(&mut self, shared: &SharedState) {
        let core = &mut self.sender.core;
        core.cc.on_shared(shared, &mut core.window);
        core.take_requests();
    }

    /// The congestion window and the slow start threshold, segments.
    #[must_use]
    pub fn window(&self) -> (f64, f64) {
        let window = &self.sender.core.window;
        (window.cwnd, window.ssthresh)
    }

    /// Connections that ended before this one ([`Endpoint::reopen`]).
    #[must_use]
    pub fn reopened(&self) -> u32 {
        self.reopened
    }

    /// Sets the peer's receive window, where no handshake carries it.
    pub fn assume_window(&mut self, window: Bytes) {
        self.sender.core.snd.window = window.get().min(u64::from(MAX_WINDOW));
    }

    /// True once data can flow.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.connection == Connection::Established
    }

    /// Takes `bytes` more from the application and sends what can go; after
    /// [`Endpoint::close`] nothing.
    pub fn write<T: Transmit>(&mut self, now: Time, bytes: Bytes, out: &mut T) {
        if !self.takes_data() {
            return;
        }
        self.sender.offer(bytes.get());
        let sends_syn = self.connection == Connection::SynSent && self.sender.owns_syn();
        if self.is_open() || sends_syn {
            self.sender.send(now, out);
        }
    }

    /// The same for the last `bytes`: the connection is closed with them, so
    /// that the FIN goes with the last segment.
    pub fn write_last<T: Transmit>(&mut self, now: Time, bytes: Bytes, out: &mut T) {
        if self.one_way {
            return self.write(now, bytes, out);
        }
        if self.takes_data() {
            self.sender.offer(bytes.get());
            self.close(now, out);
        }
    }

    /// The application offers no more: what it offered but was not sent yet
    /// is withdrawn.
    pub fn withdraw_unsent(&mut self) {
        self.sender.core.snd.offered = self.sender.core.snd.next;
    }

    /// Takes a packet that arrived at `now`.
    #[inline]
    pub fn on_packet<T: Transmit>(&mut self, now: Time, packet: &Packet, out: &mut T) {
        // The two usual packets: a plain ACK, and data with nothing but the ACK
        // of old data.
        if packet.flags == flags::ACK && self.connection == Connection::Established {
            if packet.payload == 0 {
                return self.sender.on_ack(now, packet, out);
            }
            if packet.acknowledgement <= self.sender.core.snd.una {
                return self.receive(now, packet, out);
            }
        }
        self.on_any_packet(now, packet, out);
    }

    fn on_any_packet<T: Transmit>(&mut self, now: Time, packet: &Packet, out: &mut T) {
        const UNUSUAL: u8 = flags::SYN | flags::RST | flags::DUMMY;
        if is_poll(packet) && self.is_open() {
            return self.report_status(packet, out);
        }
        if packet.carries(priority::BACKWARD) {
            return self.sender.on_backward_notification(now);
        }
        if (self.connection != Connection::Established || packet.has(UNUSUAL))
            && self.on_unusual(now, packet, out)
        {
            return;
        }
        if self.connection != Connection::Established || packet.has(flags::SYN) {
            if self.one_way && self.on_segment_beside_syn(now, packet, out) {
                return;
            }
            self.on_handshake(now, packet, out);
            if is_empty(packet) || self.connection != Connection::Established {
                return;
            }
        }
        let is_bare = is_empty(packet);
        if packet.has(flags::ACK) && (is_bare || packet.acknowledgement > self.sender.core.snd.una)
        {
            self.sender.on_ack(now, packet, out);
        }
        if is_bare {
            return;
        }
        if packet.has(flags::PROBE) {
            self.receiver.on_probe(now, packet);
            let high = packet.priority & priority::LOW == 0;
            let also = if high { flags::DUMMY } else { 0 };
            self.answer(now, flags::PROBE | also, out);
        } else {
            self.receive(now, packet, out);
        }
    }

    #[inline]
    fn receive<T: Transmit>(&mut self, now: Time, packet: &Packet, out: &mut T) {
        match self.receiver.on_data(now, packet) {
            Answer::Later => {}
            Answer::Now => self.send_ack(now, out),
            Answer::Before => self.receive_after_ack(now, packet, out),
        }
    }

    /// Sends the ACK that waits, and takes the packet then.
    #[cold]
    #[inline(never)]
    fn receive_after_ack<T: Transmit>(&mut self, now: Time, packet: &Packet, out: &mut T) {
        self.send_ack(now, out);
        if self.receiver.on_data(now, packet) == Answer::Now {
            self.send_ack(now, out);
        }
    }

    /// Does what has become due at `now`.
    pub fn on_deadline<T: Transmit>(&mut self, now: Time, out: &mut T) {
        if let Some(handshake) = self.handshake.as_mut().filter(|h| now >= h.deadline) {
            handshake.timeouts += 1;
            self.send_syn(now, out);
        }
        if self.receiver.is_due(now) {
            self.send_ack(now, out);
        }
        self.sender.on_deadline(now, out);
    }

    /// When [`Endpoint::on_deadline`] is to be called; [`Time::MAX`] if never.
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.sender
            .core
            .deadline()
            .min(self.receiver.next_deadline())
            .min(self.handshake.as_ref().map_or(Time::MAX, |h| h.deadline))
    }

    pub(crate) fn send_ack<T: Transmit>(&mut self, now: Time, out: &mut T) {
        self.answer(now, 0, out);
    }

    /// Sends an ACK with these flags on top. The answer to a probe is as
    /// expendable as the probe.
    fn answer<T: Transmit>(&mut self, now: Time, extra: u8, out: &mut T) {
        let mut packet = Packet::new(self.peer);
        packet.flags = extra;
        if extra & (flags::PROBE | flags::DUMMY) == flags::PROBE {
            packet.priority |= priority::LOW;
        }
        packet.sequence = self.sender.core.snd.next;
        self.receiver.acknowledge(&mut packet);
        if self.timestamps {
            packet.timestamp = timestamp(now);
        }
        let base = if self.one_way { 40 } else { self.header };
        let plain = packet.sack_count == 0 && packet.priority == priority::NORMAL;
        packet.bytes = if plain {
            base as u16
        } else {
            (base + self.option_bytes(&packet)) as u16
        };
        self.answered += u64::from(packet.bytes);
        out.transmit(packet);
    }

    /// Bytes of the options of an acknowledgement beyond the usual header.
    fn option_bytes(&self, packet: &Packet) -> u32 {
        let blocks = u32::from(packet.sack_count);
        if self.one_way {
            // A sink of ns-2 counts the blocks alone, and no timestamps.
            let congestion = packet.reverse_feedback();
            return congestion.map_or(0, |_| CONGESTION_HEADER_BYTES) + 8 * blocks;
        }
        // A SACK option takes 2 + 8 bytes a block, padded to a multiple of 4.
        let sack = if blocks == 0 { 0 } else { 4 + 8 * blocks };
        let corruption = if packet.names_corruption() {
            CORRUPTION_BYTES
        } else {
            0
        };
        sack + packet.snack().map_or(0, Snack::bytes) + corruption
    }

    /// True where the congestion control uses reports of the queue at its own node
    /// ([`Endpoint::on_queue`]).
    #[must_use]
    pub fn needs_queue_reports(&self) -> bool {
        self.sender.core.cc.needs_queue_reports()
    }

    /// The queue at the sender's own node, about once a frame.
    pub fn on_queue(&mut self, report: &QueueReport) {
        self.sender.core.on_queue(report);
    }

    /// The first bytes that it sends, and that it receives, precede those of the application: they
    /// belong to the handshake of TLS. [`Endpoint::offered`], [`Endpoint::acknowledged`] and
    /// [`Endpoint::delivered`] do not count them.
    pub fn add_preface(&mut self, sent: Bytes, received: Bytes) {
        self.preface[0] += sent.get();
        self.preface[1] += received.get();
    }

    /// Payload bytes of the application that the peer has acknowledged.
    #[must_use]
    pub fn acknowledged(&self) -> Bytes {
        let all = self.sender.core.acknowledged();
        Bytes::new(all.saturating_sub(self.preface[0]))
    }

    /// Payload bytes that the application has offered.
    #[must_use]
    pub fn offered(&self) -> Bytes {
        let all = self.sender.core.snd.offered.min(self.sender.core.snd.fin);
        Bytes::new(all.saturating_sub(self.preface[0]))
    }

    /// Payload bytes delivered in order to the application.
    #[must_use]
    pub fn delivered(&self) -> Bytes {
        Bytes::new(self.receiver.delivered().saturating_sub(self.preface[1]))
    }

    /// All payload bytes that have arrived in order, those before the application's included.
    #[must_use]
    pub fn received(&self) -> Bytes {
        Bytes::new(self.receiver.delivered())
    }

    /// Data packets that arrived a second time.
    #[must_use]
    pub fn duplicates_received(&self) -> u64 {
        self.receiver.duplicates
    }

    /// Counters of the sending half.
    #[must_use]
    pub fn counters(&self) -> &SenderCounters {
        &self.sender.core.counters
    }

    /// Round-trip times seen by the sending half.
    #[must_use]
    pub fn rtt(&self) -> &RttEstimator {
        &self.sender.core.rtt
    }

    /// Largest congestion window so far, segments.
    #[must_use]
    pub fn max_cwnd(&self) -> f64 {
        self.sender.core.max_cwnd
    }

    /// The sender's state now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let board = &self.sender.core.board;
        let repairs = self.sender.repairs();
        Snapshot {
            cwnd: self.sender.core.window.cwnd,
            ssthresh: self.sender.core.window.ssthresh,
            flight: self.sender.flight(),
            sacked: repairs.sacked,
            lost: board.lost(),
            retransmitted: board.retransmitted(),
            reordering: repairs.reordering,
            congestion_state: repairs.state,
            rtt: self.sender.core.rtt.latest(),
            rtt_samples: self.sender.core.rtt.sum().1,
            phase: self.sender.phase(),
        }
    }
}
