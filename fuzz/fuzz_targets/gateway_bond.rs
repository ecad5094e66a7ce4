//! No bytes of the other box, in whatever pieces, make the reader of the frames of bonded connections
//! panic.

#![no_main]

use bentpipe_gateway::tunnel::bond::decode_any;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|pieces: Vec<Vec<u8>>| {
    let split: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    decode_any(&split);
});
