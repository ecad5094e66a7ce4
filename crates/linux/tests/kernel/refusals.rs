//! Objects that cannot be loaded, and the messages.

use crate::common::{forgotten, ready, unique};
use bentpipe_bpf::{Values, find};
use bentpipe_linux::kernel::{KernelError, load, load_object};
use std::path::Path;
use std::process::Command;

fn defaults() -> Values {
    Values::new(find("bp_const").expect("the control"))
}

#[test]
fn a_name_is_taken_once() {
    if !ready("a_name_is_taken_once") {
        return;
    }
    let (values, name) = (defaults(), unique());
    let _first = load(values.control(), &values, &name).unwrap();
    let again = load(values.control(), &values, &name).unwrap_err();
    assert!(matches!(again, KernelError::Taken { .. }), "{again}");
    let said = again.to_string();
    let process = format!("by the process {}", std::process::id());
    assert!(
        said.contains("loaded already") && said.contains(&process),
        "{said}"
    );
}

#[test]
fn names_of_linux_and_bad_ones_are_refused_before_anything_is_loaded() {
    let values = defaults();
    for name in ["cubic", "bp_", "bp_much_too_long", "bp_a/b"] {
        let error = load(values.control(), &values, name).unwrap_err();
        assert!(matches!(error, KernelError::BadName { .. }), "{error}");
    }
}

#[test]
fn the_verifier_is_heard() {
    if !ready("the_verifier_is_heard") {
        return;
    }
    let object = compile("broken.bpf.c");
    let name = unique();
    let error = load_object("broken.bpf.o", &object, &[0, 0], &name).unwrap_err();
    let KernelError::Rejected { program, log } = &error else {
        panic!("{error}");
    };
    assert_eq!(program, "cong_avoid");
    assert!(log.contains("srtt_us"), "no source line in: {log}");
    let said = error.to_string();
    assert!(
        said.contains("verifier rejects the program `cong_avoid`"),
        "{said}"
    );
    assert!(said.contains("  | "), "{said}");
    assert!(forgotten(&name));
}

#[test]
fn objects_of_another_form_are_refused() {
    if !ready("objects_of_another_form_are_refused") {
        return;
    }
    let object = compile("broken.bpf.c");
    let wrong = load_object("broken.bpf.o", &object, &[0], &unique()).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "`broken.bpf.o` is not an object of a congestion control: it has 2 parameters, and 1 are \
         given"
    );
    let nothing = load_object("noise", &[7; 100], &[], &unique()).unwrap_err();
    assert!(
        nothing.to_string().starts_with("cannot read noise"),
        "{nothing}"
    );
}

/// An object of a source next to this file.
fn compile(source: &str) -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("object.o");
    let clang = std::env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let status = Command::new(clang)
        .args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-c", "-I"])
        .arg(here.join("../../bpf"))
        .arg(here.join("tests/kernel").join(source))
        .arg("-o")
        .arg(&object)
        .status()
        .expect("the clang that has built this crate");
    assert!(status.success());
    std::fs::read(object).unwrap()
}
