//! Helpers of the live tests.

mod skip;

pub(crate) use skip::may;

use std::time::{Duration, Instant};

/// A name for a namespace that no other process takes.
pub(crate) fn name(what: &str) -> String {
    format!("bp-test-{}-{what}", std::process::id())
}

/// Waits until `ready`, ten seconds at most.
pub(crate) fn wait(ready: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(10);
    while !ready() {
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
