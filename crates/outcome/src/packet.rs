//! Synthesised IPv4, TCP and UDP headers of simulated packets.
//!
//! A simulation has no payload: it counts as zeros, which add nothing to a checksum, and only the
//! headers are written.

use bentpipe_units::Time;

/// TCP flag: no more data from the sender.
pub const FIN: u8 = 0x01;
/// TCP flag: opens a connection.
pub const SYN: u8 = 0x02;
/// TCP flag: aborts a connection.
pub const RST: u8 = 0x04;
/// TCP flag: hand the data over at once.
pub const PSH: u8 = 0x08;
/// TCP flag: the acknowledgement number counts.
pub const ACK: u8 = 0x10;
/// TCP flag: an ECN mark was seen.
pub const ECE: u8 = 0x40;
/// TCP flag: the congestion window was reduced.
pub const CWR: u8 = 0x80;

/// Longest headers: 20 bytes of IPv4 with 20 of congestion header, and 60 of
/// TCP.
pub const MAX_HEADERS: usize = 100;

const IP: usize = 20;
const OPTIONS: usize = 40;
const CONGESTION: usize = 20;

/// A packet seen at a tap point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// Time of the packet, from the start of the run.
    pub at: Time,
    /// The tap point, by its number in the capture.
    pub interface: u32,
    /// Number of the sending node: node 0x010203 has the address 10.1.2.3. Of
    /// larger numbers the lower 24 bits count.
    pub source_node: u32,
    /// Number of the receiving node.
    pub destination_node: u32,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// ECN field of the IP header: 0 not capable, 1 or 2 capable, 3 marked.
    pub ecn: u8,
    /// Low priority: the header gets the code point CS1 (RFC 2474, RFC 3662).
    pub low_priority: bool,
    /// The congestion header of XCP, which is between IP and TCP.
    pub congestion: Option<CongestionOption>,
    /// Payload, bytes.
    pub payload_bytes: u32,
    /// The TCP or UDP header.
    pub transport: Transport,
}

/// A congestion header (XCP). Dissectors know no protocol number for it, so it
/// is written as an IP option for experiments (94, RFC 4727) of its 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionOption {
    /// RTT over window, microseconds a packet; zero on ACKs.
    pub x_us: u32,
    /// RTT, microseconds; zero on ACKs.
    pub rtt_us: u32,
    /// The change of throughput that is asked for or left, bytes a second.
    pub change: i32,
    /// The change of throughput that an ACK brings back, bytes a second.
    pub reverse_feedback: i32,
}

impl CongestionOption {
    fn bytes(self) -> [u8; CONGESTION] {
        // Kind, length, version and format of draft-falk-xcp-spec, unused.
        let mut bytes = [0; CONGESTION];
        bytes[..3].copy_from_slice(&[94, CONGESTION as u8, 0x11]);
        bytes[4..8].copy_from_slice(&self.rtt_us.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.x_us.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.change.to_be_bytes());
        bytes[16..].copy_from_slice(&self.reverse_feedback.to_be_bytes());
        bytes
    }
}

/// A selective negative acknowledgement of SCPS-TP (option 21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnackOption {
    /// Segments from the acknowledgement number to the first hole.
    pub offset: u16,
    /// Segments of the first hole.
    pub size: u16,
    /// The bit vector, its first bit the highest.
    pub vector: u64,
    /// Bytes of it that are written, at most 8.
    pub vector_bytes: u8,
}

/// The header above IP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP header.
    Tcp(TcpHeader),
    /// A UDP header.
    Udp,
}

