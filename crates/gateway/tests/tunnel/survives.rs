//! Outages of the link, and restarts of either box.

use crate::bed::{Bed, connect};
use crate::closes::{bytes, echo, echoes, server};
use bentpipe_gateway::tunnel::association::Health;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Longest time from the link's return to the answer of an idle connection. Nothing waits before its
/// question, which is sent at once: the answer takes a round trip, which is below a millisecond here.
const IDLE: Duration = Duration::from_millis(200);
/// The same beside a connection whose data fill the window and every buffer: a heartbeat leaves half a
/// second after the one before, and what is lost is sent again a round trip later. The unit tests of the
/// heartbeat hold it to that on a clock of their own; here there is room for a busy machine, and less
/// than one missed heartbeat of an association whose round trip an outage has made long takes (3 s).
const STALLED: Duration = Duration::from_secs(2);
/// Outages that are tried.
const OUTAGES: usize = 3;
const SOON: Duration = Duration::from_secs(10);

async fn reset(mut client: TcpStream) {
    let read = timeout(SOON, client.read(&mut [0; 10])).await.unwrap();
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_connection_answers_at_once_when_the_link_is_back() {
    let bed = Bed::start("").await;
    let (server, _server) = echo().await;
    let mut idle = prepared(&bed, server).await;
    dark(|dark| bed.proxy.go_dark(dark)).await;
    let took = answer(&mut idle).await;
    assert!(took < IDLE, "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_connection_answers_at_once_when_one_direction_is_back() {
    let bed = Bed::start("").await;
    let (server, _server) = echo().await;
    let mut idle = prepared(&bed, server).await;
    dark(|dark| bed.proxy.go_dark_upward(dark)).await;
    let took = answer(&mut idle).await;
    assert!(took < IDLE, "{took:?}");
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
    let seen = || assert_eq!(bed.terminal.status().borrow().health, Health::Outage);
    go_on_after(&bed, |dark| bed.proxy.go_dark_upward(dark), seen).await;
}

/// A connection that has carried something.
async fn prepared(bed: &Bed, server: std::net::SocketAddr) -> TcpStream {
    let mut client = bed.connect(server).await;
    client.write_all(b"before").await.unwrap();
    client.read_exact(&mut [0; 6]).await.unwrap();
    client
}

/// An outage of 8 s, after which heartbeats of both boxes have gone unanswered.
async fn dark(go_dark: impl Fn(bool)) {
    go_dark(true);
    sleep(Duration::from_secs(8)).await;
    go_dark(false);
}

/// Asks, and returns after what time the answer came, without the time by which this process was late
/// meanwhile: what the machine did not let it do is not the gateway's.
async fn answer(client: &mut TcpStream) -> Duration {
    let over = Arc::new(AtomicBool::new(false));
    let watched = Arc::clone(&over);
    // A thread of its own: a gateway that blocks its runtime is not excused.
    let watch = std::thread::spawn(move || {
        let turn = Duration::from_millis(10);
        let mut late = Duration::ZERO;
        while !watched.load(Ordering::Relaxed) {
            let began = Instant::now();
            std::thread::sleep(turn);
            let more = began.elapsed().saturating_sub(turn);
            // A sleep may be a millisecond or two late on an idle machine.
            late += if more > turn { more } else { Duration::ZERO };
        }
        late
    });
    let asked = Instant::now();
    client.write_all(b"after").await.unwrap();
    timeout(SOON, client.read_exact(&mut [0; 5]))
        .await
        .unwrap()
        .unwrap();
    let took = asked.elapsed();
    over.store(true, Ordering::Relaxed);
    let late = watch.join().expect("it only sleeps");
    took.saturating_sub(late)
}

/// An idle connection and one that is full of data as the link goes: both carry everything, soon after
/// it is back. `during` is called at the end of each outage.
async fn go_on_after(bed: &Bed, go_dark: impl Fn(bool), during: impl Fn()) {
    let (server, _server) = echo().await;
    let mut idle = prepared(bed, server).await;
    let mut took = Vec::new();
    for _ in 0..OUTAGES {
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
        took.push(answer(&mut idle).await);
        // How fast a machine enciphers is not judged.
        timeout(6 * SOON, read.read_to_end(&mut start))
            .await
            .unwrap()
            .unwrap();
        assert!(start == expected, "{} bytes", start.len());
        writer.await.unwrap();
    }
    assert!(took.iter().all(|took| *took < STALLED), "{took:?}");
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
        ..
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
        ..
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
