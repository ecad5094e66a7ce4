//! A terminal with several hubs: which one takes new connections.

use crate::bed::{ANY, Keys, connect, free_ports, wans};
use crate::closes::{echo, echoes, server};
use crate::fleet::{OneHub, SOON, Ship, answers, is_reset, until};
use crate::proxy::Proxy;
use crate::udp;
use bentpipe_gateway::tunnel::association::Health;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// A flow of UDP goes on over the next hub, which learns of it from its next datagram.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn udp_goes_on_over_the_next_hub() {
    let keys = Keys::make();
    let (first, second) = (
        OneHub::start(&keys, "first"),
        OneHub::start(&keys, "second"),
    );
    let (server, _, _server) = udp::echo().await;
    let hubs = [first.address.to_string(), second.address.to_string()];
    let peers = [&first.key[..], &second.key];
    let ship = Ship::start(keys, &hubs, &peers, "").await;
    ship.uses(0).await;
    let client = udp::client(&ship.terminal, server, b"one").await;
    let mut answer = [0; 8];
    let answered = timeout(SOON, client.recv(&mut answer)).await;
    assert_eq!(&answer[..answered.unwrap().unwrap()], b"one");
    assert_eq!(first.state.counters.udp_flows.get(), 1);
    first.hub.drain().await;
    ship.uses(1).await;
    client.send(b"two").await.unwrap();
    let answered = timeout(SOON, client.recv(&mut answer)).await;
    assert_eq!(&answer[..answered.unwrap().unwrap()], b"two");
    assert_eq!(second.state.counters.udp_flows.get(), 1);
}

