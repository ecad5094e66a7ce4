//! No text of a user's congestion control makes its reader panic: neither the comments of
//! its C, nor the values that a scenario gives to the parameters which these declare.
//!
//! Up to a line `---` the input is the C, after it the keys of a transport.

#![no_main]

use bentpipe_bpf::{CONTROLS, Control, Hooks, Values};
use bentpipe_cc::Parameters;
use bentpipe_cc::algorithms::kernel;
use bentpipe_scenario::Document;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (source, keys) = text.split_once("\n---\n").unwrap_or((text, ""));
    let control = match Control::from_source("mine", "mine.c", source) {
        Err(error) => {
            assert!(!error.to_string().is_empty() && error.line <= source.lines().count());
            return;
        }
        Ok(control) => control,
    };
    let mut values = Values::new(control);
    assert_eq!(values.check(), Ok(()), "the defaults of {source:?}");
    for (parameter, text) in Values::new(control).texts() {
        // What is printed is read as the same.
        let read = values.set_text(parameter.name, &text);
        assert_eq!(read, Ok(()), "{text:?} of {source:?}");
        let _ = parameter.expected();
    }
    assert_eq!(values, Values::new(control), "{source:?}");
    for assignment in keys.lines() {
        if let Err(error) = values.set(assignment) {
            assert!(!error.to_string().is_empty());
        }
    }
    // As a congestion control that a scenario names, with the hooks of another.
    let hooks = Hooks::built_in(CONTROLS[0].name).expect("it is built in");
    let own = kernel::own(control, hooks, "0").expect("the name is one");
    if let Err(error) = own.build(&Parameters::new()) {
        assert!(!error.to_string().is_empty());
    }
    let scenario = format!(
        "duration = \"1 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"1 Mbit/s\"\none_way_delay = \"10 ms\"\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\n\
         application = {{ kind = \"transfer\", size = \"10 kB\" }}\n\
         [control.mine]\nfile = \"mine.c\"\n[transport.t]\nbase = \"mine\"\n{keys}\n"
    );
    let Ok(mut document) = Document::parse_bytes("fuzz.toml", scenario.as_bytes()) else {
        return;
    };
    for (name, file) in document.wanted_controls() {
        document.give_control(&name, &file, Ok(own.clone()));
    }
    match document.validate() {
        Ok(scenario) => drop(scenario.to_toml()),
        Err(errors) => assert!(!errors.render(false).is_empty()),
    }
});
