//! No text makes the reader of TheaterQ traces panic, and what it reads can be
//! written and read again.

#![no_main]

use bentpipe_link::trace::theaterq::{self, Style};
use bentpipe_link::{Limit, LinkSettings, QueueSettings};
use bentpipe_units::{Duration, Rate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match theaterq::read(text, true) {
        Err(error) => assert!(error.line <= text.lines().count().max(1)),
        Ok(line) => {
            let settings = LinkSettings::new(
Rate::from_mbps(1),
Duration::ZERO,
QueueSettings::drop_tail(Limit::Packets(1)));
            let style = Style {
                extended: true,
                step: Duration::from_millis(10),
            };
            let period = line.period().expect("it wraps");
            let written = theaterq::write(&settings, &line, period, style);
            let written = written.expect("a trace that was read can be written");
            let again = theaterq::read(&written, true).expect("and read again");
            assert_eq!(again.pieces().len(), line.pieces().len());
        }
    }
});
