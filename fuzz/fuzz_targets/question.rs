//! No options make the reader of questions panic, and what they come to is what they
//! come to when they are given again, in the form of a command and of a program.
//!
//! An option per line: `name=value`. Files are not opened.

#![no_main]

use bentpipe::compare::{Comparison, Kind, Question};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let mut options: Vec<(String, String)> = Vec::new();
    for (name, value) in lines.take(40) {
        let known = Question::OPTIONS.iter().find(|option| option.name == name);
        let is_file = known.is_some_and(|option| match option.kind {
            Kind::File => true,
            // A name of its own, or a file of satellites.
            Kind::Orbit => !(option.choices)()
                .iter()
                .any(|choice| choice.value == value),
            _ => false,
        });
        if !is_file {
            options.push((name.to_owned(), value.to_owned()));
        }
    }
    let _ = bentpipe_present::question::command(&options);
    let _ = bentpipe_present::question::python(&options);
    match Question::read(&options) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(question) => {
            let again = Question::read(&options).expect("the same is read again");
            assert_eq!(format!("{question:?}"), format!("{again:?}"));
            // The path of the packets, and whether it can be asked of it.
            if let Err(error) = Comparison::from(question).path() {
                assert!(!error.to_string().is_empty());
            }
        }
    }
});
