//! No datagram of a SOCKS client makes the reader of its header panic, and what comes back from where it
//! goes has a header that is read as the same place.

#![no_main]

use bentpipe_gateway::entry::datagram::{header, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|datagram: &[u8]| {
    let Ok((destination, begin)) = read(datagram) else {
        return;
    };
    assert!(begin <= datagram.len());
    assert_ne!(destination.port(), 0);
    let back = header(&destination);
    assert_eq!(read(&back), Ok((destination, back.len())));
});
