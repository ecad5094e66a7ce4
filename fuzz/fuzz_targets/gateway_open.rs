//! No bytes of the other box make the reader of requests panic; what it reads is
//! read again from what it is written as, and no shorter input is whole.

#![no_main]

use bentpipe_gateway::tunnel::codec::{MOST_OPEN, decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match decode(bytes) {
        Ok(Some((open, length))) => {
            assert!(length <= bytes.len() && length <= MOST_OPEN);
            let mut written = Vec::new();
            encode(&open, &mut written).expect("what was read can be written");
            let (again, whole) = decode(&written).unwrap().expect("it is whole");
            assert_eq!((again, whole), (open, written.len()));
            for shorter in 0..length {
                assert_eq!(decode(&bytes[..shorter]).ok(), Some(None));
            }
        }
        Ok(None) => assert!(bytes.len() < MOST_OPEN),
        Err(malformed) => assert!(!malformed.to_string().is_empty()),
    }
});
