//! Links between the pages of the documentation lead somewhere.

use super::root;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Markdown of the project: the pages at the root, what is below `docs`, `papers` and
/// `fidelity`, and the language of studies.
fn documents() -> Vec<PathBuf> {
    let mut found = vec![root().join("crates/study/LANGUAGE.md")];
    for name in [
        "README",
        "CHANGELOG",
        "CONTRIBUTING",
        "RELEASING",
        "SECURITY",
    ] {
        found.push(root().join(name).with_extension("md"));
    }
    let mut folders = ["docs", "papers", "fidelity"]
        .map(|f| root().join(f))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text outside fenced blocks.
fn prose(text: &str) -> String {
    let mut inside = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if !inside {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// What the links and pictures of a text point at.
fn targets(text: &str) -> Vec<&str> {
    let after = |part: &'static str| text.split(part).skip(1);
    after("](")
        .filter_map(|rest| rest.split(')').next())
        .collect()
}

/// The anchors that headings give, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(anchor).collect()
}

/// The links of `document` that lead nowhere.
fn broken(document: &Path) -> Vec<String> {
    let text = prose(&std::fs::read_to_string(document).unwrap());
    let lost = |target: &&str| {
        if target.contains("://") || target.starts_with("mailto:") {
            return false;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = match file {
            "" => document.to_owned(),
            file => document.parent().unwrap().join(file),
        };
        if anchor.is_empty() || path.extension().is_none_or(|e| e != "md") {
            return !path.exists();
        }
        std::fs::read_to_string(path).map_or(true, |text| !anchors(&prose(&text)).contains(anchor))
    };
    let lost = targets(&text).into_iter().filter(lost);
    lost.map(|target| format!("{}: {target}", document.display()))
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let lost: Vec<String> = documents().iter().flat_map(|d| broken(d)).collect();
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("a.md");
    let text =
        "# A `b`: c\n[x](a.md#a-b-c) [y](#a) [z](gone.md) [w](https://a.b)\n```\n[v](v)\n```\n";
    std::fs::write(&page, text).unwrap();
    let lost = broken(&page);
    assert_eq!(lost.len(), 2, "{lost:?}");
    assert!(lost[0].ends_with(": #a") && lost[1].ends_with(": gone.md"));
}
