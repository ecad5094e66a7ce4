//! What one client can take from the others.

use crate::served::Served;
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
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
    // The greedy questions take minutes: who is answered now did not wait for them.
    assert!(
        begin.elapsed() < Duration::from_secs(40),
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

/// Two hosts, a link and a flow, with lines before and after.
fn scenario(before: &str, link: &str, flow: &str, after: &str) -> String {
    format!(
        "{before}\nduration = \"1000 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n{link}\n\
         one_way_delay = \"5 s\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n{after}\n"
    )
}

/// Texts that are small and mean much.
fn bombs() -> Vec<(&'static str, String)> {
    let link = "rate = \"1 Mbit/s\"";
    let flow = "transport = \"cubic\"\napplication = \"persistent\"";
    let plain = |before: &str, after: &str| scenario(before, link, flow, after);
    let many = |line: &str, count: usize| {
        (0..count).fold(String::new(), |mut text, i| {
            writeln!(text, "{}", line.replace('#', &i.to_string())).unwrap();
            text
        })
    };
    vec![
        (
            "nested lists",
            plain(&format!("x = {}", "[".repeat(200_000)), ""),
        ),
        (
            "nested tables",
            plain(&format!("x = {}", "{a=".repeat(100_000)), ""),
        ),
        (
            "dotted keys",
            plain(&format!("{}x = 1", "a.".repeat(200_000)), ""),
        ),
        (
            "a long name",
            plain("", &format!("[node.{}]", "n".repeat(900_000))),
        ),
        ("nodes", plain("", "[node.many]\ncount = 4_000_000_000")),
        (
            "nodes of many tables",
            plain("", &many("[node.n#]\ncount = 100_000", 5_000)),
        ),
        (
            "flows",
            plain(
                "",
                "[flow.many]\nfrom = \"a\"\nto = \"b\"\ncount = 100_000_000",
            ),
        ),
        ("mistakes", plain("", &many("[node.n#]\ncuont = 1", 20_000))),
        ("time", plain("", "").replace("1000 s", "1e300 s")),
        ("satellites", satellites()),
    ]
}

/// More satellites over more days than can be planned while somebody waits.
fn satellites() -> String {
    let mut text = "duration = \"2160 h\"\n[constellation.c]\nkind = \"walker\"\npattern = \"53: \
                    100000/1000/1\"\naltitude_km = 550\nup_rate = \"1 Mbit/s\"\ndown_rate = \"1 Mbit/s\"\n"
        .to_owned();
    for (name, latitude) in [("a", 48.9), ("b", 42.3)] {
        write!(
            text,
            "[node.{name}]\nterminal_of = \"c\"\nlatitude = {latitude}\nlongitude = 2.4\n"
        )
        .unwrap();
    }
    text + "[flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"cubic\"\napplication = \"persistent\"\n"
}

/// The most memory that the server had, bytes.
fn peak(served: &Served) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", served.id())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    let kilobytes = line.split_whitespace().nth(1).unwrap();
    kilobytes.parse::<u64>().unwrap() * 1024
}

#[test]
fn a_scenario_that_is_a_bomb_is_refused() {
    let served = Served::new(None);
    for (name, text) in bombs() {
        let body = json!({ "text": text }).to_string();
        for path in [
            "/api/scenario/check",
            "/api/scenario/run",
            "/api/scenario/map",
        ] {
            let begin = Instant::now();
            let answer = served.post(path, &body);
            assert!(
                answer.status != 0 && answer.status < 500,
                "{name}, {path}: {answer:?}"
            );
            assert!(!answer.body.contains("\"valid\":true"), "{name}, {path}");
            assert!(
                begin.elapsed() < Duration::from_secs(70),
                "{name}, {path}: {:?}",
                begin.elapsed()
            );
        }
    }
    assert_eq!(served.get("/api/hello").status, 200);
    assert!(peak(&served) < 2 << 30, "{} MB", peak(&served) >> 20);
}

#[test]
fn a_run_that_wants_all_memory_or_time_ends_with_words() {
    let served = Served::new(None);
    let raised = "[limits]\nevents = 1_000_000_000_000\npackets = 4_000_000_000";
    // A pipe of 62 million packets, filled.
    let link = "rate = \"100 Gbit/s\"\nqueue = \"100000000 packets\"";
    let flow = "application = { kind = \"constant-rate\", rate = \"100 Gbit/s\", packet_size = \"1000 B\" }";
    let body = json!({ "text": scenario("", link, flow, raised) }).to_string();
    let answer = served.post("/api/scenario/run", &body);
    // It ran, and hit a bound of the page.
    assert!(
        answer.status == 200 && answer.body.contains("bentpipe run"),
        "{answer:?}"
    );
    assert!(!answer.body.contains("\"done\""), "{answer:?}");
    assert_eq!(served.get("/api/hello").status, 200);
    assert!(peak(&served) < 3 << 30, "{} MB", peak(&served) >> 20);
}
