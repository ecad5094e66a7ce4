//! Splits segments into packets, as a network card would.
//!
//! A host hands over what it sends in segments of up to 64 kB (GSO), as it would to a network card,
//! and a frame that reaches a gateway from another virtual machine or namespace may be one. It
//! becomes packets here, as the card would make them: the headers are repeated with lengths,
//! individual IPv4 identification and sequence numbers; FIN and PSH are set in the last and CWR in
//! the first. Their checksums stay partial (NEEDS_CSUM): the place of the checksum holds the sum
//! over the pseudo-header with the packet's own length.

use super::checksum::{NEEDS_CSUM, sum, sum_of_pseudo};
use crate::tun::GSO_HEADER;

/// `gso_type` without its ECN bit.
const TCP4: u8 = 1;
const TCP6: u8 = 4;
const UDP: u8 = 5;
const ECN: u8 = 0x80;

const FIN_PSH: u8 = 0x01 | 0x08;
const CWR: u8 = 0x80;

/// A segment that is to be cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a> {
    frame: &'a [u8],
    /// Where the IP header begins in `frame`.
    ip: usize,
    /// Where TCP or UDP begins.
    transport: usize,
    /// Where the payload begins.
    payload: usize,
    /// Payload bytes of each packet.
    each: usize,
    kind: u8,
}

