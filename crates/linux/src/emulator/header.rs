//! The fields of an IP packet that links read, and the ECN mark that they write.

use bentpipe_link::PacketMeta;

/// Low priority, in the field of differentiated services: the class selector
/// CS1 (RFC 2474), which the simulator's captures write, and LE (RFC 8622).
const LOW_PRIORITY: [u8; 2] = [8, 1];

/// An IP packet's header, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header<'a> {
    pub(super) destination: &'a [u8],
    /// Differentiated services and ECN.
    traffic_class: u8,
    /// Bytes of the IP header.
    pub(super) length: usize,
    /// Protocol of what follows it.
    pub(super) protocol: u8,
    /// A hash of addresses, protocol and ports.
    flow: u32,
}

impl<'a> Header<'a> {
    /// Reads the header of `packet`; `None` if it is none.
    #[inline]
    pub(super) fn read(packet: &'a [u8]) -> Option<Header<'a>> {
        match packet.first()? >> 4 {
            4 if packet.len() >= 20 => Some(Header {
                destination: &packet[16..20],
                traffic_class: packet[1],
                length: usize::from(packet[0] & 15) * 4,
                protocol: packet[9],
                flow: {
                    let is_whole = packet[6] & 0x3f == 0 && packet[7] == 0;
                    let begin = usize::from(packet[0] & 15) * 4;
                    let ports = packet.get(begin..begin + 4).filter(|_| is_whole);
                    hash(&packet[12..20], packet[9], ports)
                },
            }),
            6 if packet.len() >= 40 => Some(Header {
                destination: &packet[24..40],
                traffic_class: packet[0] << 4 | packet[1] >> 4,
                length: 40,
                protocol: packet[6],
                flow: hash(&packet[8..40], packet[6], packet.get(40..44)),
            }),
            _ => None,
        }
    }

    /// What a link is told of a packet of `bytes`.
    #[inline]
    pub(super) fn offered(&self, bytes: u32) -> PacketMeta {
        PacketMeta {
            bytes,
            ecn_capable: self.traffic_class & 3 != 0,
            low_priority: LOW_PRIORITY.contains(&(self.traffic_class >> 2)),
            flow: self.flow,
        }
    }

    /// True if it goes to many.
    #[inline]
    pub(super) fn is_multicast(&self) -> bool {
        match self.destination {
            &[first, _, _, last] => first >> 4 == 14 || first == 255 && last == 255,
            address => address[0] == 0xff,
        }
    }
}

/// A hash of the addresses and the protocol of a packet, and of its ports where
/// TCP, UDP, DCCP or SCTP begin it with them.
#[inline]
fn hash(addresses: &[u8], protocol: u8, ports: Option<&[u8]>) -> u32 {
    let ports = ports.filter(|_| matches!(protocol, 6 | 17 | 33 | 132));
    let words = addresses.chunks_exact(4).chain(ports);
    words.fold(u32::from(protocol), |hash, word| {
        let word = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
        (hash ^ word).wrapping_mul(0x9e37_79b1).rotate_left(15)
    })
}

/// What a link is told of a frame whose payload begins at `begin`: the bytes of
/// an IP packet without the padding of short frames, or else of the payload.
pub(super) fn offered_of_frame(frame: &[u8], begin: usize) -> PacketMeta {
    let payload = frame.get(begin..).unwrap_or_default();
    let kind = begin.checked_sub(2).and_then(|at| frame.get(at..begin));
    let header = match kind {
        Some([0x08, 0x00] | [0x86, 0xdd]) => Header::read(payload),
        _ => None,
    };
    let word = |at: usize| u32::from(u16::from_be_bytes([payload[at], payload[at + 1]]));
    match header {
        Some(header) => {
            let bytes = match payload[0] >> 4 {
                4 => word(2),
                _ => word(4) + 40,
            };
            header.offered(bytes.min(payload.len() as u32))
        }
        None => PacketMeta::plain(payload.len() as u32),
    }
}

/// Writes "congestion experienced" (RFC 3168) into the header of an IP packet.
pub(super) fn mark(packet: &mut [u8]) {
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 => {
            let before = u16::from_be_bytes([packet[0], packet[1]]);
            packet[1] |= 3;
            let after = u16::from_be_bytes([packet[0], packet[1]]);
            let sum = u16::from_be_bytes([packet[10], packet[11]]);
            let sum = fixed(sum, before, after).to_be_bytes();
            packet[10..12].copy_from_slice(&sum);
        }
        // IPv6 has no checksum of its own.
        Some(6) if packet.len() >= 40 => packet[1] |= 3 << 4,
        _ => {}
    }
}

