//! Tests of connections.

use super::*;
use crate::samples::{Tcp, pcap};

/// The options of a SYN: MSS 1460, SACK, a window scale of 7.
const OPENING: [u8; 12] = [2, 4, 5, 0xb4, 4, 2, 3, 3, 7, 0, 0, 0];

/// A handshake that the client begins, and `segments` from the server with an answer to each
/// after 100 ms, as seen at the server; numbers begin shortly before they wrap.
fn download(segments: u32) -> Vec<Tcp<'static>> {
    let (server, client) = (u32::MAX - 3000, 77);
    let client_side = |at_us, sequence, acknowledgement, flags| Tcp {
        at_us,
        from_server: false,
        sequence,
        acknowledgement,
        flags,
        ..Tcp::default()
    };
    let mut packets = vec![
        Tcp {
            options: &OPENING,
            ..client_side(0, client, 0, 2)
        },
        Tcp {
            at_us: 10,
            sequence: server,
            acknowledgement: client + 1,
            flags: 0x12,
            options: &OPENING,
            ..Tcp::default()
        },
        client_side(100_010, client + 1, server.wrapping_add(1), 0x10),
    ];
    for n in 0..segments {
        let start = server.wrapping_add(1 + 1460 * n);
        let at_us = 200_000 + 200_000 * u64::from(n);
        packets.push(Tcp {
            at_us,
            sequence: start,
            acknowledgement: client + 1,
            payload: 1460,
            ..Tcp::default()
        });
        let next = start.wrapping_add(1460);
        packets.push(client_side(at_us + 100_000, client + 1, next, 0x10));
    }
    packets
}

fn seen(file: &[u8]) -> (Connections, Seen) {
    let connections = Connections::read(file).unwrap();
    let seen = Seen::read(file, &connections.list[0]).unwrap();
    (connections, seen)
}

#[test]
fn numbers_that_wrap_and_the_handshake_are_understood() {
    let file = pcap(&download(5));
    let (connections, seen) = seen(&file);
    let connection = &connections.list[0];
    assert_eq!(connections.list.len(), 1);
    assert_eq!(connection.from_to()[0].to_string(), "192.0.2.1:5001");
    let history = seen.history(connection.sender()).unwrap();
    assert_eq!((history.sent.len(), history.payload), (5, 5 * 1460));
    assert!((history.handshake_rtt.unwrap() - 0.1).abs() < 1e-9);
    assert!(history.is_whole && history.has_sack);
    assert_eq!(history.acks[1].window, Some(1000 << 7));
    assert!(
        history.acks[1..]
            .iter()
            .all(|a| (a.rtt.unwrap() - 0.1).abs() < 1e-6)
    );
    assert!(!seen.is_from_the_receiver(connection.sender()));
    assert!(seen.is_from_the_receiver(Side::First));
}

#[test]
fn a_capture_that_begins_within_the_connection_knows_no_window() {
    let file = pcap(&download(6)[3..]);
    let (connections, seen) = seen(&file);
    let history = seen.history(connections.list[0].sender()).unwrap();
    assert!(!history.is_whole && history.handshake_rtt.is_none());
    assert_eq!(history.acks[0].window, None);
    assert_eq!(history.sent.len(), 6);
}

#[test]
fn connections_of_the_same_ends_are_told_apart_and_the_largest_is_first() {
    let mut packets = download(1);
    let mut second = download(4);
    for packet in &mut second {
        packet.at_us += 10_000_000;
        packet.sequence = packet.sequence.wrapping_add(1_000_000);
        packet.acknowledgement = packet.acknowledgement.wrapping_add(1_000_000);
    }
    packets.extend(second);
    let (connections, seen) = seen(&pcap(&packets));
    let bytes: Vec<u64> = connections.list.iter().map(|c| c.bytes[1]).collect();
    assert_eq!(bytes, [4 * 1460, 1460]);
    assert_eq!(seen.history(Side::Second).unwrap().sent.len(), 4);
}

#[test]
fn packets_that_two_devices_saw_count_once() {
    let mut packets = download(3);
    packets.insert(4, packets[3]);
    let (connections, seen) = seen(&pcap(&packets));
    assert_eq!(seen.copies, 1);
    assert_eq!(
        seen.history(connections.list[0].sender())
            .unwrap()
            .sent
            .len(),
        3
    );
}
