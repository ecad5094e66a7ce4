//! A flow over QUIC: two endpoints of quinn-proto, whose datagrams cross the network as packets.
//!
//! A packet of the network is a header of fixed size. The bytes of a datagram wait beside it, at
//! their sender, and the packet has the number under which they are found.

use crate::RunError;
use bentpipe_cc::{Controller, Fault};
use bentpipe_outcome::{FlowCounts, FlowOutcome, SenderSample};
use bentpipe_quic::{Datagram, Host, IP_HEADERS};
use bentpipe_random::Stream;
use bentpipe_scenario::{Flow, quic_settings};
use bentpipe_tcp::packet::{ecn, flags};
use bentpipe_tcp::{Packet, Transmit, Transport};
use bentpipe_traffic::{Application, Exchange};
use bentpipe_units::{Bytes, Time};
use std::collections::VecDeque;

/// A packet is taken for lost when so many that were sent after it have arrived; QUIC has repeated
/// what it carried long before.
const HORIZON: usize = 1 << 14;

/// The datagrams of one direction that are on their way, each under the number of bytes that were
/// sent before it.
#[derive(Debug, Default)]
struct Way {
    /// Payload of UDP sent so far.
    sent: u64,
    datagrams: VecDeque<(u64, Option<Datagram>)>,
}

impl Way {
    fn put(&mut self, datagram: Datagram) {
        let number = self.sent;
        self.sent += datagram.payload.len() as u64;
        self.datagrams.push_back((number, Some(datagram)));
    }

    fn take(&mut self, number: u64) -> Option<Datagram> {
        // Nearly always the oldest.
        let place = match self.datagrams.front()?.0 == number {
            true => 0,
            false => self.datagrams.partition_point(|(at, _)| *at < number),
        };
        let (at, datagram) = self.datagrams.get_mut(place)?;
        if *at != number {
            return None;
        }
        let datagram = datagram.take();
        let is_gone = |(_, datagram): &(u64, Option<Datagram>)| datagram.is_none();
        let mut after = place;
        while self.datagrams.front().is_some_and(is_gone) || after > HORIZON {
            self.datagrams.pop_front();
            after = after.saturating_sub(1);
        }
        datagram
    }
}

/// Both ends of a QUIC connection, the `from` side first. Who asks opens it, and else the one that the
/// transport says.
#[derive(Debug)]
pub(crate) struct QuicFlow {
    hosts: [Host; 2],
    /// By sender.
    ways: [Way; 2],
    /// The endpoints that they are in the network.
    endpoints: [u32; 2],
    deadlines: [Time; 2],
    /// The side that opens the connection.
    opener: usize,
    pub(crate) has_own_control: bool,
}

impl QuicFlow {
    pub(crate) fn new(
        flow: &Flow,
        transport: &Transport,
        index: u32,
        custom: Option<Controller>,
        seed: u64,
    ) -> Result<Box<QuicFlow>, RunError> {
        let fails = |reason: String| RunError::Transport {
            flow: flow.name.clone(),
            reason,
        };
        let build = || transport.controller().map_err(|e| fails(e.to_string()));
        let sending = match custom {
            Some(controller) => controller,
            None => build()?,
        };
        let has_own_control = matches!(sending, Controller::Custom(_));
        let settings = quic_settings(transport);
        let mut stream = Stream::new(seed, &format!("quic {}", flow.name));
        let client = bentpipe_quic::Side::Client;
        let server = bentpipe_quic::Side::Server;
        let opener = flow.opener();
        let sides = match opener {
            0 => [client, server],
            _ => [server, client],
        };
        let from = Host::new(sides[0], &settings, sending, stream.bits());
        let to = Host::new(sides[1], &settings, build()?, stream.bits());
        Ok(Box::new(QuicFlow {
            hosts: [
                from.map_err(|e| fails(e.to_string()))?,
                to.map_err(|e| fails(e.to_string()))?,
            ],
            ways: Default::default(),
            endpoints: [2 * index, 2 * index + 1],
            deadlines: [Time::MAX; 2],
            opener,
            has_own_control,
        }))
    }

    pub(crate) fn start<T: Transmit>(&mut self, now: Time, application: &Application, net: &mut T) {
        self.hosts[self.opener].open(now);
        match application {
            Application::Transfer { size } => self.hosts[0].write(size.get(), true),
            Application::Persistent => self.hosts[0].write(u64::MAX, false),
            _ => {}
        }
        self.flush(now, self.opener, net);
    }

    /// `to` asks, for each exchange on a stream of its own.
    pub(crate) fn ask<T: Transmit>(&mut self, now: Time, batch: &[Exchange], net: &mut T) {
        for exchange in batch {
            self.hosts[1].ask(exchange.request.get());
        }
        self.flush(now, 1, net);
    }

    /// `from` answers the requests that have arrived in whole with what `of` says of each number,
    /// counted in the order in which they were asked.
    pub(crate) fn answer<T: Transmit>(
        &mut self,
        now: Time,
        of: impl Fn(u64) -> Option<Exchange>,
        net: &mut T,
    ) {
        let mut answers = false;
        while let Some(exchange) = self.hosts[0].requested().and_then(&of) {
            let bytes = exchange.response.get();
            answers |= self.hosts[0].answer_urgently(bytes, exchange.urgency);
        }
        if answers {
            self.flush(now, 0, net);
        }
    }

    /// The number of a request whose response has arrived in whole, each once.
    pub(crate) fn responded(&mut self) -> Option<u64> {
        self.hosts[1].responded()
    }

    /// Requests that have arrived in whole.
    pub(crate) fn requests(&self) -> u64 {
        self.hosts[0].completed()
    }