/// A TCP header with its options.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TcpHeader {
    /// Sequence number of the first payload byte.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// [`FIN`], [`SYN`], [`ACK`], ...
    pub flags: u8,
    /// Receive window in bytes, before scaling.
    pub window_bytes: u32,
    /// The sender's window scale on this connection: the field holds the
    /// window shifted by this, 65535 at most. Zero on SYN packets (RFC 7323,
    /// section 2.2).
    pub window_shift: u8,
    /// SACK blocks, most recent first. As many are written as fit: three with
    /// timestamps.
    pub sack: Sack,
    /// Timestamps: value and echo reply.
    pub timestamps: Option<(u32, u32)>,
    /// Maximum segment size option; on SYN packets.
    pub mss: Option<u16>,
    /// Window scale option; on SYN packets.
    pub window_scale: Option<u8>,
    /// SACK-permitted option; on SYN packets.
    pub sack_permitted: bool,
    /// Capabilities option of SCPS-TP (20); on SYN packets.
    pub scps: bool,
    /// Selective negative acknowledgement of SCPS-TP (21).
    pub snack: Option<SnackOption>,
    /// What the SNACK names was corrupted (23).
    pub corruption: bool,
}

/// Up to four SACK blocks, each from its first sequence number to the one
/// after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sack {
    blocks: [(u32, u32); 4],
    len: u8,
}

impl Sack {
    /// The first four of `blocks`.
    #[must_use]
    pub fn new(blocks: &[(u32, u32)]) -> Sack {
        let mut sack = Sack::default();
        for (to, from) in sack.blocks.iter_mut().zip(blocks) {
            *to = *from;
            sack.len += 1;
        }
        sack
    }

    /// The SACK blocks: first byte, and one past the last.
    #[must_use]
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// Bytes of headers, without allocation.
pub(crate) struct Headers {
    bytes: [u8; MAX_HEADERS],
    len: usize,
}

impl Headers {
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn set_u16(&mut self, at: usize, value: u16) {
        self.bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }
}

impl CapturedPacket {
    /// The headers, and the length of the packet with its payload; `None` if
    /// that is more than an IPv4 packet can have.
    pub(crate) fn headers(&self) -> Option<(Headers, u32)> {
        let ip = IP + self.congestion.map_or(0, |_| CONGESTION);
        let mut h = Headers {
            bytes: [0; MAX_HEADERS],
            len: ip,
        };
        let protocol = match &self.transport {
            Transport::Tcp(tcp) => {
                self.push_tcp(&mut h, tcp);
                6
            }
            Transport::Udp => {
                h.push(&self.source_port.to_be_bytes());
                h.push(&self.destination_port.to_be_bytes());
                h.push(&[0; 4]);
                17
            }
        };
        let total =
            u16::try_from(u32::try_from(h.len).ok()?.checked_add(self.payload_bytes)?).ok()?;
        self.set_ip(&mut h, protocol, total);
        let segment = total - ip as u16;
        let at = match self.transport {
            Transport::Tcp(_) => ip + 16,
            Transport::Udp => {
                h.set_u16(ip + 4, segment);
                ip + 6
            }
        };
        // The pseudo-header: addresses, protocol, length.
        let pseudo = sum(&h.bytes[12..20]) + protocol + u32::from(segment);
        let checksum = fold(pseudo + sum(&h.bytes[ip..h.len]));
        // Zero would say that UDP has none.
        let udp_zero = checksum == 0 && self.transport == Transport::Udp;
        h.set_u16(at, if udp_zero { 0xffff } else { checksum });
        Some((h, u32::from(total)))
    }

    fn set_ip(&self, h: &mut Headers, protocol: u32, total: u16) {
        let ip = match self.congestion {
            Some(congestion) => {
                h.bytes[IP..IP + CONGESTION].copy_from_slice(&congestion.bytes());
                IP + CONGESTION
            }
            None => IP,
        };
        h.bytes[0] = 0x40 | (ip / 4) as u8;
        let class = if self.low_priority { 8 } else { 0 };
        h.bytes[1] = class << 2 | self.ecn & 3;
        h.set_u16(2, total);
        // Do not fragment; hence the identification may be zero (RFC 6864).
        h.bytes[6] = 0x40;
        h.bytes[8] = 64;
        h.bytes[9] = protocol as u8;
        h.bytes[12..16].copy_from_slice(&address(self.source_node));
        h.bytes[16..20].copy_from_slice(&address(self.destination_node));
        let checksum = fold(sum(&h.bytes[..ip]));
        h.set_u16(10, checksum);
    }

