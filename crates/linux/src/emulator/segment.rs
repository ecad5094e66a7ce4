//! GSO segments, which the kernel hands over whole instead of splitting them into packets.
//!
//! A device with GSO puts a header before each packet (`virtio_net_hdr`, in the byte order of the
//! machine): flags, kind, length of all headers, payload of each packet, where the checksum begins
//! and where it goes. It is written back as it was read: a packet whose checksum the next sender
//! must complete (NEEDS_CSUM) is marked there; without the mark it would be lost silently.

use super::header::Header;

/// Protocol number of TCP.
const TCP: u8 = 6;

/// The packets that a segment represents on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Packets that it would be cut into.
    pub(super) packets: u16,
    /// Bytes that the headers of all but the first of them have.
    pub(super) more_bytes: u32,
}

/// A packet that is not to be cut.
pub(super) const WHOLE: Cut = Cut {
    packets: 1,
    more_bytes: 0,
};

/// How a segment is to be cut: `gso` begins with its header, `ip` is what
/// follows, with the IP header `header`.
#[inline]
pub(super) fn cut(gso: &[u8], ip: &[u8], header: &Header<'_>) -> Cut {
    let &[_, kind, _, _, low, high, ..] = gso else {
        return WHOLE;
    };
    let each = usize::from(u16::from_ne_bytes([low, high]));
    if kind == 0 || each == 0 {
        return WHOLE;
    }
    let transport = match header.protocol {
        TCP => ip
            .get(header.length + 12)
            .map_or(20, |b| usize::from(b >> 4) * 4),
        _ => 8,
    };
    let headers = header.length + transport;
    let packets = ip.len().saturating_sub(headers).div_ceil(each).max(1);
    Cut {
        packets: packets as u16,
        more_bytes: ((packets - 1) * headers) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_counts_as_its_packets() {
        // TCP with timestamps over IPv4, 3000 bytes in packets of 1448.
        let mut ip = vec![0; 52 + 3000];
        (ip[0], ip[9], ip[32]) = (0x45, TCP, 8 << 4);
        let header = Header::read(&ip).unwrap();
        let mut gso = [1, 1, 52, 0, 0, 0, 20, 0, 16, 0];
        gso[4..6].copy_from_slice(&1448_u16.to_ne_bytes());
        let found = cut(&gso, &ip, &header);
        assert_eq!((found.packets, found.more_bytes), (3, 104));
        gso[1] = 0;
        assert_eq!(cut(&gso, &ip, &header), WHOLE);
        assert_eq!(cut(&[], &ip, &header), WHOLE);
    }
}
