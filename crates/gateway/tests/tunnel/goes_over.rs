//! Connections that wait for QUIC and go over to TLS over TCP: none is lost, and none is served twice.

use crate::bed::{Bed, Task};
use crate::closes::{bytes, echoes, server};
use bentpipe_gateway::tunnel::association::Health;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Before UDP passes again, which it does not.
const SOON: Duration = Duration::from_secs(15);

/// A server that reads 4 bytes, the size of an answer, and gives it; it counts its clients.
async fn counted(closes: bool) -> (SocketAddr, Task, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let counts = Arc::clone(&count);
    let (address, task) = server(move |mut tcp| {
        let counts = Arc::clone(&counts);
        async move {
            let size = tcp.read_u32().await.unwrap();
            counts.fetch_add(1, Ordering::Relaxed);
            tcp.write_all(&bytes(size as usize)).await.unwrap();
            if closes {
                tcp.shutdown().await.unwrap();
            }
            let _ = tcp.read(&mut [0]).await;
        }
    })
    .await;
    (address, task, count)
}

async fn asks(mut client: TcpStream, size: u32) {
    client.write_u32(size).await.unwrap();
    let mut answer = vec![0; size as usize];
    client.read_exact(&mut answer).await.unwrap();
    assert!(answer == bytes(size as usize));
}

/// As [`asks`], of a client that ends its own direction at once, so that both have ended at the hub.
async fn asks_and_ends(mut client: TcpStream, size: u32) {
    client.write_u32(size).await.unwrap();
    client.shutdown().await.unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    assert!(answer == bytes(size as usize), "{}", answer.len());
}

async fn all(requests: JoinSet<()>) {
    timeout(SOON, requests.join_all()).await.unwrap();
}

/// The hub has executed nothing of what is asked during the loss.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_did_not_reach_the_hub_are_answered_over_tcp() {
    let mut bed = Bed::start("").await;
    bed.proxy.pass_tcp();
    let (server, _server, count) = counted(false).await;
    bed.proxy.go_dark_upward(true);
    let mut requests = JoinSet::new();
    for size in [0, 1, 1000, 300_000] {
        for _ in 0..3 {
            requests.spawn(asks(bed.connect(server).await, size));
            requests.spawn(asks_and_ends(bed.connect(server).await, size));
        }
    }
    all(requests).await;
    assert_eq!(bed.terminal.status().borrow().health, Health::Fallback);
    // QUIC would bring them to the hub as well.
    bed.proxy.go_dark_upward(false);
    let mut status = bed.terminal.status();
    let up = status.wait_for(|status| status.health == Health::Up);
    timeout(SOON, up).await.unwrap().unwrap();
    asks(bed.connect(server).await, 5).await;
    assert_eq!(count.load(Ordering::Relaxed), 25);
}

/// The hub has executed what is asked, and its answers are lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_whose_answers_are_lost_are_answered_over_tcp_and_executed_once() {
    for closes in [false, true] {
        let mut bed = Bed::start("").await;
        bed.proxy.pass_tcp();
        let (server, _server, count) = counted(closes).await;
        bed.proxy.go_dark_downward(true);
        let mut requests = JoinSet::new();
        for size in [1, 1000, 300_000] {
            for _ in 0..3 {
                requests.spawn(asks(bed.connect(server).await, size));
                requests.spawn(asks_and_ends(bed.connect(server).await, size));
            }
        }
        all(requests).await;
        assert_eq!(bed.terminal.status().borrow().health, Health::Fallback);
        bed.proxy.go_dark_downward(false);
        let mut status = bed.terminal.status();
        let up = status.wait_for(|status| status.health == Health::Up);
        timeout(SOON, up).await.unwrap().unwrap();
        asks(bed.connect(server).await, 5).await;
        assert_eq!(count.load(Ordering::Relaxed), 19);
    }
}

/// Transfers that are under way in both directions, at any point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_under_way_go_over_whole() {
    for up in [true, false] {
        let mut bed = Bed::start("").await;
        bed.proxy.pass_tcp();
        let (server, _server) = crate::closes::echo().await;
        let mut transfers = JoinSet::new();
        for i in 0..12 {
            transfers.spawn(echoes(bed.connect(server).await, 3_000_000 + i));
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
        if up {
            bed.proxy.go_dark_upward(true);
        } else {
            bed.proxy.go_dark_downward(true);
        }
        all(transfers).await;
    }
}
