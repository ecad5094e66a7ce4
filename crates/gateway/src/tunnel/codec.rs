//! The encoding of the bytes at a stream's start.
//!
//! The terminal begins the stream of a connection with [`Open`]:
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | version, 1 |
//! | 1 | bits 0 and 1: kind of the destination (0 IPv4, 1 IPv6, 2 name); bits 2 and 3: kind of the source (0 none, 1 IPv4, 2 IPv6); bit 4: an answer is awaited; bit 7: whose the connection is follows; others 0 |
//! | 4, 16, or 1 + n | destination: the address, or the length of the name (1 to 255) and the name in UTF-8 |
//! | 2 | port of the destination, most significant byte first |
//! | 0, 6 or 18 | source: address and port |
//! | 0, 5 or 17 | whose it is, where the source does not say it: bit 0 the kind (0 IPv4, 1 IPv6), bits 1 and 2 its urgency (0 not said, 1 first, 2 normal, 3 background), and address. A terminal sends it to a hub that says after its [`Welcome`] that it understands it |
//!
//! followed by the client's data. If an answer is expected, the hub begins its direction with
//! [`CONNECTED`]; a refusal is a reset with its [`CloseReason`](crate::close_reason::CloseReason).
//!
//! With bit 5 of the second byte, the request is for a measurement instead, in the
//! direction to the hub, or with bit 0 to the terminal.
//!
//! With bit 6, and no other, it goes on with a connection that a stream of QUIC has carried, on a
//! connection of the fallback: [`Resume`].
//!
//! With bits 5 and 6, and no other, the stream is a subflow of a bonded connection: [`Subflow`].
//!
//! The first stream of an association belongs to no connection: the terminal sends [`Hello`] on it,
//! and the hub answers with [`Welcome`].
//!
//! [`CloseReason`]: crate::CloseReason

mod resume;
mod subflow;

pub use resume::Resume;
pub(crate) use resume::{RESUMED_LENGTH, decode_resumed, encode_resume, encode_resumed};
pub use subflow::Subflow;
pub(crate) use subflow::encode_subflow;

use crate::config::Urgency;
use crate::{Destination, Open};
use bytes::Bytes;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Version of the bytes at a stream's start.
const VERSION: u8 = 1;
/// Longest name of a host, bytes.
pub const MOST_NAME: usize = 255;
/// Maximum encoded length of [`Open`], bytes.
pub const MOST_OPEN: usize = 2 + 1 + MOST_NAME + 2 + 18 + 17;
/// The answer that the server has accepted the connection.
pub const CONNECTED: u8 = 1;

const NAME: u8 = 2;
const CONFIRM: u8 = 1 << 4;
const MEASURE: u8 = 1 << 5;
const MEASURE_DOWN: u8 = MEASURE | 1;
const RESUME: u8 = 1 << 6;
const SUBFLOW: u8 = MEASURE | RESUME;
const SUBSCRIBER: u8 = 1 << 7;

/// Bytes that are no request for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Another version of the protocol.
    #[error("version {0} of the protocol, where this box has version {VERSION}")]
    Version(u8),
    /// A kind of address that is none.
    #[error("an address of kind {0}")]
    Kind(u8),
    /// Bits that mean nothing.
    #[error("flags {0:#04x}, which mean nothing")]
    Flags(u8),
    /// A name that is empty, too long, or not printable.
    #[error("a name that is empty, longer than {MOST_NAME} bytes, or not printable text")]
    Name,
}

fn is_name(host: &str) -> bool {
    let printable = |c: char| !c.is_control() && !c.is_whitespace();
    (1..=MOST_NAME).contains(&host.len()) && host.chars().all(printable)
}

/// Writes `open` at the end of `out`.
///
/// # Errors
/// The name is empty, too long or not printable; `out` is then unchanged.
pub fn encode(open: &Open, out: &mut Vec<u8>) -> Result<(), Malformed> {
    let destination = match &open.destination {
        Destination::Address(address) => u8::from(address.is_ipv6()),
        Destination::Name { host, .. } if is_name(host) => NAME,
        Destination::Name { .. } => return Err(Malformed::Name),
    };
    let source = open
        .source
        .map_or(0, |source| 1 + u8::from(source.is_ipv6()));
    let confirm = if open.confirm { CONFIRM } else { 0 };
    let subscriber = open.subscriber.map_or(0, |_| SUBSCRIBER);
    out.extend([VERSION, destination | source << 2 | confirm | subscriber]);
    match &open.destination {
        Destination::Address(address) => put_ip(address.ip(), out),
        Destination::Name { host, .. } => {
            // At most 255, as checked above.
            out.push(u8::try_from(host.len()).unwrap_or(u8::MAX));
            out.extend(host.as_bytes());
        }
    }
    out.extend(open.destination.port().to_be_bytes());
    if let Some(source) = open.source {
        put_ip(source.ip(), out);
        out.extend(source.port().to_be_bytes());
    }
    if let Some(subscriber) = open.subscriber {
        let urgency: u8 = match open.urgency {
            None => 0,
            Some(Urgency::First) => 1,
            Some(Urgency::Normal) => 2,
            Some(Urgency::Background) => 3,
        };
        out.push(u8::from(subscriber.is_ipv6()) | urgency << 1);
        put_ip(subscriber, out);
    }
    Ok(())
}

