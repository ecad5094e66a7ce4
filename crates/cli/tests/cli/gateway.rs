//! `bentpipe gateway`, in every build.

use crate::common::bentpipe;

#[cfg(not(all(feature = "gateway", target_os = "linux")))]
#[test]
fn a_build_without_it_says_how_to_build() {
    let error = bentpipe(&["gateway", "check", "ship.toml"]).refused();
    assert!(
        error.contains("--features gateway") || error.contains("needs Linux"),
        "{error}"
    );
}

#[test]
fn a_file_is_asked_for() {
    let error = bentpipe(&["gateway"]).refused();
    assert!(error.contains("<FILE>"), "{error}");
}

#[cfg(all(feature = "gateway", target_os = "linux"))]
mod with {
    use crate::common::bentpipe;
    use serde_json::Value;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    const SHIP: &str = "role = \"terminal\"\n[link]\nrate = \"2 Mbit/s\"\n[tunnel]\n\
                        address = \"192.0.2.7\"\npeers = [\"PEER\"]\n[socks]\n";

    fn text(path: &Path) -> &str {
        path.to_str().unwrap()
    }

    #[test]
    fn a_key_is_made_once_and_its_public_half_is_the_output() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ship.key");
        let made = bentpipe(&["gateway", "keys", text(&file)]).ok();
        assert!(
            made.starts_with("bpk1-") && made.lines().count() == 1,
            "{made}"
        );
        let private = fs::read_to_string(&file).unwrap();
        assert_eq!(bentpipe(&["gateway", "keys", text(&file)]).ok(), made);
        assert_eq!(
            bentpipe(&["gateway", "keys", text(&file), "--show"]).ok(),
            made
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), private);
        let missing = folder.path().join("none.key");
        bentpipe(&["gateway", "keys", text(&missing), "--show"]).refused();
        assert!(!missing.exists());
        let error = bentpipe(&["gateway", "keys", "ship.toml"]).refused();
        assert!(error.contains("such as `ship.key`"), "{error}");
    }

    #[test]
    fn new_writes_two_boxes_that_know_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let boxes = folder.path().join("boxes");
        let new = |more: &[&str]| {
            let usual = [
                "gateway",
                "new",
                text(&boxes),
                "--hub",
                "192.0.2.7",
                "--rate",
                "20Mbit/s",
            ];
            bentpipe(&[&usual[..], more].concat())
        };
        new(&["--return-rate", "2Mbit/s"]).ok();
        for (name, words) in [
            ("hub", ["`hub` is a hub", "20 Mbit/s"]),
            ("terminal", ["2 Mbit/s", "192.0.2.7:4433"]),
        ] {
            let file = boxes.join(format!("{name}.toml"));
            let checked = bentpipe(&["gateway", "check", text(&file)]).ok();
            assert!(words.iter().all(|part| checked.contains(part)), "{checked}");
        }
        let key = fs::read_to_string(boxes.join("hub.key")).unwrap();
        let refused = new(&[]).refused();
        assert!(
            refused.contains("--force replaces it, and keeps the keys"),
            "{refused}"
        );
        new(&["--force", "--socks"]).ok();
        assert_eq!(fs::read_to_string(boxes.join("hub.key")).unwrap(), key);
        new(&["--force", "--wan", "5g=wwan0", "--wan", "leo=192.0.2.1"]).ok();
        for (name, words) in [
            ("hub", ["`5g`, port 4434 of the hub:", "`leo`, port 4435"]),
            (
                "terminal",
                ["4434 of the hub by wwan0", "4435 of the hub from 192.0.2.1"],
            ),
        ] {
            let file = boxes.join(format!("{name}.toml"));
            let checked = bentpipe(&["gateway", "check", text(&file)]).ok();
            let checked = checked.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.iter().all(|part| checked.contains(part)), "{checked}");
        }
        let several = ["a=a0", "b=b0", "c=c0", "d=d0"].map(|wan| ["--wan", wan]);
        for (more, expected) in [
            (
                &["--wan", "5g"][..],
                "--wan 5g: expected a name and the interface",
            ),
            (&["--wan", "link=wwan0"], "is the name of another WAN"),
            (
                several.as_flattened(),
                "--wan is given 4 times: expected at most 3",
            ),
        ] {
            let refused = new(&[&["--force"], more].concat()).refused();
            assert!(refused.contains(expected), "{refused}");
        }
        let named = [
            "gateway",
            "new",
            "--hub",
            "example..org",
            "--rate",
            "1Mbit/s",
        ];
        let refused = bentpipe(&named).refused();
        assert!(
            refused.contains("expected the hub's address or name"),
            "{refused}"
        );
        let refused = new(&["--force", "--interface", "wlan\"0"]).refused();
        assert!(
            refused.contains("--interface wlan\"0: expected 1 to 15"),
            "{refused}"
        );
    }

    #[test]
    fn a_file_is_explained_and_its_mistakes_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("ship.key");
        bentpipe(&["gateway", "keys", text(&key)]).ok();
        let other = folder.path().join("hub.key");
        let public = bentpipe(&["gateway", "keys", text(&other)]).ok();
        let file = folder.path().join("ship.toml");
        fs::write(&file, SHIP.replace("PEER", public.trim())).unwrap();
        let words = bentpipe(&["gateway", "check", text(&file)]).ok();
        for part in [
            "`ship` is a terminal",
            "2 Mbit/s",
            "192.0.2.7:4433",
            "127.0.0.1:1080",
        ] {
            assert!(words.contains(part), "{part} is not in\n{words}");
        }
        // A key that is none, one that is missing, and passwords that everybody may read.
        let users = folder.path().join("users");
        fs::write(&users, "anna:secret\n").unwrap();
        fs::set_permissions(&users, fs::Permissions::from_mode(0o644)).unwrap();
        let more = "users = \"users\"\n";
        fs::write(&file, SHIP.replace("PEER", "bpk1-...") + more).unwrap();
        let words = bentpipe(&["gateway", "check", text(&file)]).ended(1);
        assert!(words.contains("`bpk1-...` is no key"), "{words}");
        assert!(words.contains("chmod o-rwx"), "{words}");
        fs::write(&file, SHIP.replace("PEER", public.trim())).unwrap();
        fs::remove_file(&key).unwrap();
        let words = bentpipe(&["gateway", "check", text(&file)]).ended(1);
        assert!(words.contains("make one: bentpipe gateway keys"), "{words}");
        fs::write(&file, SHIP.replace("rate", "rat")).unwrap();
        let error = bentpipe(&["gateway", "check", text(&file)]).refused();
        assert!(error.contains("ship.toml:3:1"), "{error}");
        assert!(error.contains("did you mean `rate`?"), "{error}");
        let same = bentpipe(&["gateway", text(&file)]).refused();
        assert!(same.contains("did you mean `rate`?"), "{same}");
    }

    #[test]
    fn who_is_not_running_cannot_be_asked() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("ship.sock");
        let error = bentpipe(&["gateway", "status", text(&socket)]).refused();
        assert!(error.contains("no gateway runs at"), "{error}");
        let error = bentpipe(&["gateway", "rate", "2 Mbit/s", text(&socket)]).refused();
        assert!(error.contains("no gateway runs at"), "{error}");
    }

    #[test]
    fn the_language_is_printed() {
        let page = bentpipe(&["gateway", "schema", "--markdown"]).ok();
        assert!(page.contains("## `[tunnel]`"));
        let json: Value =
            serde_json::from_str(&bentpipe(&["gateway", "schema", "--json"]).ok()).unwrap();
        assert!(json["properties"]["role"].is_object());
    }
}
