//! `bentpipe fit` and `bentpipe compare --capture`, on captures of the simulator.

use crate::common::{Ended, bentpipe_in};
use serde_json::Value;
use std::path::Path;

const CASE: &str = include_str!("fit.toml");

/// A folder with a capture of the case, `case.pcapng`.
fn captured() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), CASE).unwrap();
    ran(
        folder.path(),
        &["run", "case.toml", "--pcap", "case.pcapng"],
    );
    folder
}

fn ran(folder: &Path, arguments: &[&str]) -> Ended {
    let ended = bentpipe_in(folder, arguments);
    assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.stderr);
    ended
}

#[test]
fn the_link_of_a_capture_is_found_and_its_scenario_runs() {
    let folder = captured();
    let ended = ran(
        folder.path(),
        &["fit", "case.pcapng", "--json", "--out", "fitted.toml"],
    );
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    let number = |of: &str, key: &str| found[of][key].as_f64().unwrap();
    assert!(
        number("rate_bps", "low") <= 8e6 && 8e6 <= number("rate_bps", "high"),
        "{found}"
    );
    assert!(
        (number("rtt_s", "value") / 0.12 - 1.0).abs() < 0.02,
        "{found}"
    );
    assert!(
        (number("queue_bytes", "value") / 1e5 - 1.0).abs() < 0.05,
        "{found}"
    );
    assert_eq!(found["lost_packets"], 0, "{found}");
    assert_eq!(found["control"], "reno", "{found}");
    let text = std::fs::read_to_string(folder.path().join("fitted.toml")).unwrap();
    assert!(text.contains("base = \"reno\""), "{text}");
    ran(folder.path(), &["run", "fitted.toml"]);
    // For people, with the intervals.
    let ended = ran(folder.path(), &["fit", "case.pcapng"]);
    for word in ["base RTT", "95% interval", "reno"] {
        assert!(ended.stdout.contains(word), "{word}: {}", ended.stdout);
    }
}

#[test]
fn a_comparison_asks_on_with_the_link_of_the_capture() {
    let folder = captured();
    let ended = ran(
        folder.path(),
        &[
            "compare",
            "--capture",
            "case.pcapng",
            "--transport",
            "bbr",
            "--size",
            "1 MB",
            "--json",
        ],
    );
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    let text = answer.to_string();
    assert!(
        text.contains("\"reno\"") && text.contains("\"bbr\""),
        "{text}"
    );
    let ended = ran(
        folder.path(),
        &[
            "compare",
            "--capture",
            "case.pcapng",
            "--rtt",
            "300 ms",
            "--transport",
            "bbr",
        ],
    );
    let text = ended
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for words in [
        "RTT 300 ms",
        "the sender of the capture runs reno",
        "gain: time saved against reno",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let ended = bentpipe_in(
        folder.path(),
        &["compare", "--capture", "case.pcapng", "--trace", "x"],
    );
    assert_eq!(ended.status, 2);
}

#[test]
fn bad_captures_are_refused_with_the_place() {
    let folder = captured();
    let whole = std::fs::read(folder.path().join("case.pcapng")).unwrap();
    let refuse = |bytes: &[u8], arguments: &[&str]| {
        std::fs::write(folder.path().join("bad.pcap"), bytes).unwrap();
        let ended = bentpipe_in(folder.path(), &[&["fit", "bad.pcap"], arguments].concat());
        assert_eq!(ended.status, 2, "{}", ended.stdout);
        ended.stderr
    };
    let error = refuse(b"this is none", &[]);
    assert!(error.contains("offset 0: this is no capture"), "{error}");
    let error = refuse(b"", &[]);
    assert!(error.contains("an empty file"), "{error}");
    let mut broken = whole.clone();
    broken[4] = 13;
    let error = refuse(&broken, &[]);
    assert!(error.contains("offset 0: a block of 13 bytes"), "{error}");
    let error = refuse(&whole, &["--flow", "9"]);
    assert!(error.contains("expected 1 to 1"), "{error}");
    // What a killed writer leaves is read as far as it goes.
    std::fs::write(folder.path().join("cut.pcap"), &whole[..whole.len() - 5]).unwrap();
    let ended = ran(folder.path(), &["fit", "cut.pcap"]);
    assert!(
        ended.stdout.contains("ends in the middle of a record"),
        "{}",
        ended.stdout
    );
}
