//! The declared language: its examples, and its reference.

use super::*;
use crate::Study;

/// The study that every example adds to.
const BASE: &str = r#"
[[axis]]
name = "queue"
path = "link.satellite.queue"
values = ["0.5 BDP", "1 BDP"]

[[axis]]
name = "transport"
path = "flow.download.transport"
values = ["cubic", "bbr"]
"#;

/// A study with this example in it.
fn with_example(example: &str) -> String {
    let (keys, tables) = match example.find('[') {
        Some(at) if example.starts_with('[') || example[..at].ends_with('\n') => {
            example.split_at(at)
        }
        _ => (example, ""),
    };
    let mut text = String::new();
    for (key, value) in [("name", "n"), ("title", "t"), ("scenario", "s.toml")] {
        if !keys.contains(&format!("{key} = ")) {
            text += &format!("{key} = \"{value}\"\n");
        }
    }
    let base = match tables.contains("[[axis]]") {
        true => "",
        false => BASE,
    };
    format!("{text}{keys}\n{base}\n{tables}\n")
}

#[test]
fn the_example_of_every_table_is_read() {
    for section in schema().all() {
        let text = with_example(section.example);
        let read = Study::parse("example.toml", &text).map(|_| ());
        read.unwrap_or_else(|e| panic!("{}\n{text}\n{}", section.path, e.render(false)));
    }
    for section in PaperKeys::section().all() {
        bentpipe_document::Parsed::new("paper.toml", section.example).unwrap();
    }
}

#[test]
fn every_table_and_key_is_described() {
    for section in schema().all().into_iter().chain(PaperKeys::section().all()) {
        assert!(!section.meaning.is_empty(), "{}", section.path);
        assert!(!section.example.is_empty(), "{}", section.path);
        for key in &section.keys {
            assert!(!key.meaning.is_empty(), "{} of {}", key.name, section.path);
        }
    }
}

/// `UPDATE_DOCS=1 cargo test -p bentpipe-study --lib schema` writes the page anew.
#[test]
fn the_reference_is_that_of_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/study-reference.md");
    let page = study_reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "docs/study-reference.md is not what the schema says: \
         `UPDATE_DOCS=1 cargo test -p bentpipe-study --lib schema` writes it"
    );
}

#[test]
fn the_json_schema_names_every_table() {
    let json = reference::json_schema(schema(), "Study").to_string();
    for section in schema().all() {
        for key in &section.keys {
            assert!(json.contains(&format!("\"{}\":", key.name)), "{}", key.name);
        }
    }
}
