//! A terminal with several hubs: which one takes new connections, and what a reload changes.

use crate::bed::{ANY, Keys, Proxy, connect};
use crate::closes::{echo, server};
use crate::udp;
use bentpipe_gateway::config::Config;
use bentpipe_gateway::hub::Hub;
use bentpipe_gateway::operate::SharedState;
use bentpipe_gateway::terminal::Terminal;
use bentpipe_gateway::tunnel::association::Health;
use bentpipe_gateway::tunnel::codec::Hello;
use bentpipe_gateway::tunnel::keys::Identity;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

const SOON: Duration = Duration::from_secs(20);

/// A hub with a key of its own.
struct OneHub {
    hub: Hub,
    state: Arc<SharedState>,
    address: SocketAddr,
    key: String,
    file: String,
}

impl OneHub {
    fn start(keys: &Keys, name: &str) -> OneHub {
        let identity = Identity::generate().unwrap();
        let path = keys.path().join(format!("{name}.key"));
        identity.write_new(&path).unwrap();
        let file = format!(
            "role = \"hub\"\n[policy]\nallow = [\"127.0.0.0/8\"]\n[link]\n{link}\
             [tunnel]\naddress = \"{ANY}\"\nkey = \"{name}.key\"\npeers = [\"{peer}\"]\n",
            link = keys.link,
            peer = keys.terminal.public(),
        );
        let config = Config::read(&keys.path().join("hub.toml"), &file).unwrap();
        let state = SharedState::new(&config);
        // A free UDP port may be that of a TCP connection of another test.
        let hub = (0..20).find_map(|_| Hub::start(&config, Arc::clone(&state)).ok());
        let hub = hub.unwrap();
        OneHub {
            address: hub.address().unwrap(),
            hub,
            state,
            key: identity.public().to_string(),
            file,
        }
    }
}

/// A terminal with the hubs that it is told.
struct Ship {
    keys: Keys,
    terminal: Arc<Terminal>,
    state: Arc<SharedState>,
}

/// The configuration of a terminal.
fn ship(keys: &Keys, hubs: &[String], peers: &[&str], more: &str) -> Config {
    let text = format!(
        "role = \"terminal\"\n[socks]\n[link]\n{link}[limits]\ndrain = \"2 s\"\n\
         [tunnel]\naddress = {hubs:?}\nkey = \"terminal.key\"\npeers = {peers:?}\n{more}",
        link = keys.link,
    );
    Config::read(&keys.path().join("terminal.toml"), &text).unwrap()
}

impl Ship {
    async fn start(keys: Keys, hubs: &[String], peers: &[&str], more: &str) -> Ship {
        let config = ship(&keys, hubs, peers, more);
        let state = SharedState::new(&config);
        let terminal = Terminal::start(&config, Arc::clone(&state), Hello::fresh()).unwrap();
        let terminal = Arc::new(terminal);
        terminal.ready().await;
        Ship {
            keys,
            terminal,
            state,
        }
    }

    /// What the status says of a hub.
    fn says(&self, hub: usize, what: &str) -> serde_json::Value {
        self.state.status()["hubs"][hub][what].clone()
    }

    async fn uses(&self, hub: usize) {
        // The first is in use before any answers.
        let works = || {
            ["up", "fallback"]
                .iter()
                .any(|it| self.says(hub, "state") == *it)
        };
        until("its use", || self.says(hub, "used") == true && works()).await;
    }

    /// A connection that has carried something, and how long that took.
    async fn echo(&self, server: SocketAddr) -> (TcpStream, Duration) {
        let begin = Instant::now();
        let mut client = connect(&self.terminal, server, false).await;
        answers(&mut client).await;
        (client, begin.elapsed())
    }
}

/// A question and its answer.
async fn answers(client: &mut TcpStream) {
    client.write_all(b"hello").await.unwrap();
    let mut answer = [0; 5];
    let read = timeout(SOON, client.read_exact(&mut answer)).await;
    read.unwrap().unwrap();
    assert_eq!(&answer, b"hello");
}

async fn until(what: &str, mut happens: impl FnMut() -> bool) {
    let happened = timeout(SOON, async {
        while !happens() {
            sleep(Duration::from_millis(10)).await;
        }
    });
    assert!(happened.await.is_ok(), "{what} did not happen");
}

async fn is_reset(mut client: TcpStream) {
    let read = timeout(SOON, client.read(&mut [0; 10])).await.unwrap();
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reload_changes_the_list_of_hubs() {
    let keys = Keys::make();
    let (first, second) = (
        OneHub::start(&keys, "first"),
        OneHub::start(&keys, "second"),
    );
    let (server, _server) = echo().await;
    let [one, two] = [first.address.to_string(), second.address.to_string()];
    let peers = [&first.key[..], &second.key];
    let ship_ = Ship::start(keys, std::slice::from_ref(&one), &peers[..1], "").await;
    let (mut old, _) = ship_.echo(server).await;
    // Another hub in its place: what is open finishes at the old one.
    let config = ship(&ship_.keys, std::slice::from_ref(&two), &peers, "");
    ship_.state.set_config(Arc::new(config));
    until("the change", || {
        ship_.says(0, "hub") == two && ship_.says(0, "used") == true
    })
    .await;
    let (mut new, _) = ship_.echo(server).await;
    assert_eq!((first.hub.connections(), second.hub.connections()), (1, 1));
    answers(&mut old).await;
    is_reset(old).await;
    answers(&mut new).await;
    // Both, the first one in front: it is taken when it is steady.
    let config = ship(
        &ship_.keys,
        &[one.clone(), two.clone()],
        &peers,
        "return_after = \"1 s\"\n",
    );
    ship_.state.set_config(Arc::new(config));
    until("the way back", || {
        ship_.says(0, "hub") == one && ship_.says(0, "used") == true
    })
    .await;
    // The hub's key is taken off: nothing goes there any more.
    let config = ship(&ship_.keys, &[one, two], &peers[1..], "");
    ship_.state.set_config(Arc::new(config));
    ship_.uses(1).await;
    answers(&mut new).await;
    until("the refusal", || {
        ship_
            .says(0, "reason")
            .as_str()
            .is_some_and(|it| it.contains("key"))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reload_at_the_hub_removes_and_adds_terminals() {
    for over_tls in [false, true] {
        let keys = Keys::make();
        let hub = OneHub::start(&keys, "first");
        let mut proxy = Proxy::start(hub.address).await;
        proxy.pass_tcp();
        proxy.go_dark(over_tls);
        let (server, _server) = echo().await;
        let hubs = [proxy.address.to_string()];
        let ship = Ship::start(keys, &hubs, &[&hub.key], "").await;
        let (client, _) = ship.echo(server).await;
        let own = ship.keys.terminal.public().to_string();
        let other = Identity::generate().unwrap().public().to_string();
        let path = ship.keys.path().join("hub.toml");
        let with = |peer: &str| {
            let config = Config::read(&path, &hub.file.replace(&own, peer)).unwrap();
            hub.state.set_config(Arc::new(config));
        };
        with(&other);
        is_reset(client).await;
        // Over TLS the next client finds out.
        let end = async {
            while ship.terminal.status().borrow().health != Health::Down {
                let _client = connect(&ship.terminal, server, false).await;
                sleep(Duration::from_millis(100)).await;
            }
        };
        timeout(SOON, end).await.expect("it is not served");
        sleep(Duration::from_secs(1)).await;
        assert!(!ship.terminal.status().borrow().serves());
        with(&own);
        timeout(SOON, ship.terminal.ready()).await.unwrap();
        let _client = ship.echo(server).await;
    }
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
