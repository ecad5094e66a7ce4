//! A repair on the wire.
//!
//! One datagram of UDP: a mark, the version, which part of the repair it is, the number of the repair, the
//! number of packets, the length of what is coded (2 bytes, most significant first), a fingerprint of each
//! packet (3 bytes), and the coded bytes. What is coded is the length of a packet (2 bytes) and the packet,
//! with zeros up to the longest. A repair that would be longer than the packets themselves leaves in two
//! parts.
//!
//! A packet's fingerprint is its end: the tag of its encryption, which is as good as random. A restored
//! packet must have the right one, and QUIC then verifies all of the tag, so that a repair needs none.

use super::field::Multiples;
use bentpipe_quic::coding::{GENERATION, MOST};

/// First byte. QUIC's packets have the bit 0x40 (RFC 9000, section 17), so that this is none of them.
const MARK: u8 = 0x2b;
const VERSION: u8 = 1;
/// Bytes before the fingerprints.
const HEADER: usize = 7;
/// Bytes of the length that is coded with each packet.
pub(super) const LENGTH: usize = 2;

/// Longest packet that is coded, bytes: those of Ethernet are, and a forged one takes no more memory.
pub(super) const LONGEST: usize = 2_048;

/// The last bytes of a packet.
pub(super) type Fingerprint = [u8; 3];

/// The fingerprint of a packet; `None` for one that is too short to be QUIC's, or too long.
pub(super) fn fingerprint(packet: &[u8]) -> Option<Fingerprint> {
    (20..=LONGEST)
        .contains(&packet.len())
        .then(|| packet.last_chunk().copied())
        .flatten()
}

/// Which part of a repair a datagram has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    First,
    Second,
}

impl Part {
    /// Where of so many coded bytes it begins and ends.
    pub(super) fn range(self, coded: usize) -> std::ops::Range<usize> {
        let half = coded.div_ceil(2);
        match self {
            Part::Whole => 0..coded,
            Part::First => 0..half,
            Part::Second => half..coded,
        }
    }
}

/// A repair, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repair<'a> {
    pub(super) part: Part,
    /// The number of the repair, from 0.
    pub(super) number: usize,
    /// Bytes that are coded, in all parts.
    pub(super) coded: usize,
    /// The packets that it covers, in their order.
    pub(super) packets: Vec<Fingerprint>,
    /// The coded bytes of the part.
    pub(super) bytes: &'a [u8],
}

/// Adds a multiple of the coded form of a packet, within `range` of that, to `sum`.
pub(super) fn add(
    sum: &mut [u8],
    packet: &[u8],
    range: std::ops::Range<usize>,
    multiples: &Multiples,
) {
    // At most `LONGEST`.
    let length = (packet.len() as u16).to_be_bytes();
    let before = range.start.min(LENGTH);
    let head = &length[before..range.end.clamp(before, LENGTH)];
    multiples.add(sum, head);
    let from = (range.start.max(LENGTH) - LENGTH).min(packet.len());
    multiples.add(&mut sum[head.len()..], &packet[from..]);
}

/// Length of a repair of so many packets and so many bytes.
pub(super) const fn length(packets: usize, bytes: usize) -> usize {
    HEADER + 3 * packets + bytes
}

/// True where a datagram may be a repair.
pub(in crate::tunnel) fn is_repair(datagram: &[u8]) -> bool {
    datagram.first() == Some(&MARK)
}

impl Repair<'_> {
    /// As a datagram.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut datagram = Vec::with_capacity(length(self.packets.len(), self.bytes.len()));
        // Both numbers are below 25, and packets of UDP are shorter than 64 KiB.
        datagram.extend([MARK, VERSION, self.part as u8]);
        datagram.extend([self.number as u8, self.packets.len() as u8]);
        datagram.extend((self.coded as u16).to_be_bytes());
        datagram.extend(self.packets.as_flattened());
        datagram.extend(self.bytes);
        datagram
    }
}

/// Reads a repair; `None` where the datagram is none, or one that this version does not know.
pub(super) fn decode(datagram: &[u8]) -> Option<Repair<'_>> {
    let (header, rest) = datagram.split_first_chunk::<HEADER>()?;
    let [mark, version, part, number, packets, high, low] = *header;
    let (number, packets) = (usize::from(number), usize::from(packets));
    let coded = usize::from(u16::from_be_bytes([high, low]));
    let is_length = (LENGTH + 1..=LENGTH + LONGEST).contains(&coded);
    let known = mark == MARK && version == VERSION && number < MOST;
    if !known || !(1..=GENERATION).contains(&packets) || !is_length {
        return None;
    }
    let part = match part {
        0 => Part::Whole,
        1 => Part::First,
        2 => Part::Second,
        _ => return None,
    };
    let (fingerprints, bytes) = rest.split_at_checked(3 * packets)?;
    (bytes.len() == part.range(coded).len()).then(|| Repair {
        part,
        number,
        coded,
        packets: fingerprints.as_chunks().0.to_vec(),
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            part in proptest::sample::select(vec![Part::Whole, Part::First, Part::Second]),
            number in 0..MOST,
            packets: [Fingerprint; 5],
            coded in 3..2050usize,
        ) {
            let bytes = vec![7; part.range(coded).len()];
            let packets = packets.to_vec();
            let repair = Repair { part, number, coded, packets, bytes: &bytes };
            let datagram = repair.encode();
            prop_assert!(is_repair(&datagram));
            prop_assert_eq!(datagram.len(), length(5, bytes.len()));
            prop_assert_eq!(decode(&datagram), Some(repair.clone()));
            for length in 0..datagram.len() {
                prop_assert_eq!(decode(&datagram[..length]), None);
            }
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(mut bytes: Vec<u8>) {
            let _ = decode(&bytes);
            bytes.splice(0..bytes.len().min(2), [MARK, VERSION]);
            if let Some(repair) = decode(&bytes) {
                prop_assert_eq!(repair.encode(), bytes.clone());
            }
        }
    }

    #[test]
    fn the_two_parts_are_the_whole() {
        for coded in 3..10 {
            let [first, second] = [Part::First, Part::Second].map(|part| part.range(coded));
            assert_eq!(
                (first.start, first.end, second.end),
                (0, second.start, coded)
            );
        }
    }
}