    fn push_tcp(&self, h: &mut Headers, tcp: &TcpHeader) {
        let ip = h.len;
        let window = tcp
            .window_bytes
            .checked_shr(tcp.window_shift.into())
            .unwrap_or(0);
        h.push(&self.source_port.to_be_bytes());
        h.push(&self.destination_port.to_be_bytes());
        h.push(&tcp.sequence.to_be_bytes());
        h.push(&tcp.acknowledgement.to_be_bytes());
        h.push(&[0, tcp.flags]);
        h.push(&u16::try_from(window).unwrap_or(u16::MAX).to_be_bytes());
        h.push(&[0; 4]);
        push_options(h, tcp);
        h.bytes[ip + 12] = ((h.len - ip) as u8 / 4) << 4;
    }
}

/// The options in the order and with the padding of Linux: each starts so that
/// its numbers are aligned.
fn push_options(h: &mut Headers, tcp: &TcpHeader) {
    const NOP: u8 = 1;
    let start = h.len;
    if let Some(mss) = tcp.mss {
        let [high, low] = mss.to_be_bytes();
        h.push(&[2, 4, high, low]);
    }
    match (tcp.sack_permitted, tcp.timestamps.is_some()) {
        (true, true) => h.push(&[4, 2]),
        (true, false) => h.push(&[NOP, NOP, 4, 2]),
        (false, true) => h.push(&[NOP, NOP]),
        (false, false) => {}
    }
    if let Some((value, echo)) = tcp.timestamps {
        h.push(&[8, 10]);
        h.push(&value.to_be_bytes());
        h.push(&echo.to_be_bytes());
    }
    if let Some(shift) = tcp.window_scale {
        h.push(&[NOP, 3, 3, shift]);
    }
    let room = |h: &Headers| OPTIONS.saturating_sub(h.len - start);
    if tcp.scps && room(h) >= 4 {
        // One byte for SNACK among the capabilities, the connection unnamed.
        h.push(&[20, 4, 0x20, 0]);
    }
    if let Some(snack) = tcp.snack
        && room(h) >= 16
    {
        push_snack(h, snack);
    }
    if tcp.corruption && room(h) >= 4 {
        h.push(&[NOP, NOP, 23, 2]);
    }
    let room = room(h).saturating_sub(4) / 8;
    let blocks = tcp.sack.blocks();
    let blocks = &blocks[..room.min(blocks.len())];
    if !blocks.is_empty() {
        h.push(&[NOP, NOP, 5, 2 + 8 * blocks.len() as u8]);
        for (from, to) in blocks {
            h.push(&from.to_be_bytes());
            h.push(&to.to_be_bytes());
        }
    }
}

/// The SNACK option behind what pads it.
fn push_snack(h: &mut Headers, snack: SnackOption) {
    let vector = usize::from(snack.vector_bytes.min(8));
    for _ in 6 + vector..(6 + vector).next_multiple_of(4) {
        h.push(&[1]);
    }
    h.push(&[21, 6 + vector as u8]);
    h.push(&snack.offset.to_be_bytes());
    h.push(&snack.size.to_be_bytes());
    h.push(&snack.vector.to_be_bytes()[..vector]);
}

/// 10.x.y.z of a node's number.
fn address(node: u32) -> [u8; 4] {
    let [_, x, y, z] = node.to_be_bytes();
    [10, x, y, z]
}

/// The sum of 16-bit words, of an even number of bytes.
fn sum(bytes: &[u8]) -> u32 {
    bytes
        .chunks_exact(2)
        .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])))
        .sum()
}

/// The Internet checksum (RFC 1071) of a sum of words.
fn fold(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    !(sum as u16)
}

#[cfg(test)]
#[path = "packet_tests.rs"]
pub(crate) mod tests;
