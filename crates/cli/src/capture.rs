//! Packets of a run as a capture: simulated headers become real ones.

mod echoes;

use crate::args::PcapAt;
use crate::exit::Failure;
use bentpipe_outcome::{
    Capture, CaptureError, CapturedPacket, CongestionOption, Interface, Provenance, Sack,
    SnackOption, TcpHeader, Transport, WholeFile,
};
use bentpipe_scenario::{Connection, Scenario};
use bentpipe_sim::Observer;
use bentpipe_tcp::packet::{flags, priority};
use bentpipe_tcp::{Packet, Recovery};
use bentpipe_units::Time;
use echoes::{Echoes, says_echo};
use std::path::{Path, PathBuf};

/// First port of the side that listens; flow `f` has the port `f` above it.
const LISTENING: u16 = 5001;

/// First port of the side that opens the connection.
const CALLING: u16 = 40_000;

/// Writes the packets that the flows' ends send and receive. Each end is a tap
/// point, `FLOW/from` or `FLOW/to`.
pub(crate) struct Tap {
    capture: Capture<WholeFile>,
    path: PathBuf,
    flows: Vec<Facts>,
    /// Which ends of the flows it listens at.
    at: PcapAt,
    /// What each tap saw last from each side: `[tap][sender]`.
    seen: Vec<[Seen; 2]>,
    /// What each endpoint echoes.
    echoes: Vec<Echoes>,
    /// The first thing that went wrong; nothing is written after it.
    failed: Option<CaptureError>,
}

/// The last acknowledgement of a side. Simulated data packets leave it out; real ones
/// repeat it.
#[derive(Clone, Copy, Default)]
struct Seen {
    acknowledgement: u64,
}

/// What a capture shows of a flow that its packets do not carry.
struct Facts {
    /// Numbers of the nodes at the `from` and `to` side, from 1.
    nodes: [u32; 2],
    /// False for datagrams.
    tcp: bool,
    timestamps: bool,
    sack: bool,
    /// SCPS-TP.
    scps: bool,
    mss: u16,
    /// Receive window that both sides advertise while they are empty.
    window: u32,
    /// Window scale of both sides.
    window_shift: u8,
    /// Initial sequence numbers of both sides.
    isn: [u32; 2],
    /// Size of the UDP and IP headers.
    datagram_headers: u32,
}

impl Tap {
    /// Begins the capture `path` of a run of `scenario` with `seed`.
    pub(crate) fn create(
        path: &Path,
        scenario: &Scenario,
        seed: u64,
        at: PcapAt,
    ) -> Result<Tap, Failure> {
        let interfaces: Vec<Interface> = scenario
            .connections()
            .flat_map(|c| {
                let flow = &scenario.flows[c.flow];
                // The legs of a split flow by their numbers, after the first.
                let leg = match c.leg {
                    0 => String::new(),
                    Connection::LOOKUP => "/look-up".to_owned(),
                    leg => format!("/{leg}"),
                };
                ["from", "to"].map(|side| format!("{}{leg}/{side}", flow.name))
            })
            .map(|name| Interface::named(&name))
            .collect();
        let provenance = Provenance::new(&scenario.name, &scenario.hash().to_string(), &[seed]);
        let capture = Capture::create(path, &provenance, &interfaces)
            .map_err(|e| Failure::file("write", path, e))?;
        let flows = scenario.connections().enumerate().map(|(i, connection)| {
            let transport = connection.transport;
            let window = transport.map_or(0, |t| {
                t.receive_buffer.get() / t.profile.rules().receive_buffer_divisor.max(1)
            });
            Facts {
                nodes: connection.nodes.map(|node| node.0 + 1),
                // Datagrams of QUIC are those of UDP.
                tcp: transport.is_some_and(|t| t.quic.is_none()),
                timestamps: transport.is_some_and(|t| t.timestamps),
                sack: transport.is_some_and(|t| t.recovery.uses_sack()),
                scps: transport.is_some_and(|t| t.recovery == Recovery::Snack),
                mss: transport.map_or(0, |t| t.mss.min(65_535) as u16),
                window: u32::try_from(window).unwrap_or(u32::MAX),
                window_shift: shift(window),
                isn: [
                    initial_sequence(seed, 2 * i),
                    initial_sequence(seed, 2 * i + 1),
                ],
                datagram_headers: 28,
            }
        });
        let seen = vec![[Seen::default(); 2]; interfaces.len()];
        let echoes = vec![Echoes::default(); interfaces.len()];
        Ok(Tap {
            capture,
            path: path.to_owned(),
            flows: flows.collect(),
            at,
            seen,
            echoes,
            failed: None,
        })
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        if let Some(error) = self.failed {
            return Err(Failure::file("write", &self.path, error));
        }
        self.capture
            .commit()
            .map_err(|e| Failure::file("write", &self.path, e))
    }

