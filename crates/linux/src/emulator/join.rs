//! Joins packets that are due together into one segment, so that a single
//! write carries many of them.
//!
//! The inverse of [`split`](super::split), by the rules of the kernel's GRO:
//! consecutive packets of one connection whose headers differ only in what
//! follows from their place in the stream. The receiver's kernel processes the
//! segment as it would after a network card's receive offload, so at rates at
//! which packets are joined it acknowledges less often than every second
//! packet.

use super::checksum::{NEEDS_CSUM, sum, sum_of_pseudo};
use crate::tun::GSO_HEADER;
use std::io::IoSlice;

/// Packets of a segment, at most: what the kernel accepts for UDP.
pub(super) const MOST: usize = 64;

/// The most bytes that a segment may have after its virtio header.
const LONGEST: usize = 65_535;

/// Bytes of the longest headers: virtio, IPv6, TCP with all its options.
const HEADERS: usize = GSO_HEADER + 40 + 60;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Virtio's kinds of segments.
const TCP4: u8 = 1;
const TCP6: u8 = 4;
const UDP_L4: u8 = 5;

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// Where the parts of a packet lie that begins with a virtio header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    protocol: u8,
    is_ipv6: bool,
    /// Where TCP or UDP begins.
    transport: usize,
    /// Where the payload begins.
    payload: usize,
}

impl Layout {
    /// The layout of a packet with payload that can be joined with others.
    #[inline]
    fn of(packet: &[u8]) -> Option<Layout> {
        const IP: usize = GSO_HEADER;
        let is_ipv6 = match packet.get(IP)? {
            0x45 => false,
            first if first >> 4 == 6 => true,
            _ => return None,
        };
        let transport = IP + if is_ipv6 { 40 } else { 20 };
        if packet.len() < transport + 8 {
            return None;
        }
        let word = |at: usize| usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
        let (protocol, length) = if is_ipv6 {
            (packet[IP + 6], word(IP + 4) + 40)
        } else {
            // Neither a fragment nor one that more follow.
            if word(IP + 6) & 0x3fff != 0 {
                return None;
            }
            (packet[IP + 9], word(IP + 2))
        };
        if length != packet.len() - IP {
            return None;
        }
        let payload = match protocol {
            TCP if packet.len() >= transport + 20 => {
                let header = usize::from(packet[transport + 12] >> 4) * 4;
                // SYN, RST, URG and the marks of ECN go alone.
                if header < 20 || packet[transport + 13] & !(PSH | FIN) != ACK {
                    return None;
                }
                transport + header
            }
            // A datagram may do without a checksum.
            UDP if word(transport + 6) != 0 && word(transport + 4) == length - (transport - IP) => {
                transport + 8
            }
            _ => return None,
        };
        (payload < packet.len()).then_some(Layout {
            protocol,
            is_ipv6,
            transport,
            payload,
        })
    }
}

/// What the packets that are joined have in common. The first of them is kept
/// by the caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    layout: Layout,
    /// Payload bytes of each packet but the last.
    each: usize,
    /// Payload bytes of all packets.
    total: usize,
    packets: usize,
    next_sequence: u32,
    /// FIN and PSH of the last packet. Nothing follows one that has either, or
    /// that is shorter than the others.
    last_flags: u8,
    closed: bool,
}

impl Joint {
    /// A segment that begins with `packet`; `None` if it must go alone. With
    /// `udp` the device takes segments of datagrams.
    #[inline]
    pub(super) fn new(packet: &[u8], udp: bool) -> Option<Joint> {
        let layout = Layout::of(packet).filter(|l| udp || l.protocol == TCP)?;
        let each = packet.len() - layout.payload;
        let mut joint = Joint {
            layout,
            each,
            total: each,
            packets: 1,
            next_sequence: 0,
            last_flags: 0,
            closed: false,
        };
        if layout.protocol == TCP {
            joint.take_tcp(packet, each);
        }
        Some(joint)
    }

    #[inline]
    fn take_tcp(&mut self, packet: &[u8], payload: usize) {
        let header = &packet[self.layout.transport..];
        let sequence = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        self.next_sequence = sequence.wrapping_add(payload as u32);
        self.last_flags = header[13] & (PSH | FIN);
        self.closed |= self.last_flags != 0;
    }

