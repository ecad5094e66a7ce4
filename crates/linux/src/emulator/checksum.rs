//! Internet checksums (RFC 1071) of packets that carry a virtio header.

use crate::tun::GSO_HEADER;

/// In the flags of a virtio header: the checksum is partial. Its place holds
/// the sum over the pseudo-header, and whoever sends the packet on adds the
/// rest.
pub(super) const NEEDS_CSUM: u8 = 1;

/// The sum over a pseudo-header (RFC 9293, section 3.1; RFC 8200, section 8.1).
pub(super) fn sum_of_pseudo(addresses: &[u8], protocol: u8, length: u16) -> u16 {
    let [high, low] = length.to_be_bytes();
    sum(sum(0, addresses), &[0, protocol, high, low])
}

/// Adds 16-bit words in ones' complement, `bytes` padded with a zero to whole
/// words.
pub(super) fn sum(start: u16, bytes: &[u8]) -> u16 {
    // The sum does not depend on the order of bytes except for a final swap
    // (RFC 1071, section 2), so words of the machine are added.
    let (words, rest) = bytes.as_chunks::<4>();
    let words = words.iter().map(|w| u64::from(u32::from_ne_bytes(*w)));
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    let total = words.sum::<u64>() + u64::from(u32::from_ne_bytes(last));
    let total = u64::from(u16::from_be(fold(total))) + u64::from(start);
    fold(total)
}

/// Adds the carries back in until 16 bits are left.
fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// Completes the checksum of a packet that begins with its virtio header, if that says that it is
/// partial. A checksum whose place is not in the packet is left alone.
pub(super) fn complete(packet: &mut [u8]) {
    let Some((header, bytes)) = packet.split_at_mut_checked(GSO_HEADER) else {
        return;
    };
    if header[0] & NEEDS_CSUM == 0 {
        return;
    }
    let word = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
    let (start, offset) = (word(6), word(8));
    let Some(covered) = bytes.get_mut(start..) else {
        return;
    };
    let total = !sum(0, covered);
    let Some(place) = covered.get_mut(offset..offset + 2) else {
        return;
    };
    // UDP writes a sum of zero as its complement (RFC 768).
    let total = if offset == 6 && total == 0 {
        0xffff
    } else {
        total
    };
    place.copy_from_slice(&total.to_be_bytes());
    header[0] &= !NEEDS_CSUM;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_sum_is_that_of_rfc_1071(bytes in proptest::collection::vec(any::<u8>(), 0..100), start: u16) {
            let mut total = u64::from(start);
            for word in bytes.chunks(2) {
                total += u64::from(word[0]) << 8 | u64::from(*word.get(1).unwrap_or(&0));
            }
            prop_assert_eq!(sum(start, &bytes), fold(total));
        }

        #[test]
        fn a_completed_checksum_verifies(payload in proptest::collection::vec(any::<u8>(), 0..60)) {
            // A TCP header without options behind an IPv4 header.
            let mut packet = vec![0; GSO_HEADER + 40];
            packet[0] = NEEDS_CSUM;
            packet[6..8].copy_from_slice(&20_u16.to_ne_bytes());
            packet[8..10].copy_from_slice(&16_u16.to_ne_bytes());
            packet[GSO_HEADER + 12..GSO_HEADER + 20].copy_from_slice(&[10, 0, 1, 1, 10, 0, 1, 2]);
            packet.extend(&payload);
            let length = (20 + payload.len()) as u16;
            let pseudo = sum_of_pseudo(&[10, 0, 1, 1, 10, 0, 1, 2], 6, length);
            packet[GSO_HEADER + 36..GSO_HEADER + 38].copy_from_slice(&pseudo.to_be_bytes());
            complete(&mut packet);
            prop_assert_eq!(packet[0], 0);
            prop_assert_eq!(sum(pseudo, &packet[GSO_HEADER + 20..]), 0xffff);
            // Complete already: nothing changes.
            let before = packet.clone();
            complete(&mut packet);
            prop_assert_eq!(before, packet);
        }

        #[test]
        fn nothing_panics(mut packet in proptest::collection::vec(any::<u8>(), 0..80)) {
            complete(&mut packet);
        }
    }
}
