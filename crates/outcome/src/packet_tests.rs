//! Headers compared with bytes computed by hand, and with the rule that a packet with its checksum
//! sums to all ones.

use super::*;
use proptest::prelude::*;

pub(crate) fn data() -> CapturedPacket {
    CapturedPacket {
        at: Time::from_nanos(4_294_967_296_123_456_789),
        interface: 1,
        source_node: 1,
        destination_node: 0x0001_0203,
        source_port: 40_000,
        destination_port: 5001,
        ecn: 2,
        low_priority: false,
        congestion: None,
        payload_bytes: 1448,
        transport: Transport::Tcp(TcpHeader {
            sequence: 0x0102_0304,
            acknowledgement: 0x0a0b_0c0d,
            flags: ACK | PSH,
            window_bytes: 1_000_000,
            window_shift: 7,
            timestamps: Some((1000, 489)),
            ..TcpHeader::default()
        }),
    }
}

const TCP: usize = 20;
const UDP: usize = 8;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn a_data_packet_has_these_bytes() {
    let (headers, length) = data().headers().unwrap();
    assert_eq!(length, 1500);
    assert_eq!(
        hex(headers.as_slice()),
        // 4 5 tos, length 1500, id 0, DF, TTL 64, TCP, checksum; 10.0.0.1 to
        // 10.1.2.3
        concat!(
            "450205dc", "00004000", "40061f16", "0a000001", "0a010203",
            // ports, sequence, acknowledgement, 32 bytes, PSH ACK, 7812
            "9c401389", "01020304", "0a0b0c0d", "80181e84", "6ccc0000",
            // NOP NOP timestamps
            "0101080a", "000003e8", "000001e9",
        )
    );
}

#[test]
fn low_priority_is_class_selector_1() {
    let low = CapturedPacket {
        low_priority: true,
        ..data()
    };
    let (headers, _) = low.headers().unwrap();
    assert_eq!(headers.as_slice()[1], 0b0010_0010, "CS1, and ECN 2");
}

#[test]
fn a_congestion_header_is_an_option_of_ip() {
    let packet = CapturedPacket {
        congestion: Some(CongestionOption {
            x_us: 1200,
            rtt_us: 600_000,
            change: -2,
            reverse_feedback: 0,
        }),
        ..data()
    };
    let (headers, length) = packet.headers().unwrap();
    assert_eq!(length, 1520);
    let bytes = headers.as_slice();
    assert_eq!(bytes[0], 0x4a, "ten words");
    assert_eq!(
        hex(&bytes[20..40]),
        concat!("5e141100", "000927c0", "000004b0", "fffffffe", "00000000")
    );
    assert_eq!(fold(sum(&bytes[..40])), 0);
    // TCP follows, as without.
    assert_eq!(
        bytes[40..44],
        data().headers().unwrap().0.as_slice()[20..24]
    );
}

#[test]
fn a_negative_acknowledgement_names_segments() {
    let mut packet = data();
    packet.payload_bytes = 0;
    packet.transport = Transport::Tcp(TcpHeader {
        flags: ACK,
        corruption: true,
        snack: Some(SnackOption {
            offset: 2,
            size: 2,
            vector: 0b1001 << 60,
            vector_bytes: 1,
        }),
        ..TcpHeader::default()
    });
    let (headers, length) = packet.headers().unwrap();
    assert_eq!(length, 52);
    assert_eq!(
        hex(&headers.as_slice()[40..]),
        concat!("01150700", "02000290", "01011702")
    );
}

#[test]
fn a_syn_has_the_options_of_linux() {
    let mut packet = data();
    packet.payload_bytes = 0;
    packet.transport = Transport::Tcp(TcpHeader {
        flags: SYN,
        window_bytes: 64_240,
        mss: Some(1460),
        sack_permitted: true,
        timestamps: Some((7, 0)),
        window_scale: Some(7),
        ..TcpHeader::default()
    });
    let (headers, length) = packet.headers().unwrap();
    assert_eq!(length, 60);
    assert_eq!(
        hex(&headers.as_slice()[40..]),
        "020405b40402080a000000070000000001030307"
    );
    assert_eq!(headers.as_slice()[32], 0xa0);
}