    /// Adds `packet` behind the others, of which `first` is the first. False
    /// if it does not continue them.
    #[inline]
    pub(super) fn add(&mut self, first: &[u8], packet: &[u8]) -> bool {
        if self.closed || self.packets == MOST || Layout::of(packet) != Some(self.layout) {
            return false;
        }
        let payload = packet.len() - self.layout.payload;
        let length = self.layout.payload - GSO_HEADER + self.total + payload;
        if payload > self.each || length > LONGEST || !self.continues(first, packet) {
            return false;
        }
        self.closed = payload < self.each;
        self.total += payload;
        self.packets += 1;
        if self.layout.protocol == TCP {
            self.take_tcp(packet, payload);
        }
        true
    }

    /// True if the headers are those of the next packet of the same stream.
    #[inline]
    fn continues(&self, first: &[u8], packet: &[u8]) -> bool {
        let same = |from: usize, to: usize| first[from..to] == packet[from..to];
        let (ip, transport) = (GSO_HEADER, self.layout.transport);
        let network = if self.layout.is_ipv6 {
            // All but the length.
            same(ip, ip + 4) && same(ip + 6, transport)
        } else {
            // All but length, identification and checksum.
            same(ip, ip + 2) && same(ip + 6, ip + 10) && same(ip + 12, transport)
        };
        if !network || !same(transport, transport + 4) {
            return false;
        }
        self.layout.protocol == UDP
            || packet[transport + 4..transport + 8] == self.next_sequence.to_be_bytes()
                && same(transport + 8, transport + 13)
                && same(transport + 14, transport + 16)
                && same(transport + 18, self.layout.payload)
    }

    /// The headers of the segment, virtio's first, whose first packet is
    /// `first`.
    pub(super) fn headers(&self, first: &[u8]) -> Headers {
        let Layout {
            protocol,
            is_ipv6,
            transport,
            payload,
        } = self.layout;
        let mut bytes = [0; HEADERS];
        bytes[..payload].copy_from_slice(&first[..payload]);
        let kind = match (protocol, is_ipv6) {
            (UDP, _) => UDP_L4,
            (_, false) => TCP4,
            (_, true) => TCP6,
        };
        (bytes[0], bytes[1]) = (NEEDS_CSUM, kind);
        let checksum = if protocol == UDP { 6 } else { 16 };
        let mut put = |at: usize, value: usize| {
            bytes[at..at + 2].copy_from_slice(&(value as u16).to_ne_bytes());
        };
        put(2, payload - GSO_HEADER);
        put(4, self.each);
        put(6, transport - GSO_HEADER);
        put(8, checksum);
        let data = (payload - transport + self.total) as u16;
        let ip = GSO_HEADER;
        let pseudo = if is_ipv6 {
            bytes[ip + 4..ip + 6].copy_from_slice(&data.to_be_bytes());
            sum_of_pseudo(&bytes[ip + 8..ip + 40], protocol, data)
        } else {
            bytes[ip + 2..ip + 4].copy_from_slice(&(data + 20).to_be_bytes());
            bytes[ip + 10..ip + 12].fill(0);
            let header = !sum(0, &bytes[ip..transport]);
            bytes[ip + 10..ip + 12].copy_from_slice(&header.to_be_bytes());
            sum_of_pseudo(&bytes[ip + 12..ip + 20], protocol, data)
        };
        let header = &mut bytes[transport..];
        if protocol == UDP {
            header[4..6].copy_from_slice(&data.to_be_bytes());
        } else {
            header[13] |= self.last_flags;
        }
        header[checksum..checksum + 2].copy_from_slice(&pseudo.to_be_bytes());
        Headers {
            bytes,
            length: payload,
        }
    }
}

/// The headers of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    bytes: [u8; HEADERS],
    length: usize,
}

impl Headers {
    /// The parts of the segment in their order: the headers and the payloads
    /// of `packets`. Returns how many parts of `to` are used.
    pub(super) fn parts<'a>(
        &'a self,
        packets: impl Iterator<Item = &'a [u8]>,
        to: &mut [IoSlice<'a>; MOST + 1],
    ) -> usize {
        to[0] = IoSlice::new(&self.bytes[..self.length]);
        let mut used = 1;
        for (part, packet) in to[1..].iter_mut().zip(packets) {
            *part = IoSlice::new(&packet[self.length..]);
            used += 1;
        }
        used
    }
}

#[cfg(test)]
#[path = "join_tests.rs"]
mod tests;
