//! The page "What the papers mention": every name on it is in the catalogue.

use bentpipe_tcp::{HostProfile, find_transport};

const PAGE: &str = include_str!("../../../../docs/mentioned.md");
const REFERENCE: &str = include_str!("../../../../docs/scenario.md");

/// The names in backticks that follow one of `words`, up to something else than
/// commas and "and" between them.
fn named<'a>(line: &'a str, words: &[&str]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for word in words {
        for (at, _) in line.match_indices(word) {
            let begins = line[..at].chars().next_back();
            if begins.is_some_and(char::is_alphabetic) {
                continue;
            }
            let mut rest = &line[at + word.len()..];
            while let Some(name) = rest.strip_prefix(" `").or(rest.strip_prefix(", `")) {
                let Some((name, behind)) = name.split_once('`') else {
                    break;
                };
                names.push(name);
                rest = behind;
            }
        }
    }
    names
}

fn rows() -> impl Iterator<Item = &'static str> {
    PAGE.lines().filter(|line| line.starts_with("| "))
}

#[test]
fn transports_exist() {
    let mut count = 0;
    for name in rows().flat_map(|row| named(row, &["transport", "transports"])) {
        assert!(find_transport(name).is_some(), "no transport `{name}`");
        count += 1;
    }
    assert!(count > 60, "{count} found");
}

#[test]
fn kinds_keys_and_profiles_exist() {
    let kinds = [
        "constellation",
        "constellations",
        "queue",
        "queues",
        "middlebox",
        "medium",
        "media",
        "application",
        "applications",
        "channel",
    ];
    for name in rows().flat_map(|row| named(row, &kinds)) {
        let kind = format!("kind = \"{name}\"");
        assert!(REFERENCE.contains(&kind), "no {kind}");
    }
    for name in rows().flat_map(|row| named(row, &["key", "keys"])) {
        assert!(REFERENCE.contains(&format!("`{name}`")), "no key `{name}`");
    }
    for name in rows().flat_map(|row| named(row, &["profile"])) {
        assert!(
            HostProfile::ALL.iter().any(|(known, _)| *known == name),
            "no profile `{name}`"
        );
    }
}

#[test]
fn no_row_is_empty_and_links_lead_somewhere() {
    for row in rows() {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 3, "{row}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{row}");
    }
    let docs = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"));
    for link in PAGE.split("](").skip(1).filter_map(|s| s.split(')').next()) {
        if let Some(heading) = link.strip_prefix('#') {
            let found = PAGE
                .lines()
                .filter_map(|l| l.strip_prefix("## "))
                .any(|title| title.to_lowercase().replace(' ', "-") == heading);
            assert!(found, "no heading {link}");
        } else {
            assert!(docs.join(link).exists(), "no file {link}");
        }
    }
}
