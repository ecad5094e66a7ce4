//! Outages of the link, and restarts of either box.

use crate::bed::{Bed, connect};
use crate::closes::{bytes, echo, echoes, server};
use bentpipe_gateway::tunnel::association::Health;
use std::io;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Longest time from the link's return to the next answer. A heartbeat takes at most
/// half a second; beside other tests, which fill both processors and the sockets'
/// buffers, several of them may be lost or late.
const RECOVERY: Duration = Duration::from_secs(6);
const SOON: Duration = Duration::from_secs(10);

async fn reset(mut client: TcpStream) {
    let read = timeout(SOON, client.read(&mut [0; 10])).await.unwrap();
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_go_on_soon_after_an_outage() {
    let bed = Bed::start("").await;
    let seen = || assert_eq!(bed.terminal.status().borrow().health, Health::Outage);
    go_on_after(&bed, |dark| bed.proxy.go_dark(dark), seen).await;
    assert_eq!(bed.terminal.status().borrow().associations, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_go_on_after_an_outage_of_one_direction() {
    let bed = Bed::start("").await;
    go_on_after(&bed, |dark| bed.proxy.go_dark_upward(dark), || ()).await;
}

/// An idle connection and one that is full of data as the link goes: both carry
/// everything, soon after it is back. `during` is called at the end of the outage.
async fn go_on_after(bed: &Bed, go_dark: impl Fn(bool), during: impl FnOnce()) {
    let (server, _server) = echo().await;
    let mut idle = bed.connect(server).await;
    idle.write_all(b"before").await.unwrap();
    idle.read_exact(&mut [0; 6]).await.unwrap();
    let (mut read, mut write) = bed.connect(server).await.into_split();
    let sent = bytes(40_000_000);
    let expected = sent.clone();
    let writer = tokio::spawn(async move {
        write.write_all(&sent).await.unwrap();
        write.shutdown().await.unwrap();
    });
    let mut start = vec![0; 1_000_000];
    read.read_exact(&mut start).await.unwrap();
    go_dark(true);
    sleep(Duration::from_secs(8)).await;
    during();
    go_dark(false);
    let back = Instant::now();
    idle.write_all(b"after").await.unwrap();
    timeout(SOON, idle.read_exact(&mut [0; 5]))
        .await
        .unwrap()
        .unwrap();
    let took = back.elapsed();
    assert!(took < RECOVERY, "{took:?}");
    timeout(SOON, read.read_to_end(&mut start))
        .await
        .unwrap()
        .unwrap();
    assert!(start == expected, "{} bytes", start.len());
    writer.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_that_is_too_long_resets_connections_at_both_ends() {
    // In the section of the tunnel.
    let bed = Bed::start("outage = \"3 s\"\n").await;
    let (server, _server) = echo().await;
    let mut client = bed.connect(server).await;
    client.write_all(b"before").await.unwrap();
    client.read_exact(&mut [0; 6]).await.unwrap();
    bed.proxy.go_dark(true);
    reset(client).await;
    timeout(SOON, async {
        while bed.hub.connections() > 0 {
            sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .unwrap();
    bed.proxy.go_dark(false);
    timeout(SOON, bed.terminal.ready()).await.unwrap();
    echoes(bed.connect(server).await, 1000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_stops_after_its_last_connection_has_delivered_everything() {
    let bed = Bed::start("").await;
    let (asked, mut is_asked) = tokio::sync::mpsc::channel(1);
    let (go, goes) = tokio::sync::watch::channel(false);
    let (server, _server) = server(move |mut tcp| {
        let (asked, mut goes) = (asked.clone(), goes.clone());
        async move {
            tcp.read_to_end(&mut Vec::new()).await.unwrap();
            asked.send(()).await.unwrap();
            goes.wait_for(|goes| *goes).await.unwrap();
            tcp.write_all(&bytes(300_000)).await.unwrap();
        }
    })
    .await;
    let mut client = bed.connect(server).await;
    client.write_all(b"request").await.unwrap();
    client.shutdown().await.unwrap();
    timeout(SOON, is_asked.recv()).await.unwrap().unwrap();
    // The server has ended, and what it sent last is under way.
    bed.proxy.go_dark(true);
    go.send(true).unwrap();
    let link = async {
        sleep(Duration::from_secs(2)).await;
        bed.proxy.go_dark(false);
    };
    let drain = async {
        while bed.hub.connections() > 0 {
            sleep(Duration::from_millis(10)).await;
        }
        bed.hub.stop().await;
    };
    let mut got = Vec::new();
    let read = client.read_to_end(&mut got);
    let all = timeout(2 * SOON, async { tokio::join!(link, drain, read) });
    let (.., end) = all.await.unwrap();
    end.unwrap();
    assert!(got == bytes(300_000), "{} bytes came", got.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_is_killed_and_started_again_serves_within_seconds() {
    let Bed {
        keys,
        hub,
        terminal,
        proxy,
    } = Bed::start("").await;
    let (server, _server) = echo().await;
    let mut client = connect(&terminal, server, false).await;
    client.write_all(b"before").await.unwrap();
    client.read_exact(&mut [0; 6]).await.unwrap();
    let address = hub.address().unwrap();
    // A killed process says nothing: no packet leaves while it goes.
    proxy.go_dark(true);
    hub.stop().await;
    drop(hub);
    sleep(Duration::from_millis(300)).await;
    let _hub = again(|| keys.hub(address, "")).await;
    proxy.go_dark(false);
    let back = Instant::now();
    // The hub's stateless reset.
    reset(client).await;
    assert!(
        back.elapsed() < Duration::from_secs(3),
        "{:?}",
        back.elapsed()
    );
    timeout(SOON, terminal.ready()).await.unwrap();
    echoes(connect(&terminal, server, false).await, 100_000).await;
    assert!(
        back.elapsed() < Duration::from_secs(4),
        "{:?}",
        back.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_that_is_killed_leaves_nothing_behind_at_the_hub() {
    let Bed {
        keys,
        hub,
        terminal,
        proxy,
    } = Bed::start("").await;
    let (server, _server) = echo().await;
    let mut client = connect(&terminal, server, false).await;
    client.write_all(b"before").await.unwrap();
    client.read_exact(&mut [0; 6]).await.unwrap();
    proxy.go_dark(true);
    terminal.stop().await;
    reset(client).await;
    drop(terminal);
    sleep(Duration::from_millis(300)).await;
    assert_eq!(hub.connections(), 1);
    proxy.go_dark(false);
    let terminal = keys.terminal(proxy.address, "");
    timeout(SOON, terminal.ready()).await.unwrap();
    echoes(connect(&terminal, server, false).await, 100_000).await;
    timeout(SOON, async {
        while hub.connections() > 0 {
            sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .unwrap();
    assert_eq!(hub.associations().len(), 1);
}

/// Makes what needs an address that is being given up.
async fn again<T>(make: impl Fn() -> T + std::panic::RefUnwindSafe) -> T {
    for _ in 0..20 {
        if let Ok(made) = std::panic::catch_unwind(&make) {
            return made;
        }
        sleep(Duration::from_millis(100)).await;
    }
    make()
}
