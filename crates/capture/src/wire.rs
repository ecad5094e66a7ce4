//! TCP headers of captured packets.
//!
//! Link layers: Ethernet with VLAN tags, Linux cooked captures (SLL, SLL2), raw IP, loopback.
//! IPv4 and IPv6 with extension headers. Of the payload only the length counts: captures may be
//! cut behind the headers, and segments that the device is to split may be longer than a packet
//! can be.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// TCP flag: no more data.
pub(crate) const FIN: u8 = 0x01;
/// TCP flag: opens a connection.
pub(crate) const SYN: u8 = 0x02;
/// TCP flag: aborts a connection.
pub(crate) const RST: u8 = 0x04;
/// TCP flag: the acknowledgement number counts.
pub(crate) const ACK: u8 = 0x10;

/// The longest segment that a host gives to its device, bytes of payload.
const LONGEST: u32 = 1 << 20;

/// A TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub destination: SocketAddr,
    /// Sequence number of the first byte of payload.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// The flags of the header: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, ...
    pub flags: u8,
    /// The window field, as it is in the header.
    pub window: u16,
    /// Bytes of payload.
    pub payload: u32,
    /// Bytes of the IP and TCP headers.
    pub headers: u32,
    /// The option MSS.
    pub mss: Option<u16>,
    /// The option window scale.
    pub window_scale: Option<u8>,
    /// The option SACK permitted.
    pub sack_permitted: bool,
    /// The option timestamps: value and echo.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks; those behind `sack_count` are empty.
    pub sack: [(u32, u32); 4],
    /// How many of them there are.
    pub sack_count: u8,
}

/// What a captured packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A TCP segment.
    Tcp(Segment),
    /// Another protocol, a fragment behind the first, or a link layer that is not read.
    Other,
    /// Cut or malformed before the end of the TCP header.
    Unreadable,
}

/// Reads the headers of a packet of a link of that type; `length` is what it had before it was
/// cut.
#[must_use]
pub fn content(link_type: u16, bytes: &[u8], length: u32) -> Content {
    match ip_of(link_type, bytes) {
        Some(Some(at)) => {
            let cut = u32::try_from(at).unwrap_or(u32::MAX);
            ip(&bytes[at.min(bytes.len())..], length.saturating_sub(cut))
        }
        Some(None) => Content::Other,
        None => Content::Unreadable,
    }
}

/// Where the IP header begins; nothing if it is another protocol.
fn ip_of(link_type: u16, bytes: &[u8]) -> Option<Option<usize>> {
    let typed = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    let is_ip = |kind: u16| matches!(kind, 0x0800 | 0x86dd);
    Some(match link_type {
        // Ethernet
        1 => {
            let mut at = 12;
            while matches!(typed(at)?, 0x8100 | 0x88a8 | 0x9100) && at < 32 {
                at += 4;
            }
            is_ip(typed(at)?).then_some(at + 2)
        }
        // Raw IP, by its number and those that some systems write
        12 | 14 | 101 | 228 | 229 => Some(0),
        // Linux cooked, versions 1 and 2
        113 => is_ip(typed(14)?).then_some(16),
        276 => is_ip(typed(0)?).then_some(20),
        // Loopback of BSD: a family of 4 bytes, the version of IP says which
        0 | 108 => Some(4),
        _ => return Some(None),
    })
}

fn ip(bytes: &[u8], length: u32) -> Content {
    match bytes.first().map(|b| b >> 4) {
        Some(4) => ipv4(bytes, length),
        Some(6) => ipv6(bytes, length),
        Some(_) => Content::Other,
        None => Content::Unreadable,
    }
}

