//! Captures byte by byte, and as `tshark` reads them if it is installed.

use super::*;
use crate::packet::tests::data;
use crate::packet::{ACK, CWR, ECE, FIN, SYN, Sack, TcpHeader, Transport};
use bentpipe_units::{Rate, Time};
use std::process::Command;

fn interfaces() -> Vec<Interface> {
    vec![
        Interface {
            name: "terminal/forward".to_owned(),
            description: "what the terminal sends".to_owned(),
            rate: Some(Rate::from_mbps(2)),
        },
        Interface::named("gateway/return"),
    ]
}

/// A handshake, data with a mark, duplicate acknowledgements with SACK, a
/// datagram, the end.
fn packets() -> Vec<CapturedPacket> {
    let there = CapturedPacket {
        interface: 0,
        source_node: 1,
        destination_node: 2,
        source_port: 40_000,
        destination_port: 5001,
        ecn: 0,
        payload_bytes: 0,
        ..data()
    };
    let back = CapturedPacket {
        interface: 1,
        source_node: 2,
        destination_node: 1,
        source_port: 5001,
        destination_port: 40_000,
        ..there.clone()
    };
    let syn = TcpHeader {
        sequence: 1000,
        flags: SYN | ECE | CWR,
        window_bytes: 64_240,
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some((10, 0)),
        ..TcpHeader::default()
    };
    let syn_ack = TcpHeader {
        sequence: 5000,
        acknowledgement: 1001,
        flags: SYN | ACK,
        window_scale: Some(9),
        timestamps: Some((20, 10)),
        ..syn.clone()
    };
    let segment = TcpHeader {
        sequence: 1001,
        acknowledgement: 5001,
        flags: ACK,
        window_bytes: 128_000,
        window_shift: 7,
        timestamps: Some((30, 20)),
        ..TcpHeader::default()
    };
    let duplicate = TcpHeader {
        sequence: 5001,
        acknowledgement: 1001,
        window_bytes: 512_000,
        window_shift: 9,
        sack: Sack::new(&[(3897, 5345), (2449, 3000)]),
        timestamps: Some((40, 30)),
        ..segment.clone()
    };
    let fin = TcpHeader {
        sequence: 2449,
        flags: FIN | ACK,
        ..segment.clone()
    };
    let packet = |base: &CapturedPacket, at: u64, payload_bytes, transport| CapturedPacket {
        at: Time::from_nanos(at),
        payload_bytes,
        transport,
        ..base.clone()
    };
    vec![
        packet(&there, 0, 0, Transport::Tcp(syn)),
        packet(&back, 511_000_000, 0, Transport::Tcp(syn_ack)),
        CapturedPacket {
            ecn: 3,
            ..packet(&there, 511_000_001, 1448, Transport::Tcp(segment))
        },
        packet(&back, 1_022_000_001, 0, Transport::Tcp(duplicate)),
        packet(&there, 1_500_000_000, 160, Transport::Udp),
        packet(&there, 4_294_967_296_123, 0, Transport::Tcp(fin)),
    ]
}

#[test]
fn a_capture_has_these_bytes() {
    let mut capture = Capture::new(Vec::new(), "geo, seed 7", &[Interface::named("a")]).unwrap();
    capture
        .packet(&CapturedPacket {
            interface: 0,
            payload_bytes: 3,
            transport: Transport::Udp,
            ..data()
        })
        .unwrap();
    let bytes = capture.finish().unwrap();
    let section = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    assert_eq!(&bytes[..4], b"\n\r\r\n");
    assert!(text(&bytes[..section]).contains("\u{1}\0\u{b}\0geo, seed 7\0\u{4}\0"));
    let hex: String = bytes[section..]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(
        hex,
        concat!(
            // Interface: 101, snapped at 100 bytes, name a, nanoseconds.
            "01000000", "28000000", "65000000", "64000000", "02000100", "61000000", "09000100",
            "09000000", "00000000", "28000000",
            // Packet: interface 0, time, 28 bytes of 31.
            "06000000", "3c000000", "00000000", "00ca9a3b", "15cd5b07", "1c000000", "1f000000",
            "4502001f", "00004000", "401124c8", "0a000001", "0a010203", "9c401389", "000b3a0a",
            "3c000000",
        )
    );
}

