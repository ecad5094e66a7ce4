//! Scenarios as people write them.

use bentpipe_scenario::{Document, Scenario};

pub(crate) fn read(text: &str) -> Scenario {
    let document = Document::parse("test.toml", text).unwrap_or_else(|e| panic!("{e}"));
    document
        .validate()
        .unwrap_or_else(|e| panic!("{}", e.render(false)))
}
