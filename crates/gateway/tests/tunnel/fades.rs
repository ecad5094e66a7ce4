//! A link that delivers less than it is said to.

use crate::bed::Bed;
use crate::closes::server;
use bentpipe_gateway::operate::SharedState;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Waits until what the terminal has verified, Mbit/s, is so.
async fn verified(state: &Arc<SharedState>, is: impl Fn(u64) -> bool) {
    let began = Instant::now();
    loop {
        let status = state.status();
        let rate = status["verified_bits_per_second"].as_u64().unwrap() / 1_000_000;
        if is(rate) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{rate} Mbit/s");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The bed's boxes are told 200 Mbit/s throughout.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_follows_what_the_link_delivers_and_comes_back() {
    let bed = Bed::start("").await;
    let (server, _server) = server(|mut tcp| async move {
        let mut buffer = vec![0; 65_536];
        while matches!(tcp.read(&mut buffer).await, Ok(1..)) {}
    })
    .await;
    let mut client = bed.connect(server).await;
    let sending =
        tokio::spawn(async move { while client.write_all(&[7; 65_536]).await.is_ok() {} });
    tokio::time::sleep(Duration::from_secs(1)).await;
    // 24 Mbit/s in datagrams, and what the proxy passes at once.
    bed.proxy.police(3_000_000);
    verified(&bed.state, |rate| (10..60).contains(&rate)).await;
    bed.proxy.police(u64::MAX);
    verified(&bed.state, |rate| rate >= 190).await;
    sending.abort();
}