    pub(crate) fn write<T: Transmit>(&mut self, now: Time, bytes: u64, last: bool, net: &mut T) {
        self.hosts[0].write(bytes, last);
        self.flush(now, 0, net);
    }

    /// A datagram, of which nothing is sent again.
    pub(crate) fn send_datagram<T: Transmit>(&mut self, now: Time, bytes: u64, net: &mut T) {
        self.hosts[0].send_datagram(bytes);
        self.flush(now, 0, net);
    }

    /// The number of a datagram that has arrived, each once.
    pub(crate) fn take_datagram(&mut self) -> Option<u64> {
        self.hosts[1].take_datagram()
    }

    /// The application has nothing more to send.
    pub(crate) fn stop<T: Transmit>(&mut self, now: Time, net: &mut T) {
        self.hosts[0].withdraw();
        self.flush(now, 0, net);
    }

    pub(crate) fn close<T: Transmit>(&mut self, now: Time, net: &mut T) {
        self.hosts[0].close(now);
        self.flush(now, 0, net);
    }

    pub(crate) fn on_packet<T: Transmit>(
        &mut self,
        now: Time,
        side: usize,
        packet: &Packet,
        net: &mut T,
    ) {
        if let Some(datagram) = self.ways[1 - side].take(packet.sequence) {
            self.hosts[side].receive(now, datagram, packet.ecn == ecn::MARKED);
            self.flush(now, side, net);
        }
    }

    pub(crate) fn on_deadline<T: Transmit>(&mut self, now: Time, side: usize, net: &mut T) {
        self.hosts[side].on_deadline(now);
        self.flush(now, side, net);
    }

    pub(crate) fn deadline(&self, side: usize) -> Time {
        self.deadlines[side]
    }

    /// Sends what one side has to send.
    fn flush<T: Transmit>(&mut self, now: Time, side: usize, net: &mut T) {
        while let Some(datagram) = self.hosts[side].transmit(now) {
            let length = u16::try_from(datagram.payload.len()).unwrap_or(u16::MAX);
            let mut packet = Packet::new(self.endpoints[1 - side]);
            packet.payload = length;
            packet.bytes = length.saturating_add(IP_HEADERS);
            if datagram.ecn_capable {
                packet.ecn = ecn::CAPABLE;
            }
            // Who watches knows by it what was sent before, and by the flag that it is no data.
            packet.sequence = self.ways[side].sent;
            if !self.hosts[side].may_send() {
                packet.flags |= flags::PROBE;
            }
            net.carries(&packet, &datagram.payload);
            self.ways[side].put(datagram);
            net.transmit(packet);
        }
        self.deadlines[side] = self.hosts[side].deadline();
    }

    /// The side that sends the data may send them.
    pub(crate) fn may_send(&self) -> bool {
        self.hosts[0].may_send()
    }

    /// Bytes that have arrived in order.
    pub(crate) fn delivered(&self) -> Bytes {
        Bytes::new(self.hosts[1].received())
    }

    pub(crate) fn is_acknowledged(&self) -> bool {
        self.hosts[0].is_acknowledged()
    }

    /// Why the connection was lost, if it was.
    pub(crate) fn error(&self) -> Option<&str> {
        self.hosts.iter().find_map(Host::error)
    }

    pub(crate) fn fault(&self) -> Option<Fault> {
        self.hosts.iter().find_map(Host::fault)
    }

    /// Times that a side found persistent congestion, QUIC's counterpart of a timeout.
    pub(crate) fn timeouts(&self, side: usize) -> u64 {
        self.hosts[side].view().map_or(0, |view| view.persistent)
    }

    /// Payload of UDP that has been sent.
    pub(crate) fn sent(&self) -> Bytes {
        Bytes::new(self.hosts[0].sum().bytes)
    }

    pub(crate) fn sample(&self, now: Time) -> Option<SenderSample> {
        let view = self.hosts[0].view()?;
        let packets = |bytes: u64| bytes as f64 / f64::from(view.mtu.max(1));
        Some(SenderSample {
            at: now,
            cwnd: view.cwnd,
            ssthresh: view.ssthresh,
            flight: packets(view.flight),
            rtt: view.smoothed_rtt,
            retransmissions: self.hosts[0].sum().lost,
            spurious_retransmissions: 0,
            phase: view.phase.name(),
        })
    }

    /// What the sender has counted. QUIC sends what it found lost again, in other packets: these
    /// count as retransmissions. What is sent is the payload of UDP.
    pub(crate) fn counts(&self) -> FlowCounts {
        let sum = self.hosts[0].sum();
        let view = self.hosts[0].view();
        FlowCounts {
            delivered: self.delivered(),
            sent: Bytes::new(sum.bytes),
            packets_sent: sum.datagrams,
            retransmissions: sum.lost,
            retransmitted: Bytes::new(sum.lost_bytes),
            timeouts: view.map_or(0, |view| view.persistent),
            reductions: view.map_or(0, |view| view.reductions),
            ..FlowCounts::default()
        }
    }

    /// What a flow's outcome has besides its counts.
    pub(crate) fn describe(&self, o: &mut FlowOutcome) {
        if self.is_acknowledged() {
            o.acknowledged = self.delivered();
        }
        o.acks_received = self.hosts[0].sum().acks;
        if let Some(view) = self.hosts[0].view() {
            o.min_rtt = view.min_rtt;
            o.mean_rtt = view.mean_rtt;
            o.max_cwnd = view.max_cwnd;
            o.recoveries = view.reductions;
        }
    }
}

#[cfg(test)]
mod tests;
