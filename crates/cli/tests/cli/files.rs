//! What commands read and write: pipes, outputs that would overwrite inputs,
//! results of earlier runs.

use crate::common::{bentpipe_in, bentpipe_with};
use std::fs;
use std::path::Path;

const STUDY: &str = r#"
name = "sweep"
title = "Two transports and two sizes"
scenario = "geo.toml"
replications = 2

[[axis]]
name = "transport"
path = "flow.download.transport"
values = ["cubic", "newreno"]

[[axis]]
name = "size"
path = "flow.download.application.size"
values = ["20 kB", "30 kB"]

[[table]]
slug = "times"
title = "Transfer times"
rows = ["transport"]
columns = ["size"]
metric = "transfer_time"
unit = "s"
"#;

/// A folder with a scenario and a study of it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    bentpipe_in(folder.path(), &["new", "geo.toml"]).ok();
    fs::write(folder.path().join("sweep.toml"), STUDY).unwrap();
    folder
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn an_output_that_would_overwrite_an_input_is_refused() {
    let folder = folder();
    let before = text(folder.path(), "geo.toml");
    let mut names = vec!["geo.toml", "./geo.toml"];
    if cfg!(unix) {
        fs::hard_link(folder.path().join("geo.toml"), folder.path().join("b.svg")).unwrap();
        names.push("b.svg");
    }
    for name in names {
        for command in [
            vec!["run", "geo.toml", "--pcap", name],
            vec!["map", "geo.toml", "--out", name, "--format", "svg"],
        ] {
            let error = bentpipe_in(folder.path(), &command).refused();
            assert!(error.contains("would overwrite `geo.toml`"), "{error}");
        }
    }
    assert_eq!(text(folder.path(), "geo.toml"), before);
    let twice = ["run", "geo.toml", "--pcap", "a.svg", "--plot", "a.svg"];
    let error = bentpipe_in(folder.path(), &twice).refused();
    assert!(error.contains("written twice"), "{error}");
    // A study's results go where its scenario is.
    fs::create_dir(folder.path().join("sweep")).unwrap();
    let inside = STUDY.replace("\"geo.toml\"", "\"sweep/geo.toml\"");
    fs::write(folder.path().join("inside.toml"), inside).unwrap();
    fs::write(folder.path().join("sweep/geo.toml"), &before).unwrap();
    let error = bentpipe_in(folder.path(), &["study", "inside.toml", "--out", "."]).refused();
    assert!(error.contains("choose another --out"), "{error}");
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_anything_runs() {
    let folder = folder();
    let plot = ["run", "geo.toml", "--plot", "none/a.svg"];
    let error = bentpipe_in(folder.path(), &plot).refused();
    assert!(error.contains("none/a.svg"), "{error}");
    let plot = ["compare", "--plot", "none/a.svg"];
    let error = bentpipe_in(folder.path(), &plot).refused();
    assert!(error.contains("none/a.svg"), "{error}");
    fs::write(folder.path().join("file"), "").unwrap();
    let out = ["run", "geo.toml", "--out", "file"];
    assert!(bentpipe_in(folder.path(), &out).refused().contains("file"));
}

#[test]
fn standard_input_is_read_once() {
    let folder = folder();
    let scenario = text(folder.path(), "geo.toml");
    let expected = bentpipe_in(folder.path(), &["run", "geo.toml", "--json"]).ok();
    let mut names = vec!["-"];
    if cfg!(target_os = "linux") {
        names.push("/dev/stdin");
    }
    for name in names {
        let check = bentpipe_with(folder.path(), &["check", name], &scenario).ok();
        assert!(check.contains("this scenario is valid"), "{check}");
        let run = bentpipe_with(folder.path(), &["run", name, "--json"], &scenario).ok();
        let named = run.replace("\"scenario\": \"stdin\"", "\"scenario\": \"geo\"");
        assert_eq!(named, expected, "{name}");
        let check = bentpipe_with(folder.path(), &["check", name], STUDY).ok();
        assert!(check.contains("this study is valid"), "{check}");
        let wrong = scenario.replace("2 Mbit/s", "2 Mbits");
        let error = bentpipe_with(folder.path(), &["check", name], &wrong).refused();
        assert!(error.contains("stdin:"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_bounded_and_mentioned() {
    use std::process::{Command, Stdio};
    let folder = folder();
    let error = bentpipe_in(folder.path(), &["run", "/dev/zero"]).refused();
    assert!(error.contains("larger than 16 MiB"), "{error}");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let child = Command::new(env!("CARGO_BIN_EXE_bentpipe"))
        .args(["check", "pipe"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    fs::write(&pipe, text(folder.path(), "geo.toml")).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(said, "waiting for the end of `pipe`\n");
    assert!(ended.status.success());
}

#[test]
fn a_study_that_is_run_as_a_scenario_is_named() {
    let folder = folder();
    for command in ["run", "map"] {
        let error = bentpipe_in(folder.path(), &[command, "sweep.toml"]).refused();
        assert!(
            error.contains("`bentpipe study sweep.toml` runs it"),
            "{error}"
        );
    }
}

#[test]
fn a_changed_scenario_is_named_with_what_to_do() {
    let folder = folder();
    let study = ["study", "sweep.toml"];
    bentpipe_in(folder.path(), &study).ok();
    let changed = text(folder.path(), "geo.toml").replace("2 Mbit/s", "3 Mbit/s");
    fs::write(folder.path().join("geo.toml"), changed).unwrap();
    let error = bentpipe_in(folder.path(), &study).refused();
    assert!(
        error.contains("the scenario or a file that it names changed"),
        "{error}"
    );
    assert!(error.contains("--fresh"), "{error}");
    bentpipe_in(folder.path(), &[&study[..], &["--fresh"]].concat()).ok();
}

#[test]
fn a_long_study_says_that_it_can_be_stopped() {
    let folder = folder();
    let many = STUDY.replace("replications = 2", "replications = 60");
    fs::write(folder.path().join("sweep.toml"), many).unwrap();
    let ended = bentpipe_in(folder.path(), &["study", "sweep.toml"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let said = "Ctrl-C stops it; the same command goes on from there";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}

#[test]
fn a_partial_run_keeps_the_results_of_the_whole() {
    let folder = folder();
    bentpipe_in(folder.path(), &["study", "sweep.toml"]).ok();
    let all = |folder: &Path| {
        ["runs.csv", "links.csv", "tables/times.csv"]
            .map(|name| text(folder, &format!("results/sweep/{name}")))
    };
    let whole = all(folder.path());
    assert_eq!(whole[0].lines().count(), 1 + 2 * 2 * 2);
    for part in [["--only", "transport=cubic"], ["--runs", "1"]] {
        let study = [&["study", "sweep.toml"][..], &part].concat();
        let said = bentpipe_in(folder.path(), &study).ok();
        assert!(!said.contains("newreno") || part[0] == "--runs", "{said}");
        assert_eq!(all(folder.path()), whole, "{part:?}");
    }
    // The parts, one after the other, make the whole.
    let other = |more: &[&str]| {
        let study = [&["study", "sweep.toml", "--out", "parts"][..], more].concat();
        bentpipe_in(folder.path(), &study).ok();
        text(folder.path(), "parts/sweep/runs.csv")
    };
    let first = other(&["--only", "transport=cubic"]);
    assert_eq!(first.lines().count(), 1 + 4);
    assert_eq!(other(&["--only", "transport=newreno"]), whole[0]);
}
