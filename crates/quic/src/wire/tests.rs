use super::*;
use proptest::prelude::*;

/// Frames of a short packet with these bytes.
fn one_rtt(frames: &[u8]) -> Vec<WirePacket> {
    let mut bytes = vec![0x40];
    bytes.extend([9; ID_LENGTH]);
    // One byte of the number; the tag has all of it.
    bytes.push(7);
    bytes.extend(frames);
    bytes.extend(7_u64.to_le_bytes());
    bytes.extend([0; 8]);
    read(&bytes)
}

#[test]
fn a_short_packet_is_read() {
    let packets = one_rtt(&[0x0f, 0x00, 0x44, 0xb0, 0x02, 1, 2, 0x01, 0, 0, 0]);
    let [packet] = &packets[..] else {
        panic!("{packets:?}")
    };
    assert_eq!((packet.kind, packet.number), (PacketKind::OneRtt, 7));
    assert_eq!((packet.length, packet.payload), (37, 11));
    assert!(packet.asks_for_ack());
    let frames = [
        Frame::Stream {
            stream: 0,
            offset: 1200,
            length: 2,
            fin: true,
        },
        Frame::Ping,
        Frame::Padding(3),
    ];
    assert_eq!(packet.frames, frames);
}

/// The example of an integer of eight bytes in RFC 9000, appendix A.1, and those of four, two and one.
#[test]
fn integers_are_those_of_the_rfc() {
    for (bytes, value) in [
        (
            &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..],
            151_288_809_941_952_652,
        ),
        (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
        (&[0x7b, 0xbd], 15_293),
        (&[0x25], 37),
        (&[0x40, 0x25], 37),
    ] {
        let mut reader = Reader(bytes);
        assert_eq!(reader.varint(), Some(value));
        assert!(reader.0.is_empty());
    }
}

/// Packets 20 down to 18, not 17 and 16, and 15 (RFC 9000, section 19.3.1).
#[test]
fn ranges_of_an_acknowledgement_are_absolute() {
    let packets = one_rtt(&[0x02, 20, 5, 1, 2, 1, 0]);
    let ack = Frame::Ack {
        delay: 40,
        ranges: vec![[18, 20], [15, 15]],
        ecn: None,
    };
    assert_eq!(packets[0].frames, [ack]);
    assert!(!packets[0].asks_for_ack());
    // A range below zero cannot be.
    assert_eq!(one_rtt(&[0x02, 1, 0, 0, 2])[0].frames, [Frame::Unknown(2)]);
}

#[test]
fn what_cannot_be_read_ends_the_packet() {
    assert_eq!(read(&[]), []);
    assert_eq!(read(&[0x40; 12]), []);
    // A type that is reserved for greasing.
    assert_eq!(
        one_rtt(&[0x01, 0x21, 5])[0].frames,
        [Frame::Ping, Frame::Unknown(0x21)]
    );
}

proptest! {
    /// Nothing panics, and nothing is read that is not there.
    #[test]
    fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..300), first: u8) {
        let mut bytes = bytes;
        bytes.insert(0, first);
        let lengths: u32 = read(&bytes).iter().map(|packet| packet.length).sum();
        prop_assert!(lengths as usize <= bytes.len());
    }
}
