//! What a page can have of the disk.

use crate::served::Served;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_page_reads_the_folder_that_was_opened_and_nothing_else() {
    let served = Served::new(Some("open"));
    symlink("../secret.toml", served.path("open/out.toml")).unwrap();
    symlink("../..", served.path("open/up")).unwrap();
    fs::write(served.path("open/.env"), "secret").unwrap();
    let files = served.post("/api/files", "{}").json();
    let names = files["files"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["sub", "geo.toml"]);
    let read = served.post("/api/file", r#"{"path":"geo.toml"}"#);
    assert_eq!(read.json()["text"], "[[node]]\n");
    let absolute = served.path("secret.toml").display().to_string();
    for path in [
        "../secret.toml",
        "sub/../../secret.toml",
        "./../secret.toml",
        "%2e%2e/secret.toml",
        "..%2fsecret.toml",
        "..\\secret.toml",
        "..\u{2215}secret.toml",
        "out.toml",
        "up/secret.toml",
        ".env",
        "/etc/passwd",
        "//etc/passwd",
        "/proc/self/environ",
        "geo.toml\0",
        "file:///etc/passwd",
        "",
        &absolute,
    ] {
        let body = json!({ "path": path, "below": path, "text": "changed", "expected": "secret" });
        for request in ["/api/file", "/api/file/save"] {
            let answer = served.post(request, &body.to_string());
            assert!(answer.status >= 400, "{request} of {path:?}: {answer:?}");
            assert!(
                !answer.body.contains("secret\""),
                "{request} of {path:?}: {answer:?}"
            );
            assert!(
                !answer.body.contains("root:"),
                "{request} of {path:?}: {answer:?}"
            );
        }
    }
    assert_eq!(
        fs::read_to_string(served.path("secret.toml")).unwrap(),
        "secret"
    );
    assert_eq!(
        fs::read_to_string(served.path("open/.env")).unwrap(),
        "secret"
    );
}

#[test]
fn without_a_folder_a_page_reads_nothing() {
    let served = Served::new(None);
    for (request, body) in [
        ("/api/files", "{}".to_owned()),
        ("/api/file", json!({ "path": "Cargo.toml" }).to_string()),
        (
            "/api/file",
            json!({ "path": served.path("open/geo.toml") }).to_string(),
        ),
    ] {
        let answer = served.post(request, &body);
        assert_eq!(answer.status, 404, "{answer:?}");
        assert!(answer.body.contains("bentpipe explore DIR"), "{answer:?}");
    }
    assert_eq!(served.get("/api/hello").json()["open"], json!(null));
}

#[test]
fn a_file_is_saved_where_nobody_changed_it_meanwhile() {
    let served = Served::new(Some("open/geo.toml"));
    let hello = served.get("/api/hello").json();
    assert_eq!(
        (&hello["open"]["path"], &hello["open"]["kind"]),
        (&json!("geo.toml"), &json!("scenario"))
    );
    let save = |text: &str, expected: &str| {
        let body = json!({ "path": "geo.toml", "text": text, "expected": expected });
        served.post("/api/file/save", &body.to_string())
    };
    assert_eq!(save("[node.a]\n", "[[node]]\n").status, 200);
    let conflict = save("mine", "[[node]]\n");
    assert_eq!(
        (conflict.status, &conflict.json()["error"]["text"]),
        (409, &json!("[node.a]\n"))
    );
    assert_eq!(
        fs::read_to_string(served.path("open/geo.toml")).unwrap(),
        "[node.a]\n"
    );
}

#[test]
fn the_page_is_its_files_and_no_others() {
    let served = Served::new(None);
    assert_eq!(served.get("/assets/main.js").body, "the script");
    for path in [
        "/../secret.toml",
        "/%2e%2e/secret.toml",
        "/..%2fsecret.toml",
        "/assets/../../secret.toml",
        "/assets/%2e%2e/%2e%2e/secret.toml",
        "/..\\secret.toml",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "/assets//main.js",
        "/.hidden",
        "/assets",
        "/assets/",
        "/assets/main.js/",
        "/assets/main.js%00.css",
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert!(!answer.body.contains("root:"), "{path}");
    }
}

/// A question about one transport, with one more option.
fn question(name: &str, value: &str) -> String {
    let row = json!({ "pep": "none", "transport": "cubic" });
    json!({ "tab": "t", "options": [[name, value]], "row": row, "from": 0, "to": 1 }).to_string()
}

#[test]
fn options_that_name_files_or_programs_are_refused() {
    let served = Served::new(Some("open"));
    let program = served.path("open/evil.c");
    let witness = served.path("witness");
    let text = format!(
        "#include <stdlib.h>\nint main() {{ system(\"touch {}\"); }}\n",
        witness.display()
    );
    fs::write(&program, text).unwrap();
    let written = served.path("written.svg").display().to_string();
    let program = program.display().to_string();
    for (name, value) in [
        ("cc", program.as_str()),
        ("cc", "mine=evil.c"),
        ("transport", &program),
        ("beside", &program),
        ("trace", "geo.toml"),
        ("trace", "/etc/passwd"),
        ("orbit", "/etc/passwd"),
        ("orbit", "../secret.toml"),
        ("orbit", "geo.toml"),
        ("plot", &written),
        ("curves", &written),
        ("report", &written),
        ("on", "linux"),
        ("threads", "4096"),
        ("json", ""),
        ("help", ""),
        ("--cc", &program),
        ("rate=1 Mbit/s --cc", &program),
    ] {
        for path in ["/api/link", "/api/link/curves", "/api/link/packets"] {
            let answer = served.post(path, &question(name, value));
            let is_refused = answer.status >= 400 || answer.body.contains("{\"error\"");
            assert!(is_refused, "{path} {name}={value}: {answer:?}");
            for leaked in ["root:", "\"answer\""] {
                assert!(
                    !answer.body.contains(leaked),
                    "{path} {name}={value}: {answer:?}"
                );
            }
        }
    }
    // Nor is it said whether a file is there.
    let said = |name: &str| {
        served
            .post("/api/link", &question("orbit", name))
            .body
            .replace(name, "")
    };
    assert_eq!(said("/etc/passwd"), said("/etc/there-is-none"));
    assert!(!witness.exists() && !served.path("written.svg").exists());
}
