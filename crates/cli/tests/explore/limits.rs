//! What one client can take from the others.

use crate::served::Served;
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_request_that_is_too_large_is_refused_early() {
    let served = Served::new(Some("open"));
    let large = "x".repeat(5 << 20);
    let answer = served.post("/api/file", &json!({ "path": large }).to_string());
    // The server may close before it has read everything.
    assert!(
        answer.status == 413 || answer.status == 0,
        "{}",
        answer.status
    );
    let said = format!(
        "POST /api/file HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 99999999999\r\n\r\n",
        served.port,
        served.cookie()
    );
    let mut stream = served.connect();
    stream.write_all(said.as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    let path = format!("/{}", "x".repeat(100_000));
    assert!(served.get(&path).status >= 400);
    let mut headers = served.headers();
    headers.extend((0..1000).map(|_| ("X-Many", "x".to_owned())));
    assert!(served.ask("GET /api/hello", &headers, "").status >= 400);
    assert_eq!(served.get("/api/hello").status, 200);
}

#[test]
fn json_that_nests_without_end_is_a_wrong_request() {
    let served = Served::new(Some("open"));
    let deep = "[".repeat(1 << 20);
    for path in ["/api/file", "/api/files", "/api/link"] {
        for body in [
            deep.clone(),
            format!("{{\"path\":{deep}"),
            "{".repeat(10_000),
            "[1e999999]".into(),
        ] {
            let status = served.post(path, &body).status;
            assert!((400..500).contains(&status), "{path}: {status}");
        }
    }
    assert_eq!(served.get("/api/hello").status, 200);
}

#[test]
fn connections_without_requests_hold_nobody_up() {
    let served = Served::new(None);
    let idle: Vec<_> = (0..150).map(|_| served.connect()).collect();
    let mut slow = served.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
    let begin = Instant::now();
    assert_eq!(served.get("/api/hello").status, 200);
    assert!(
        begin.elapsed() < Duration::from_secs(40),
        "{:?}",
        begin.elapsed()
    );
    for mut stream in idle.into_iter().chain([slow]).take(3) {
        let mut answer = Vec::new();
        // Closed, or told that it was too slow.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || !answer.starts_with(b"HTTP/1.1 200"));
    }
}

#[test]
fn a_tab_that_asks_without_end_is_stopped_and_others_go_on() {
    let served = Served::new(None);
    let question = json!({ "options": [["rate", "100 Mbit/s"], ["size", "1 GB"], ["runs", "50"]] });
    let body = question.to_string();
    let request = format!(
        "POST /api/link HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {}\r\nContent-Type: application/json\r\n\
         X-Tab: greedy\r\nContent-Length: {}\r\n\r\n{body}",
        served.port,
        served.cookie(),
        body.len()
    );
    let streams: Vec<_> = (0..12)
        .map(|_| {
            let mut stream = served.connect();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    thread::sleep(Duration::from_millis(500));
    let begin = Instant::now();
    assert_eq!(served.get("/api/hello").status, 200);
    assert_eq!(served.get("/assets/main.js").status, 200);
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
    drop(streams);
    // The jobs end with their clients: another tab has its answer soon.
    let small = json!({ "options": [["rate", "2 Mbit/s"], ["size", "10 kB"], ["runs", "1"]] });
    let begin = Instant::now();
    let answer = served.post("/api/link", &small.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(
        begin.elapsed() < Duration::from_secs(50),
        "{:?}",
        begin.elapsed()
    );
}