/// A checksum after a word that it covers has changed (RFC 1624, equation 3).
fn fixed(sum: u16, before: u16, after: u16) -> u16 {
    let mut total = u32::from(!sum) + u32::from(!before) + u32::from(after);
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    !(total as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The checksum over a header, by RFC 1071.
    fn checksum(header: &[u8]) -> u16 {
        let words = header
            .chunks(2)
            .map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    proptest! {
        #[test]
        fn a_marked_packet_has_a_right_checksum(mut header in proptest::collection::vec(any::<u8>(), 20..=20)) {
            header[0] = 0x45;
            header[10..12].copy_from_slice(&[0, 0]);
            let sum = checksum(&header).to_be_bytes();
            header[10..12].copy_from_slice(&sum);
            mark(&mut header);
            prop_assert_eq!(header[1] & 3, 3);
            prop_assert_eq!(checksum(&header), 0);
        }
    }

    #[test]
    fn ipv6_is_read_and_marked() {
        let mut packet = [0u8; 48];
        // Class 0x06: LE, ECT(0).
        (packet[0], packet[1], packet[6]) = (0x60, 0x60, 17);
        packet[24] = 0xfd;
        let header = Header::read(&packet).unwrap();
        let offered = header.offered(48);
        assert!(offered.ecn_capable && offered.low_priority);
        assert_eq!((header.length, header.protocol), (40, 17));
        mark(&mut packet);
        assert_eq!((packet[0], packet[1]), (0x60, 0x70));
        assert!(!Header::read(&packet).unwrap().is_multicast());
        packet[24] = 0xff;
        assert!(Header::read(&packet).unwrap().is_multicast());
    }

    #[test]
    fn flows_differ_by_addresses_and_ports() {
        let mut packet = [0u8; 40];
        (packet[0], packet[9]) = (0x45, 6);
        let flow = |packet: &[u8]| Header::read(packet).unwrap().offered(40).flow;
        let first = flow(&packet);
        for (at, same) in [(12, false), (16, false), (23, false), (24, true), (2, true)] {
            let mut other = packet;
            other[at] ^= 1;
            assert_eq!(flow(&other) == first, same, "byte {at}");
        }
        // A fragment has no ports.
        packet[6] = 0x20;
        let fragment = flow(&packet);
        packet[23] = 1;
        assert_eq!(flow(&packet), fragment);
    }

    #[test]
    fn a_frame_counts_without_its_padding() {
        let mut frame = vec![0; 60];
        frame[12..14].copy_from_slice(&[8, 0]);
        (frame[14], frame[15], frame[17]) = (0x45, 2, 28);
        let offered = offered_of_frame(&frame, 14);
        assert_eq!((offered.bytes, offered.ecn_capable), (28, true));
        // ARP.
        frame[13] = 6;
        assert_eq!(offered_of_frame(&frame, 14), PacketMeta::plain(46));
        assert_eq!(offered_of_frame(&frame[..10], 14), PacketMeta::plain(0));
    }

    #[test]
    fn what_is_no_packet_has_no_header() {
        assert_eq!(Header::read(&[]), None);
        assert_eq!(Header::read(&[0x45; 19]), None);
        assert_eq!(Header::read(&[0x60; 39]), None);
        assert_eq!(Header::read(&[0x10; 60]), None);
        mark(&mut [0x45; 5]);
    }
}
