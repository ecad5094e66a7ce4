//! Tests of the readers of headers.

use super::*;
use crate::samples::Tcp;

const RAW: u16 = 101;

fn tcp_of(link: u16, bytes: &[u8], length: u32) -> Segment {
    match content(link, bytes, length) {
        Content::Tcp(segment) => segment,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_link_layer_leads_to_the_same_segment() {
    let packet = Tcp {
        sequence: 7,
        payload: 100,
        ..Tcp::default()
    };
    let ip = packet.ipv4();
    let expected = tcp_of(RAW, &ip, packet.length());
    assert_eq!(
        (expected.sequence, expected.payload, expected.headers),
        (7, 100, 40)
    );
    assert_eq!(expected.source.to_string(), "192.0.2.1:5001");
    let ethernet = [&[0; 12][..], &[8, 0], &ip].concat();
    let tagged = [&[0; 12][..], &[0x81, 0, 0, 5, 8, 0], &ip].concat();
    let cooked = [&[0; 14][..], &[8, 0], &ip].concat();
    let cooked2 = [&[8, 0][..], &[0; 18], &ip].concat();
    let loopback = [&[2, 0, 0, 0][..], &ip].concat();
    for (link, bytes) in [
        (1, ethernet),
        (1, tagged),
        (113, cooked),
        (276, cooked2),
        (0, loopback),
    ] {
        // Frames are padded.
        let length = bytes.len() as u32 + 100 + 6;
        assert_eq!(tcp_of(link, &bytes, length), expected, "{link}");
    }
    assert_eq!(content(1, &[0; 60], 60), Content::Other);
    assert_eq!(content(147, &ip, 60), Content::Other);
}

#[test]
fn extension_headers_and_fragments_of_ipv6() {
    let packet = Tcp {
        payload: 10,
        ..Tcp::default()
    };
    let plain = tcp_of(RAW, &packet.ipv6(6, &[]), 0);
    assert_eq!((plain.payload, plain.headers), (10, 60));
    // Hop-by-hop options of 8 bytes, then a first fragment.
    let before = [44, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 1, 0, 0, 0, 0];
    let first = tcp_of(RAW, &packet.ipv6(0, &before), 0);
    assert_eq!((first.payload, first.headers), (10, 76));
    let later = [6, 0, 0, 8, 0, 0, 0, 0];
    assert_eq!(content(RAW, &packet.ipv6(44, &later), 0), Content::Other);
}

#[test]
fn options_are_read_as_far_as_they_are_there() {
    let sack = [1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 9];
    let stamps = [8, 10, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0];
    let options = [&sack[..], &stamps].concat();
    let packet = Tcp {
        options: &options,
        ..Tcp::default()
    };
    let ip = packet.ipv4();
    let segment = tcp_of(RAW, &ip, ip.len() as u32);
    assert_eq!(segment.sack_count, 2);
    assert_eq!(segment.sack[..2], [(1, 2), (5, 9)]);
    assert_eq!(segment.timestamps, Some((3, 4)));
    // Cut behind the SACK blocks.
    let cut = tcp_of(RAW, &ip[..60], ip.len() as u32);
    assert_eq!((cut.sack_count, cut.timestamps), (2, None));
    let opening = [2, 4, 5, 0xb4, 4, 2, 3, 3, 7, 0, 0, 0];
    let syn = Tcp {
        flags: 2,
        options: &opening,
        ..Tcp::default()
    };
    let segment = tcp_of(RAW, &syn.ipv4(), 0);
    assert_eq!((segment.mss, segment.window_scale), (Some(1460), Some(7)));
    assert!(segment.sack_permitted);
}

/// A segment that the device is to split has no length in its IP header if it is too long.
#[test]
fn long_segments_have_the_length_of_the_capture() {
    let packet = Tcp {
        payload: 150_000,
        ..Tcp::default()
    };
    let ip = packet.ipv4();
    assert_eq!(tcp_of(RAW, &ip, packet.length()).payload, 150_000);
    assert_eq!(
        content(RAW, &ip[..39], packet.length()),
        Content::Unreadable
    );
}

proptest::proptest! {
    #[test]
    fn no_packet_makes_it_panic(
        bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..120),
        link in proptest::sample::select(vec![0_u16, 1, 12, 101, 108, 113, 228, 276, 9999]),
        length: u32,
    ) {
        let _ = content(link, &bytes, length);
    }
}
