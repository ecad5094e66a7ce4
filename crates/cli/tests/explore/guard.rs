//! Who may ask.

use crate::served::Served;

/// Headers without one, and with another in its place.
fn with(served: &Served, name: &'static str, value: Option<&str>) -> Vec<(&'static str, String)> {
    let mut headers = served.headers();
    headers.retain(|(n, _)| *n != name);
    headers.extend(value.map(|value| (name, value.to_owned())));
    headers
}

/// What a browser asks for.
const REQUESTS: [&str; 4] = [
    "GET /",
    "GET /assets/main.js",
    "GET /api/hello",
    "POST /api/files",
];

#[test]
fn a_name_that_was_rebound_to_this_machine_gets_nothing() {
    let served = Served::new(Some("open"));
    let port = served.port;
    for name in ["127.0.0.1", "localhost"] {
        let headers = with(&served, "Host", Some(&format!("{name}:{port}")));
        assert_eq!(
            served.ask("GET /api/hello", &headers, "").status,
            200,
            "{name}"
        );
    }
    for host in [
        format!("rebound.example:{port}"),
        "rebound.example".to_owned(),
        "127.0.0.1".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1.:{port}"),
        format!("127.0.0.1.example:{port}"),
        format!("localhost.example:{port}"),
        format!("127.0.0.1:{port}.example"),
        format!("user@127.0.0.1:{port}"),
        format!("0.0.0.0:{port}"),
        format!("127.1:{port}"),
        String::new(),
    ] {
        for request in REQUESTS {
            let answer = served.ask(request, &with(&served, "Host", Some(&host)), "");
            assert_eq!(answer.status, 421, "{request} of `{host}`");
            assert!(!answer.body.contains("the page"));
        }
    }
    // The address with the token, too, is of this machine only.
    let visit = format!("GET /?token={}", served.token);
    let rebound = [("Host", format!("rebound.example:{port}"))];
    assert_eq!(served.ask(&visit, &rebound, "").status, 421);
    // None, two, and another in the request line.
    assert_ne!(
        served
            .ask("GET /api/hello", &with(&served, "Host", None), "")
            .status,
        200
    );
    let mut two = served.headers();
    two.push(("Host", "rebound.example".to_owned()));
    assert_ne!(served.ask("GET /api/hello", &two, "").status, 200);
    let line = format!("GET http://rebound.example:{port}/api/hello");
    assert_eq!(served.ask(&line, &served.headers(), "").status, 421);
}

#[test]
fn other_sites_can_read_and_write_nothing() {
    let served = Served::new(Some("open"));
    let port = served.port;
    let others = [
        "http://other.example".to_owned(),
        "null".to_owned(),
        format!("https://127.0.0.1:{port}"),
        "http://127.0.0.1:1".to_owned(),
        "http://127.0.0.1".to_owned(),
        format!("http://127.0.0.1:{port}.example"),
        format!("http://127.0.0.1:{port}@other.example"),
        "file://".to_owned(),
    ];
    for request in REQUESTS {
        for origin in &others {
            let answer = served.ask(request, &with(&served, "Origin", Some(origin)), "");
            assert_eq!(answer.status, 403, "{request} from {origin}");
        }
        for site in ["cross-site", "same-site", "odd"] {
            let answer = served.ask(request, &with(&served, "Sec-Fetch-Site", Some(site)), "");
            // A link of another site may lead to the page, which is the same for all.
            let expected = if request == "GET /" { 200 } else { 403 };
            assert_eq!(answer.status, expected, "{request} from {site}");
        }
    }
    for request in ["OPTIONS /api/files", "OPTIONS /", "GET /api/hello", "GET /"] {
        let answer = served.ask(request, &with(&served, "Origin", Some(&others[0])), "");
        let allows = |(name, _): &(String, String)| name.starts_with("access-control");
        assert!(!answer.headers.iter().any(allows), "{answer:?}");
    }
}

#[test]
fn a_form_of_another_site_is_no_request() {
    let served = Served::new(Some("open"));
    let body = r#"{"below":""}"#;
    // What a page may send without asking first.
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
    ] {
        let mut headers = served.headers();
        headers.push(("Content-Type", kind.to_owned()));
        let answer = served.ask("POST /api/files", &headers, body);
        assert_eq!(answer.status, 415, "{kind}");
    }
    assert_eq!(
        served
            .ask("POST /api/files", &served.headers(), body)
            .status,
        415
    );
    assert_eq!(served.post("/api/files", body).status, 200);
    assert_eq!(served.get("/api/files").status, 405);
}

