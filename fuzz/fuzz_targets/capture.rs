//! No bytes make the reader of captures panic or hang, and what is estimated from them is
//! consistent: intervals contain their estimates.

#![no_main]

use bentpipe::capture::{Connections, Link, Seen, Side};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let connections = match Connections::read(bytes) {
        Ok(connections) => connections,
        Err(error) => return assert!(error.to_string().contains("offset")),
    };
    for connection in connections.list.iter().take(4) {
        let seen = Seen::read(bytes, connection).expect("it was read before");
        for side in [Side::First, Side::Second] {
            let Some(history) = seen.history(side) else {
                continue;
            };
            if let Some(link) = Link::of(&history) {
                assert!(link.rate.low <= link.rate.value && link.rate.value <= link.rate.high);
                let share = link.losses.channel.share;
                assert!(share.low <= share.value && share.value <= share.high);
            }
        }
    }
});
