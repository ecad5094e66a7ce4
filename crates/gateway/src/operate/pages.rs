//! Keeps web pages from the metrics address. A browser on a machine that reaches it sends what a page
//! tells it to, and a page whose name is made to resolve to that address ("DNS rebinding") counts as one
//! of the gateway's own: it could read the status and set the rate.

use hyper::header::{HOST, ORIGIN};
use hyper::{Method, Request};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Why a request over TCP is refused, if it is.
pub(super) fn refusal<B>(request: &Request<B>) -> Option<&'static str> {
    // Prometheus asks by the names of its targets, and the numbers tell a page little.
    if request.method() == Method::GET && request.uri().path() == "/metrics" {
        return None;
    }
    // A page that was rebound is asked for by its name, in any case.
    let written = request.headers().get_all(HOST).iter();
    let mut written = written.map(|host| host.to_str().unwrap_or("?"));
    let asked = request.uri().authority().map(|it| it.as_str());
    if !written.all(is_address) || !asked.is_none_or(is_address) {
        return Some(
            "refused, so that no web page gets here by a name that it had resolved to this \
             address: ask by an IP address or localhost, not by another name\n",
        );
    }
    // Browsers write it into each PUT.
    if request.method() == Method::PUT && request.headers().contains_key(ORIGIN) {
        return Some(
            "refused, since web pages may not set the rate: leave the header Origin out\n",
        );
    }
    None
}

/// An IP address or `localhost`, with a port or without; empty is as good as absent.
fn is_address(host: &str) -> bool {
    if let Some(rest) = host.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else {
            return false;
        };
        let port = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return port && address.parse::<Ipv6Addr>().is_ok();
    }
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let name = name.is_empty()
        || name.eq_ignore_ascii_case("localhost")
        || name.parse::<Ipv4Addr>().is_ok();
    name && is_port(port)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_names() {
        for host in [
            "",
            "127.0.0.1",
            "192.0.2.1:9464",
            "[::1]",
            "[2001:db8::7]:9464",
            "localhost",
            "LocalHost:9464",
        ] {
            assert!(is_address(host), "{host}");
        }
        for host in [
            "evil.example:9464",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "ship",
            "user@127.0.0.1",
            "127.0.0.1:9464.evil.example",
            "[::1].evil.example",
            "[evil.example]",
            "[::1",
            "?",
        ] {
            assert!(!is_address(host), "{host}");
        }
    }

    #[test]
    fn web_pages_are_refused() {
        let why = |method, uri: &str, headers: &[(&'static str, &str)]| {
            let mut request = Request::builder().method(method).uri(uri);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            refusal(&request.body(()).unwrap())
        };
        let here = ("host", "127.0.0.1:9464");
        let page = ("origin", "http://127.0.0.1:8080");
        assert_eq!(why(Method::GET, "/metrics", &[here]), None);
        assert_eq!(why(Method::GET, "/status", &[]), None);
        assert_eq!(why(Method::PUT, "/rate", &[here]), None);
        let origin = why(Method::PUT, "/rate", &[here, page]).unwrap();
        assert!(origin.contains("Origin"), "{origin}");
        let evil = ("host", "evil.example:9464");
        assert_eq!(why(Method::GET, "/metrics", &[evil]), None);
        for refused in [
            why(Method::PUT, "/rate", &[evil]),
            why(Method::GET, "/status", &[evil]),
            why(Method::PUT, "/metrics", &[evil]),
            why(Method::GET, "/status", &[here, evil]),
            why(Method::GET, "http://evil.example/status", &[here]),
        ] {
            assert!(refused.unwrap().contains("IP address"));
        }
    }
}
