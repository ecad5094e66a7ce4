use super::super::split::Segment;
use super::*;
use proptest::prelude::*;

/// A segment after its virtio header: `payload` in packets of `each` bytes.
fn segment(is_ipv6: bool, protocol: u8, flags: u8, each: u16, payload: &[u8]) -> Vec<u8> {
    let ip = GSO_HEADER;
    let network = if is_ipv6 { 40 } else { 20 };
    let header = if protocol == UDP { 8 } else { 32 };
    let transport = ip + network;
    let mut bytes = vec![0; transport + header];
    bytes[0] = NEEDS_CSUM;
    bytes[1] = match (protocol, is_ipv6) {
        (UDP, _) => UDP_L4,
        (_, false) => TCP4,
        (_, true) => TCP6,
    };
    let checksum: u16 = if protocol == UDP { 6 } else { 16 };
    bytes[2..4].copy_from_slice(&((network + header) as u16).to_ne_bytes());
    bytes[4..6].copy_from_slice(&each.to_ne_bytes());
    bytes[6..8].copy_from_slice(&(network as u16).to_ne_bytes());
    bytes[8..10].copy_from_slice(&checksum.to_ne_bytes());
    if is_ipv6 {
        (bytes[ip], bytes[ip + 6]) = (0x60, protocol);
        bytes[ip + 8..ip + 40].fill(0xfd);
    } else {
        (bytes[ip], bytes[ip + 9]) = (0x45, protocol);
        bytes[ip + 12..ip + 20].copy_from_slice(&[10, 0, 1, 1, 10, 0, 1, 2]);
    }
    if protocol == TCP {
        bytes[transport + 4..transport + 8].copy_from_slice(&(u32::MAX - 500).to_be_bytes());
        (bytes[transport + 12], bytes[transport + 13]) = (8 << 4, ACK | flags);
    }
    bytes.extend(payload);
    // Lengths and sums, as the sender's kernel has them.
    let joint = Joint::new(&with_lengths(bytes.clone(), is_ipv6, protocol), true);
    let Some(joint) = joint else { return bytes };
    let headers = Joint {
        each: each.into(),
        ..joint
    }
    .headers(&bytes);
    bytes[..headers.length].copy_from_slice(&headers.bytes[..headers.length]);
    bytes
}

/// The same packet with its lengths filled in.
fn with_lengths(mut bytes: Vec<u8>, is_ipv6: bool, protocol: u8) -> Vec<u8> {
    let ip = GSO_HEADER;
    let length = (bytes.len() - ip) as u16;
    let network = if is_ipv6 { 40 } else { 20 };
    let at = if is_ipv6 { ip + 4 } else { ip + 2 };
    let value = if is_ipv6 { length - 40 } else { length };
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
    if protocol == UDP {
        let at = ip + network + 4;
        bytes[at..at + 2].copy_from_slice(&(length - network as u16).to_be_bytes());
        bytes[at + 2] = 1;
    }
    bytes
}

fn cut(segment: &[u8]) -> Vec<Vec<u8>> {
    let Some(cut) = Segment::read(segment, GSO_HEADER) else {
        return vec![segment.to_vec()];
    };
    let packet = |number| {
        let mut to = vec![0; 2000];
        let length = cut.write(number, &mut to).unwrap();
        to.truncate(length);
        to
    };
    (0..cut.packets()).map(packet).collect()
}

fn join(packets: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut joint = Joint::new(&packets[0], true)?;
    for packet in &packets[1..] {
        assert!(joint.add(&packets[0], packet));
    }
    let headers = joint.headers(&packets[0]);
    let mut parts = [IoSlice::new(&[]); MOST + 1];
    let used = headers.parts(packets.iter().map(Vec::as_slice), &mut parts);
    Some(
        parts[..used]
            .iter()
            .flat_map(|part| part.to_vec())
            .collect(),
    )
}

proptest! {
    #[test]
    fn joining_undoes_cutting(
        is_ipv6: bool,
        datagrams: bool,
        each in 100_u16..1400,
        packets in 1_usize..30,
        short in 0_usize..100,
        flags in prop_oneof![Just(0), Just(PSH), Just(FIN | PSH)],
    ) {
        let payload: Vec<u8> = (0..packets * usize::from(each) - short).map(|n| n as u8).collect();
        let protocol = if datagrams { UDP } else { TCP };
        let whole = segment(is_ipv6, protocol, flags, each, &payload);
        let pieces = cut(&whole);
        prop_assert_eq!(pieces.len(), packets);
        let mut joined = join(&pieces).unwrap();
        // Of one packet `each` is its own length.
        joined[4..6].copy_from_slice(&each.to_ne_bytes());
        prop_assert_eq!(joined, whole);
    }

    #[test]
    fn nothing_panics(packets in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 1..4)) {
        if let Some(mut joint) = Joint::new(&packets[0], true) {
            for packet in &packets[1..] {
                joint.add(&packets[0], packet);
            }
            joint.headers(&packets[0]);
        }
    }
}

#[test]
fn only_what_continues_is_joined() {
    let payload = [7; 3000];
    let pieces = cut(&segment(false, TCP, 0, 1000, &payload));
    let tcp = GSO_HEADER + 20;
    let joins = |first: &[u8], second: &[u8]| {
        Joint::new(first, true).is_some_and(|mut j| j.add(first, second))
    };
    assert!(joins(&pieces[0], &pieces[1]));
    // Out of order, and the same again.
    assert!(!joins(&pieces[0], &pieces[2]));
    assert!(!joins(&pieces[0], &pieces[0]));
    // Another port, acknowledgement, window, option, mark, lifetime.
    for at in [
        tcp,
        tcp + 8,
        tcp + 14,
        tcp + 24,
        GSO_HEADER + 1,
        GSO_HEADER + 8,
    ] {
        let mut other = pieces[1].clone();
        other[at] ^= 1;
        assert!(!joins(&pieces[0], &other), "{at}");
    }
    // Flags that only a separate packet can have.
    for flag in [0x02, 0x04, 0x20, 0x40, 0x80] {
        let mut other = pieces[1].clone();
        other[tcp + 13] |= flag;
        assert!(!joins(&pieces[0], &other), "{flag}");
        assert!(!joins(&other, &pieces[2]), "{flag}");
    }
    // Nothing follows PSH, and nothing is joined with a bare acknowledgement.
    let mut pushed = pieces[0].clone();
    pushed[tcp + 13] |= PSH;
    assert!(!joins(&pushed, &pieces[1]));
    let mut bare = pieces[0][..tcp + 32].to_vec();
    bare[GSO_HEADER + 2..GSO_HEADER + 4].copy_from_slice(&52_u16.to_be_bytes());
    assert!(Joint::new(&bare, true).is_none());
}

#[test]
fn datagrams_are_joined_only_where_the_device_takes_them() {
    let pieces = cut(&segment(true, UDP, 0, 500, &[1; 1200]));
    assert!(Joint::new(&pieces[0], false).is_none());
    let mut joint = Joint::new(&pieces[0], true).unwrap();
    assert!(joint.add(&pieces[0], &pieces[1]));
    // A shorter one ends the segment.
    assert!(joint.add(&pieces[0], &pieces[2]));
    assert!(!joint.add(&pieces[0], &pieces[1]));
}
