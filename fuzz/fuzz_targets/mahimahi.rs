//! No text makes the reader of mahimahi traces panic, and what it reads is
//! written the same way again.

#![no_main]

use bentpipe_link::trace::mahimahi;
use bentpipe_link::{Loss, Piece, Timeline};
use bentpipe_units::{Duration, Rate, Time};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match mahimahi::read(text, true) {
        Err(error) => assert!(error.line <= text.lines().count().max(1)),
        Ok(given) => {
            let (times, period, _) = given.period();
            let period = period.expect("it wraps");
            assert_eq!(given.until(Time::ZERO + period), times.len() as u64 + zeros(times));
            let piece = Piece {
                from: Time::ZERO,
                rate: Rate::ZERO,
                one_way_delay: Duration::ZERO,
                sloped: false,
                loss: Loss::Channel,
                up: true,
                route: 0,
                jitter: None,
            };
            let line = Timeline::new(vec![piece]).expect("one piece");
            let line = line.with_opportunities(given);
            let written = mahimahi::write(&line, period).expect("it carries something");
            assert_eq!(mahimahi::read(&written, true).is_ok(), true);
        }
    }
});

/// Those that come at the very end of a period, as the first of the next.
fn zeros(times: &[Time]) -> u64 {
    times.iter().filter(|t| **t == Time::ZERO).count() as u64
}