fn put_ip(ip: IpAddr, out: &mut Vec<u8>) {
    match ip {
        IpAddr::V4(ip) => out.extend(ip.octets()),
        IpAddr::V6(ip) => out.extend(ip.octets()),
    }
}

/// Reads an [`Open`] from the start of `bytes`, and its length; `None` where more
/// bytes are needed, at most [`MOST_OPEN`] in all.
///
/// # Errors
/// The bytes are the start of none.
pub fn decode(bytes: &[u8]) -> Result<Option<(Open, usize)>, Malformed> {
    let mut reader = Reader { bytes, at: 0 };
    match bytes.first() {
        None => return Ok(None),
        Some(&VERSION) => {}
        Some(&version) => return Err(Malformed::Version(version)),
    }
    let Some(&flags) = bytes.get(1) else {
        return Ok(None);
    };
    let (destination, source) = (flags & 3, flags >> 2 & 3);
    if flags & (MEASURE | RESUME) != 0 || destination == 3 || source == 3 {
        return Err(Malformed::Flags(flags));
    }
    reader.at = 2;
    let Some(destination) = reader.destination(destination)? else {
        return Ok(None);
    };
    let source = match source {
        0 => None,
        kind => match reader.address(kind == 2) {
            None => return Ok(None),
            some => some,
        },
    };
    let (subscriber, urgency) = match flags & SUBSCRIBER {
        0 => (None, None),
        _ => match reader.subscriber()? {
            None => return Ok(None),
            Some((subscriber, urgency)) => (Some(subscriber), urgency),
        },
    };
    let open = Open {
        destination,
        source,
        subscriber,
        urgency,
        confirm: flags & CONFIRM != 0,
    };
    Ok(Some((open, reader.at)))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let taken = self.bytes.get(self.at..self.at + count)?;
        self.at += count;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn port(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn ip(&mut self, v6: bool) -> Option<IpAddr> {
        Some(if v6 {
            IpAddr::V6(Ipv6Addr::from(self.array::<16>()?))
        } else {
            IpAddr::V4(Ipv4Addr::from(self.array::<4>()?))
        })
    }

    fn address(&mut self, v6: bool) -> Option<SocketAddr> {
        let ip = self.ip(v6)?;
        Some(SocketAddr::new(ip, self.port()?))
    }

    fn subscriber(&mut self) -> Result<Option<(IpAddr, Option<Urgency>)>, Malformed> {
        let Some([kind]) = self.array() else {
            return Ok(None);
        };
        let urgency = match kind >> 1 {
            0 => None,
            1 => Some(Urgency::First),
            2 => Some(Urgency::Normal),
            3 => Some(Urgency::Background),
            _ => return Err(Malformed::Kind(kind)),
        };
        Ok(self.ip(kind & 1 != 0).map(|ip| (ip, urgency)))
    }

    fn destination(&mut self, kind: u8) -> Result<Option<Destination>, Malformed> {
        if kind != NAME {
            return Ok(self.address(kind == 1).map(Destination::Address));
        }
        let Some([length]) = self.array() else {
            return Ok(None);
        };
        if length == 0 {
            return Err(Malformed::Name);
        }
        let Some(host) = self.take(usize::from(length)) else {
            return Ok(None);
        };
        let host = std::str::from_utf8(host).map_err(|_| Malformed::Name)?;
        if !is_name(host) {
            return Err(Malformed::Name);
        }
        let host = host.to_owned();
        Ok(self.port().map(|port| Destination::Name { host, port }))
    }
}

/// A direction between the boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the terminal to the hub.
    Up,
    /// From the hub to the terminal.
    Down,
}

/// Request of a terminal at the start of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Opens a connection.
    Open(Open),
    /// For a measurement of TCP's speed, on a connection of the fallback.
    Measure(Direction),
    /// For going on with a connection, on a connection of the fallback.
    Resume(Resume),
    /// To be a subflow of a bonded connection.
    Subflow(Subflow),
}

