//! No bytes and no value set from outside make the scenario reader panic.
//!
//! A line `#! path = value` anywhere in the input sets that value.

#![no_main]

use bentpipe_scenario::{Diagnostics, Document, Override};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(errors) = run(bytes) {
        // A message must come out of every error, and point into the file.
        assert!(!errors.errors.is_empty());
        for error in &errors.errors {
            assert!(!error.message().is_empty());
            assert!(error.span().is_none_or(|span| span.end <= bytes.len()));
        }
        assert!(!errors.render(true).is_empty());
        assert!(!errors.to_string().is_empty());
    }
});

fn run(bytes: &[u8]) -> Result<(), Diagnostics> {
    let mut document = Document::parse_bytes("fuzz.toml", bytes)?;
    let text = String::from_utf8_lossy(bytes);
    let settings = text
        .lines()
        .filter_map(|line| line.strip_prefix("#!")?.split_once('='));
    for (path, value) in settings.take(8) {
        document.set(path, &Override::parse(value))?;
    }
    let scenario = document.validate()?;
    assert_eq!(scenario.hash(), document.validate()?.hash());
    // What is written is read again there, as the same scenario.
    let _ = scenario.to_toml();
    for flow in &scenario.flows {
        assert!(!flow.forward.is_empty() && !flow.reverse.is_empty());
    }
    Ok(())
}
