//! Tests of the readers of files.

use super::*;
use crate::samples::{Tcp, block, pcap, pcap_header, record};

/// The fields of a record: time, link type, bytes, length, offset.
type Fields = (i64, u16, Vec<u8>, u32, u64);

fn all(file: &[u8]) -> Result<Vec<Fields>, ReadError> {
    let mut reader = Reader::new(file)?;
    let mut found = Vec::new();
    while let Some(r) = reader.next_record()? {
        found.push((r.at_ns, r.link_type, r.bytes.to_vec(), r.length, r.offset));
    }
    Ok(found)
}

fn error(file: &[u8]) -> String {
    all(file).unwrap_err().to_string()
}

/// A pcapng file with an interface of `resolution` and one packet at `ticks`.
fn pcapng(big: bool, resolution: u8, ticks: u64, packet: &[u8]) -> Vec<u8> {
    let word = |x: u32| {
        if big {
            x.to_be_bytes()
        } else {
            x.to_le_bytes()
        }
    };
    let half = |x: u16| {
        if big {
            x.to_be_bytes()
        } else {
            x.to_le_bytes()
        }
    };
    let mut section = word(ORDER).to_vec();
    section.extend(half(1));
    section.extend(half(0));
    section.extend([0xff; 8]);
    let mut interface = half(1).to_vec();
    interface.extend([0, 0]);
    interface.extend(word(0));
    interface.extend(half(TIME_RESOLUTION));
    interface.extend(half(1));
    interface.extend([resolution, 0, 0, 0]);
    interface.extend([0; 4]);
    let mut body = word(0).to_vec();
    body.extend(word((ticks >> 32) as u32));
    body.extend(word(ticks as u32));
    body.extend(word(packet.len() as u32));
    body.extend(word(1500));
    body.extend(packet);
    let mut file = block(big, SECTION, &section);
    file.extend(block(big, INTERFACE, &interface));
    // Statistics, to be skipped.
    file.extend(block(big, 5, &[0; 12]));
    file.extend(block(big, PACKET, &body));
    file
}

#[test]
fn pcap_gives_times_lengths_and_offsets() {
    let packet = Tcp {
        at_us: 1_500_000,
        payload: 100,
        ..Tcp::default()
    };
    let found = all(&pcap(&[packet, packet])).unwrap();
    assert_eq!(found.len(), 2);
    let (at, link, bytes, length, offset) = &found[1];
    assert_eq!(
        (*at, *link, bytes.len(), *length),
        (1_500_000_000, 101, 40, 140)
    );
    assert_eq!(*offset, 24 + 16 + 40);
}

#[test]
fn pcapng_of_both_byte_orders_and_any_resolution() {
    for big in [false, true] {
        // 3 ms in microseconds, nanoseconds, and 3/4 s in units of 2^-10 s.
        for (resolution, ticks, ns) in [
            (6, 3_000, 3_000_000),
            (9, 3_000_000, 3_000_000),
            (0x8a, 768, 750_000_000),
        ] {
            let found = all(&pcapng(big, resolution, ticks, &[1, 2, 3])).unwrap();
            assert_eq!(found[0].0, ns, "{big} {resolution}");
            assert_eq!(
                (found[0].1, &found[0].2[..], found[0].3),
                (1, &[1, 2, 3][..], 1500)
            );
        }
    }
}

#[test]
fn bad_files_are_refused_with_the_place() {
    assert!(error(b"").contains("empty file"));
    assert!(
        error(b"PK\x03\x04").contains("504b0304"),
        "{}",
        error(b"PK\x03\x04")
    );
    assert!(error(&pcap_header(1)[..20]).contains("header of 24 bytes"));
    let mut long = pcap_header(1);
    record(&mut long, 0, &[], 0);
    long[24 + 8..24 + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(error(&long).starts_with("offset 24: a record of 4294967295 bytes"));
    let good = pcapng(false, 6, 0, &[0; 8]);
    let interface = 28;
    let mut bad = good.clone();
    bad[interface + 4] = 13;
    assert!(
        error(&bad).starts_with("offset 28: a block of 13 bytes"),
        "{}",
        error(&bad)
    );
    // An interface that is not described.
    let at = good.len() - 12 - 28 + 8;
    let mut bad = good.clone();
    bad[at] = 7;
    assert!(
        error(&bad).contains("a packet of interface 7"),
        "{}",
        error(&bad)
    );
    let mut bad = good.clone();
    bad[interface + 20] = 0x7f;
    assert!(
        error(&bad).contains("a time resolution of 10^-127"),
        "{}",
        error(&bad)
    );
}

#[test]
fn a_file_that_ends_within_a_record_has_the_packets_before_it() {
    for whole in [
        pcap(&[Tcp::default(), Tcp::default()]),
        [pcapng(false, 6, 0, &[0; 8]), pcapng(true, 6, 0, &[0; 8])].concat(),
    ] {
        let cut = &whole[..whole.len() - 3];
        let mut reader = Reader::new(cut).unwrap();
        assert!(reader.next_record().unwrap().is_some());
        assert!(reader.next_record().unwrap().is_none());
        let at = reader.cut_at().unwrap() as usize;
        assert!(at > 30 && at < cut.len(), "{at}");
        let mut reader = Reader::new(&whole[..]).unwrap();
        while reader.next_record().unwrap().is_some() {}
        assert_eq!(reader.cut_at(), None);
    }
}

proptest::proptest! {
    /// Whatever is changed in a file, reading it ends, with records or an error.
    #[test]
    fn no_bytes_make_it_panic(at in 0_usize..200, byte: u8, cut in 0_usize..200, big: bool) {
        let mut file = pcapng(big, 6, 12, &[0; 40]);
        file.extend(pcapng(!big, 9, 1 << 40, &[7; 20]));
        let length = file.len();
        file[at % length] = byte;
        let _ = all(&file);
        let _ = all(&file[..cut.min(length)]);
    }
}
