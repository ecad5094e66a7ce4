//! No request of the page makes the explorer's server fail by a fault of its own.
//!
//! The first line is the path, the rest the body.

#![no_main]

use bentpipe_explore::fuzzing::Fuzzed;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use std::time::Duration;

/// After so long the client goes away. Runs may take longer than that, by what they are asked.
const PATIENCE: Duration = Duration::from_millis(50);

static SERVER: LazyLock<Fuzzed> = LazyLock::new(Fuzzed::new);

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (path, body) = bytes.split_at(end.unwrap_or(bytes.len()));
    let Ok(path) = std::str::from_utf8(path) else {
        return;
    };
    let body = body.strip_prefix(b"\n").unwrap_or(body);
    if let Some((status, answer)) = SERVER.ask(path, body, PATIENCE) {
        assert_ne!(status, 500, "{}", String::from_utf8_lossy(&answer));
        let fault = b"a fault of this program";
        assert!(!answer.windows(fault.len()).any(|part| part == fault));
    }
});
