//! The command itself.

use crate::served::{Served, command};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn a_tab_goes_on_after_a_restart() {
    let served = Served::new(None);
    let (port, token) = (served.port, served.token.clone());
    let kept = served.path("state/bentpipe/explore-token");
    assert_eq!(
        fs::metadata(&kept).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let served = served.restart(Some("open"));
    assert_eq!((served.port, &served.token), (port, &token));
    assert_eq!(served.get("/api/hello").status, 200);
    let hello = served.get("/api/hello").json();
    let again = hello["command"].as_str().unwrap();
    assert!(again.starts_with("bentpipe explore "), "{again}");
    assert!(again.ends_with(&format!(" --port {port}")), "{again}");
}

#[test]
fn a_port_that_is_taken_is_an_error_with_a_way_out() {
    let served = Served::new(None);
    let folder = tempfile::tempdir().unwrap();
    let port = served.port.to_string();
    let ended = command(folder.path())
        .args(["--port", &port])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(
        said.contains(&port) && said.contains("without --port"),
        "{said}"
    );
    assert!(ended.stdout.is_empty());
}

#[test]
fn what_cannot_be_opened_is_said_before_anything_is_served() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("text.txt"), "x").unwrap();
    for (open, words) in [
        ("none.toml", "cannot open"),
        ("text.txt", "no scenario and no study"),
        ("/dev/null", "no scenario and no study"),
    ] {
        let mut command = command(folder.path());
        let ended = command.arg(folder.path().join(open)).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{open}");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.contains(words) && said.contains(open), "{said}");
        assert!(ended.stdout.is_empty());
    }
}
