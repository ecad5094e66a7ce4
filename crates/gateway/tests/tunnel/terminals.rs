//! Terminals that share the link of their hub.

use crate::bed::{Keys, Task, connect};
use crate::closes::server;
use crate::fleet::{OneHub, Ship};
use crate::proxy::Proxy;
use bentpipe_gateway::config::Config;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Slow enough that the link decides, on a busy machine too.
const LINK: &str = "rate = \"20 Mbit/s\"\nrtt = \"20 ms\"\n";

/// Two terminals of one hub, the first of which UDP may not reach, and a server without an end.
struct Port {
    hub: OneHub,
    ships: [Ship; 2],
    proxy: Proxy,
    server: SocketAddr,
    _server: Task,
}

impl Port {
    async fn open(over_tls: bool) -> Port {
        let mut keys = [Keys::make(), Keys::make()];
        keys.iter_mut().for_each(|it| it.link = LINK);
        let hub = OneHub::start(&keys[0], "first");
        let own = [0, 1].map(|at| keys[at].terminal.public().to_string());
        let both = format!("{}\", \"{}", own[0], own[1]);
        let hub = OneHub {
            file: hub.file.replace(&own[0], &both),
            ..hub
        };
        let path = keys[0].path().join("hub.toml");
        let config = Config::read(&path, &hub.file).unwrap();
        hub.state.set_config(Arc::new(config));
        let mut proxy = Proxy::start(hub.address).await;
        proxy.pass_tcp();
        proxy.go_dark(over_tls);
        let [first, second] = keys;
        let ships = [
            Ship::start(first, &[proxy.address.to_string()], &[&hub.key], "").await,
            Ship::start(second, &[hub.address.to_string()], &[&hub.key], "").await,
        ];
        let (server, _server) =
            server(|mut tcp| async move { while tcp.write_all(&[7; 16_384]).await.is_ok() {} })
                .await;
        Port {
            hub,
            ships,
            proxy,
            server,
            _server,
        }
    }

    /// What the hub's file says of the terminals from now on, where `{0}` and `{1}` are their keys.
    fn say(&self, terminals: &str) {
        let keys = self
            .ships
            .each_ref()
            .map(|it| it.keys.terminal.public().to_string());
        let more = terminals.replace("{0}", &keys[0]).replace("{1}", &keys[1]);
        let path = self.ships[0].keys.path().join("hub.toml");
        let config = Config::read(&path, &format!("{}{more}", self.hub.file));
        let config = config.unwrap_or_else(|errors| panic!("{errors}"));
        self.hub.state.set_config(Arc::new(config));
    }

    /// A client of this terminal that downloads for as long as it is held, and its bytes.
    async fn download(&self, ship: usize) -> (Task, Arc<AtomicU64>) {
        let mut tcp = connect(&self.ships[ship].terminal, self.server, false).await;
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        let task = Task::spawn(async move {
            let mut buffer = vec![0; 65_536];
            while let Ok(length @ 1..) = tcp.read(&mut buffer).await {
                counted.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
        (task, count)
    }
}

/// Megabits per second of each, from a second after now on and over four.
async fn rates<const N: usize>(counts: [&Arc<AtomicU64>; N]) -> [f64; N] {
    let read = || counts.map(|it| it.load(Ordering::Relaxed) as f64);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (began, before) = (Instant::now(), read());
    tokio::time::sleep(Duration::from_secs(4)).await;
    let (after, seconds) = (read(), began.elapsed().as_secs_f64());
    std::array::from_fn(|at| (after[at] - before[at]) * 8e-6 / seconds)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn terminals_share_the_link_of_their_hub_by_their_weights() {
    let port = Port::open(false).await;
    // Five connections have no more than one.
    let mut many = Vec::new();
    for _ in 0..4 {
        many.push(port.download(0).await);
    }
    let (_first, one) = port.download(0).await;
    let (_second, other) = port.download(1).await;
    let all: [&Arc<AtomicU64>; 6] = [&many[0].1, &many[1].1, &many[2].1, &many[3].1, &one, &other];
    let part = |rates: [f64; 6]| rates[5] / rates.iter().sum::<f64>();
    let half = part(rates(all).await);
    assert!((0.4..0.6).contains(&half), "{half:.2}");
    // A reload holds for what is open.
    port.say("[[terminal]]\nkey = \"{1}\"\nname = \"ferry\"\nweight = 400\n");
    let most = part(rates(all).await);
    assert!((0.7..0.9).contains(&most), "{most:.2}");
    port.say("[[terminal]]\nkey = \"{1}\"\ncap = \"4 Mbit/s\"\n");
    let rates = rates(all).await;
    assert!((3.0..4.1).contains(&rates[5]), "{rates:.1?}");
    assert!(rates[..5].iter().sum::<f64>() > 10.0, "{rates:.1?}");
    let status = port.hub.state.status();
    let terminals = status["terminals"].as_array().unwrap();
    let key = port.ships[1].keys.terminal.public().to_string();
    let capped = terminals.iter().find(|it| it["terminal"] == key).unwrap();
    assert_eq!(capped["cap_bits_per_second"], 4_000_000);
    assert_eq!(capped["connections_active"], 1);
    assert!(capped["bytes_sent"].as_u64().unwrap() > 1_000_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_that_udp_does_not_reach_has_its_cap_too() {
    let port = Port::open(true).await;
    port.say("[[terminal]]\nkey = \"{0}\"\ncap = \"4 Mbit/s\"\n");
    let (_first, one) = port.download(0).await;
    let (_second, other) = port.download(0).await;
    let rates = rates([&one, &other]).await;
    let sum = rates[0] + rates[1];
    assert!((3.0..4.3).contains(&sum), "{rates:.1?}");
    assert_eq!(port.proxy.halved(), 0);
}
