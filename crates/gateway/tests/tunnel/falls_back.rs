//! TLS over TCP where UDP does not pass, and back.

use crate::bed::{Bed, connect};
use crate::closes::{bytes, echo, echoes, server};
use bentpipe_gateway::tunnel::association::Health;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(15);

async fn becomes(bed: &Bed, health: Health) {
    let mut status = bed.terminal.status();
    let wait = status.wait_for(|status| status.health == health);
    timeout(SOON, wait).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_without_udp_is_used_over_tcp_until_udp_passes() {
    let bed = Bed::start_without_udp().await;
    assert_eq!(bed.terminal.status().borrow().health, Health::Fallback);
    assert!(bed.hub.associations().is_empty());
    let (server, _server) = echo().await;
    echoes(bed.connect(server).await, 2_000_000).await;
    let mut live = connect(&bed.terminal, server, false).await;
    live.write_all(b"before").await.unwrap();
    live.read_exact(&mut [0; 6]).await.unwrap();
    bed.proxy.go_dark(false);
    becomes(&bed, Health::Up).await;
    assert_eq!(bed.hub.associations().len(), 1);
    echoes(bed.connect(server).await, 2_000_000).await;
    // What the fallback carries stays where it is.
    live.write_all(b"after").await.unwrap();
    timeout(SOON, live.read_exact(&mut [0; 5]))
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it takes over a minute, which `.ci/test.py` lets it"]
async fn a_client_may_begin_to_read_long_after_the_server_has_ended() {
    let bed = Bed::start_without_udp().await;
    let (server, _server) = server(|mut tcp| async move {
        let mut request = Vec::new();
        tcp.read_to_end(&mut request).await.unwrap();
        tcp.write_all(&bytes(request.len() * 1000)).await.unwrap();
    })
    .await;
    // Some of these fill the buffers of the terminal's side and fit into those of
    // the hub's, whatever their sizes are.
    let mut clients = Vec::new();
    for length in [2000, 4000, 6000, 8000, 10_000, 14_000] {
        let mut client = bed.connect(server).await;
        client.write_all(&bytes(length)).await.unwrap();
        client.shutdown().await.unwrap();
        clients.push((client, length * 1000));
    }
    tokio::time::sleep(Duration::from_secs(65)).await;
    for (mut client, length) in clients {
        let mut got = Vec::new();
        let end = timeout(SOON, client.read_to_end(&mut got)).await;
        let end = end.unwrap();
        assert!(end.is_ok(), "{} of {length} bytes came: {end:?}", got.len());
        assert!(got == bytes(length), "{} bytes came", got.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn udp_that_stops_passing_is_replaced_and_what_it_carried_waits() {
    let mut bed = Bed::start("").await;
    bed.proxy.pass_tcp();
    let (server, _server) = echo().await;
    let mut live = bed.connect(server).await;
    live.write_all(b"before").await.unwrap();
    live.read_exact(&mut [0; 6]).await.unwrap();
    bed.proxy.go_dark(true);
    becomes(&bed, Health::Fallback).await;
    echoes(bed.connect(server).await, 1_000_000).await;
    bed.proxy.go_dark(false);
    becomes(&bed, Health::Up).await;
    live.write_all(b"after").await.unwrap();
    timeout(SOON, live.read_exact(&mut [0; 5]))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(bed.terminal.status().borrow().associations, 1);
}

/// The hub is heard all the time, so that only what is not acknowledged shows that something is wrong.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn udp_that_stops_passing_to_the_hub_alone_is_replaced_and_named() {
    let mut bed = Bed::start("").await;
    bed.proxy.pass_tcp();
    let (server, _server) = echo().await;
    let mut live = bed.connect(server).await;
    live.write_all(b"before").await.unwrap();
    live.read_exact(&mut [0; 6]).await.unwrap();
    bed.proxy.go_dark_upward(true);
    // What is sent shows it; this waits for the end.
    live.write_all(b"after").await.unwrap();
    becomes(&bed, Health::Fallback).await;
    // Which direction it is shows when the hub has asked why it hears nothing.
    let mut status = bed.terminal.status();
    let named = status.wait_for(|status| {
        let reason = status.reason.as_deref().unwrap_or_default();
        reason.contains("nothing that this box sends")
    });
    timeout(SOON, named).await.unwrap().unwrap();
    let status = bed.state.status();
    let lost = |status: &serde_json::Value| {
        let all = status["associations"].as_array().unwrap().clone();
        all.iter().any(|one| one["lost"] == "to")
    };
    assert!(lost(&status), "{status}");
    echoes(bed.connect(server).await, 1_000_000).await;
    // It has gone over to TCP.
    timeout(SOON, live.read_exact(&mut [0; 5]))
        .await
        .unwrap()
        .unwrap();
    bed.proxy.go_dark_upward(false);
    becomes(&bed, Health::Up).await;
    live.write_all(b"again").await.unwrap();
    timeout(SOON, live.read_exact(&mut [0; 5]))
        .await
        .unwrap()
        .unwrap();
    assert!(!lost(&bed.state.status()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn udp_that_is_throttled_is_replaced_where_tcp_is_faster() {
    let mut bed = Bed::start("").await;
    bed.proxy.pass_tcp();
    let (server, _server) =
        server(|mut tcp| async move { while tcp.write_all(&[7; 65_536]).await.is_ok() {} }).await;
    let mut download = bed.connect(server).await;
    bed.proxy.police(300_000);
    let reading = tokio::spawn(async move {
        let mut buffer = vec![0; 65_536];
        while matches!(download.read(&mut buffer).await, Ok(1..)) {}
    });
    let mut status = bed.terminal.status();
    let wait = status.wait_for(|status| status.health == Health::Fallback);
    timeout(4 * SOON, wait).await.unwrap().unwrap();
    let (server, _server) = echo().await;
    echoes(bed.connect(server).await, 5_000_000).await;
    reading.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_connections_at_once_go_over_tcp() {
    // More handshakes than the hub admits at a time would be under way together.
    let bed = Bed::start_without_udp_after(Duration::from_millis(300)).await;
    let (server, _server) = echo().await;
    let mut all = tokio::task::JoinSet::new();
    for length in 0..100 {
        let client = bed.connect(server).await;
        all.spawn(echoes(client, length * 1000));
    }
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
}
