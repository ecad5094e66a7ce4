//! Lost packets at the end of what is sent, which repairs restore.

use crate::bed::Bed;
use crate::closes::server;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Of so many packets one is lost.
const ONE_OF: u64 = 12;
const REQUESTS: usize = 150;
const LENGTH: usize = 4000;

async fn echo() -> (SocketAddr, impl Drop) {
    server(|mut tcp| async move {
        let (mut from, mut to) = tcp.split();
        let _ = tokio::io::copy(&mut from, &mut to).await;
    })
    .await
}

/// One small transfer after the other over a link that loses packets.
async fn transfers(bed: &Bed, server: SocketAddr) {
    bed.proxy.be_noisy(ONE_OF);
    for round in 0..REQUESTS {
        let mut client = bed.connect(server).await;
        let request: Vec<u8> = (0..LENGTH).map(|at| (at * 7 + round) as u8).collect();
        client.write_all(&request).await.unwrap();
        client.shutdown().await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, request);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_transfers_are_whole_and_what_they_lose_is_restored() {
    let (bed, (server, _server)) = (Bed::start("").await, echo().await);
    let counters = &bed.state.counters;
    // How many packets are lost until loss is seen is a matter of luck, and a little later the count of
    // restored packets is told.
    for _ in 0..10 {
        transfers(&bed, server).await;
        if counters.packets_restored.get() > 20 {
            break;
        }
    }
    assert!(counters.repairs_sent.get() > 0 && bed.proxy.repairs() > 0);
    assert!(
        counters.packets_restored.get() > 20,
        "{}",
        counters.packets_restored.get()
    );
    assert_eq!(counters.associations_lost.get(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_that_does_not_want_repairs_gets_and_sends_none() {
    let bed = Bed::start_with_terminal("coding = false\n").await;
    let (server, _server) = echo().await;
    transfers(&bed, server).await;
    assert_eq!(bed.proxy.repairs(), 0);
}
