//! No text makes the reader of LeoReplayer's delays panic, and what it reads is
//! a timeline.

#![no_main]

use bentpipe_link::trace::leoreplayer::read_delays;
use bentpipe_link::{Loss, Piece, Timeline};
use bentpipe_units::{Duration, Rate, Time};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match read_delays(text, Duration::from_millis(10)) {
        Err(error) => assert!(error.line <= text.lines().count().max(1)),
        Ok(delays) => {
            let base = Piece {
                from: Time::ZERO,
                rate: Rate::from_mbps(1),
                one_way_delay: Duration::ZERO,
                sloped: false,
                loss: Loss::Channel,
                up: true,
                route: 0,
                jitter: None,
            };
            let line = Timeline::new(delays.pieces(base)).expect("in order");
            line.repeating(delays.period()).expect("long enough");
        }
    }
});
