//! Help texts, generated files, and what every command has in common.

use crate::common::{bentpipe, bentpipe_in};

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
        "packetdrill",
        "emulate",
        "gateway",
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
fn help_explains_commands_and_the_language() {
    // The help of a command is that of its option.
    for words in [&["run"][..], &["kernel", "load"]] {
        let help = bentpipe(&[&["help"], words].concat()).ok();
        let option = bentpipe(&[words, &["--help"]].concat()).ok();
        assert_eq!(help.trim_end(), option.trim_end());
    }
    assert!(bentpipe(&["help"]).ok().contains("Commands:"));
    insta::assert_snapshot!("topics", bentpipe(&["help", "topics"]).ok());
    insta::assert_snapshot!("topic_codel", bentpipe(&["help", "queue", "codel"]).ok());
    // Every table of the language belongs to a topic that explains it.
    let schema = bentpipe(&["schema"]).ok();
    let headings = schema.lines().filter(|line| line.starts_with('['));
    for heading in headings {
        let path = heading.trim_start_matches('[').split(']').next().unwrap();
        let words = path.split('.').filter(|w| *w != w.to_uppercase());
        let topic = words.take(2).last().unwrap();
        let help = bentpipe(&["help", topic]).ok();
        assert!(help.contains(heading), "{topic}: {heading}");
    }
    for (topic, part) in [
        ("scenario", "duration"),
        ("pep", "kind = \"split\""),
        ("constellation", "starlink"),
        ("units", "Mbit/s"),
        ("glossary", "bandwidth-delay product"),
        ("metric", "transfer_time"),
        ("figure", "x_label"),
        // Both a command and a part of the language.
        ("study", "Usage: bentpipe study"),
        ("study", "replications"),
        // Words of the glossary, kinds and transports.
        ("aqm", "active queue management"),
        ("aqm", "kind = \"pie\""),
        ("codel", "kind = \"codel\""),
        ("fq-codel", "kind = \"fq-codel\""),
        ("bbr", "BBR"),
        ("web", "kind = \"web\""),
        ("BDP", "bandwidth-delay product"),
        ("rain", "rain fade"),
        ("rain", "[link.NAME.fade]"),
        ("handover", "from one satellite to another"),
        ("trace", "Usage: bentpipe trace"),
        ("trace", "[link.NAME.trace]"),
    ] {
        let help = bentpipe(&["help", topic]).ok();
        assert!(help.contains(part), "{topic}: {help}");
    }
    insta::assert_snapshot!(bentpipe(&["help", "quue"]).refused(), @r"
    error: there is no command or topic `quue`; did you mean `queue`?
      `bentpipe help` lists the commands, `bentpipe help topics` the topics
    ");
    let error = bentpipe(&["help", "queue", "codle"]).refused();
    assert!(error.contains("did you mean `codel`?"), "{error}");
}

#[test]
fn errors_of_a_document_say_where_to_read_about_it() {
    let folder = tempfile::tempdir().unwrap();
    bentpipe_in(folder.path(), &["new", "geo.toml"]).ok();
    for (set, topic) in [
        ("link.satellite.queue.kind=codle", "queue"),
        ("link.satellite.channel.kind=nothing", "channel"),
        ("link.satellite.rate=fast", "link"),
        ("flow.download.application.kind=ftp", "application"),
        ("flow.download.transports=cubic", "flow"),
        ("durations=1 s", "scenario"),
    ] {
        let error = bentpipe_in(folder.path(), &["check", "geo.toml", "--set", set]).refused();
        let last = error.lines().last().unwrap();
        assert_eq!(last, format!("see `bentpipe help {topic}`"), "{error}");
    }
    let study = "name = 'a'\nscenario = 'geo.toml'\n[[axis]]\nnome = 'b'\n";
    std::fs::write(folder.path().join("a.toml"), study).unwrap();
    let error = bentpipe_in(folder.path(), &["study", "a.toml"]).refused();
    assert!(error.ends_with("see `bentpipe help study`\n"), "{error}");
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
