//! Hosts that do not read.

use crate::bed::Bed;
use crate::closes::server;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const LIMIT: u64 = 8 << 20;
const CLIENTS: usize = 24;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_that_do_not_read_are_cut_before_memory_is_full_and_others_are_served() {
    let bed = Bed::start("[limits]\nmemory = \"8 MiB\"\n").await;
    let (flood, _flood) = server(|mut tcp| async move {
        let bytes = vec![7; 64 << 10];
        while tcp.write_all(&bytes).await.is_ok() {}
    })
    .await;
    let (echo, _echo) = server(|mut tcp| async move {
        let (mut read, mut write) = tcp.split();
        let _ = tokio::io::copy(&mut read, &mut write).await;
    })
    .await;
    let mut held = Vec::new();
    for _ in 0..CLIENTS {
        held.push(bed.connect(flood).await);
    }
    let counters = &bed.state.counters;
    let began = Instant::now();
    let mut most = 0;
    while counters.readers_cut.get() < 4 {
        assert!(began.elapsed() < Duration::from_secs(30), "nobody is cut");
        most = most.max(counters.memory_held.get());
        let asked = Instant::now();
        let mut client = bed.connect(echo).await;
        client.write_all(b"x").await.unwrap();
        client.read_exact(&mut [0]).await.unwrap();
        assert!(asked.elapsed() < Duration::from_secs(5));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(most > LIMIT / 4, "{most} bytes");
    drop(held);
    while counters.memory_held.get() > 0 {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{}",
            counters.memory_held.get()
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
