//! Connections, few and with time limits, so that none of them can hold the server.
//!
//! A browser opens connections before it needs them and keeps them between requests. One on which
//! nothing of a request has come is therefore kept for minutes, unless others wait for its place:
//! the limit of seconds is for a head that has begun. A connection ends with a FIN, and what the
//! browser sent meanwhile is read: closing a socket with unread bytes sends a reset, which may
//! overtake the answer (RFC 9112, section 9.6).

mod progress;

use crate::peer;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use progress::{Answering, Phase, Progress, Watched};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Bytes of a request's head, at most.
const MOST_HEAD: usize = 32 << 10;

/// Headers of a request, at most.
const MOST_HEADERS: usize = 64;

/// How long the server waits when the system gives no connection, as when the process has
/// too many files open.
const PAUSE: Duration = Duration::from_millis(100);

/// Bounds on connections.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Connections at the same time; others wait with the system. A browser has six.
    connections: usize,
    /// How long a request's head may take to come from its first byte on, and how long a
    /// connection without a request is kept while others wait.
    head: Duration,
    /// How long a connection without a request is kept otherwise: longer than browsers keep
    /// them (Chromium 300 s, Firefox 115 s), so that it is the browser that closes.
    idle: Duration,
    /// How long what comes after the last answer is read.
    linger: Duration,
}

const LIMITS: Limits = Limits {
    connections: 128,
    head: Duration::from_secs(10),
    idle: Duration::from_secs(400),
    linger: Duration::from_secs(2),
};

/// Answers requests for as long as it is polled.
pub(crate) async fn serve(listener: TcpListener, router: Router) {
    serve_within(listener, router, LIMITS).await;
}

async fn serve_within(listener: TcpListener, router: Router, limits: Limits) {
    let places = Arc::new(Semaphore::new(limits.connections));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        let stream = match listener.accept().await {
            Ok((stream, peer)) => match stream.local_addr() {
                Ok(here) if peer::may_ask(peer, here) => stream,
                _ => continue,
            },
            Err(_) => {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // Lines of results are small and come one by one.
        let _ = stream.set_nodelay(true);
        let (router, places) = (router.clone(), Arc::clone(&places));
        tokio::spawn(async move {
            let stream = answer(stream, router, &places, limits).await;
            end(stream, limits.linger).await;
            drop(place);
        });
    }
}

/// Answers the requests of a connection until it has had its last one or a limit is hit.
async fn answer(
    stream: TcpStream,
    router: Router,
    places: &Semaphore,
    limits: Limits,
) -> TcpStream {
    let progress = Arc::new(Progress::new());
    let service = Answering::new(TowerToHyperService::new(router), &progress);
    let mut connection = http1::Builder::new()
        // Its limit would include the time before a head.
        .header_read_timeout(None)
        .max_buf_size(MOST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(Watched::new(stream, &progress)), service);
    tokio::select! {
        // What a client did wrong is not the server's.
        _ = poll_fn(|context| connection.poll_without_shutdown(context)) => {}
        () = expired(&progress, places, limits) => {}
    }
    connection.into_parts().io.into_inner().into_inner()
}

/// Waits until the connection has been without a request, or in the middle of a head, for
/// too long.
async fn expired(progress: &Progress, places: &Semaphore, limits: Limits) {
    loop {
        let (phase, lasts) = progress.now();
        let is_full = places.available_permits() == 0;
        let limit = match phase {
            Phase::Answer => Duration::MAX,
            Phase::Idle if !is_full => limits.idle,
            Phase::Idle | Phase::Head => limits.head,
        };
        let left = limit.saturating_sub(lasts);
        if left.is_zero() {
            return;
        }
        // Meanwhile a head may begin, or others come.
        tokio::time::sleep(left.min(limits.head / 4)).await;
    }
}

/// Closes a connection with a FIN, and for a while reads what still comes.
async fn end(mut stream: TcpStream, linger: Duration) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let drain = async {
        let mut bytes = [0; 4096];
        while matches!(stream.read(&mut bytes).await, Ok(1..)) {}
    };
    let _ = tokio::time::timeout(linger, drain).await;
}

#[cfg(test)]
mod tests;
