//! A flow over QUIC: two endpoints of quinn-proto, whose datagrams cross the network as packets.
//!
//! A packet of the network is a header of fixed size. The bytes of a datagram wait beside it, at
//! their sender, and the packet has the number under which they are found.

use crate::RunError;
use bentpipe_cc::{Controller, Fault};
use bentpipe_outcome::{FlowCounts, FlowOutcome, SenderSample};
use bentpipe_quic::{Datagram, Host, IP_HEADERS, Pacing, Settings};
use bentpipe_random::Stream;
use bentpipe_scenario::Flow;
use bentpipe_tcp::packet::ecn;
use bentpipe_tcp::{Opener, Packet, Transmit, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Time};
use std::collections::VecDeque;

/// A packet is taken for lost when so many that were sent after it have arrived; QUIC has repeated
/// what it carried long before.
const HORIZON: u64 = 1 << 14;

/// The datagrams of one direction that are on their way, by number.
#[derive(Debug, Default)]
struct Way {
    /// Number of the first in `datagrams`.
    first: u64,
    datagrams: VecDeque<Option<Datagram>>,
}

impl Way {
    fn put(&mut self, datagram: Datagram) -> u64 {
        self.datagrams.push_back(Some(datagram));
        self.first + self.datagrams.len() as u64 - 1
    }

    fn take(&mut self, number: u64) -> Option<Datagram> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let datagram = self.datagrams.get_mut(place)?.take();
        while let Some(oldest) = self.datagrams.front() {
            if oldest.is_some() && self.first + HORIZON >= number {
                break;
            }
            self.datagrams.pop_front();
            self.first += 1;
        }
        datagram
    }
}

/// Both ends of a QUIC connection, the `from` side first.
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
        let settings = settings(transport);
        let mut stream = Stream::new(seed, &format!("quic {}", flow.name));
        let client = bentpipe_quic::Side::Client;
        let server = bentpipe_quic::Side::Server;
        let opener = transport.quic.map_or(Opener::From, |quic| quic.opener);
        let (from, to) = match opener {
            Opener::From => (client, server),
            Opener::To => (server, client),
        };
        let from = Host::new(from, &settings, sending, stream.bits());
        let to = Host::new(to, &settings, build()?, stream.bits());
        Ok(Box::new(QuicFlow {
            hosts: [
                from.map_err(|e| fails(e.to_string()))?,
                to.map_err(|e| fails(e.to_string()))?,
            ],
            ways: Default::default(),
            endpoints: [2 * index, 2 * index + 1],
            deadlines: [Time::MAX; 2],
            opener: match opener {
                Opener::From => 0,
                Opener::To => 1,
            },
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

    pub(crate) fn write<T: Transmit>(&mut self, now: Time, bytes: u64, last: bool, net: &mut T) {
        self.hosts[0].write(bytes, last);
        self.flush(now, 0, net);
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
            packet.sequence = self.ways[side].put(datagram);
            net.transmit(packet);
        }
        self.deadlines[side] = self.hosts[side].deadline();
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.hosts[0].is_connected()
    }

    /// Bytes that have arrived in order.
    pub(crate) fn delivered(&self) -> Bytes {
        Bytes::new(self.hosts[1].received())
    }

    pub(crate) fn is_acknowledged(&self) -> bool {
        self.hosts[0].is_acknowledged()
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

/// The endpoint's settings.
fn settings(transport: &Transport) -> Settings {
    let quic = transport.quic;
    let pacing = match quic.and_then(|quic| quic.pacing) {
        None => Pacing::Quinn,
        Some(bentpipe_tcp::Pacing::Off) => Pacing::Off,
        Some(bentpipe_tcp::Pacing::Window { gain, .. }) => Pacing::Window(gain),
    };
    let mtu = quic.and_then(|quic| quic.mtu);
    let defaults = Settings::default();
    Settings {
        mtu: mtu.map(|mtu| u16::try_from(mtu).unwrap_or(u16::MAX)),
        initial_window: transport.initial_window,
        initial_ssthresh: transport.initial_ssthresh,
        pacing,
        batch: if quic.is_some_and(|quic| quic.batches) {
            defaults.batch
        } else {
            1
        },
        acks: quic.and_then(|quic| quic.acks),
        send_window: transport.send_buffer,
        receive_window: transport.receive_buffer,
        initial_receive_window: quic.and_then(|quic| quic.initial_receive_window),
        ecn: transport.ecn,
        ..defaults
    }
}

#[cfg(test)]
mod tests;
