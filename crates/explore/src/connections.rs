//! Connections, few and with time limits, so that none of them can hold the server.

use crate::peer;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Connections at the same time; others wait with the system. A browser has six.
const MOST_CONNECTIONS: usize = 128;

/// Bytes of a request's head, at most.
const MOST_HEAD: usize = 32 << 10;

/// Headers of a request, at most.
const MOST_HEADERS: usize = 64;

/// How long a request's head may take to come; a connection without a request is closed
/// as well.
const LONGEST_HEAD: Duration = Duration::from_secs(10);

/// How long the server waits when the system gives no connection, as when the process has
/// too many files open.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers requests for as long as it is polled.
pub(crate) async fn serve(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
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
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(LONGEST_HEAD)
                .max_buf_size(MOST_HEAD)
                .max_headers(MOST_HEADERS)
                .serve_connection(TokioIo::new(stream), service);
            // What a client did wrong is not the server's.
            let _ = connection.await;
            drop(place);
        });
    }
}
