//! No text makes the reader of packetdrill scripts panic, and no script the interpreter: what is
//! read runs to a verdict, twice to the same.

#![no_main]

use bentpipe_packetdrill::{Script, Settings, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let script = match Script::parse("fuzz.pkt", text) {
        Ok(script) => script,
        Err(errors) => return assert!(!errors.render(false).is_empty()),
    };
    let settings = Settings::default();
    let first = run(&script, &settings).expect("the settings are a kernel's");
    assert_eq!(Ok(first), run(&script, &settings));
});
