//! The datagrams between a SOCKS5 client and its association (RFC 1928, section 7). It reads and
//! writes no socket.

use super::socks::{Place, UnknownKind};
use crate::Destination;
use bytes::{BufMut as _, Bytes, BytesMut};
use std::net::IpAddr;

/// Where the type of the address is: after two reserved bytes and the number of the fragment.
const KIND: usize = 3;

/// Why a datagram goes nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Dropped {
    /// It is shorter than its header.
    #[error("it is shorter than its header")]
    Short,
    /// It is a fragment, which section 7 lets a server drop.
    #[error("it is a fragment")]
    Fragment,
    /// Its destination is no address and no name, or its port is zero.
    #[error("it does not say where it goes")]
    Destination,
}

/// Reads the header of a client's datagram: where it goes, and where its payload begins.
///
/// # Errors
/// Why it goes nowhere.
pub fn read(datagram: &[u8]) -> Result<(Destination, usize), Dropped> {
    let fragment = *datagram.get(KIND - 1).ok_or(Dropped::Short)?;
    if fragment != 0 {
        return Err(Dropped::Fragment);
    }
    let place = Place::read(datagram, KIND).ok_or(Dropped::Short)?;
    let place = place.map_err(|UnknownKind| Dropped::Destination)?;
    let destination = place.destination().ok_or(Dropped::Destination)?;
    Ok((destination, place.end))
}

/// The header of what comes back from a destination, which has the form in which the client wrote it: the
/// terminal does not know the address of a name.
#[must_use]
pub fn header(destination: &Destination) -> Bytes {
    let mut out = BytesMut::new();
    out.put_slice(&[0; KIND]);
    match destination {
        Destination::Address(address) => match address.ip() {
            IpAddr::V4(ip) => {
                out.put_u8(1);
                out.put_slice(&ip.octets());
            }
            IpAddr::V6(ip) => {
                out.put_u8(4);
                out.put_slice(&ip.octets());
            }
        },
        Destination::Name { host, .. } => {
            // A name that was read here has at most 254 bytes.
            let name = host.as_bytes();
            let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
            out.put_u8(3);
            out.put_u8(length);
            out.put_slice(name.get(..length.into()).unwrap_or_default());
        }
    }
    out.put_u16(destination.port());
    out.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn destination() -> impl Strategy<Value = Destination> {
        prop_oneof![
            (any::<[u8; 4]>(), 1..u16::MAX)
                .prop_map(|(ip, port)| { Destination::Address((IpAddr::from(ip), port).into()) }),
            (any::<[u8; 16]>(), 1..u16::MAX)
                .prop_map(|(ip, port)| { Destination::Address((IpAddr::from(ip), port).into()) }),
            ("[a-z][a-z0-9-]{0,20}(\\.[a-z]{1,20}){1,4}", 1..u16::MAX)
                .prop_map(|(host, port)| Destination::Name { host, port }),
        ]
    }

    proptest! {
        #[test]
        fn a_header_is_read_as_what_it_was_made_of(to in destination(), payload: Vec<u8>) {
            let header = header(&to);
            let datagram = [&header[..], &payload].concat();
            prop_assert_eq!(read(&datagram), Ok((to, header.len())));
            // No part of it says where it goes.
            for length in 0..header.len() {
                prop_assert_eq!(read(&datagram[..length]), Err(Dropped::Short));
            }
        }

        #[test]
        fn any_bytes_are_read_or_dropped(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            kind in 0..6_u8,
        ) {
            let near = [&[0, 0, 0, kind][..], &bytes].concat();
            for datagram in [&bytes, &near] {
                if let Ok((destination, begin)) = read(datagram) {
                    prop_assert!(begin <= datagram.len());
                    prop_assert!(destination.port() != 0);
                    // What comes back from there is read as from there.
                    let back = header(&destination);
                    prop_assert_eq!(read(&back), Ok((destination, back.len())));
                }
            }
        }
    }

    #[test]
    fn fragments_and_what_says_no_destination_are_dropped() {
        for (bytes, why) in [
            (&b""[..], Dropped::Short),
            (b"\x00\x00\x00", Dropped::Short),
            (
                b"\x00\x00\x01\x01\xc0\x00\x02\x01\x00\x35x",
                Dropped::Fragment,
            ),
            (
                b"\x00\x00\x80\x01\xc0\x00\x02\x01\x00\x35x",
                Dropped::Fragment,
            ),
            (
                b"\x00\x00\x00\x02\xc0\x00\x02\x01\x00\x35x",
                Dropped::Destination,
            ),
            (
                b"\x00\x00\x00\x01\xc0\x00\x02\x01\x00\x00x",
                Dropped::Destination,
            ),
            (b"\x00\x00\x00\x03\x03a\x00b\x00\x35x", Dropped::Destination),
            (b"\x00\x00\x00\x03\x00\x00\x35x", Dropped::Destination),
        ] {
            assert_eq!(read(bytes), Err(why), "{bytes:?}");
        }
        let (to, begin) = read(b"\x00\x00\x00\x01\xc0\x00\x02\x01\x00\x35x").unwrap();
        assert_eq!((to.to_string().as_str(), begin), ("192.0.2.1:53", 10));
    }
}
