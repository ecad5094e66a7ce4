//! No file of elements makes the reader or the propagation panic.

#![no_main]

use bentpipe_orbit::{Catalogue, Constellation};
use bentpipe_units::{Duration, Time};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match Catalogue::parse(&text) {
        Err(error) => {
            assert!(error.line >= 1 && error.line <= text.lines().count().max(1));
            assert!(!error.what.is_empty());
        }
        Ok(catalogue) => {
            let start = catalogue.latest_epoch();
            let sky = Constellation::elements(catalogue, start);
            let mut positions = Vec::new();
            for hours in [0, 1, 24, 10_000] {
                sky.positions(Time::ZERO + Duration::from_secs(hours * 3600), &mut positions);
                assert!(positions.iter().all(|at| at.radius().km().is_finite()));
            }
            let _ = sky.with_links(&text);
        }
    }
});
