//! The control socket and the metrics address: HTTP over a Unix socket, and over
//! TCP where that is configured.
//!
//! | request | over | answer |
//! |---|---|---|
//! | `GET /status` | both | the status as JSON |
//! | `GET /metrics` | both | the metrics in the format of Prometheus |
//! | `PUT /rate` with `18 Mbit/s` or `measured` | both | the rate that holds now |
//!
//! Over TCP, requests that a web page may have sent are refused.

use super::state::SharedState;
use super::{metrics, pages};
use bentpipe_units::Rate;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinHandle;

/// Bytes of a request's body, at most.
const LARGEST_BODY: usize = 1024;

/// Connections that are served at a time at each socket, at most. The one that is open for longest makes
/// room for the next, so that clients that send or read nothing keep nobody waiting.
const AT_A_TIME: usize = 32;

/// Time for the head of a request, and for its body.
const ARRIVAL: Duration = Duration::from_secs(1);

/// Time for a request and its answer, which may have to pass a satellite.
const PATIENCE: Duration = Duration::from_secs(5);

/// The control socket; its file is removed with it.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    inode: Option<u64>,
}

impl Drop for Control {
    fn drop(&mut self) {
        // After a hand-over the file is the new process'.
        if inode(&self.path) == self.inode {
            drop(std::fs::remove_file(&self.path));
        }
    }
}

fn inode(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    Some(std::fs::symlink_metadata(path).ok()?.ino())
}

impl Control {
    /// Opens the socket at `path`, for the owner and the group of the process. What
    /// is left of a process that was killed is replaced; `takes_over` says that a
    /// running one is replaced, too.
    ///
    /// # Errors
    /// When the folder or the socket cannot be made, or another gateway has it.
    pub fn open(path: &Path, takes_over: bool) -> io::Result<Control> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let alive = || std::os::unix::net::UnixStream::connect(path).is_ok();
        if !takes_over && alive() {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                "a gateway of this name is running",
            ));
        }
        // Renamed into place, so that there is one at any time.
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}", std::process::id()));
        let fresh = PathBuf::from(name);
        drop(std::fs::remove_file(&fresh));
        let listener = UnixListener::bind(&fresh)?;
        std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(0o660))?;
        std::fs::rename(&fresh, path)?;
        Ok(Control {
            listener,
            path: path.to_owned(),
            inode: inode(path),
        })
    }

    /// Serves until it is dropped.
    pub async fn serve(self, state: Arc<SharedState>) {
        serve(state, Over::Unix, |context| {
            self.listener.poll_accept(context)
        })
        .await;
    }
}

/// Over what a request came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    /// The control socket, which its file's permissions protect.
    Unix,
    /// The metrics address, which anyone may reach.
    Tcp,
}

/// Serves metrics and the rate at a TCP address until it is dropped.
pub async fn serve_tcp(listener: TcpListener, state: Arc<SharedState>) {
    serve(state, Over::Tcp, |context| listener.poll_accept(context)).await;
}

