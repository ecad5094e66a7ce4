//! No datagrams, in whatever order, make the code that restores lost packets panic.

#![no_main]

use bentpipe_gateway::tunnel::coding::fuzz;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|datagrams: Vec<Vec<u8>>| {
    let split: Vec<&[u8]> = datagrams.iter().map(Vec::as_slice).collect();
    fuzz(&split);
});
