//! Whatever bytes a study file holds: a study, or errors that render.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    bentpipe_study::fuzz_study(bytes);
});
