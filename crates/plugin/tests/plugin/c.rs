//! C files of the kernel's form, compiled at run time.

use crate::{run, scenario};
use bentpipe_bpf::{CONTROLS, Control, Kind};
use bentpipe_plugin::{LoadError, load, load_as};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A built-in control as a user's file: its parameters declared in comments.
fn copy(control: &Control, folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../bpf")
        .join(control.source);
    let mut text = std::fs::read_to_string(source).unwrap();
    for parameter in &control.parameters[2..] {
        // A time has no space here.
        let default = parameter.default_text().replace(' ', "");
        let ends = [parameter.minimum, parameter.maximum];
        let ends = ends.map(|end| parameter.write(&[end]).replace(' ', ""));
        let range = match parameter.kind {
            Kind::Choice(words) => format!(" in {}", words.join("|")),
            Kind::Flag => String::new(),
            // A point says that it is no count.
            Kind::Decimal(_) if !ends[0].contains('.') => format!(" in {}.0..{}", ends[0], ends[1]),
            _ => format!(" in {}..{}", ends[0], ends[1]),
        };
        let name = parameter.name;
        writeln!(
            text,
            "/* @parameter {name} = {default}{range}: {} */",
            parameter.summary
        )
        .unwrap();
    }
    let file = folder.join(format!("{}.c", control.name));
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn a_loaded_file_runs_as_the_built_in_control_does() {
    let folder = tempfile::tempdir().unwrap();
    let plain = |control: &&Control| {
        // Comments declare millionths, and no lists.
        let millionths = |parts: u64| parts == 1_000_000;
        let lists = |kind: Kind| match kind {
            Kind::Decimal(parts) => !millionths(parts),
            kind => matches!(kind, Kind::List(_)),
        };
        !control
            .parameters
            .iter()
            .any(|parameter| lists(parameter.kind))
    };
    let mut compared = 0;
    for control in CONTROLS.iter().filter(plain) {
        let own = load_as(Some("own"), &copy(control, folder.path())).unwrap();
        for profile in ["linux", "rfc"] {
            let of = |base: &str| format!("base = \"{base}\"\nprofile = \"{profile}\"");
            let built_in = run(&of(control.name), None).unwrap();
            let loaded = run(&of("own"), Some(&own)).unwrap();
            assert!(built_in.flows[0].transfer_time.is_some());
            assert!(built_in == loaded, "{} on {profile}", control.name);
            let hashes = [
                scenario(&of(control.name), None),
                scenario(&of("own"), Some(&own)),
            ];
            assert_ne!(hashes[0].hash(), hashes[1].hash());
        }
        compared += 1;
    }
    assert!(compared > 8, "{compared}");
}

/// The template under another name, with `change` made to its text.
fn changed(change: impl FnOnce(String) -> String) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (name, text) = bentpipe_plugin::template::c("changed");
    let file = folder.path().join(name);
    std::fs::write(&file, change(text)).unwrap();
    (folder, file)
}

fn refused(change: impl FnOnce(String) -> String) -> LoadError {
    let (_folder, file) = changed(change);
    load(&file).unwrap_err()
}

#[test]
fn parameters_of_the_template_are_keys_of_its_transport() {
    let (_folder, file) = changed(|text| text);
    let own = load_as(Some("own"), &file).unwrap();
    let time = |step: u32| {
        let transport = format!("base = \"own\"\nstep = {step}\ninitial_ssthresh = 20");
        run(&transport, Some(&own)).unwrap().flows[0]
            .transfer_time
            .unwrap()
    };
    assert!(time(20) < time(1));
    let changed_again = changed(|text| text.replace("growth", "Growth"));
    let again = load_as(Some("own"), &changed_again.1).unwrap();
    assert_ne!(own.fingerprint(), again.fingerprint());
}

#[test]
fn mistakes_are_shown_at_their_lines() {
    let error =
        refused(|text| text.replace("window_begin(sk, &state->window);", "window_begin(sk);"));
    let message = error.to_string();
    assert!(
        message.contains("changed.c:") && message.contains("window_begin"),
        "{message}"
    );

    let error = refused(|text| text.replace("@parameter step = 1", "@parameter step"));
    assert!(
        error
            .to_string()
            .contains("changed.c:12: there is no default"),
        "{error}"
    );

    let error = refused(|text| text.replace(" * @parameter", " * parameter"));
    assert!(
        error
            .to_string()
            .contains("reads 1 parameters and declares 0"),
        "{error}"
    );

    let error = refused(|text| text.split("/* At most").next().unwrap().to_owned());
    assert!(error.to_string().contains("`bentpipe_ops`"), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "no control").unwrap();
    let error = load(&text).unwrap_err().to_string();
    assert!(error.contains("expected a .c file"), "{error}");
    let error = load(folder.path().join("absent.c"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no such file"), "{error}");
}

#[test]
fn what_a_file_includes_is_part_of_its_fingerprint() {
    let (folder, file) =
        changed(|text| text.replace("#define PERIOD_US 100000", "#include \"p.h\""));
    let with = |period: u32| {
        let text = format!("#define PERIOD_US {period}\n");
        std::fs::write(folder.path().join("p.h"), text).unwrap();
        load_as(Some("own"), &file)
            .unwrap()
            .fingerprint()
            .to_owned()
    };
    let first = with(100_000);
    assert_ne!(first, with(50_000));
    assert_eq!(first, with(100_000));
}