/// The request for a measurement.
pub(crate) fn encode_measure(direction: Direction) -> Bytes {
    match direction {
        Direction::Up => Bytes::from_static(&[VERSION, MEASURE]),
        Direction::Down => Bytes::from_static(&[VERSION, MEASURE_DOWN]),
    }
}

/// Reads a request from the start of `bytes`, as [`decode`] does.
///
/// # Errors
/// The bytes are the start of none.
pub fn decode_request(bytes: &[u8]) -> Result<Option<(Request, usize)>, Malformed> {
    match bytes {
        [VERSION, MEASURE, ..] => Ok(Some((Request::Measure(Direction::Up), 2))),
        [VERSION, MEASURE_DOWN, ..] => Ok(Some((Request::Measure(Direction::Down), 2))),
        [VERSION, RESUME, ..] => {
            Ok(resume::decode_resume(bytes).map(|it| (Request::Resume(it), Resume::LENGTH)))
        }
        [VERSION, SUBFLOW, ..] => {
            let decoded = subflow::decode_subflow(bytes);
            Ok(decoded.map(|it| (Request::Subflow(it), Subflow::LENGTH)))
        }
        _ => Ok(decode(bytes)?.map(|(open, length)| (Request::Open(open), length))),
    }
}

/// First message of a terminal on an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Chosen at random when the terminal starts, and inherited by a process that
    /// it hands its sockets to. Associations of another lineage of the same key are
    /// remains of a process that is gone; the hub closes them.
    pub lineage: u64,
    /// Counts the processes of a lineage: the hub keeps associations of earlier ones
    /// while they drain.
    pub generation: u32,
}

impl Hello {
    /// Encoded length, bytes.
    pub const LENGTH: usize = 13;

    /// The first process of a new lineage.
    #[must_use]
    pub fn fresh() -> Hello {
        Hello {
            lineage: super::transport::random(),
            generation: 0,
        }
    }

    /// The next process of the lineage.
    #[must_use]
    pub const fn successor(self) -> Hello {
        Hello {
            lineage: self.lineage,
            generation: self.generation.wrapping_add(1),
        }
    }

    /// As bytes: version, lineage, generation; most significant byte first.
    #[must_use]
    pub fn encode(self) -> [u8; Hello::LENGTH] {
        let mut bytes = [VERSION; Hello::LENGTH];
        bytes[1..9].copy_from_slice(&self.lineage.to_be_bytes());
        bytes[9..].copy_from_slice(&self.generation.to_be_bytes());
        bytes
    }

    /// From bytes.
    ///
    /// # Errors
    /// Another version.
    pub fn decode(bytes: [u8; Hello::LENGTH]) -> Result<Hello, Malformed> {
        let [version, a, b, c, d, e, f, g, h, w, x, y, z] = bytes;
        if version != VERSION {
            return Err(Malformed::Version(version));
        }
        Ok(Hello {
            lineage: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            generation: u32::from_be_bytes([w, x, y, z]),
        })
    }
}

/// A bit of the byte that follows [`Welcome`] on the first stream of an association: the hub understands
/// whose a connection is. Older hubs send nothing there, and older terminals do not read it.
pub(crate) const UNDERSTANDS_SUBSCRIBERS: u8 = 1;
/// The same: it carries UDP ([`crate::udp`]).
pub(crate) const CARRIES_UDP: u8 = 2;
/// The same: it takes bonded connections, and the number of its process follows, 8 bytes.
pub(crate) const CARRIES_BONDS: u8 = 4;

/// What the hub answers to [`Hello`]: the terminal is authenticated and served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// Connections that the hub serves at a time for this terminal.
    pub connections: u32,
}

impl Welcome {
    /// Encoded length, bytes.
    pub const LENGTH: usize = 5;

    /// As bytes: version, connections; most significant byte first.
    #[must_use]
    pub fn encode(self) -> [u8; Welcome::LENGTH] {
        let [a, b, c, d] = self.connections.to_be_bytes();
        [VERSION, a, b, c, d]
    }

