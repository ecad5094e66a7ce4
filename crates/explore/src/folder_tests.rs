use super::*;
use proptest::prelude::*;
use std::os::unix::fs::symlink;

/// A folder with files, beside a secret that must not be read.
fn folder() -> (tempfile::TempDir, Files) {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("open");
    fs::create_dir_all(root.join("sub/.hidden")).unwrap();
    for (name, text) in [
        ("secret.toml", "secret"),
        ("open/geo.toml", "[[node]]\n"),
        ("open/sub/study.toml", "[[axis]]\n"),
        ("open/sub/trace.csv", "0,1\n"),
        ("open/.env", "secret"),
        ("open/sub/.hidden/key.toml", "secret"),
    ] {
        fs::write(outer.path().join(name), text).unwrap();
    }
    symlink("../secret.toml", root.join("out.toml")).unwrap();
    symlink("../..", root.join("sub/up")).unwrap();
    symlink(".env", root.join("in.toml")).unwrap();
    symlink("sub/study.toml", root.join("inside.toml")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    let files = Files::open(&root).unwrap();
    (outer, files)
}

#[test]
fn files_of_the_folder_are_listed_and_read() {
    let (_outer, files) = folder();
    let listed = files.list("").unwrap();
    let listed: Vec<_> = listed.iter().map(|e| (e.path.as_str(), e.kind)).collect();
    let expected = [
        ("sub", Kind::Folder),
        ("geo.toml", Kind::Scenario),
        ("inside.toml", Kind::Study),
    ];
    assert_eq!(listed, expected);
    let below: Vec<_> = files
        .list("sub")
        .unwrap()
        .into_iter()
        .map(|e| e.path)
        .collect();
    assert_eq!(below, ["sub/study.toml", "sub/trace.csv"]);
    assert_eq!(files.text("sub/trace.csv").unwrap(), "0,1\n");
    assert!(files.read("geo.toml", 3).is_err());
    assert!(files.read("sub", 100).is_err());
}

#[test]
fn nothing_outside_is_read() {
    let (outer, files) = folder();
    let absolute = outer.path().join("secret.toml").display().to_string();
    for path in [
        "../secret.toml",
        "sub/../../secret.toml",
        "sub/..",
        "./geo.toml",
        "sub//trace.csv",
        "/etc/passwd",
        "..\\secret.toml",
        "..%2fsecret.toml",
        "out.toml",
        "sub/up/secret.toml",
        "in.toml",
        ".env",
        "sub/.hidden/key.toml",
        "loop",
        "geo.toml\0.png",
        "geo.toml/",
        absolute.as_str(),
    ] {
        assert!(files.text(path).is_err(), "{path}");
        assert!(files.list(path).is_err(), "{path}");
        assert!(files.save(path, "x", "secret").is_err(), "{path}");
    }
    assert_eq!(
        fs::read_to_string(outer.path().join("secret.toml")).unwrap(),
        "secret"
    );
}

#[test]
fn a_pipe_is_not_waited_for() {
    let (outer, files) = folder();
    let pipe = outer.path().join("open/pipe.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    assert!(files.text("pipe.toml").is_err());
    assert!(
        files
            .list("")
            .unwrap()
            .iter()
            .all(|e| e.name != "pipe.toml")
    );
}

#[test]
fn a_file_is_written_only_over_what_was_read() {
    let (outer, files) = folder();
    files.save("geo.toml", "[[link]]\n", "[[node]]\n").unwrap();
    assert_eq!(files.text("geo.toml").unwrap(), "[[link]]\n");
    let conflict = files.save("geo.toml", "mine", "[[node]]\n").unwrap_err();
    assert_eq!(conflict.document()["error"]["text"], "[[link]]\n");
    assert!(files.save("new.toml", "mine", "").is_err());
    assert!(files.save("sub/trace.csv", "mine", "0,1\n").is_err());
    // Through a link, the file behind it.
    files
        .save("inside.toml", "[[table]]\n", "[[axis]]\n")
        .unwrap();
    let behind = outer.path().join("open/sub/study.toml");
    assert_eq!(fs::read_to_string(behind).unwrap(), "[[table]]\n");
}

#[test]
fn a_file_that_was_given_opens_its_folder() {
    let (outer, _) = folder();
    let files = Files::open(&outer.path().join("open/geo.toml")).unwrap();
    assert_eq!((&*files.opened, files.kind), ("geo.toml", Kind::Scenario));
    assert!(files.text("sub/trace.csv").is_ok());
    for wrong in [
        "open/sub/trace.csv",
        "open/.env",
        "open/none.toml",
        "open/loop",
    ] {
        assert!(Files::open(&outer.path().join(wrong)).is_err(), "{wrong}");
    }
}

proptest! {
    /// Whatever a page asks for, what it gets is in the folder and not hidden.
    #[test]
    fn no_path_leads_out(parts in prop::collection::vec(prop_oneof![
        Just("..".to_owned()), Just(".".to_owned()), Just(String::new()), Just("sub".to_owned()),
        Just("up".to_owned()), Just("open".to_owned()), Just("out.toml".to_owned()),
        Just("geo.toml".to_owned()), Just("secret.toml".to_owned()), Just(".env".to_owned()),
        Just("in.toml".to_owned()), Just("%2e%2e".to_owned()), "\\PC{0,8}",
    ], 0..6), slash in prop::bool::ANY) {
        let (outer, files) = folder();
        let path = format!("{}{}", if slash { "/" } else { "" }, parts.join("/"));
        if let Ok(real) = files.resolve(&path) {
            let below = real.strip_prefix(outer.path().canonicalize().unwrap().join("open")).unwrap();
            prop_assert!(!below.to_string_lossy().split('/').any(|part| part.starts_with('.')));
        }
        if let Ok(text) = files.text(&path) {
            prop_assert!(text != "secret");
        }
    }
}