/// Repairs leave by the socket of their association, and not by that of another hub.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_lost_on_the_way_to_the_second_hub_is_restored() {
    let keys = Keys::make();
    let (first, second) = (
        OneHub::start(&keys, "first"),
        OneHub::start(&keys, "second"),
    );
    let proxies = [
        Proxy::start(first.address).await,
        Proxy::start(second.address).await,
    ];
    let (server, _server) = echo().await;
    let hubs = proxies.each_ref().map(|proxy| proxy.address.to_string());
    let peers = [&first.key[..], &second.key];
    let ship = Ship::start(keys, &hubs, &peers, "fallback = false\n").await;
    until("the second", || ship.says(1, "state") == "up").await;
    proxies[0].go_dark(true);
    ship.uses(1).await;
    proxies[1].be_noisy(10);
    let restored = || second.state.counters.packets_restored.get();
    for _ in 0..1_000 {
        ship.echo(server).await;
        if restored() > 5 {
            break;
        }
    }
    assert!(restored() > 5, "{}", restored());
    assert_eq!(second.state.counters.associations_opened.get(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_drains_leaves_new_connections_to_the_next() {
    let keys = Keys::make();
    let (first, second) = (
        OneHub::start(&keys, "first"),
        OneHub::start(&keys, "second"),
    );
    let (server, _server) = echo().await;
    let hubs = [first.address.to_string(), second.address.to_string()];
    let peers = [&first.key[..], &second.key];
    let ship = Ship::start(keys, &hubs, &peers, "").await;
    ship.uses(0).await;
    until("the second", || ship.says(1, "state") == "up").await;
    let (mut old, _) = ship.echo(server).await;
    assert_eq!((first.hub.connections(), second.hub.connections()), (1, 0));
    // New connections all the time, none of which waits for long.
    let draining = async {
        first.hub.drain().await;
        sleep(Duration::from_millis(300)).await;
    };
    let mut longest = Duration::ZERO;
    let mut count = 0;
    let coming = async {
        loop {
            longest = longest.max(ship.echo(server).await.1);
            count += 1;
            sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        () = draining => {}
        () = coming => {}
    }
    assert!(
        count > 10 && longest < Duration::from_secs(2),
        "{count}, {longest:?}"
    );
    assert_eq!(ship.says(0, "state"), "draining");
    assert_eq!(ship.terminal.status().borrow().health, Health::Up);
    ship.uses(1).await;
    // What is open goes on, until the hub is gone.
    answers(&mut old).await;
    let (mut new, _) = ship.echo(server).await;
    // The others end in their own time.
    until("their end", || second.hub.connections() == 1).await;
    first.hub.stop().await;
    is_reset(old).await;
    answers(&mut new).await;
}

/// Two hubs that are each reached over two WANs: connections are bonded at either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_with_several_wans_leaves_new_connections_to_the_next() {
    let keys = Keys::make();
    let far = SocketAddr::from(([127, 0, 0, 2], 0));
    // Both have the same port for the WAN.
    let (more, first, second) = (0..20)
        .find_map(|at| {
            let more = wans(&free_ports::<1>());
            let first = OneHub::start_at(&keys, &format!("first{at}"), ANY, &more)?;
            let second = OneHub::start_at(&keys, &format!("second{at}"), far, &more)?;
            Some((more, first, second))
        })
        .unwrap();
    let (server, _server) = echo().await;
    let hubs = [first.address.to_string(), second.address.to_string()];
    let peers = [&first.key[..], &second.key];
    let ship = Ship::start(keys, &hubs, &peers, &more).await;
    let up = || {
        let hubs = ship.state.status()["hubs"].clone();
        let all = hubs.as_array().unwrap().iter();
        all.filter(|hub| hub["state"] == "up").count() == 4
    };
    until("all associations", up).await;
    let carried = |hub: &OneHub| {
        let status = hub.state.status();
        let all = status["associations"].as_array().unwrap().iter();
        let bytes = all.map(|it| it["bytes_received"].as_u64().unwrap());
        bytes.collect::<Vec<u64>>()
    };
    let both = |hub: &OneHub| {
        let bytes = carried(hub);
        assert!(
            bytes.len() == 2 && bytes.iter().all(|it| *it > 300_000),
            "{bytes:?}"
        );
    };
    let mut old = connect(&ship.terminal, server, false).await;
    answers(&mut old).await;
    echoes(connect(&ship.terminal, server, false).await, 8_000_000).await;
    both(&first);
    // What is under way at the first ends there, and what is new goes to the second.
    let running = connect(&ship.terminal, server, false).await;
    let drains = async {
        sleep(Duration::from_millis(50)).await;
        first.hub.drain().await;
        until("the second", || second.hub.connections() > 0).await;
    };
    let coming = async {
        loop {
            let (_, took) = ship.echo(server).await;
            assert!(took < Duration::from_secs(2), "{took:?}");
            sleep(Duration::from_millis(10)).await;
        }
    };
    let all = async { tokio::join!(echoes(running, 8_000_000), drains) };
    tokio::select! {
        _ = all => {}
        () = coming => {}
    }
    answers(&mut old).await;
    echoes(connect(&ship.terminal, server, false).await, 8_000_000).await;
    both(&second);
    first.hub.stop().await;
    is_reset(old).await;
    echoes(connect(&ship.terminal, server, false).await, 100_000).await;
}

/// Where UDP does not pass, no word of the hub comes before it goes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_drains_is_left_over_tls_too() {
    let keys = Keys::make();
    let (first, second) = (
        OneHub::start(&keys, "first"),
        OneHub::start(&keys, "second"),
    );
    let mut proxies = [
        Proxy::start(first.address).await,
        Proxy::start(second.address).await,
    ];
    for proxy in &mut proxies {
        proxy.pass_tcp();
        proxy.go_dark(true);
    }
    let (server, _server) = echo().await;
    let hubs = proxies.each_ref().map(|proxy| proxy.address.to_string());
    let peers = [&first.key[..], &second.key];
    let ship = Ship::start(keys, &hubs, &peers, "").await;
    ship.uses(0).await;
    until("the second", || ship.says(1, "state") == "fallback").await;
    // After the start, in which a better hub is taken at once.
    sleep(Duration::from_millis(3500)).await;
    let (mut old, _) = ship.echo(server).await;
    assert_eq!(first.hub.connections(), 1);
    // A connection that comes in the moment in which idle ones end may be reset; these come before.
    let mut longest = Duration::ZERO;
    let coming = async {
        while ship.says(1, "used") != true {
            longest = longest.max(ship.echo(server).await.1);
        }
        let _after = ship.echo(server).await;
    };
    let (come, ()) = tokio::join!(timeout(SOON, coming), first.hub.drain());
    come.expect("the second is used");
    assert!(longest < Duration::from_secs(3), "{longest:?}");
    answers(&mut old).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_is_lost_is_replaced_and_returned_to_when_it_is_steady() {
    let keys = Keys::make();
    let (first, second) = (
        OneHub::start(&keys, "first"),
        OneHub::start(&keys, "second"),
    );
    let proxy = Proxy::start(first.address).await;
    let (server, _server) = echo().await;
    let hubs = [proxy.address.to_string(), second.address.to_string()];
    let peers = [&first.key[..], &second.key];
    let ship = Ship::start(keys, &hubs, &peers, "return_after = \"2 s\"\n").await;
    ship.uses(0).await;
    // After the start, in which a better hub is taken at once.
    sleep(Duration::from_millis(3500)).await;
    let (mut old, _) = ship.echo(server).await;
    let changed = ship.state.counters.hubs_changed.get();
    proxy.go_dark(true);
    ship.uses(1).await;
    let (mut new, took) = ship.echo(server).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(second.hub.connections(), 1);
    proxy.go_dark(false);
    until("its return", || ship.says(0, "state") == "up").await;
    let back = Instant::now();
    // Nothing is lost at either of them, and new ones come back after a while.
    answers(&mut old).await;
    assert_eq!(ship.says(1, "used"), true);
    ship.uses(0).await;
    let steady = back.elapsed();
    assert!(steady > Duration::from_millis(1500), "{steady:?}");
    answers(&mut new).await;
    let (_newest, _) = ship.echo(server).await;
    assert_eq!((first.hub.connections(), second.hub.connections()), (2, 1));
    assert_eq!(ship.state.counters.hubs_changed.get(), changed + 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_resolved_and_the_second_hub_may_be_reached_over_tls() {
    let keys = Keys::make();
    let hub = OneHub::start(&keys, "first");
    let mut proxy = Proxy::start(hub.address).await;
    proxy.pass_tcp();
    proxy.go_dark(true);
    let (server, _server) = echo().await;
    let named = format!("localhost:{}", proxy.address.port());
    let hubs = ["no-such-name.invalid".to_owned(), named];
    let ship = Ship::start(keys, &hubs, &[&hub.key], "").await;
    assert_eq!(ship.terminal.status().borrow().health, Health::Fallback);
    ship.uses(1).await;
    let _client = ship.echo(server).await;
    assert_eq!(ship.says(0, "state"), "down");
    assert_eq!(ship.says(0, "reason"), "its name is not resolved");
    assert_eq!(ship.says(1, "state"), "fallback");
    let (mut client, _) = ship.echo(server).await;
    proxy.go_dark(false);
    until("QUIC", || ship.says(1, "state") == "up").await;
    answers(&mut client).await;
    assert_eq!(ship.says(1, "address"), proxy.address.to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_entries_for_one_hub_do_not_take_it_from_each_other() {
    let keys = Keys::make();
    let hub = OneHub::start(&keys, "first");
    let (server, _server) = echo().await;
    let named = format!("localhost:{}", hub.address.port());
    let hubs = [hub.address.to_string(), named];
    let ship = Ship::start(keys, &hubs, &[&hub.key], "").await;
    let (mut client, _) = ship.echo(server).await;
    until("the second's reason", || ship.says(1, "reason").is_string()).await;
    sleep(Duration::from_secs(1)).await;
    let says = [ship.says(0, "state"), ship.says(1, "state")];
    assert_eq!(hub.state.counters.associations_opened.get(), 1, "{says:?}");
    assert!(says.iter().any(|it| it == "up"), "{says:?}");
    answers(&mut client).await;
}

/// Bytes that arrive in a while.
async fn arrives(client: &mut TcpStream, within: Duration) -> usize {
    let mut count = 0;
    let mut piece = vec![0; 1 << 16];
    let reading = async {
        loop {
            let read = client.read(&mut piece).await.unwrap();
            assert!(read > 0, "it ended after {count} bytes");
            count += read;
        }
    };
    let _: Result<(), _> = timeout(within, reading).await;
    count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hubs_that_send_at_once_divide_the_link() {
    const RATE: f64 = 16e6 / 8.0;
    let mut keys = Keys::make();
    keys.link = "rate = \"16 Mbit/s\"\nrtt = \"20 ms\"\n";
    let (first, second) = (
        OneHub::start(&keys, "first"),
        OneHub::start(&keys, "second"),
    );
    let (endless, _server) =
        server(|mut tcp| async move { while tcp.write_all(&[0; 1 << 16]).await.is_ok() {} }).await;
    let hubs = [first.address.to_string(), second.address.to_string()];
    let peers = [&first.key[..], &second.key];
    let ship = Ship::start(keys, &hubs, &peers, "").await;
    ship.uses(0).await;
    until("the second", || ship.says(1, "state") == "up").await;
    let mut old = connect(&ship.terminal, endless, false).await;
    let alone = arrives(&mut old, Duration::from_secs(2)).await as f64 / 2.0;
    assert!(alone > 0.5 * RATE && alone < 1.3 * RATE, "{alone}");
    // New connections go to the second, and this one stays.
    first.hub.drain().await;
    ship.uses(1).await;
    let mut new = connect(&ship.terminal, endless, false).await;
    let settled = Duration::from_secs(4);
    tokio::join!(arrives(&mut old, settled), arrives(&mut new, settled));
    let counted = Duration::from_secs(3);
    let (old, new) = tokio::join!(arrives(&mut old, counted), arrives(&mut new, counted));
    let [old, new] = [old, new].map(|bytes| bytes as f64 / counted.as_secs_f64());
    // Nothing but the terminal's word keeps each of them from sending at the whole rate.
    assert!(
        old + new < 1.25 * RATE && old + new > 0.7 * RATE,
        "{old} and {new}"
    );
    assert!(old.min(new) > 0.3 * RATE, "{old} and {new}");
}
