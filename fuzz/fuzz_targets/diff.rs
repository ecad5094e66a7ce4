//! No two documents make the comparison of results panic, and one with itself is the same.
//!
//! Up to a line `---` the input is the first document, after it the second.

#![no_main]

use bentpipe::diff::{Subject, diff};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (before, after) = text.split_once("\n---\n").unwrap_or((text, text));
    let read = |text: &str| match Subject::json(text) {
        Ok(subject) => Some(subject),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    };
    let (Some(before), Some(after)) = (read(before), read(after)) else {
        return;
    };
    let same = diff(&before, &before).expect("it is of its own kind");
    assert!(same.is_same(), "{same:?}");
    match diff(&before, &after) {
        Ok(found) => assert_eq!(found.kind, before.kind()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