#[test]
fn without_the_token_there_is_nothing() {
    let served = Served::new(Some("open"));
    let name = format!("bentpipe-{}", served.port);
    let token = &served.token;
    let other: String = token.chars().rev().collect();
    for cookie in [
        String::new(),
        format!("{name}="),
        format!("{name}={other}"),
        format!("{name}={}", &token[1..]),
        format!("{name}={token}0"),
        format!("{name}=\"{token}\""),
        format!("bentpipe-1={token}"),
        format!("other={token}"),
        token.clone(),
    ] {
        for request in REQUESTS {
            let answer = served.ask(request, &with(&served, "Cookie", Some(&cookie)), "");
            assert_eq!(answer.status, 401, "{request} with `{cookie}`");
            assert!(!answer.body.contains("the page"));
        }
    }
    // The token counts in the address of the page, and nowhere else.
    let host = with(&served, "Cookie", None);
    for line in [
        "GET /api/hello",
        "POST /",
        "HEAD /api/hello",
        "GET /assets/main.js",
    ] {
        let answer = served.ask(&format!("{line}?token={token}"), &host, "");
        assert_eq!(answer.status, 401, "{line}");
    }
    assert_eq!(
        served
            .ask(&format!("GET /?token={other}"), &host, "")
            .status,
        401
    );
    let visit = served.ask(&format!("GET /?token={token}"), &host, "");
    assert_eq!((visit.status, visit.header("location")), (303, Some("/")));
    let cookie = visit.header("set-cookie").unwrap();
    assert!(cookie.starts_with(&format!("{name}={token};")), "{cookie}");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite="),
        "{cookie}"
    );
    assert!(!cookie.contains("Domain"), "{cookie}");
}

#[test]
fn every_answer_is_protected() {
    let served = Served::new(None);
    let no_cookie = with(&served, "Cookie", None);
    let answers = [
        served.get("/"),
        served.get("/assets/main.js"),
        served.get("/none"),
        served.get("/api/hello"),
        served.post("/api/files", "{}"),
        served.post("/api/files", "{"),
        served.ask("GET /", &no_cookie, ""),
        served.ask("GET /", &[("Host", "rebound.example".to_owned())], ""),
    ];
    for answer in &answers {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';"),
            "{policy}"
        );
        assert!(
            !policy.contains("unsafe") && !policy.contains('*'),
            "{policy}"
        );
        for part in [
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(
            answer.header("cross-origin-resource-policy"),
            Some("same-origin")
        );
        assert_eq!(answer.header("x-bentpipe-nonce"), None);
    }
    // The nonce of the page is in its policy, and another each time.
    let nonce = |n: usize| {
        answers[n]
            .body
            .split_once("the page ")
            .unwrap()
            .1
            .to_owned()
    };
    let policy = answers[0].header("content-security-policy").unwrap();
    assert!(nonce(0).len() == 32 && policy.contains(&format!("'nonce-{}'", nonce(0))));
    let again = served.get("/");
    assert!(!again.body.contains(&nonce(0)));
}

#[test]
fn what_one_server_may_mistake_for_two_requests_is_refused() {
    let served = Served::new(None);
    let host = format!(
        "Host: 127.0.0.1:{}\r\nCookie: {}\r\n",
        served.port,
        served.cookie()
    );
    let smuggled = format!("GET /api/hello HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
    let json = "Content-Type: application/json\r\n";
    for head in [
        format!(
            "POST /api/files HTTP/1.1\r\n{host}{json}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{{}}"
        ),
        format!("POST /api/files HTTP/1.1\r\n{host}{json}Content-Length: +2\r\n\r\n{{}}"),
        format!("POST /api/files HTTP/1.1\r\n{host}{json}Transfer-Encoding: identity\r\n\r\n"),
        format!("POST /api/files HTTP/1.1\r\n{host}{json}Transfer-Encoding: chunked\r\n\r\nx\r\n"),
        format!("GET /api/hello HTTP/1.1\r\n{host}Odd : x\r\n\r\n"),
        format!("GET /api/hello HTTP/1.1\r\n{host}Odd: a\0b\r\n\r\n"),
        format!("GET /api/ hello HTTP/1.1\r\n{host}\r\n"),
        format!("GET /api/hello HTTP/9.9\r\n{host}\r\n"),
        // Refused, with a body that looks like a request.
        format!(
            "POST /api/files HTTP/1.1\r\nHost: other\r\nContent-Length: {}\r\n\r\n",
            smuggled.len()
        ),
    ] {
        let answer = served.raw(format!("{head}{smuggled}").as_bytes());
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.contains("200 OK"), "{head}\n{answer}");
        assert!(answer.matches("HTTP/1.1 ").count() <= 1, "{head}\n{answer}");
    }
    // Both lengths: what hyper takes is the chunks (RFC 9112, section 6.3), and the rest is
    // no second request.
    let both = format!(
        "POST /api/files HTTP/1.1\r\n{host}{json}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    );
    let answer = served.raw(format!("{both}{smuggled}").as_bytes());
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.matches("HTTP/1.1 ").count() <= 2 && !answer.starts_with("HTTP/1.1 200"),
        "{answer}"
    );
    // Not this protocol.
    assert!(
        !String::from_utf8_lossy(&served.raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).contains("200")
    );
    for method in ["TRACE", "CONNECT", "PUT", "DELETE", "PROPFIND"] {
        let answer = served.ask(&format!("{method} /api/hello"), &served.headers(), "");
        assert!(answer.status >= 400, "{method} {answer:?}");
    }
}
