//! Only boxes whose keys are configured are served.

use crate::bed::{ANY, Bed, Keys, connect};
use bentpipe_gateway::tunnel::association::Health;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::{sleep, timeout};

const SOON: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_whose_key_the_hub_has_not_is_refused_and_says_why() {
    let (ours, others) = (Keys::make(), Keys::make());
    let hub = ours.hub(ANY, "");
    // Another key, and the hub's right one.
    let address = hub.address().unwrap();
    std::fs::copy(
        others.path().join("terminal.key"),
        ours.path().join("terminal.key"),
    )
    .unwrap();
    let terminal = ours.terminal(address, "");
    let mut status = terminal.status();
    let status = timeout(SOON, status.wait_for(|status| status.reason.is_some()))
        .await
        .unwrap()
        .unwrap()
        .clone();
    assert_eq!(status.health, Health::Down);
    assert_eq!(
        status.reason.unwrap(),
        "this box's key is not in the other box's `tunnel.peers`"
    );
    assert!(hub.associations().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_whose_key_the_terminal_has_not_gets_no_connection() {
    let (ours, others) = (Keys::make(), Keys::make());
    let hub = others.hub(ANY, "");
    let terminal = ours.terminal(hub.address().unwrap(), "");
    let mut status = terminal.status();
    let status = timeout(SOON, status.wait_for(|status| status.reason.is_some()))
        .await
        .unwrap()
        .unwrap()
        .clone();
    assert_eq!(
        status.reason.unwrap(),
        "the other box's key is not the one in `tunnel.peers`"
    );
    assert!(hub.associations().is_empty());
    let (server, _server) = crate::closes::echo().await;
    let _client = connect(&terminal, server, false).await;
    sleep(Duration::from_millis(300)).await;
    assert_eq!(hub.connections(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_quic_leaves_the_hub_as_it_was() {
    let bed = Bed::start("").await;
    let address: SocketAddr = bed.hub.address().unwrap();
    let stranger = Arc::new(UdpSocket::bind(ANY).await.unwrap());
    for length in [0, 1, 20, 21, 100, 1200, 1472] {
        for first in [0x00, 0x40, 0xc0, 0xff] {
            let mut datagram = crate::closes::bytes(length);
            if let Some(byte) = datagram.first_mut() {
                *byte = first;
            }
            stranger.send_to(&datagram, address).await.unwrap();
        }
    }
    let (server, _server) = crate::closes::echo().await;
    crate::closes::echoes(bed.connect(server).await, 1000).await;
    assert_eq!(bed.hub.associations().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_address_with_unfinished_handshakes_keeps_no_terminal_out() {
    let bed = Bed::start_without_udp().await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.3:0".parse().unwrap()).unwrap();
        silent.push(socket.connect(bed.hub.address().unwrap()).await.unwrap());
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let terminal = bed.keys.terminal(bed.proxy.address, "");
    tokio::time::timeout(Duration::from_secs(6), terminal.ready())
        .await
        .expect("the terminal is served");
}
