//! No datagrams of the other box make the reader of UDP panic, and parts become a datagram only as
//! something that is read like one that came whole.

#![no_main]

use bentpipe_gateway::udp::frame::{Frame, decode};
use bentpipe_gateway::udp::parts::{Parts, divide};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|datagrams: Vec<Vec<u8>>| {
    let mut parts = Parts::default();
    for (number, datagram) in (0_u16..).zip(datagrams) {
        let datagram = Bytes::from(datagram);
        let whole = match decode(datagram.clone()) {
            Ok(Frame::Part { number, index, count, bytes }) => parts.take(number, index, count, bytes),
            Ok(whole) => Some(whole),
            Err(_) => None,
        };
        let Some(whole) = whole else { continue };
        assert!(!matches!(whole, Frame::Part { .. }));
        // The same in parts.
        let Some(divided) = divide(&datagram, number, 64).filter(|parts| parts.len() > 1) else {
            continue;
        };
        if decode(datagram) != Ok(whole.clone()) {
            continue;
        }
        let mut others = Parts::default();
        let taken = divided.into_iter().filter_map(|part| match decode(part) {
            Ok(Frame::Part { number, index, count, bytes }) => others.take(number, index, count, bytes),
            other => panic!("{other:?}"),
        });
        assert_eq!(taken.collect::<Vec<_>>(), [whole]);
    }
});