fn ipv4(bytes: &[u8], length: u32) -> Content {
    let Some(header) = bytes.first_chunk::<20>() else {
        return Content::Unreadable;
    };
    let header_length = usize::from(header[0] & 0x0f) * 4;
    let offset = u16::from_be_bytes([header[6], header[7]]) & 0x1fff;
    if header[9] != 6 || offset != 0 {
        return Content::Other;
    }
    // Segments above 64 kB that the device is to split have a length of 0.
    let total = match u16::from_be_bytes([header[2], header[3]]) {
        0 => length,
        total => u32::from(total),
    };
    let address = |at: usize| {
        IpAddr::from(Ipv4Addr::new(
            header[at],
            header[at + 1],
            header[at + 2],
            header[at + 3],
        ))
    };
    let Some(rest) = bytes.get(header_length.max(20)..) else {
        return Content::Unreadable;
    };
    tcp(rest, address(12), address(16), total, header_length as u32)
}

fn ipv6(bytes: &[u8], length: u32) -> Content {
    let Some(header) = bytes.first_chunk::<40>() else {
        return Content::Unreadable;
    };
    let total = match u16::from_be_bytes([header[4], header[5]]) {
        0 => length,
        payload => 40 + u32::from(payload),
    };
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&header[at..at + 16]);
        IpAddr::from(Ipv6Addr::from(octets))
    };
    let (mut next, mut at) = (header[6], 40);
    // Hop-by-hop options, routing, fragment, destination options.
    while matches!(next, 0 | 43 | 44 | 60) {
        let Some(&[kind, size, high, low]) = bytes.get(at..at + 4) else {
            return Content::Unreadable;
        };
        if next == 44 && u16::from_be_bytes([high, low]) & 0xfff8 != 0 {
            return Content::Other;
        }
        at += if next == 44 {
            8
        } else {
            8 + 8 * usize::from(size)
        };
        next = kind;
        if at > 512 {
            return Content::Unreadable;
        }
    }
    if next != 6 {
        return Content::Other;
    }
    let Some(rest) = bytes.get(at..) else {
        return Content::Unreadable;
    };
    tcp(rest, address(8), address(24), total, at as u32)
}

/// The TCP header at the start of `bytes`, in an IP packet of `total` bytes, `before` of them
/// before it.
fn tcp(bytes: &[u8], source: IpAddr, destination: IpAddr, total: u32, before: u32) -> Content {
    let Some(header) = bytes.first_chunk::<20>() else {
        return Content::Unreadable;
    };
    let u16_at = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let u32_at = |at: usize| {
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let length = usize::from(header[12] >> 4) * 4;
    let headers = before + length as u32;
    if length < 20 || total < headers || total - headers > LONGEST {
        return Content::Unreadable;
    }
    let mut segment = Segment {
        source: SocketAddr::new(source, u16_at(0)),
        destination: SocketAddr::new(destination, u16_at(2)),
        sequence: u32_at(4),
        acknowledgement: u32_at(8),
        flags: header[13],
        window: u16_at(14),
        payload: total - headers,
        headers,
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        sack: [(0, 0); 4],
        sack_count: 0,
    };
    // Options that the capture has cut off are not there.
    options(&bytes[20..length.min(bytes.len())], &mut segment);
    Content::Tcp(segment)
}

fn options(mut bytes: &[u8], segment: &mut Segment) {
    let word = |bytes: &[u8]| {
        bytes
            .first_chunk::<4>()
            .map_or(0, |b| u32::from_be_bytes(*b))
    };
    while let [kind, rest @ ..] = bytes {
        match kind {
            0 => return,
            1 => {
                bytes = rest;
                continue;
            }
            _ => {}
        }
        let Some(length) = rest.first().map(|length| usize::from(*length)) else {
            return;
        };
        let Some(value) = bytes.get(2..length.max(2)) else {
            return;
        };
        if length < 2 {
            return;
        }
        match (kind, value.len()) {
            (2, 2) => segment.mss = Some(u16::from_be_bytes([value[0], value[1]])),
            (3, 1) => segment.window_scale = Some(value[0].min(14)),
            (4, 0) => segment.sack_permitted = true,
            (5, _) => {
                segment.sack_count = 0;
                for (slot, block) in segment.sack.iter_mut().zip(value.chunks_exact(8)) {
                    *slot = (word(block), word(&block[4..]));
                    segment.sack_count += 1;
                }
            }
            (8, 8) => segment.timestamps = Some((word(value), word(&value[4..]))),
            _ => {}
        }
        bytes = &bytes[length..];
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