#[test]
fn mistakes_leave_the_capture_as_it_was() {
    let mut capture = Capture::new(Vec::new(), "", &interfaces()).unwrap();
    let e = capture
        .packet(&CapturedPacket {
            interface: 2,
            ..data()
        })
        .unwrap_err();
    assert_eq!(
        e.to_string(),
        "the capture has 2 interfaces, none has the number 2"
    );
    let e = capture
        .packet(&CapturedPacket {
            payload_bytes: 65_500,
            ..data()
        })
        .unwrap_err();
    assert_eq!(
        e.to_string(),
        "a packet with 65500 bytes of payload is too long for IPv4"
    );
    let empty = Capture::new(Vec::new(), "", &interfaces())
        .unwrap()
        .finish()
        .unwrap();
    assert_eq!(capture.finish().unwrap(), empty);
}

#[test]
fn a_long_comment_is_cut_between_characters() {
    let comment = "é".repeat(40_000);
    let bytes = Capture::new(Vec::new(), &comment, &[])
        .unwrap()
        .finish()
        .unwrap();
    assert_eq!(bytes.len() % 4, 0);
    assert_eq!(u16::from_le_bytes([bytes[26], bytes[27]]), 65_534);
}

/// The answer of `tshark`, or `None` with a line where there is none.
fn tshark(path: &Path, arguments: &[&str]) -> Option<String> {
    let answer = Command::new("tshark")
        .args([
            "-n",
            "-o",
            "tcp.check_checksum:TRUE",
            "-o",
            "ip.check_checksum:TRUE",
        ])
        .args([
            "-o",
            "udp.check_checksum:TRUE",
            "-o",
            "tcp.relative_sequence_numbers:FALSE",
        ])
        .arg("-r")
        .arg(path)
        .args(arguments)
        .output();
    match answer {
        Ok(answer) => {
            let errors = String::from_utf8_lossy(&answer.stderr).into_owned();
            assert!(answer.status.success(), "{errors}");
            Some(String::from_utf8(answer.stdout).unwrap())
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            bentpipe_testing::skip("a test of captures", "tshark");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

fn capture_to(path: &Path) {
    let provenance = Provenance::new("geo", "9f3c0a", &[7]);
    let mut capture = Capture::create(path, &provenance, &interfaces()).unwrap();
    for packet in packets() {
        capture.packet(&packet).unwrap();
    }
    assert!(!path.exists());
    capture.commit().unwrap();
}

#[test]
fn tshark_reads_what_was_meant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("geo.pcapng");
    capture_to(&path);
    let fields = [
        "frame.time_epoch",
        "frame.interface_name",
        "frame.len",
        "ip.src",
        "ip.dst",
        "ip.dsfield.ecn",
        "ip.checksum.status",
        "tcp.seq",
        "tcp.ack",
        "tcp.flags",
        "tcp.len",
        "tcp.window_size",
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
        "tcp.options.timestamp.tsval",
        "tcp.options.timestamp.tsecr",
        "tcp.checksum.status",
        "udp.length",
    ];
    let mut arguments = vec!["-T", "fields", "-E", "separator=|"];
    for field in fields {
        arguments.extend(["-e", field]);
    }
    let Some(text) = tshark(&path, &arguments) else {
        return;
    };
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "0.000000000|terminal/forward|60|10.0.0.1|10.0.0.2|0|1|1000|0|0x00c2|0|64240|1460|7|||10|0|1|",
        "0.511000000|gateway/return|60|10.0.0.2|10.0.0.1|0|1|5000|1001|0x0012|0|64240|1460|9|||20|10|1|",
        // Cut at the headers: its checksum cannot be checked, hence status 2.
        "0.511000001|terminal/forward|1500|10.0.0.1|10.0.0.2|3|1|1001|5001|0x0010|1448|128000|||||30|20|2|",
        "1.022000001|gateway/return|72|10.0.0.2|10.0.0.1|0|1|5001|1001|0x0010|0|512000|||3897,2449|5345,3000|40|30|1|",
        "1.500000000|terminal/forward|188|10.0.0.1|10.0.0.2|0|1|||||||||||||168",
        "4294.967296123|terminal/forward|52|10.0.0.1|10.0.0.2|0|1|2449|5001|0x0011|0|128000|||||30|20|1|",
    ];
    assert_eq!(lines, expected);
    let Some(warnings) = tshark(&path, &["-Y", "_ws.malformed || ip.checksum.status == 0"]) else {
        return;
    };
    assert_eq!(warnings, "");
}

#[test]
fn the_same_packets_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a.pcapng", "b.pcapng"].map(|name| {
        let path = folder.path().join(name);
        capture_to(&path);
        std::fs::read(&path).unwrap()
    });
    assert_eq!(a, b);
    let comment = b"scenario geo (9f3c0a); seed 7";
    assert!(a.windows(comment.len()).any(|w| w == comment));
}
