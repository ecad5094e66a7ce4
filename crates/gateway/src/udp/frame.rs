//! The datagrams of an association (RFC 9221) that carry those of UDP.
//!
//! The first byte says what follows; 0 alone is the association's heartbeat. Numbers have the most
//! significant byte first.
//!
//! | first byte | then | meaning |
//! |---|---|---|
//! | 1 | 4 bytes flow, payload | a datagram of a flow that the other box knows |
//! | 2 | 4 bytes flow, 1 byte TOS, an [`Open`], payload | the same, from a terminal that has not heard from the hub about this flow yet |
//! | 3 | 4 bytes flow | the hub knows the flow |
//! | 4 | 4 bytes flow | the box does not know the flow, or no longer |
//! | 5 | 2 bytes number, 1 byte index, 1 byte count, bytes | a part of one that is longer than the path carries ([`super::parts`]) |
//!
//! A flow costs no round trip: until the hub is heard, every datagram says where it goes. Each of them may
//! be lost without harm, and so may each answer.

use crate::Open;
use crate::tunnel::codec;
use bytes::{BufMut as _, Bytes, BytesMut};

/// Number of a flow, which the terminal chooses; it means nothing outside of its association.
pub type Number = u32;

const DATA: u8 = 1;
const OPEN: u8 = 2;
const KNOWN: u8 = 3;
const UNKNOWN: u8 = 4;
const PART: u8 = 5;

/// Bytes before the payload of [`Frame::Data`].
pub(crate) const DATA_HEADER: usize = 5;
/// Bytes before those of [`Frame::Part`].
pub(super) const PART_HEADER: usize = 5;

/// What a datagram of the association says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A datagram of a flow.
    Data {
        /// Its flow.
        flow: Number,
        /// The payload of UDP.
        payload: Bytes,
    },
    /// The same, with what the hub has to know of the flow.
    Open {
        /// Its flow.
        flow: Number,
        /// The traffic class with which the client sends: DSCP, and bits of ECN that are zero.
        tos: u8,
        /// Where it goes, and whose it is.
        open: Open,
        /// The payload of UDP.
        payload: Bytes,
    },
    /// The hub knows this flow.
    Known(Number),
    /// The box does not know this flow.
    Unknown(Number),
    /// A part of a datagram.
    Part {
        /// Which datagram.
        number: u16,
        /// Which part, from 0.
        index: u8,
        /// How many there are, 2 or more.
        count: u8,
        /// The part.
        bytes: Bytes,
    },
}

/// A datagram that is none of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Begins a datagram of a flow that the other box knows.
pub(super) fn put_data(flow: Number, out: &mut BytesMut) {
    out.put_u8(DATA);
    out.put_u32(flow);
}

/// Begins a datagram of a flow that the hub may not know: `open` is an [`Open`] as [`codec`] encodes it.
pub(super) fn put_open(flow: Number, tos: u8, open: &[u8], out: &mut BytesMut) {
    out.put_u8(OPEN);
    out.put_u32(flow);
    out.put_u8(tos);
    out.put_slice(open);
}

/// That this box knows a flow, or does not.
pub(super) fn about(flow: Number, known: bool) -> Bytes {
    let mut out = BytesMut::with_capacity(DATA_HEADER);
    out.put_u8(if known { KNOWN } else { UNKNOWN });
    out.put_u32(flow);
    out.freeze()
}

/// A part of a datagram.
pub(super) fn part(number: u16, index: u8, count: u8, bytes: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(PART_HEADER + bytes.len());
    out.put_u8(PART);
    out.put_u16(number);
    out.put_u8(index);
    out.put_u8(count);
    out.put_slice(bytes);
    out.freeze()
}

/// Reads a datagram.
///
/// # Errors
/// It is none that this version knows.
pub fn decode(mut datagram: Bytes) -> Result<Frame, Malformed> {
    let kind = *datagram.first().ok_or(Malformed)?;
    let head: [u8; 4] = datagram
        .get(1..DATA_HEADER)
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or(Malformed)?;
    let flow = Number::from_be_bytes(head);
    let mut payload = datagram.split_off(DATA_HEADER);
    match kind {
        DATA => Ok(Frame::Data { flow, payload }),
        OPEN => {
            let tos = *payload.first().ok_or(Malformed)?;
            let (open, length) = match codec::decode(&payload[1..]) {
                Ok(Some(read)) => read,
                Ok(None) | Err(_) => return Err(Malformed),
            };
            let payload = payload.split_off(1 + length);
            Ok(Frame::Open {
                flow,
                tos,
                open,
                payload,
            })
        }
        KNOWN if payload.is_empty() => Ok(Frame::Known(flow)),
        UNKNOWN if payload.is_empty() => Ok(Frame::Unknown(flow)),
        PART => {
            let [a, b, index, count] = head;
            if count < 2 || index >= count || payload.is_empty() {
                return Err(Malformed);
            }
            Ok(Frame::Part {
                number: u16::from_be_bytes([a, b]),
                index,
                count,
                bytes: payload,
            })
        }
        _ => Err(Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Destination;
    use proptest::prelude::*;

    fn open() -> Open {
        Open {
            destination: Destination::Address("[2001:db8::1]:443".parse().unwrap()),
            source: Some("[2001:db8::2]:50000".parse().unwrap()),
            subscriber: None,
            urgency: None,
            confirm: false,
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(flow: Number, tos: u8, payload: Vec<u8>) {
            let payload = Bytes::from(payload);
            let mut out = BytesMut::new();
            put_data(flow, &mut out);
            out.extend_from_slice(&payload);
            prop_assert_eq!(out.len(), DATA_HEADER + payload.len());
            let read = decode(out.freeze());
            prop_assert_eq!(read, Ok(Frame::Data { flow, payload: payload.clone() }));

            let mut encoded = Vec::new();
            codec::encode(&open(), &mut encoded).unwrap();
            let mut out = BytesMut::new();
            put_open(flow, tos, &encoded, &mut out);
            out.extend_from_slice(&payload);
            let read = decode(out.freeze());
            prop_assert_eq!(read, Ok(Frame::Open { flow, tos, open: open(), payload }));

            prop_assert_eq!(decode(about(flow, true)), Ok(Frame::Known(flow)));
            prop_assert_eq!(decode(about(flow, false)), Ok(Frame::Unknown(flow)));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = decode(Bytes::from(bytes));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for bytes in [
            &[][..],
            &[0],
            &[1, 0, 0, 0],
            &[2, 0, 0, 0, 1],
            &[2, 0, 0, 0, 1, 0, 1],
            &[3, 0, 0, 0, 1, 9],
            &[5, 0, 0, 1, 1, 7],
            &[5, 0, 0, 2, 2, 7],
            &[5, 0, 0, 0, 2],
            &[6, 0, 0, 0, 1],
        ] {
            assert_eq!(decode(Bytes::copy_from_slice(bytes)), Err(Malformed));
        }
    }
}