    /// From bytes.
    ///
    /// # Errors
    /// Another version.
    pub fn decode(bytes: [u8; Welcome::LENGTH]) -> Result<Welcome, Malformed> {
        let [version, a, b, c, d] = bytes;
        if version != VERSION {
            return Err(Malformed::Version(version));
        }
        Ok(Welcome {
            connections: u32::from_be_bytes([a, b, c, d]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address() -> impl Strategy<Value = SocketAddr> {
        prop_oneof![
            any::<([u8; 4], u16)>().prop_map(|(ip, port)| SocketAddr::new(IpAddr::from(ip), port)),
            any::<([u8; 16], u16)>().prop_map(|(ip, port)| SocketAddr::new(IpAddr::from(ip), port)),
        ]
    }

    fn open() -> impl Strategy<Value = Open> {
        let name = ("[a-z0-9.-]{1,255}|[\u{e0}-\u{ff}]{1,127}", any::<u16>())
            .prop_map(|(host, port)| Destination::Name { host, port });
        let destination = prop_oneof![address().prop_map(Destination::Address), name];
        let source = proptest::option::of(address());
        let urgency = [Urgency::First, Urgency::Normal, Urgency::Background];
        let urgency = proptest::option::of(proptest::sample::select(urgency.to_vec()));
        let subscriber = (address().prop_map(|it| it.ip()), urgency);
        let subscriber = proptest::option::of(subscriber);
        (destination, source, subscriber, any::<bool>()).prop_map(
            |(destination, source, subscriber, confirm)| Open {
                destination,
                source,
                subscriber: subscriber.map(|it| it.0),
                urgency: subscriber.and_then(|it| it.1),
                confirm,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded_and_leaves_what_follows(open in open(), rest: Vec<u8>) {
            let mut bytes = Vec::new();
            encode(&open, &mut bytes).unwrap();
            let length = bytes.len();
            prop_assert!(length <= MOST_OPEN);
            bytes.extend(rest);
            prop_assert_eq!(decode(&bytes).unwrap(), Some((open, length)));
        }

        #[test]
        fn every_part_of_it_asks_for_more(open in open()) {
            let mut bytes = Vec::new();
            encode(&open, &mut bytes).unwrap();
            for length in 0..bytes.len() {
                prop_assert_eq!(decode(&bytes[..length]), Ok(None));
            }
        }

        #[test]
        fn any_bytes_are_decoded_or_refused_within_the_bound(
            tail in proptest::collection::vec(any::<u8>(), MOST_OPEN)
        ) {
            let bytes = [&[VERSION], tail.as_slice()].concat();
            match decode(&bytes) {
                Ok(Some((open, length))) => {
                    let mut again = Vec::new();
                    encode(&open, &mut again).unwrap();
                    prop_assert_eq!(&bytes[..length], again.as_slice());
                }
                Ok(None) => prop_assert!(false, "it needs more than the bound"),
                Err(_) => {}
            }
        }
    }

    #[test]
    fn other_versions_and_names_are_refused() {
        assert_eq!(decode(&[2]), Err(Malformed::Version(2)));
        assert_eq!(decode(&[1, 3]), Err(Malformed::Flags(3)));
        assert_eq!(decode(&[1, 0x20]), Err(Malformed::Flags(0x20)));
        assert_eq!(decode(&[1, 2, 0]), Err(Malformed::Name));
        let subscriber = [1, 0x80, 192, 0, 2, 1, 0, 80, 8];
        assert_eq!(decode(&subscriber), Err(Malformed::Kind(8)));
        assert_eq!(decode(&[1, 2, 1, b' ']), Err(Malformed::Name));
        for host in [String::new(), "a".repeat(256), "a b".to_owned()] {
            let mut out = Vec::new();
            let open = Open {
                destination: Destination::Name { host, port: 1 },
                source: None,
                subscriber: None,
                urgency: None,
                confirm: false,
            };
            assert_eq!(encode(&open, &mut out), Err(Malformed::Name));
            assert!(out.is_empty());
        }
    }

    #[test]
    fn requests_are_for_connections_or_measurements() {
        for direction in [Direction::Up, Direction::Down] {
            let bytes = encode_measure(direction);
            let request = Request::Measure(direction);
            assert_eq!(decode_request(&bytes), Ok(Some((request, 2))));
            assert_eq!(decode_request(&bytes[..1]), Ok(None));
        }
        assert_eq!(decode_request(&[1, 0x22]), Err(Malformed::Flags(0x22)));
        assert_eq!(decode_request(&[1, 0]), Ok(None));
    }

    #[test]
    fn greetings_go_there_and_back() {
        let hello = Hello {
            lineage: 0x0102_0304_0506_0708,
            generation: 9,
        };
        assert_eq!(Hello::decode(hello.encode()), Ok(hello));
        let welcome = Welcome {
            connections: 70_000,
        };
        assert_eq!(Welcome::decode(welcome.encode()), Ok(welcome));
        assert_eq!(Hello::decode([9; 13]), Err(Malformed::Version(9)));
    }
}
