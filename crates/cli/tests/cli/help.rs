//! Help texts, generated files, and what every command has in common.

use crate::common::bentpipe;

#[test]
fn help_texts() {
    insta::assert_snapshot!("help", bentpipe(&["--help"]).ok());
    for command in [
        "compare",
        "run",
        "check",
        "map",
        "study",
        "reproduce",
        "trace",
        "emulate",
    ] {
        insta::assert_snapshot!(format!("help_{command}"), bentpipe(&[command, "-h"]).ok());
    }
}

#[test]
fn every_command_explains_itself() {
    for sub in ["list", "load", "unload", "status"] {
        let text = bentpipe(&["kernel", sub, "--help"]).ok();
        assert!(text.contains("Examples:"), "{sub}");
    }
    for command in [
        "compare",
        "run",
        "check",
        "map",
        "study",
        "reproduce",
        "trace",
        "emulate",
        "transports",
        "kernel",
        "new",
        "schema",
        "doctor",
        "completions",
        "man",
    ] {
        let text = bentpipe(&[command, "--help"]).ok();
        assert!(text.contains("Usage: bentpipe"), "{command}");
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{command}: {line}");
        }
    }
}

#[test]
fn no_command_and_an_unknown_one_could_not_run() {
    assert_eq!(bentpipe(&[]).status, 2);
    assert_eq!(bentpipe(&["kernel"]).status, 2);
    let error = bentpipe(&["compar"]).refused();
    assert!(error.contains("'compare'"), "{error}");
}

#[test]
fn completions_and_manual_pages_are_written() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(bentpipe(&["completions", shell]).ok().contains("compare"));
    }
    assert!(bentpipe(&["man"]).ok().contains(".TH bentpipe 1"));
    let folder = tempfile::tempdir().unwrap();
    let pages = bentpipe(&["man", folder.path().to_str().unwrap()]).ok();
    assert!(pages.lines().count() >= 12);
    assert!(pages.contains("bentpipe-kernel-load.1"), "{pages}");
    for page in pages.lines() {
        assert!(
            std::fs::read_to_string(page)
                .unwrap()
                .contains(".SH SYNOPSIS"),
            "{page}"
        );
    }
}

#[test]
fn the_doctor_never_fails() {
    let text = bentpipe(&["doctor"]).ok();
    assert!(text.contains("cores"));
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&bentpipe(&["doctor", "--json"]).ok()).unwrap();
    for finding in json["findings"].as_array().unwrap() {
        let there = &finding["there"];
        // Null where it cannot be told.
        assert!(there.is_boolean() || there.is_null(), "{finding}");
        assert!(finding["enables"].is_string());
    }
}

#[test]
fn transports_are_listed_and_explained() {
    let list = bentpipe(&["transports"]).ok();
    for name in ["newreno", "mtsi", "hybla", "westwood+", "ideal"] {
        assert!(list.lines().any(|l| l.starts_with(name)), "{name}");
    }
    let text = bentpipe(&["transports", "mtsi"]).ok();
    for part in [
        "thresholds",
        "[20, 30, 40] segments",
        "leaves open",
        "Marchese 2006",
    ] {
        assert!(text.contains(part), "{part}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&bentpipe(&["transports", "--json"]).ok()).unwrap();
    assert!(json["transports"].as_array().unwrap().len() >= 12);
    insta::assert_snapshot!(bentpipe(&["transports", "mtis"]).refused(), @"
    error: there is no transport `mtis`; did you mean `mtsi`?
      `bentpipe transports` lists them
    ");
}