    fn see(&mut self, now: Time, endpoint: u32, sender: usize, packet: &Packet, echo: u32) {
        let heard = match self.at {
            PcapAt::From => endpoint.is_multiple_of(2),
            PcapAt::To => !endpoint.is_multiple_of(2),
            PcapAt::Both => true,
        };
        let index = endpoint as usize / 2;
        let Some(facts) = self.flows.get(index) else {
            return;
        };
        if !heard || self.failed.is_some() {
            return;
        }
        let mut packet = *packet;
        if let Some(seen) = self.seen.get_mut(endpoint as usize) {
            seen[sender].complete(&mut packet);
        }
        packet.timestamp_echo = echo;
        let captured = facts.captured(now, endpoint, sender, index, &packet);
        self.failed = self.capture.packet(&captured).err();
    }
}

impl Observer for Tap {
    fn sent(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        let echoes = self.echoes.get_mut(endpoint as usize);
        let echo = echoes.map_or(0, |echoes| echoes.sending(packet));
        self.see(now, endpoint, endpoint as usize % 2, packet, echo);
    }

    fn received(&mut self, now: Time, endpoint: u32, packet: &Packet) {
        if let Some(echoes) = self.echoes.get_mut(endpoint as usize) {
            echoes.received(packet.timestamp);
        }
        // What a middlebox makes was not sent by the other end.
        let other = self.echoes.get_mut((endpoint ^ 1) as usize);
        let sent = other.and_then(|echoes| echoes.of(packet.timestamp));
        let own = if says_echo(packet) {
            packet.timestamp_echo
        } else {
            0
        };
        self.see(
            now,
            endpoint,
            1 - endpoint as usize % 2,
            packet,
            sent.unwrap_or(own),
        );
    }
}

impl Seen {
    /// Fills in what `packet` leaves out, and keeps what it says.
    fn complete(&mut self, packet: &mut Packet) {
        if carries_none(packet) && packet.acknowledgement == 0 {
            packet.acknowledgement = self.acknowledgement;
        } else if packet.acknowledgement >= self.acknowledgement {
            self.acknowledgement = packet.acknowledgement;
        }
    }
}

/// True for packets that leave the acknowledgement to others: data, FINs and
/// what asks for the window.
fn carries_none(packet: &Packet) -> bool {
    packet.payload > 0 || packet.has(flags::FIN | flags::DUMMY)
}

/// The flags as a TCP header has them. Those of probes are none of TCP.
fn wire_flags(flags: u8) -> u8 {
    let moved = |flag: u8, bit: u8| if flags & flag == 0 { 0 } else { bit };
    let own = flags::PROBE | flags::DUMMY | flags::FIN | flags::RST;
    (flags & !own) | moved(flags::FIN, 0x01) | moved(flags::RST, 0x04)
}

impl Facts {
    /// `packet`, sent by side `sender` (0: `from`), as tap `interface` sees it.
    fn captured(
        &self,
        at: Time,
        interface: u32,
        sender: usize,
        flow: usize,
        packet: &Packet,
    ) -> CapturedPacket {
        let receiver = 1 - sender;
        // Ports wrap long before 65536 flows would share a pair of nodes.
        let port = |base: u16| base.wrapping_add(flow as u16);
        let ports = [port(LISTENING), port(CALLING)];
        let transport = if self.tcp {
            Transport::Tcp(self.header(sender, packet))
        } else {
            Transport::Udp
        };
        let payload_bytes = if self.tcp {
            u32::from(packet.payload)
        } else {
            u32::from(packet.bytes).saturating_sub(self.datagram_headers)
        };
        CapturedPacket {
            at,
            interface,
            source_node: self.nodes[sender],
            destination_node: self.nodes[receiver],
            source_port: ports[sender],
            destination_port: ports[receiver],
            ecn: packet.ecn,
            low_priority: packet.priority & priority::LOW != 0,
            congestion: congestion(packet),
            payload_bytes,
            transport,
        }
    }

