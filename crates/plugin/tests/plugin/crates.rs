//! Rust crates that `bentpipe cc new` makes, built outside the workspace.

use crate::run;
use bentpipe_plugin::{load, load_as, template};
use bentpipe_sim::RunError;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// The crate `quick-start`, with `change` made to the text of one of its files.
fn crate_with(file: &str, change: impl Fn(&str) -> String) -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("quick-start");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    for (name, text) in template::rust("quick-start") {
        let text = if name == file { change(&text) } else { text };
        std::fs::write(folder.join(name), text).unwrap();
    }
    (place, folder)
}

#[test]
fn a_new_crate_builds_alone_passes_its_test_and_runs() {
    let (_place, folder) = crate_with("", str::to_owned);
    let own = load(&folder).unwrap();
    assert_eq!(own.name(), "quick-start");
    let own = load_as(Some("own"), &folder).unwrap();
    for profile in ["rfc", "linux"] {
        let time = |step: f64| {
            let transport = format!(
                "base = \"own\"\nprofile = \"{profile}\"\nstep = {step}\ninitial_ssthresh = 20"
            );
            run(&transport, Some(&own)).unwrap().flows[0]
                .transfer_time
                .unwrap()
        };
        assert!(time(20.0) < time(0.1), "{profile}");
        assert_eq!(time(1.0), time(1.0));
    }
    let cargo = std::env::var_os("CARGO").unwrap();
    let tested = Command::new(cargo)
        .args(["test", "--offline", "--quiet"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(
        tested.status.success(),
        "{}",
        String::from_utf8_lossy(&tested.stdout)
    );
}

#[test]
fn a_panic_ends_the_run_and_not_the_process() {
    let (_place, folder) = crate_with("src/lib.rs", |text| {
        text.replace(
            "if !ack.is_cwnd_limited() {",
            "if window.cwnd > 30.0 {\n            panic!(\"{} is too much\", window.cwnd);\n        }\n        \
             if !ack.is_cwnd_limited() {",
        )
    });
    let own = load_as(Some("own"), &folder).unwrap();
    match run("base = \"own\"", Some(&own)) {
        Err(RunError::Control { flow, fault }) => {
            assert_eq!((flow.as_str(), fault.call), ("download", "on_ack"));
            assert!(fault.what.contains("it panicked: 3"), "{}", fault.what);
            assert!(fault.what.contains("is too much"), "{}", fault.what);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_control_of_this_version_is_refused() {
    let (_place, folder) = crate_with("src/bentpipe.rs", |text| {
        text.replace("ABI_VERSION: u32 = 1", "ABI_VERSION: u32 = 9")
    });
    let error = load(&folder).unwrap_err().to_string();
    assert!(
        error.contains("has version 9 of the interface: expected 1"),
        "{error}"
    );

    let (_place, folder) = crate_with("src/lib.rs", |_| "pub fn nothing() {}\n".to_owned());
    let error = load(&folder).unwrap_err().to_string();
    assert!(
        error.contains("no `bentpipe_congestion_control`"),
        "{error}"
    );

    let (_place, folder) = crate_with("src/lib.rs", |text| {
        text.replace("ack.acked;", "ack.akced;")
    });
    let error = load(&folder).unwrap_err().to_string();
    assert!(
        error.contains("src/lib.rs:") && error.contains("akced"),
        "{error}"
    );

    let (_place, folder) = crate_with("Cargo.toml", |text| text.replace("cdylib", "rlib"));
    let error = load(&folder).unwrap_err().to_string();
    assert!(error.contains("no shared library"), "{error}");
}
