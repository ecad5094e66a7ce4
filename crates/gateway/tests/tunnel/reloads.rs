//! What a reload changes of a terminal's hubs, and of a hub's terminals.

use crate::bed::{Keys, connect};
use crate::closes::echo;
use crate::fleet::{OneHub, SOON, Ship, answers, is_reset, ship, until};
use crate::proxy::Proxy;
use bentpipe_gateway::config::Config;
use bentpipe_gateway::tunnel::association::Health;
use bentpipe_gateway::tunnel::keys::Identity;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

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
