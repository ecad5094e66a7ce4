//! Congestion controls of one's own: `bentpipe cc`, `--cc`, and `[control.NAME]`.

use crate::common::{Ended, bentpipe_in};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A folder with `mine.c`, as `bentpipe cc new` makes it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let said = bentpipe_in(folder.path(), &["cc", "new", "mine", "--c"]).ok();
    assert!(said.contains("now: bentpipe cc check"), "{said}");
    folder
}

fn edit(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replace(from, to)).unwrap();
}

#[test]
fn a_new_control_passes_its_check_and_is_compared_by_name() {
    let folder = folder();
    let said = bentpipe_in(folder.path(), &["cc", "check", "mine.c"]).ok();
    for expected in [
        "GEO, 1% loss",
        "LEO, handovers",
        "linux",
        "rfc",
        "No faults.",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    let compare = [
        "compare",
        "--cc",
        "./mine.c",
        "--transport",
        "mine,mine + step=20,cubic",
        "--runs",
        "1",
        "--size",
        "1MB",
        "--json",
    ];
    let answer: Value = serde_json::from_str(&bentpipe_in(folder.path(), &compare).ok()).unwrap();
    let rows = answer["rows"].as_array().unwrap();
    let names: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["transport"].as_str())
        .collect();
    for name in ["mine", "mine + step=20", "cubic"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let explained = bentpipe_in(folder.path(), &["transports", "mine", "--cc", "mine.c"]).ok();
    assert!(
        explained.contains("growth of the window in 100 ms"),
        "{explained}"
    );
}

#[test]
fn a_crate_is_checked_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    bentpipe_in(folder.path(), &["cc", "new", "quick-start"]).ok();
    let said = bentpipe_in(folder.path(), &["cc", "check", "quick-start", "--json"]).ok();
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["name"], "quick-start");
    assert_eq!(answer["cases"].as_array().unwrap().len(), 6);
    // What never grows is found.
    let lib = folder.path().join("quick-start/src/lib.rs");
    edit(&lib, "if !ack.is_cwnd_limited() {", "if ack.acked >= 0.0 {");
    let ended = bentpipe_in(folder.path(), &["cc", "check", "quick-start"]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(ended.stdout.contains("never grew"), "{}", ended.stdout);
    // What sets no window is found, with its time.
    edit(
        &lib,
        "if ack.acked >= 0.0 {",
        "window.cwnd = 0.5;\n        if ack.acked >= 0.0 {",
    );
    let ended = bentpipe_in(folder.path(), &["cc", "check", "quick-start"]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(
        ended.stdout.contains("`quick-start` failed at"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("cwnd is 0.5"), "{}", ended.stdout);
}

#[test]
fn names_that_are_taken_or_meet_are_refused() {
    let folder = folder();
    let refused = |arguments: &[&str]| bentpipe_in(folder.path(), arguments).refused();
    assert!(refused(&["cc", "new", "mine", "--c"]).contains("exists"));
    assert!(refused(&["cc", "new", "cubic"]).contains("built-in transport"));
    assert!(refused(&["cc", "new", "Mine"]).contains("small letter"));
    let said = refused(&["transports", "--cc", "reno=mine.c"]);
    assert!(
        said.contains("`reno` of mine.c") && said.contains("built-in"),
        "{said}"
    );
    fs::copy(folder.path().join("mine.c"), folder.path().join("other.c")).unwrap();
    let said = refused(&["transports", "--cc", "mine.c", "--cc", "other.c"]);
    assert!(
        said.contains("mine.c and --cc other.c are both named `mine`"),
        "{said}"
    );
    let said = refused(&["compare", "--cc", "mine.c", "--transport", "mein"]);
    assert!(said.contains("did you mean `mine`?"), "{said}");
}

#[test]
fn a_transport_of_the_file_does_not_hide_a_control() {
    let folder = folder();
    bentpipe_in(folder.path(), &["new", "geo.toml"]).ok();
    let run = |arguments: &[&str]| {
        let run = ["run", "geo.toml", "--cc", "mine.c", "--json"];
        bentpipe_in(folder.path(), &[&run[..], arguments].concat())
    };
    let own = ["--set", "flow.download.transport=mine"];
    let time = |ended: Ended| -> Value {
        let outcome: Value = serde_json::from_str(&ended.ok()).unwrap();
        outcome["flows"][0]["transfer_time_s"].clone()
    };
    assert_ne!(time(run(&own)), time(run(&[])));
    // One of the same name that runs something else, so that a flow could mean either.
    edit(&folder.path().join("geo.toml"), "tuned", "mine");
    let said = run(&[]).refused();
    for part in [
        "[transport.mine]",
        "a congestion control of your own",
        "--cc mine-2=FILE",
    ] {
        assert!(said.contains(part), "{said}");
    }
    // One that refines the control is what it says.
    edit(&folder.path().join("geo.toml"), "\"cubic\"", "\"mine\"");
    assert!(time(run(&[])).is_number());
}

#[test]
fn a_missing_compiler_and_its_errors_are_named() {
    let folder = folder();
    edit(
        &folder.path().join("mine.c"),
        "window_begin(sk, &state->window);",
        "window_begin(sk);",
    );
    let said = bentpipe_in(folder.path(), &["transports", "--cc", "mine.c"]).refused();
    assert!(
        said.contains("cannot compile mine.c") && said.contains("mine.c:"),
        "{said}"
    );
    let output = Command::new(env!("CARGO_BIN_EXE_bentpipe"))
        .args(["transports", "--cc", "mine.c"])
        .current_dir(folder.path())
        .env("CC", "no-such-compiler")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("cannot run `no-such-compiler`"), "{said}");
    assert!(said.contains("variable CC"), "{said}");
}

const STUDY: &str = r#"
name = "own"
title = "One's own"
scenario = "geo.toml"

[control.mine]
file = "controls/mine.c"

[[axis]]
name = "transport"
path = "flow.download.transport"
values = ["mine", "cubic"]
"#;

fn study(folder: &Path) -> Ended {
    bentpipe_in(folder, &["study", "studies/own.toml", "--out", "results"])
}

#[test]
fn a_study_names_a_control_and_does_not_mix_its_versions() {
    let folder = folder();
    let studies = folder.path().join("studies");
    fs::create_dir_all(studies.join("controls")).unwrap();
    let control = studies.join("controls/mine.c");
    fs::rename(folder.path().join("mine.c"), &control).unwrap();
    bentpipe_in(&studies, &["new", "geo.toml"]).ok();
    fs::write(studies.join("own.toml"), STUDY).unwrap();
    study(folder.path()).ok();
    study(folder.path()).ok();
    edit(&control, "PERIOD_US 100000", "PERIOD_US 50000");
    let said = study(folder.path()).refused();
    assert!(said.contains("--fresh"), "{said}");

    // A scenario names it for itself.
    let geo = studies.join("geo.toml");
    let text = fs::read_to_string(&geo).unwrap();
    let own = "\n[control.mine]\nfile = \"controls/mine.c\"\n";
    fs::write(&geo, format!("{text}{own}")).unwrap();
    let run = [
        "run",
        "studies/geo.toml",
        "--set",
        "flow.download.transport=mine",
    ];
    bentpipe_in(folder.path(), &run).ok();
    fs::remove_file(&control).unwrap();
    let said = bentpipe_in(folder.path(), &run).refused();
    assert!(said.contains("there is no such file"), "{said}");
    assert!(said.contains("geo.toml:"), "{said}");
}

/// What a control does wrong, as C in its `cong_avoid`.
const POINTER: &str = "*(volatile int *)8 = 1;";
const FOREVER: &str = "volatile int forever = 1;\n\twhile (forever)\n\t\t;";
const DIVISION: &str = "volatile __u32 zero = 0;\n\tcount /= zero;";

/// A folder whose `mine.c` does that when it is out of slow start.
fn broken(how: &str) -> TempDir {
    let folder = folder();
    let at = "per_round = (parameter";
    edit(
        &folder.path().join("mine.c"),
        at,
        &format!("{{\n\t{how}\n\t}}\n\t{at}"),
    );
    folder
}

#[test]
#[cfg(target_os = "linux")]
fn a_control_that_crashes_or_hangs_is_reported_by_its_check() {
    let mut cases = vec![
        (
            POINTER,
            "signal 11, SIGSEGV",
            "a pointer that is null or wild",
        ),
        (
            FOREVER,
            "had not returned after 2 s",
            "a loop that never ends",
        ),
    ];
    if cfg!(target_arch = "x86_64") {
        // Elsewhere such a division has a result.
        cases.push((DIVISION, "signal 8, SIGFPE", "a division by zero"));
    }
    for (how, happened, advice) in cases {
        let folder = broken(how);
        let check = ["cc", "check", "mine.c", "--patience", "2"];
        let ended = bentpipe_in(folder.path(), &check);
        assert_eq!(ended.status, 1, "{how}: {}", ended.stderr);
        // Whatever the width.
        let said = ended
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        for expected in [
            "mine.c ",
            happened,
            advice,
            "`on_ack`",
            "`cong_avoid`",
            "GEO",
        ] {
            assert!(said.contains(expected), "{how}: {said}");
        }
        let json = bentpipe_in(folder.path(), &[&check[..], &["--json"]].concat());
        let answer: Value = serde_json::from_str(&json.stdout).unwrap();
        let crash = &answer["crash"];
        assert_eq!((json.status, &crash["call"]), (1, &"on_ack".into()));
        assert!(crash["at_ns"].as_u64() > Some(0), "{crash}");
        assert_eq!(crash["signal"].is_null(), how == FOREVER, "{crash}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_control_that_crashes_is_refused_before_its_first_use() {
    let folder = broken(POINTER);
    let refused = |arguments: &[&str]| {
        let said = bentpipe_in(folder.path(), arguments).refused();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for expected in [
            "mine.c cannot be used",
            "SIGSEGV",
            "bentpipe cc check mine.c",
        ] {
            assert!(said.contains(expected), "{arguments:?}: {said}");
        }
    };
    let transport = ["--transport", "mine", "--runs", "1", "--size", "1MB"];
    refused(&[&["compare", "--cc", "mine.c"], &transport[..]].concat());
    // Nothing was remembered, and a scenario's own control is tried as well.
    bentpipe_in(folder.path(), &["new", "geo.toml"]).ok();
    let path = folder.path().join("geo.toml");
    let scenario = fs::read_to_string(&path).unwrap();
    let scenario = format!("{scenario}\n[control.mine]\nfile = \"mine.c\"\n");
    fs::write(&path, scenario).unwrap();
    let set = "flow.download.transport=mine";
    let said = bentpipe_in(folder.path(), &["run", "geo.toml", "--set", set]).refused();
    assert!(said.contains("SIGSEGV") && said.contains("mine"), "{said}");
    // Once mended, it is used.
    edit(&folder.path().join("mine.c"), POINTER, "");
    bentpipe_in(folder.path(), &["run", "geo.toml", "--set", set]).ok();
}