    fn header(&self, sender: usize, packet: &Packet) -> TcpHeader {
        let (own, other) = (self.isn[sender], self.isn[1 - sender]);
        let syn = packet.has(flags::SYN);
        let ack = packet.has(flags::ACK);
        // The stream's byte 0 follows the SYN, which takes a number itself.
        let first = u32::from(!syn);
        // Truncation is the wrap of 32-bit sequence numbers.
        let sequence = own.wrapping_add(first).wrapping_add(packet.sequence as u32);
        let acknowledged = if ack {
            other
                .wrapping_add(1)
                .wrapping_add(packet.acknowledgement as u32)
        } else {
            0
        };
        let valid = usize::from(packet.sack_count).min(packet.sack.len());
        // Blocks are relative to the acknowledgement number.
        let blocks: Vec<(u32, u32)> = packet.sack[..valid]
            .iter()
            .map(|b| {
                (
                    acknowledged.wrapping_add(b.start),
                    acknowledged.wrapping_add(b.end),
                )
            })
            .collect();
        TcpHeader {
            sequence,
            acknowledgement: acknowledged,
            // The flags of probes are no flags of TCP.
            flags: wire_flags(packet.flags),
            window_bytes: if packet.window == 0 && (syn || carries_none(packet)) {
                self.window
            } else {
                packet.window
            },
            window_shift: if syn { 0 } else { self.window_shift },
            sack: Sack::new(&blocks),
            timestamps: self
                .timestamps
                .then_some((packet.timestamp, packet.timestamp_echo)),
            mss: syn.then_some(self.mss),
            window_scale: syn.then_some(self.window_shift),
            sack_permitted: syn && self.sack,
            scps: syn && self.scps,
            snack: packet.snack().map(|snack| SnackOption {
                offset: snack.offset,
                size: snack.size,
                vector: snack.vector,
                vector_bytes: snack.vector_bytes() as u8,
            }),
            corruption: packet.names_corruption(),
        }
    }
}

/// The congestion header of a packet, in whole microseconds and bytes.
fn congestion(packet: &Packet) -> Option<CongestionOption> {
    let us = |seconds: f32| (f64::from(seconds) * 1e6) as u32;
    if let Some(header) = packet.congestion_header() {
        return Some(CongestionOption {
            x_us: us(header.x),
            rtt_us: us(header.rtt),
            change: header.change as i32,
            reverse_feedback: 0,
        });
    }
    packet.reverse_feedback().map(|feedback| CongestionOption {
        x_us: 0,
        rtt_us: 0,
        change: 0,
        reverse_feedback: feedback as i32,
    })
}

/// Smallest window scale with which the 16-bit field holds `window` (RFC 7323:
/// 14 at most).
fn shift(window: u64) -> u8 {
    (0..14).find(|s| window >> s <= 65_535).unwrap_or(14)
}

/// An initial sequence number that depends on seed and endpoint only
/// (splitmix64).
fn initial_sequence(seed: u64, endpoint: usize) -> u32 {
    let mut z = seed.wrapping_add((endpoint as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_tcp::packet::SackBlock;

    fn facts() -> Facts {
        Facts {
            nodes: [1, 2],
            tcp: true,
            timestamps: true,
            sack: true,
            scps: false,
            mss: 1448,
            window: 3_145_728,
            window_shift: 7,
            isn: [1000, u32::MAX],
            datagram_headers: 28,
        }
    }

    #[test]
    fn a_syn_takes_the_initial_sequence_number_and_carries_the_options() {
        let mut packet = Packet::new(1);
        packet.flags = flags::SYN;
        let header = facts().header(0, &packet);
        assert_eq!((header.sequence, header.acknowledgement), (1000, 0));
        assert_eq!(
            (header.mss, header.window_scale, header.window_shift),
            (Some(1448), Some(7), 0)
        );
        assert!(header.sack_permitted);
    }

    #[test]
    fn numbers_follow_the_initial_ones_and_wrap() {
        let mut packet = Packet::new(1);
        packet.flags = flags::ACK;
        packet.sequence = 1448;
        packet.acknowledgement = 10;
        packet.sack[0] = SackBlock {
            start: 1448,
            end: 2896,
        };
        packet.sack_count = 1;
        let header = facts().header(0, &packet);
        assert_eq!((header.sequence, header.acknowledgement), (2449, 10));
        assert_eq!(header.sack.blocks(), [(1458, 2906)]);
        assert_eq!((header.mss, header.window_shift), (None, 7));
    }

    #[test]
    fn data_packets_repeat_what_their_side_acknowledged() {
        let mut seen = Seen::default();
        let mut ack = Packet::new(1);
        ack.acknowledgement = 500;
        seen.complete(&mut ack);
        let mut data = Packet::new(1);
        data.payload = 1448;
        seen.complete(&mut data);
        assert_eq!(data.acknowledgement, 500);
        assert_eq!(facts().header(0, &data).window_bytes, 3_145_728);
    }

    #[test]
    fn fins_resets_and_shut_windows_look_as_on_the_wire() {
        let mut packet = Packet::new(1);
        packet.flags = flags::FIN | flags::ACK;
        assert_eq!(facts().header(0, &packet).flags, 0x11);
        packet.flags = flags::RST | flags::ACK;
        assert_eq!(facts().header(0, &packet).flags, 0x14);
        packet.flags = flags::ACK;
        assert_eq!(facts().header(0, &packet).window_bytes, 0);
    }

    #[test]
    fn window_scales_are_as_small_as_can_be() {
        assert_eq!(
            [65_535, 65_536, 3_145_728, u64::MAX].map(shift),
            [0, 1, 6, 14]
        );
    }
}