#[test]
fn as_many_sack_blocks_as_fit() {
    let blocks = [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)];
    assert_eq!(Sack::new(&blocks).blocks(), &blocks[..4]);
    let mut packet = data();
    for (timestamps, fit) in [(None, 4), (Some((1, 2)), 3)] {
        packet.transport = Transport::Tcp(TcpHeader {
            sack: Sack::new(&blocks),
            timestamps,
            ..TcpHeader::default()
        });
        let (headers, _) = packet.headers().unwrap();
        let options = headers.as_slice().len() - IP - TCP;
        assert_eq!(
            options,
            4 + 8 * fit + if timestamps.is_some() { 12 } else { 0 }
        );
    }
}

#[test]
fn a_datagram_has_these_bytes() {
    let packet = CapturedPacket {
        transport: Transport::Udp,
        payload_bytes: 100,
        ..data()
    };
    let (headers, length) = packet.headers().unwrap();
    assert_eq!(length, (IP + UDP + 100) as u32);
    assert_eq!(hex(&headers.as_slice()[IP..]), "9c401389006c3948");
}

#[test]
fn what_is_too_long_for_ip_has_no_headers() {
    let longest = 65_535 - 52;
    assert!(
        CapturedPacket {
            payload_bytes: longest,
            ..data()
        }
        .headers()
        .is_some()
    );
    assert!(
        CapturedPacket {
            payload_bytes: longest + 1,
            ..data()
        }
        .headers()
        .is_none()
    );
    assert!(
        CapturedPacket {
            payload_bytes: u32::MAX,
            ..data()
        }
        .headers()
        .is_none()
    );
}

prop_compose! {
    fn any_packet()(
        nodes in any::<[u32; 2]>(),
        ports in any::<[u16; 2]>(),
        ecn in any::<u8>(),
        payload_bytes in 0..65_000_u32,
        numbers in any::<[u32; 3]>(),
        flags in any::<u8>(),
        window_shift in any::<u8>(),
        blocks in proptest::collection::vec(any::<(u32, u32)>(), 0..6),
        timestamps in any::<Option<(u32, u32)>>(),
        (mss, window_scale, sack_permitted) in any::<(Option<u16>, Option<u8>, bool)>(),
        udp in any::<bool>(),
        (numbers_of_xcp, snack) in any::<(Option<(u32, i32)>, Option<(u16, u64, u8)>)>(),
    ) -> CapturedPacket {
        let tcp = TcpHeader {
            sequence: numbers[0], acknowledgement: numbers[1], flags, window_bytes: numbers[2],
            window_shift, sack: Sack::new(&blocks), timestamps, mss, window_scale, sack_permitted,
            scps: udp,
            corruption: sack_permitted,
            snack: snack.map(|(offset, vector, vector_bytes)| SnackOption {
                offset, size: offset, vector, vector_bytes,
            }),
        };
        CapturedPacket {
            source_node: nodes[0], destination_node: nodes[1],
            source_port: ports[0], destination_port: ports[1],
            ecn, payload_bytes,
            congestion: numbers_of_xcp.map(|(us, change)| CongestionOption {
                x_us: us, rtt_us: us, change, reverse_feedback: change,
            }),
            transport: if udp { Transport::Udp } else { Transport::Tcp(tcp) },
            ..data()
        }
    }
}

proptest! {
    #[test]
    fn checksums_and_lengths_are_right(packet in any_packet()) {
        let (headers, length) = packet.headers().unwrap();
        let bytes = headers.as_slice();
        prop_assert_eq!(length, bytes.len() as u32 + packet.payload_bytes);
        let ip = IP + packet.congestion.map_or(0, |_| CONGESTION);
        prop_assert_eq!(fold(sum(&bytes[..ip])), 0);
        let segment = length - ip as u32;
        let pseudo = sum(&bytes[12..20]) + u32::from(bytes[9]) + segment;
        prop_assert_eq!(fold(pseudo + sum(&bytes[ip..])), 0);
        if let Transport::Tcp(_) = packet.transport {
            prop_assert_eq!(usize::from(bytes[ip + 12] >> 4) * 4, bytes.len() - ip);
        } else {
            prop_assert_eq!(bytes.len(), ip + UDP);
        }
    }
}
