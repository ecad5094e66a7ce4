//! Every way in which a connection ends, through the tunnel.

use crate::bed::{ANY, Bed, Task, connect};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(10);

/// A server that does `work` with each connection.
pub(crate) async fn server<F, W>(work: W) -> (SocketAddr, Task)
where
    F: Future<Output = ()> + Send + 'static,
    W: Fn(TcpStream) -> F + Send + 'static,
{
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = Task::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            tokio::spawn(work(tcp));
        }
    });
    (address, task)
}

/// Bytes that are different at each place.
pub(crate) fn bytes(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(&mut next)
        .flatten()
        .take(length)
        .collect()
}

/// A server that sends back what it gets.
pub(crate) async fn echo() -> (SocketAddr, Task) {
    server(|mut tcp| async move {
        let (mut read, mut write) = tcp.split();
        let _ = tokio::io::copy(&mut read, &mut write).await;
        let _ = write.shutdown().await;
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_half_close_is_one_at_the_other_end() {
    let bed = Bed::start("").await;
    let (address, _server) = server(|mut tcp| async move {
        let mut got = Vec::new();
        tcp.read_to_end(&mut got).await.unwrap();
        got.reverse();
        tcp.write_all(&got).await.unwrap();
    })
    .await;
    for length in [0, 1, 1000, 100_000, 5_000_000] {
        let mut sent = bytes(length);
        let mut client = bed.connect(address).await;
        client.write_all(&sent).await.unwrap();
        client.shutdown().await.unwrap();
        let mut got = Vec::new();
        timeout(SOON, client.read_to_end(&mut got))
            .await
            .unwrap()
            .unwrap();
        sent.reverse();
        assert!(got == sent, "{length}: {} bytes came back", got.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_no_connection() {
    let bed = Bed::start("").await;
    let nobody = {
        let listener = TcpListener::bind(ANY).await.unwrap();
        listener.local_addr().unwrap()
    };
    let mut early = bed.connect(nobody).await;
    let read = timeout(SOON, early.read(&mut [0; 10])).await.unwrap();
    assert_eq!(
        read.unwrap_err().kind(),
        std::io::ErrorKind::ConnectionReset
    );
    let mut confirmed = connect(&bed.terminal, nobody, true).await;
    let mut reply = Vec::new();
    timeout(SOON, confirmed.read_to_end(&mut reply))
        .await
        .unwrap()
        .unwrap();
    // RFC 1928, section 6: connection refused.
    assert_eq!(reply[..2], [5, 5]);
}

/// Sends `length` bytes, gets them back, and ends in order.
pub(crate) async fn echoes(client: TcpStream, length: usize) {
    let (mut read, mut write) = client.into_split();
    let sent = bytes(length);
    let work = async {
        let mut got = Vec::new();
        let send = async {
            write.write_all(&sent).await.unwrap();
            write.shutdown().await.unwrap();
        };
        let (_, end) = tokio::join!(send, read.read_to_end(&mut got));
        end.unwrap();
        assert!(got == sent, "{} of {length} bytes came back", got.len());
    };
    timeout(SOON, work).await.unwrap();
}
