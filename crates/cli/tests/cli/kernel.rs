//! `bentpipe kernel`, in every build.

use crate::common::{Ended, bentpipe, skip};
use serde_json::Value;
use std::process::{Command, Stdio};

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&bentpipe(arguments).ok()).unwrap()
}

#[test]
fn controls_are_listed_with_their_parameters() {
    let text = bentpipe(&["kernel", "list"]).ok();
    for part in [
        "bp_const",
        "initial_window",
        "segments",
        "Each of them also takes",
    ] {
        assert!(text.contains(part), "{part}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
        assert!(!line.ends_with(" ms time"), "{line}");
    }
    let one = bentpipe(&["kernel", "list", "const"]).ok();
    assert!(
        one.contains("window_clamp") && !one.contains("Each of them"),
        "{one}"
    );
    let document = json(&["kernel", "list", "--json"]);
    for control in document["controls"].as_array().unwrap() {
        assert_eq!(control["parameters"][0]["name"], "initial_window");
        assert!(control["name"].as_str().unwrap().starts_with("bp_"));
        assert!(control["source"].is_string() && control["loaded_as"].is_array());
    }
    insta::assert_snapshot!(bentpipe(&["kernel", "list", "cons"]).refused(), @r"
    error: there is no kernel congestion control `cons`; did you mean `bp_const`?
      `bentpipe kernel list` shows them
    ");
}

#[cfg(not(feature = "kernel"))]
#[test]
fn a_build_without_them_says_how_to_build() {
    for arguments in [
        &["kernel", "load", "const"][..],
        &["kernel", "unload", "bp_const"],
        &["kernel", "status"],
    ] {
        let error = bentpipe(arguments).refused();
        assert!(
            error.starts_with("error: this build has no kernel"),
            "{error}"
        );
        assert!(
            error.contains("`make`") && error.contains("--features kernel"),
            "{error}"
        );
    }
}

/// `bentpipe ARGUMENTS` without any capability; `None` where `setpriv` is not
/// there, or may not do that.
fn powerless(arguments: &[&str]) -> Option<Ended> {
    let output = Command::new("setpriv")
        .args(["--bounding-set=-all", "--inh-caps=-all"])
        .arg(env!("CARGO_BIN_EXE_bentpipe"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let stderr = String::from_utf8(output.stderr).ok()?;
    (!stderr.starts_with("setpriv:")).then(|| Ended {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr,
    })
}

#[test]
fn without_root_the_doctor_says_what_is_missing() {
    let Some(ended) = powerless(&["doctor"]) else {
        skip("without_root_the_doctor_says_what_is_missing", "setpriv");
        return;
    };
    let text = ended.ok();
    assert!(text.contains("simulator         yes"), "{text}");
    assert!(text.contains("emulator          no"), "{text}");
    assert!(text.contains("run it with sudo"), "{text}");
    assert!(text.contains("kernel controls   no"), "{text}");
}

#[cfg(feature = "kernel")]
#[test]
fn without_root_nothing_is_loaded() {
    for arguments in [&["kernel", "load", "const"][..], &["kernel", "status"]] {
        let Some(ended) = powerless(arguments) else {
            skip("without_root_nothing_is_loaded", "setpriv");
            return;
        };
        let error = ended.refused();
        assert!(
            error.contains("need root") && error.contains("sudo"),
            "{error}"
        );
    }
}

#[cfg(feature = "kernel")]
#[test]
fn mistakes_are_found_before_the_kernel_is_touched() {
    let refused = |arguments: &[&str]| bentpipe(arguments).refused();
    let error = refused(&["kernel", "load", "const", "--as", "cubic"]);
    assert!(error.contains("must begin with `bp_`"), "{error}");
    let error = refused(&["kernel", "load", "const", "--set", "kk=1"]);
    assert!(error.contains("has no parameter `kk`"), "{error}");
    let error = refused(&["kernel", "load", "const", "--set", "k=none"]);
    assert!(error.contains("a whole number"), "{error}");
    let error = refused(&["kernel", "unload"]);
    assert!(error.contains("<NAME|--all>"), "{error}");
    let error = refused(&["kernel", "unload", "--all", "bp_x"]);
    assert!(error.contains("cannot be used with"), "{error}");
}

/// Loads, looks, unloads.
#[cfg(feature = "kernel")]
#[test]
fn a_control_is_loaded_shown_and_unloaded() {
    let works = json(&["doctor", "--json"]);
    let controls = &works["works"].as_array().unwrap()[3];
    assert_eq!(controls["name"], "kernel controls");
    if controls["works"] != true {
        let why = controls["missing"][0]["what"].as_str().unwrap_or("");
        skip("a_control_is_loaded_shown_and_unloaded", why);
        return;
    }
    let name = format!("bp_cli_{:x}", std::process::id());
    let load = ["kernel", "load", "const", "--set", "k=3", "--as", &name];
    let said = bentpipe(&load).ok();
    let again = bentpipe(&load);
    let listed = json(&["kernel", "list", "const", "--json"]);
    let text = bentpipe(&["kernel", "status", "--programs"]);
    let status = json(&["kernel", "status", "--json"]);
    let unload = bentpipe(&["kernel", "unload", &name]);
    let gone = bentpipe(&["kernel", "unload", &name]);

    assert!(said.contains("k=3") && said.contains("congctl"), "{said}");
    assert!(again.refused().contains("is loaded already"));
    let names = listed["controls"][0]["loaded_as"].as_array().unwrap();
    assert!(names.contains(&Value::from(name.clone())));
    let text = text.ok();
    assert!(
        text.contains(&name) && text.contains("cong_avoid"),
        "{text}"
    );
    let loaded = status["loaded"].as_array().unwrap();
    let entry = loaded.iter().find(|e| e["name"] == *name).unwrap();
    assert_eq!(entry["control"], "bp_const");
    assert_eq!(entry["parameters"]["k"], "3");
    assert_eq!(
        (&entry["kept_by"], &entry["users"]),
        (&"pin".into(), &0.into())
    );
    assert_eq!(unload.ok(), format!("{name} is unloaded\n"));
    assert!(gone.refused().contains("is loaded as"));
    // Each that could not be is said, not only the last.
    let both = bentpipe(&["kernel", "unload", &name, "bp_nobody"]).refused();
    assert!(
        both.contains(&name) && both.contains("\nerror: ") && both.contains("bp_nobody"),
        "{both}"
    );
}