impl<'a> Segment<'a> {
    /// A frame that begins with its GSO header and has its IP header at `ip`;
    /// `None` if it is one packet, or nothing that can be cut.
    #[inline]
    pub(super) fn read(frame: &'a [u8], ip: usize) -> Option<Segment<'a>> {
        let kind = frame.get(1)? & !ECN;
        if kind == 0 {
            return None;
        }
        let word = |at: usize| usize::from(u16::from_ne_bytes([frame[at], frame[at + 1]]));
        if frame.len() < GSO_HEADER {
            return None;
        }
        let (each, transport) = (word(4), GSO_HEADER + word(6));
        let length = match kind {
            TCP4 | TCP6 => usize::from(frame.get(transport + 12)? >> 4) * 4,
            UDP => 8,
            _ => return None,
        };
        let payload = transport + length;
        let least = if kind == UDP { 8 } else { 20 };
        let headers = if frame.get(ip)? >> 4 == 4 { 20 } else { 40 };
        if each == 0 || length < least || transport < ip + headers || payload >= frame.len() {
            return None;
        }
        Some(Segment {
            frame,
            ip,
            transport,
            payload,
            each,
            kind,
        })
    }

    /// Number of packets that it represents.
    pub(super) fn packets(&self) -> usize {
        (self.frame.len() - self.payload).div_ceil(self.each)
    }

    /// Writes packet `number` into `to`, GSO header and all, and returns its
    /// length; `None` if it does not fit.
    pub(super) fn write(&self, number: usize, to: &mut [u8]) -> Option<usize> {
        let begin = self.payload + number * self.each;
        let end = (begin + self.each).min(self.frame.len());
        let payload = self.frame.get(begin..end)?;
        let length = self.payload + payload.len();
        let packet = to.get_mut(..length)?;
        packet[..self.payload].copy_from_slice(&self.frame[..self.payload]);
        packet[self.payload..].copy_from_slice(payload);
        // Not to be cut, but its checksum is still to come.
        (packet[0], packet[1]) = (NEEDS_CSUM, 0);
        packet[2..6].fill(0);
        let (ip, transport) = (self.ip, self.transport);
        let data = (length - transport) as u16;
        let total = (length - ip) as u16;
        let pseudo = if packet[ip] >> 4 == 4 {
            packet[ip + 2..ip + 4].copy_from_slice(&total.to_be_bytes());
            let id = u16::from_be_bytes([packet[ip + 4], packet[ip + 5]]);
            let id = id.wrapping_add(number as u16);
            packet[ip + 4..ip + 6].copy_from_slice(&id.to_be_bytes());
            packet[ip + 10..ip + 12].fill(0);
            let sum = !sum(0, &packet[ip..transport]);
            packet[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
            sum_of_pseudo(&packet[ip + 12..ip + 20], packet[ip + 9], data)
        } else {
            packet[ip + 4..ip + 6].copy_from_slice(&(total - 40).to_be_bytes());
            let protocol = if self.kind == UDP { 17 } else { 6 };
            sum_of_pseudo(&packet[ip + 8..ip + 40], protocol, data)
        };
        let header = &mut packet[transport..];
        let at = if self.kind == UDP {
            header[4..6].copy_from_slice(&data.to_be_bytes());
            6
        } else {
            let sequence = [header[4], header[5], header[6], header[7]];
            let offset = (number * self.each) as u32;
            let sequence = u32::from_be_bytes(sequence).wrapping_add(offset);
            header[4..8].copy_from_slice(&sequence.to_be_bytes());
            if end < self.frame.len() {
                header[13] &= !FIN_PSH;
            }
            if number > 0 {
                header[13] &= !CWR;
            }
            16
        };
        header[at..at + 2].copy_from_slice(&pseudo.to_be_bytes());
        Some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment of 2500 bytes of TCP payload in packets of 1000, on Ethernet.
    fn segment(version: u8) -> Vec<u8> {
        let headers = if version == 4 { 20 } else { 40 };
        let mut frame = vec![0; GSO_HEADER + 14 + headers + 32];
        let (ip, transport) = (GSO_HEADER + 14, GSO_HEADER + 14 + headers);
        frame[0] = 1;
        frame[1] = if version == 4 { TCP4 } else { TCP6 } | ECN;
        frame[4..6].copy_from_slice(&1000_u16.to_ne_bytes());
        frame[6..8].copy_from_slice(&((transport - GSO_HEADER) as u16).to_ne_bytes());
        frame[8..10].copy_from_slice(&16_u16.to_ne_bytes());
        if version == 4 {
            frame[ip] = 0x45;
            frame[ip + 4..ip + 6].copy_from_slice(&u16::MAX.to_be_bytes());
            frame[ip + 9] = 6;
            frame[ip + 12..ip + 20].copy_from_slice(&[10, 0, 1, 1, 10, 0, 1, 2]);
        } else {
            frame[ip] = 0x60;
            frame[ip + 6] = 6;
            frame[ip + 8..ip + 40].fill(0xfd);
        }
        frame[transport + 4..transport + 8].copy_from_slice(&(u32::MAX - 999).to_be_bytes());
        frame[transport + 12] = 8 << 4;
        frame[transport + 13] = FIN_PSH | CWR | 0x10;
        frame.extend((0..2500_u32).map(|n| n as u8));
        frame
    }

    #[test]
    fn packets_carry_on_where_the_one_before_ends() {
        for version in [4, 6] {
            let frame = segment(version);
            let ip = GSO_HEADER + 14;
            let segment = Segment::read(&frame, ip).unwrap();
            assert_eq!(segment.packets(), 3);
            let mut payload = Vec::new();
            for number in 0..3 {
                let mut to = [0; 2000];
                let length = segment.write(number, &mut to).unwrap();
                let packet = &to[..length];
                let tcp = segment.transport;
                payload.extend_from_slice(&packet[segment.payload..]);
                assert_eq!(packet[..2], [1, 0]);
                assert_eq!(packet[2..6], [0; 4]);
                let sequence = u32::from_be_bytes(packet[tcp + 4..tcp + 8].try_into().unwrap());
                assert_eq!(
                    sequence,
                    (u32::MAX - 999).wrapping_add(1000 * number as u32)
                );
                let flags = [CWR | 0x10, 0x10, FIN_PSH | 0x10][number];
                assert_eq!(packet[tcp + 13], flags);
                let word = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
                let data = (length - tcp) as u16;
                if version == 4 {
                    assert_eq!(word(ip + 2), (length - ip) as u16);
                    assert_eq!(word(ip + 4), u16::MAX.wrapping_add(number as u16));
                    assert_eq!(sum(0, &packet[ip..tcp]), 0xffff);
                    assert_eq!(
                        word(tcp + 16),
                        sum_of_pseudo(&packet[ip + 12..tcp], 6, data)
                    );
                } else {
                    assert_eq!(word(ip + 4), (length - ip - 40) as u16);
                    assert_eq!(word(tcp + 16), sum_of_pseudo(&packet[ip + 8..tcp], 6, data));
                }
            }
            assert_eq!(payload, frame[segment.payload..]);
            assert_eq!(segment.write(3, &mut [0; 2000]), None);
            assert_eq!(segment.write(0, &mut [0; 900]), None);
        }
    }

    #[test]
    fn what_cannot_be_cut_is_left() {
        let frame = segment(4);
        let ip = GSO_HEADER + 14;
        for (at, value) in [(1, 0), (1, 3), (4, 0)] {
            let mut other = frame.clone();
            other[at] = value;
            other[5] = if at == 4 { 0 } else { other[5] };
            assert!(Segment::read(&other, ip).is_none(), "{at}");
        }
        for length in 0..ip + 52 {
            assert!(Segment::read(&frame[..length], ip).is_none(), "{length}");
        }
    }
}
