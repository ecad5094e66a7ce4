//! Every kind of close through two TCP connections joined, over the loopback.

mod closes;
mod transfers;

use super::{Closed, Dialer, Meter, Pipes, Timeouts, connect, guard, splice};
use ring::digest::{Context, Digest, SHA256};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A client and a server with a relay between them.
struct Relayed {
    client: TcpStream,
    server: TcpStream,
    relay: JoinHandle<Closed>,
}

async fn relayed() -> Relayed {
    relayed_with(Pipes::new(16, 256 << 10), Timeouts::default()).await
}

async fn relayed_with(pipes: Pipes, timeouts: Timeouts) -> Relayed {
    let local = SocketAddr::from(([127, 0, 0, 1], 0));
    let front = TcpListener::bind(local).await.unwrap();
    guard(&front).unwrap();
    let behind = TcpListener::bind(local).await.unwrap();
    let to = behind.local_addr().unwrap();
    let client = TcpStream::connect(front.local_addr().unwrap());
    let (client, arrived) = tokio::join!(client, front.accept());
    let dialer = Dialer::default();
    let (onward, server) = tokio::join!(connect(to, None, &dialer), behind.accept());
    let (arrived, onward) = (arrived.unwrap().0, onward.unwrap());
    let relay =
        tokio::spawn(
            async move { splice(arrived, onward, &pipes, &timeouts, &Meter::default()).await },
        );
    Relayed {
        client: client.unwrap(),
        server: server.unwrap().0,
        relay,
    }
}

/// Bytes of which no part looks like another.
fn pattern(length: usize) -> Arc<Vec<u8>> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let bytes = (0..length).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    });
    Arc::new(bytes.collect())
}

fn digest(bytes: &[u8]) -> Digest {
    ring::digest::digest(&SHA256, bytes)
}

/// Reads to the orderly end and returns the digest and the number of bytes.
async fn read_digest(tcp: &mut TcpStream) -> std::io::Result<(Digest, usize)> {
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 64 << 10];
    let mut length = 0;
    loop {
        match tcp.read(&mut buffer).await? {
            0 => return Ok((context.finish(), length)),
            got => {
                context.update(&buffer[..got]);
                length += got;
            }
        }
    }
}

/// Reads until the connection ends: the bytes, and whether it ended with RST.
async fn read_out(tcp: &mut TcpStream) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(10), tcp.read_to_end(&mut bytes))
        .await
        .expect("the end arrives");
    match ended {
        Ok(_) => (bytes, false),
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
            (bytes, true)
        }
    }
}

fn close_with_reset(tcp: TcpStream) {
    super::reset(tcp);
}

async fn ended(relay: JoinHandle<Closed>) -> Closed {
    tokio::time::timeout(Duration::from_secs(10), relay)
        .await
        .expect("the relay ends")
        .unwrap()
}

/// Writes `bytes` in the background until they are written or refused.
fn writing(mut tcp: tokio::net::tcp::OwnedWriteHalf, bytes: Arc<Vec<u8>>) -> JoinHandle<bool> {
    tokio::spawn(async move { tcp.write_all(&bytes).await.is_ok() })
}

/// Writes without end, until the connection breaks.
fn flooding(mut tcp: tokio::net::tcp::OwnedWriteHalf) -> JoinHandle<()> {
    tokio::spawn(async move {
        let bytes = vec![7; 1 << 20];
        while tcp.write_all(&bytes).await.is_ok() {}
    })
}

/// Lets the window of a reader shut soon.
fn narrow(tcp: &TcpStream) {
    socket2::SockRef::from(tcp)
        .set_recv_buffer_size(16 << 10)
        .unwrap();
}

/// Apart from its sockets, an idle connection's memory is this future.
#[tokio::test]
async fn a_relayed_connection_is_small() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = listener.local_addr().unwrap();
    let client = TcpStream::connect(to).await.unwrap();
    let server = TcpStream::connect(to).await.unwrap();
    let (pipes, timeouts, meter) = (Pipes::new(1, 1), Timeouts::default(), Meter::default());
    let size = size_of_val(&splice(client, server, &pipes, &timeouts, &meter));
    assert!(size <= 2000, "{size} bytes");
}
