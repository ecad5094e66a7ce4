//! The live emulator, as a user runs it.

use crate::common::{bentpipe, may};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const LINK: [&str; 7] = [
    "emulate", "--rate", "10Mbit/s", "--rtt", "20ms", "--loss", "0",
];

fn emulate(more: &[&str]) -> crate::common::Ended {
    bentpipe(&[&LINK, more].concat())
}

#[test]
fn what_is_wrong_is_said_before_anything_is_made() {
    if !cfg!(all(feature = "linux", target_os = "linux")) {
        let error = emulate(&[]).refused();
        assert!(
            error.contains("no emulator") || error.contains("Linux"),
            "{error}"
        );
        return;
    }
    let error = bentpipe(&["emulate", "../../scenarios/snoop.toml"]).refused();
    assert!(error.contains("middlebox `snoop`"), "{error}");
    let error = emulate(&["--namespace", "x"]).refused();
    assert!(error.contains("NODE=NAME"), "{error}");
    let error = emulate(&["--namespace", "middle=x"]).refused();
    assert!(error.contains("its hosts are sender, receiver"), "{error}");
    let error = emulate(&["--between", "v0,v0"]).refused();
    assert!(error.contains("`v0` twice"), "{error}");
    let error = emulate(&["--mtu", "500"]).refused();
    assert!(
        error.starts_with("error: a link of 10 Mbit/s, 20 ms: an MTU"),
        "{error}"
    );
    assert!(error.contains("IPv6 needs 1280"), "{error}");
    let error = emulate(&["--for", "0s"]).refused();
    assert!(error.contains("--for 0 s runs nothing"), "{error}");
}

#[test]
fn a_command_runs_on_a_host_and_its_status_counts() {
    if !may("a_command_runs_on_a_host_and_its_status_counts") {
        return;
    }
    let script = "test \"$(ip -o -4 address show dev bp0 | grep -c \"$BENTPIPE_SELF\")\" = 1 \
                  && test \"$BENTPIPE_PEER\" = 10.0.1.1 && echo here && exit 7";
    let ended = emulate(&["--", "sh", "-c", script]);
    assert_eq!(
        (ended.status, ended.stdout.as_str()),
        (7, "here\n"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("satellite"), "{}", ended.stderr);
    let ended = emulate(&["--on", "sender", "--json", "--", "true"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(
        ended.stdout.contains("\"machine_drops\""),
        "{}",
        ended.stdout
    );
    let ended = emulate(&["--", "no-such-program"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("cannot run `no-such-program`"));
}

#[test]
fn what_a_command_leaves_running_ends_and_no_packets_are_no_success() {
    if !may("what_a_command_leaves_running_ends_and_no_packets_are_no_success") {
        return;
    }
    // What inherits stdout would keep this test waiting for it.
    let script = "sleep 60 > /dev/null 2>&1 & echo $!";
    let ended = emulate(&["--", "sh", "-c", script]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let pid = ended.stdout.trim();
    let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
    assert!(!command.is_ok_and(|command| command.contains("sleep")));
    let ended = emulate(&["--json", "--for", "100ms"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    for part in ["passed no packets", "\"lateness_s\": null"] {
        assert!(ended.stdout.contains(part), "{}", ended.stdout);
    }
    assert!(!ended.stdout.contains("kept up"), "{}", ended.stdout);
}

#[test]
fn a_capture_has_the_packets_of_an_end() {
    if !may("a_capture_has_the_packets_of_an_end") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("link.pcapng");
    let name = file.to_str().unwrap();
    // Nobody listens there: a datagram forth and an error back.
    let script = "bash -c \"echo hello > /dev/udp/$BENTPIPE_PEER/9\"; sleep 0.3";
    let ended = emulate(&[
        "--pcap",
        name,
        "--pcap-at",
        "both",
        "--",
        "sh",
        "-c",
        script,
    ]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let capture = std::fs::read(&file).unwrap();
    assert!(capture.windows(6).filter(|w| w == b"hello\n").count() >= 2);
}

/// A bentpipe that runs until somebody ends it, and the files of its
/// namespaces.
fn begin() -> (Child, [PathBuf; 2]) {
    // What starts this test may ignore signals, and a process inherits that.
    let child = Command::new("env")
        .arg("--default-signal=INT,TERM")
        .arg(env!("CARGO_BIN_EXE_bentpipe"))
        .args(LINK)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let names = ["sender", "receiver"]
        .map(|host| PathBuf::from(format!("/run/netns/bp-{}-{host}", child.id())));
    for _ in 0..1000 {
        if names[1].exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    (child, names)
}

#[test]
fn a_signal_ends_it_and_nothing_is_left() {
    if !may("a_signal_ends_it_and_nothing_is_left") {
        return;
    }
    for signal in ["-TERM", "-INT"] {
        let (mut child, names) = begin();
        let made = names.iter().all(|name| name.exists());
        let pid = child.id().to_string();
        Command::new("kill").args([signal, &pid]).status().unwrap();
        let status = child.wait().unwrap();
        assert!(made);
        assert!(status.code().is_some(), "{status}");
        assert!(names.iter().all(|name| !name.exists()));
        assert!(!Path::new("/run/bentpipe").join(pid).exists());
    }
}

#[test]
fn what_a_killed_one_leaves_the_next_removes() {
    if !may("what_a_killed_one_leaves_the_next_removes") {
        return;
    }
    let (mut child, names) = begin();
    let made = names.iter().all(|name| name.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(made);
    let next = emulate(&["--for", "100ms"]);
    assert!(next.status < 2, "{}", next.stderr);
    assert!(names.iter().all(|name| !name.exists()));
    assert!(
        !Path::new("/run/bentpipe")
            .join(child.id().to_string())
            .exists()
    );
}
