//! Requests of any bytes, as a fuzz target makes them: answered by the routes and the guard
//! of the server, without a socket.

use crate::app::{App, RealHosts};
use crate::guard::Guard;
use crate::server::router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use bentpipe::compare::Build;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use std::time::Duration;

const TOKEN: &str = "fuzz";
const PORT: u16 = 1;

/// A server for one request after the other. It opened no folder, so it reads and writes no
/// files that requests name.
#[derive(Debug)]
pub struct Fuzzed {
    runtime: tokio::runtime::Runtime,
    router: axum::Router,
}

impl Fuzzed {
    /// # Panics
    /// If the system gives no threads.
    #[must_use]
    pub fn new() -> Fuzzed {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let real_hosts = RealHosts {
            lacking: || Some("nothing runs in real time here".to_owned()),
            on_both: |_, _, _, _| Err("nothing runs in real time here".to_owned()),
        };
        let build = Build::with_kernel(false);
        let app = App::new(real_hosts, build, None, "bentpipe explore".to_owned(), None);
        Fuzzed {
            runtime: runtime.expect("threads"),
            router: router(app, Guard::new(TOKEN, PORT)),
        }
    }

    /// The status and the bytes of the answer to `body` at `path`; `None` if it was not
    /// there within `patience`, when the client goes away, or `path` is none.
    #[must_use]
    pub fn ask(&self, path: &str, body: &[u8], patience: Duration) -> Option<(u16, Vec<u8>)> {
        let request = Request::post(path)
            .header(header::HOST, format!("127.0.0.1:{PORT}"))
            .header(header::COOKIE, format!("bentpipe-{PORT}={TOKEN}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_vec()))
            .ok()?;
        let router = TowerToHyperService::new(self.router.clone());
        self.runtime.block_on(async move {
            let answer = async move {
                let response = router.call(request).await.ok()?;
                let (head, body) = response.into_parts();
                let body = to_bytes(body, 64 << 20).await.ok()?;
                Some((head.status, body.to_vec()))
            };
            let answer = tokio::time::timeout(patience, answer).await.ok()?;
            answer.map(|(status, body): (StatusCode, Vec<u8>)| (status.as_u16(), body))
        })
    }
}

impl Default for Fuzzed {
    fn default() -> Fuzzed {
        Fuzzed::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_gets_through_the_guard_to_its_view() {
        let fuzzed = Fuzzed::new();
        let ask = |path, body: &str| fuzzed.ask(path, body.as_bytes(), Duration::from_secs(60));
        let (status, body) = ask("/api/sky/places", "{}").unwrap();
        assert!(status < 500, "{status}");
        assert!(!body.is_empty());
        let (status, body) = ask("/api/link", "{\"options\": [[\"rtt\", \"soon\"]]}").unwrap();
        let body = String::from_utf8(body).unwrap();
        assert!(status == 400 || status == 422, "{status} {body}");
        assert_eq!(ask("no path at all", ""), None);
    }
}
