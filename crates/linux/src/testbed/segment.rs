//! The headers of a packet, as far as the test bed reads them.

/// Flag of TCP: opens a connection.
pub(crate) const SYN: u8 = 0x02;
/// Flag of TCP: the acknowledgement number counts.
pub(crate) const ACK: u8 = 0x10;

/// The bits of IPv4's header that say where a fragment belongs.
const OFFSET: u16 = 0x1fff;

/// A packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// A TCP segment.
    Tcp {
        /// Port of who sends it.
        source_port: u16,
        /// Destination port.
        destination_port: u16,
        /// Sequence number of the first byte.
        sequence: u32,
        /// Acknowledgement number, if the ACK flag is set.
        acknowledgement: u32,
        /// TCP flags.
        flags: u8,
        /// Payload, bytes.
        payload: u32,
    },
    /// A UDP datagram.
    Udp {
        /// Payload, bytes.
        payload: u32,
    },
}

impl Segment {
    /// Reads the headers of the IP packet that begins with `bytes`; the payload
    /// may be cut off. `None` for what is neither TCP nor UDP, and for all but
    /// the first fragment of a packet, which have no such headers.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Segment> {
        let (protocol, header, length) = match bytes.first()? >> 4 {
            4 => {
                let header = usize::from(bytes[0] & 0x0f) * 4;
                if u16_at(bytes, 6)? & OFFSET != 0 {
                    return None;
                }
                (*bytes.get(9)?, header, u32::from(u16_at(bytes, 2)?))
            }
            // Our own hosts send no extension headers.
            6 => (*bytes.get(6)?, 40, 40 + u32::from(u16_at(bytes, 4)?)),
            _ => return None,
        };
        let rest = bytes.get(header..)?;
        let inside = length.checked_sub(header as u32)?;
        match protocol {
            6 => {
                let tcp = u32::from(*rest.get(12)? >> 4) * 4;
                Some(Segment::Tcp {
                    source_port: u16_at(rest, 0)?,
                    destination_port: u16_at(rest, 2)?,
                    sequence: u32_at(rest, 4)?,
                    acknowledgement: u32_at(rest, 8)?,
                    flags: *rest.get(13)?,
                    payload: inside.checked_sub(tcp)?,
                })
            }
            17 => Some(Segment::Udp {
                payload: inside.checked_sub(8)?,
            }),
            _ => None,
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([two[0], two[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 bytes of IPv4 with 32 of TCP and 100 of payload that is cut off.
    fn packet() -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 152, 0, 0, 0, 0, 64, 6, 0, 0];
        bytes.extend([10, 0, 1, 1, 10, 0, 1, 2]);
        bytes.extend(5001_u16.to_be_bytes());
        bytes.extend(40_000_u16.to_be_bytes());
        bytes.extend(7_u32.to_be_bytes());
        bytes.extend(9_u32.to_be_bytes());
        bytes.extend([0x80, ACK, 1, 0, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn the_payload_is_what_the_lengths_say() {
        let expected = Segment::Tcp {
            source_port: 5001,
            destination_port: 40_000,
            sequence: 7,
            acknowledgement: 9,
            flags: ACK,
            payload: 100,
        };
        assert_eq!(Segment::parse(&packet()), Some(expected));
        let mut six = vec![0x60, 0, 0, 0, 0, 132, 6, 64];
        six.extend([0; 32]);
        six.extend(&packet()[20..]);
        assert_eq!(Segment::parse(&six), Some(expected));
    }

    #[test]
    fn datagrams_have_a_header_of_eight_bytes() {
        let mut bytes = packet();
        bytes[9] = 17;
        assert_eq!(Segment::parse(&bytes), Some(Segment::Udp { payload: 124 }));
    }

    #[test]
    fn a_later_fragment_has_no_headers_to_read() {
        let mut bytes = packet();
        // More fragments follow: the first.
        bytes[6] = 0x20;
        assert!(Segment::parse(&bytes).is_some());
        (bytes[6], bytes[7]) = (0, 185);
        assert_eq!(Segment::parse(&bytes), None);
    }

    #[test]
    fn what_is_too_short_is_no_segment() {
        let whole = packet();
        for length in 0..whole.len() - 6 {
            assert_eq!(Segment::parse(&whole[..length]), None, "{length}");
        }
        assert_eq!(Segment::parse(&[0x50; 60]), None);
    }
}
