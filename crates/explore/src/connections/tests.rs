//! Connections of a browser that wait, and of those who would hold the server up.

use super::*;
use axum::http::{StatusCode, header};
use axum::routing::{get, post};
use std::io;
use std::net::SocketAddr;
use tokio::time::{Instant, sleep, timeout};

const HEAD: Duration = Duration::from_millis(400);
/// What a connection may do without, far beyond any limit that it is held to.
const LONG: Duration = Duration::from_secs(30);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n";

const SHORT: Limits = Limits {
    connections: 8,
    head: HEAD,
    idle: LONG,
    linger: LONG,
};

async fn start(limits: Limits) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let refuse = || async {
        let close = [(header::CONNECTION, "close")];
        (StatusCode::PAYLOAD_TOO_LARGE, close, "too large")
    };
    let router = Router::new()
        .route("/", get(|| async { "the page" }))
        .route("/refuse", post(refuse));
    tokio::spawn(serve_within(listener, router, limits));
    address
}

/// Asks, and reads an answer to its last byte.
async fn ask(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(REQUEST).await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"the page") {
        let mut bytes = [0; 1024];
        let n = stream.read(&mut bytes).await?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        answer.extend_from_slice(&bytes[..n]);
    }
    Ok(())
}

/// Reads to the end, which is a FIN and no reset.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    let read = stream.read_to_end(&mut rest);
    timeout(LONG, read).await.expect("an end").expect("a FIN");
    rest
}

#[tokio::test]
async fn connections_that_wait_longer_than_a_head_may_take_are_answered() {
    let address = start(SHORT).await;
    // As a browser does before it needs it.
    let mut early = TcpStream::connect(address).await.unwrap();
    sleep(3 * HEAD).await;
    ask(&mut early).await.unwrap();
    // The same between two requests.
    sleep(3 * HEAD).await;
    ask(&mut early).await.unwrap();
}

#[tokio::test]
async fn a_head_that_comes_byte_by_byte_is_cut_on_a_new_and_on_a_used_connection() {
    let address = start(SHORT).await;
    for used in [false, true] {
        let mut slow = TcpStream::connect(address).await.unwrap();
        if used {
            ask(&mut slow).await.unwrap();
        }
        let began = Instant::now();
        let (mut read, mut write) = slow.split();
        let drip = async {
            for byte in REQUEST.iter().cycle().filter(|byte| **byte != b'\n') {
                if write.write_all(&[*byte]).await.is_err() {
                    break;
                }
                sleep(HEAD / 20).await;
            }
        };
        let mut byte = [0];
        let end = tokio::select! {
            () = drip => panic!("a reset"),
            end = timeout(LONG, read.read(&mut byte)) => end.expect("an end"),
        };
        assert_eq!(end.unwrap(), 0, "a FIN, without an answer");
        assert!(began.elapsed() >= HEAD);
    }
}

#[tokio::test]
async fn an_idle_connection_ends_with_a_fin_also_for_a_request_that_comes_too_late() {
    let limits = Limits {
        idle: HEAD,
        ..SHORT
    };
    let address = start(limits).await;
    let mut idle = TcpStream::connect(address).await.unwrap();
    // The FIN is there, and has not been read: the browser asks at this moment.
    sleep(3 * HEAD).await;
    idle.write_all(REQUEST).await.unwrap();
    sleep(HEAD).await;
    assert_eq!(rest(&mut idle).await, b"");
}

#[tokio::test]
async fn idle_connections_give_their_places_to_those_who_wait() {
    let limits = Limits {
        connections: 2,
        linger: HEAD,
        ..SHORT
    };
    let address = start(limits).await;
    let mut idle = [
        TcpStream::connect(address).await.unwrap(),
        TcpStream::connect(address).await.unwrap(),
    ];
    ask(&mut idle[0]).await.unwrap();
    let mut next = TcpStream::connect(address).await.unwrap();
    let answered = timeout(LONG / 2, ask(&mut next)).await;
    answered.expect("a place").expect("an answer");
}

#[tokio::test]
async fn an_answer_that_comes_before_the_end_of_its_request_arrives_whole() {
    let address = start(SHORT).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = "POST /refuse HTTP/1.1\r\nHost: here\r\nContent-Length: 8000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = vec![0; 1_000_000];
    for _ in 0..8 {
        stream.write_all(&chunk).await.expect("it is read");
    }
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with(b"HTTP/1.1 413"));
    assert!(answer.ends_with(b"too large"));
}