async fn serve<S, A>(
    state: Arc<SharedState>,
    over: Over,
    accept: impl Fn(&mut Context<'_>) -> Poll<io::Result<(S, A)>>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut served: VecDeque<JoinHandle<()>> = VecDeque::new();
    loop {
        match std::future::poll_fn(&accept).await {
            Ok((stream, _)) => {
                served.retain(|one| !one.is_finished());
                if served.len() >= AT_A_TIME {
                    // Who has sent its request gets its answer before others take its place.
                    tokio::task::yield_now().await;
                    served.retain(|one| !one.is_finished());
                }
                while served.len() >= AT_A_TIME {
                    let oldest = served.pop_front();
                    oldest.inspect(JoinHandle::abort);
                }
                let state = Arc::clone(&state);
                served.push_back(tokio::spawn(exchange(stream, over, state)));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    over: Over,
    state: Arc<SharedState>,
) {
    let serve = hyper::service::service_fn(move |request: Request<Incoming>| {
        let state = Arc::clone(&state);
        async move { Ok::<_, Infallible>(answer(request, over, &state).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ARRIVAL)
        .keep_alive(false)
        .max_buf_size(16 << 10)
        .serve_connection(TokioIo::new(stream), serve);
    // An error is the client's affair.
    drop(tokio::time::timeout(PATIENCE, connection).await);
}

async fn answer(
    request: Request<Incoming>,
    over: Over,
    state: &SharedState,
) -> Response<Full<Bytes>> {
    if over == Over::Tcp
        && let Some(why) = pages::refusal(&request)
    {
        return text(StatusCode::FORBIDDEN, why.into());
    }
    let path = request.uri().path().to_owned();
    match (request.method(), path.as_str()) {
        (&Method::GET, "/status") => json(StatusCode::OK, &state.status()),
        (&Method::GET, "/metrics") => text(StatusCode::OK, metrics::text(state)),
        (&Method::PUT, "/rate") => rate(request, state).await,
        (_, "/status" | "/metrics" | "/rate") => text(
            StatusCode::METHOD_NOT_ALLOWED,
            "GET /status, GET /metrics, PUT /rate\n".into(),
        ),
        _ => text(
            StatusCode::NOT_FOUND,
            "there are /status, /metrics and /rate\n".into(),
        ),
    }
}

async fn rate(request: Request<Incoming>, state: &SharedState) -> Response<Full<Bytes>> {
    let body = Limited::new(request.into_body(), LARGEST_BODY).collect();
    let Ok(body) = tokio::time::timeout(ARRIVAL, body).await else {
        return text(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not arrive\n".into(),
        );
    };
    let Ok(body) = body else {
        return text(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the body is too long\n".into(),
        );
    };
    let body = body.to_bytes();
    let words = String::from_utf8_lossy(&body);
    match read_rate(&words) {
        Ok(rate) => {
            if state.set_rate(rate) {
                tracing::info!(rate = %shown(rate), "the rate of the link was set");
            }
            text(StatusCode::OK, format!("{}\n", shown(rate)))
        }
        Err(why) => text(StatusCode::BAD_REQUEST, format!("{why}\n")),
    }
}

/// A rate as a modem or an operator writes it; `None` for `measured`.
///
/// # Errors
/// With what was found and expected.
pub fn read_rate(text: &str) -> Result<Option<Rate>, String> {
    match text.trim() {
        "measured" => Ok(None),
        text => match text.parse::<Rate>() {
            Ok(rate) if rate.bps() >= 1000 => Ok(Some(rate)),
            Ok(rate) => Err(format!("`{rate}` is too low; expected at least 1 kbit/s")),
            Err(error) => Err(format!("{}; expected {}", error.found, error.expected)),
        },
    }
}

fn shown(rate: Option<Rate>) -> String {
    rate.map_or_else(|| "measured".to_owned(), |rate| rate.to_string())
}

fn json(status: StatusCode, value: &serde_json::Value) -> Response<Full<Bytes>> {
    respond(status, "application/json", format!("{value}\n"))
}

fn text(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    respond(status, "text/plain; version=0.0.4; charset=utf-8", text)
}

fn respond(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static(kind);
    response
        .headers_mut()
        .insert(hyper::header::CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;
    use crate::operate::client;

    fn state() -> Arc<SharedState> {
        let text = "role = \"hub\"\n[link]\nrate = \"2 Mbit/s\"\n[tunnel]\npeers = [\"k\"]\n";
        SharedState::new(&config_from_str(text).unwrap())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn status_and_rate_pass_over_the_control_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/ship.sock");
        let state = state();
        let control = Control::open(&path, false).unwrap();
        let serving = tokio::spawn(control.serve(Arc::clone(&state)));
        let asked = path.clone();
        tokio::task::spawn_blocking(move || {
            let status = client::status(&asked).unwrap();
            assert_eq!(status["role"], "hub");
            assert_eq!(client::set_rate(&asked, "18 Mbit/s").unwrap(), "18 Mbit/s");
            assert_eq!(client::set_rate(&asked, " measured\n").unwrap(), "measured");
            let wrong = client::set_rate(&asked, "18 Mbits")
                .unwrap_err()
                .to_string();
            assert!(wrong.contains("expected a rate"), "{wrong}");
            client::set_rate(&asked, "3 Mbit/s").unwrap();
        })
        .await
        .unwrap();
        assert_eq!(*state.rate().borrow(), Some(Rate::from_mbps(3)));
        let taken = Control::open(&path, false).unwrap_err().to_string();
        assert!(taken.contains("is running"), "{taken}");
        serving.abort();
        drop(serving.await);
        assert!(!path.exists());
    }

    /// What the metrics address answers to a request with these lines in its head.
    fn asked(address: std::net::SocketAddr, lines: &str, body: &str) -> String {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let length = body.len();
        write!(stream, "{lines}\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_modem_sets_the_rate_over_tcp_and_a_web_page_does_not() {
        let state = state();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(serve_tcp(listener, Arc::clone(&state)));
        tokio::task::spawn_blocking(move || {
            let put = |headers: &str| {
                let lines = format!("PUT /rate HTTP/1.1\r\n{headers}");
                asked(address, &lines, "18 Mbit/s")
            };
            let rebound = put("Host: evil.example:9464");
            assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
            assert!(rebound.contains("IP address"), "{rebound}");
            let page = put(&format!("Host: {address}\r\nOrigin: http://evil.example"));
            assert!(page.starts_with("HTTP/1.1 403"), "{page}");
            assert!(page.contains("Origin"), "{page}");
            let read = asked(address, "GET /status HTTP/1.1\r\nHost: evil.example", "");
            assert!(read.starts_with("HTTP/1.1 403"), "{read}");
            assert_eq!(*state.rate().borrow(), Some(Rate::from_mbps(2)));
            let modem = put(&format!("Host: {address}"));
            assert!(modem.starts_with("HTTP/1.1 200"), "{modem}");
            assert_eq!(*state.rate().borrow(), Some(Rate::from_mbps(18)));
        })
        .await
        .unwrap();
        serving.abort();
    }

    /// Opens connections that send nothing, a part of a request, or one whose answer they do not read;
    /// then asks for the metrics, which have to come at once, and returns the connections.
    fn scrape_beside_a_hundred<S: std::io::Read + std::io::Write>(
        connect: impl Fn() -> S,
    ) -> Vec<S> {
        let silent: Vec<S> = (0..100)
            .map(|number| {
                let mut stream = connect();
                let sent: &[u8] = match number % 3 {
                    0 => b"",
                    1 => b"PUT /rate HTTP/1.1\r\nContent-Length: 9\r\n\r\n1",
                    _ => b"GET /metrics HTTP/1.1\r\n\r\n",
                };
                // It may be dropped by now.
                drop(stream.write_all(sent));
                stream
            })
            .collect();
        let started = std::time::Instant::now();
        let mut stream = connect();
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("bentpipe_gateway_uptime_seconds"));
        let took = started.elapsed();
        assert!(took < Duration::from_secs(1), "{took:?}");
        silent
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn clients_that_send_or_read_nothing_delay_nobody() {
        let state = state();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ship.sock");
        let control = Control::open(&path, false).unwrap();
        let tcp = tokio::spawn(serve_tcp(listener, Arc::clone(&state)));
        let unix = tokio::spawn(control.serve(Arc::clone(&state)));
        tokio::task::spawn_blocking(move || {
            let tcp = || std::net::TcpStream::connect(address).unwrap();
            let mut silent = scrape_beside_a_hundred(tcp);
            let unix = || std::os::unix::net::UnixStream::connect(&path).unwrap();
            drop(scrape_beside_a_hundred(unix));
            // The latest of them was not in the way, and is closed nevertheless: 99 has sent nothing.
            let started = std::time::Instant::now();
            let mut one = silent.pop().unwrap();
            one.set_read_timeout(Some(2 * ARRIVAL)).unwrap();
            let read = std::io::Read::read(&mut one, &mut [0; 1000]);
            assert!(read.is_ok(), "{read:?} after {:?}", started.elapsed());
        })
        .await
        .unwrap();
        tcp.abort();
        unix.abort();
    }

    #[tokio::test]
    async fn what_a_killed_process_left_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ship.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let control = Control::open(&path, false).unwrap();
        let newer = Control::open(&path, true).unwrap();
        drop(control);
        assert!(path.exists(), "the file is the newer process'");
        drop(newer);
        assert!(!path.exists());
    }

    #[test]
    fn rates_are_read_as_everywhere() {
        assert_eq!(
            read_rate("18.5 Mbit/s\n"),
            Ok(Some(Rate::from_bps(18_500_000)))
        );
        assert!(read_rate("0 bit/s").unwrap_err().contains("too low"));
        assert!(read_rate("").is_err());
    }
}
