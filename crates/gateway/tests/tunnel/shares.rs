//! Users that share the link.

use crate::bed::{Bed, connect_from};
use crate::closes::server;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Slow enough that the link decides, on a busy machine too.
const LINK: &str = "rate = \"20 Mbit/s\"\nrtt = \"20 ms\"\n";
const USERS: [[u8; 4]; 2] = [[127, 0, 0, 1], [127, 0, 0, 2]];
/// Connections of the first user; the second has one.
const MANY: usize = 20;
/// Bytes that pass before they count, and that count.
const BEFORE: u64 = 4 << 20;
const COUNTED: u64 = 12 << 20;
const PATIENCE: Duration = Duration::from_secs(120);

type Counts = Arc<[AtomicU64; 2]>;

async fn fill(tcp: &mut (impl AsyncWrite + Unpin)) {
    while tcp.write_all(&[7; 16_384]).await.is_ok() {}
}

async fn drain(tcp: &mut (impl AsyncRead + Unpin), user: usize, counts: &Counts) {
    let mut buffer = vec![0; 65_536];
    while let Ok(length @ 1..) = tcp.read(&mut buffer).await {
        counts[user].fetch_add(length as u64, Ordering::Relaxed);
    }
}

/// Bytes of both users, once so many have passed in all.
async fn passed(counts: &Counts, all: u64) -> [u64; 2] {
    let began = Instant::now();
    loop {
        let now = [0, 1].map(|user| counts[user].load(Ordering::Relaxed));
        if now[0] + now[1] >= all {
            return now;
        }
        assert!(began.elapsed() < PATIENCE, "{now:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The second user's part of what passes in one direction.
async fn part(up: bool, plans: &str) -> f64 {
    let bed = Bed::start_over(LINK, plans).await;
    let counts = Counts::default();
    let at_server = Arc::clone(&counts);
    let (server, _server) = server(move |mut tcp| {
        let counts = Arc::clone(&at_server);
        async move {
            let user = tcp.read_u8().await.unwrap().into();
            if up {
                drain(&mut tcp, user, &counts).await;
            } else {
                fill(&mut tcp).await;
            }
        }
    })
    .await;
    let mut clients = Vec::new();
    for number in 0..=MANY {
        let user = usize::from(number == MANY);
        let address = IpAddr::from(USERS[user]);
        let mut tcp = connect_from(&bed.terminal, address, server, false).await;
        let counts = Arc::clone(&counts);
        clients.push(tokio::spawn(async move {
            tcp.write_u8(user as u8).await.unwrap();
            if up {
                fill(&mut tcp).await;
            } else {
                drain(&mut tcp, user, &counts).await;
            }
        }));
    }
    let before = passed(&counts, BEFORE).await;
    let after = passed(&counts, BEFORE + COUNTED).await;
    for client in clients {
        client.abort();
    }
    let [many, one] = [0, 1].map(|user| (after[user] - before[user]) as f64);
    one / (many + one)
}

/// Each has half within a tenth of it where nothing else runs; by connections, the one would have a
/// twentieth.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_connection_has_as_much_as_twenty_of_another_user() {
    for up in [false, true] {
        let part = part(up, "").await;
        assert!((0.35..0.65).contains(&part), "up {up}: {part:.2}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_has_as_much_as_its_weight_says() {
    let plan = "[[subscribers.plan]]\nname = \"bridge\"\nnets = [\"127.0.0.2\"]\nweight = 300\n";
    let part = part(false, plan).await;
    assert!((0.6..0.9).contains(&part), "{part:.2}");
}

/// Uploads of a user at 4 Mbit/s, over several connections: 2 MB take 4 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_s_connections_have_its_cap_together() {
    let plan =
        "[[subscribers.plan]]\nname = \"crew\"\nnets = [\"127.0.0.0/8\"]\ncap = \"4 Mbit/s\"\n";
    let bed = Bed::start_over(LINK, plan).await;
    let counts = Counts::default();
    let at_server = Arc::clone(&counts);
    let (server, _server) = server(move |mut tcp| {
        let counts = Arc::clone(&at_server);
        async move { drain(&mut tcp, 0, &counts).await }
    })
    .await;
    let began = Instant::now();
    for _ in 0..4 {
        let mut tcp = connect_from(&bed.terminal, USERS[0].into(), server, false).await;
        tokio::spawn(async move { fill(&mut tcp).await });
    }
    passed(&counts, 2_000_000).await;
    assert!(began.elapsed() > Duration::from_millis(3500));
    let status = bed.state.status();
    let user = &status["subscribers"][0];
    assert_eq!(
        (&user["subscriber"], &user["plan"]),
        (&"127.0.0.1".into(), &"crew".into())
    );
    assert!(user["bytes_sent"].as_u64().unwrap() >= 2_000_000, "{user}");
    assert_eq!(user["connections_active"], 4);
}
