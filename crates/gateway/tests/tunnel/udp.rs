//! UDP through the association.

use crate::bed::{ANY, Bed, Task};
use bentpipe_gateway::terminal::Terminal;
use bentpipe_gateway::udp::Arrival;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// Longer than a busy machine takes for a round trip.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that sends every datagram back, and how many it has had.
pub(crate) async fn echo() -> (SocketAddr, Arc<AtomicU64>, Task) {
    let socket = UdpSocket::bind(ANY).await.unwrap();
    let address = socket.local_addr().unwrap();
    let count = Arc::new(AtomicU64::new(0));
    let counting = Arc::clone(&count);
    let task = Task::spawn(async move {
        let mut buffer = vec![0; 65_507];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            counting.fetch_add(1, Ordering::Relaxed);
            let _ = socket.send_to(&buffer[..length], from).await;
        }
    });
    (address, count, task)
}

/// A client whose first datagram, to `server`, has reached the terminal.
pub(crate) async fn client(terminal: &Terminal, server: SocketAddr, first: &[u8]) -> UdpSocket {
    let client = UdpSocket::bind(ANY).await.unwrap();
    let socket = UdpSocket::bind(ANY).await.unwrap();
    client.connect(socket.local_addr().unwrap()).await.unwrap();
    let address = client.local_addr().unwrap();
    socket.connect(address).await.unwrap();
    let arrival = Arrival {
        socket,
        client: address,
        server,
        tos: 0,
        keep_source: false,
    };
    terminal.serve_udp(arrival, first);
    client
}

/// What comes back next.
async fn next(client: &UdpSocket) -> Vec<u8> {
    let mut buffer = vec![0; 65_507];
    let length = timeout(PATIENCE, client.recv(&mut buffer)).await;
    buffer.truncate(length.expect("nothing comes back").unwrap());
    buffer
}

fn payload(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 % 251) as u8).collect()
}

/// Waits until the terminal carries UDP.
pub(crate) async fn carried(bed: &Bed) {
    let carried = async {
        while !bed.terminal.carries_udp() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, carried).await.unwrap();
}

/// Of any length that UDP has, in parts where the path between the boxes carries less.
#[tokio::test(flavor = "multi_thread")]
async fn datagrams_go_to_the_server_and_back() {
    let bed = Bed::start("").await;
    carried(&bed).await;
    let (server, count, _server) = echo().await;
    let client = client(&bed.terminal, server, b"").await;
    assert_eq!(next(&client).await, b"");
    for length in [1, 1200, 1400, 1452, 9000, 60_000] {
        client.send(&payload(length)).await.unwrap();
        assert!(next(&client).await == payload(length), "{length}");
    }
    assert_eq!(count.load(Ordering::Relaxed), 7);
    let counters = &bed.state.counters;
    assert_eq!(counters.udp_to_satellite.get(), 7);
    assert_eq!(counters.udp_from_satellite.get(), 7);
    assert_eq!(
        (counters.udp_dropped.get(), counters.udp_too_long.get()),
        (0, 0)
    );
    assert_eq!(counters.udp_flows_active.get(), 1);
}

/// A hub that forgets a flow learns of it again from the terminal.
#[tokio::test(flavor = "multi_thread")]
async fn a_flow_goes_on_after_one_of_the_boxes_has_forgotten_it() {
    let bed = Bed::start_with_hub("[udp]\nidle = \"300 ms\"\n").await;
    carried(&bed).await;
    let (server, _, _server) = echo().await;
    let client = client(&bed.terminal, server, b"first").await;
    assert_eq!(next(&client).await, b"first");
    tokio::time::sleep(Duration::from_millis(800)).await;
    // The hub says that it does not know the flow, and the datagram is lost.
    client.send(b"lost").await.unwrap();
    tokio::time::sleep(Duration::from_millis(400)).await;
    client.send(b"again").await.unwrap();
    assert_eq!(next(&client).await, b"again");
}

/// A flow in one direction says where it goes until the hub says that it knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_flow_without_answers_has_short_headers_soon() {
    let bed = Bed::start("").await;
    carried(&bed).await;
    let silent = UdpSocket::bind(ANY).await.unwrap();
    let client = client(&bed.terminal, silent.local_addr().unwrap(), &[1; 100]).await;
    let sent = || bed.state.counters.bytes_udp_to_satellite.get();
    let one = async {
        loop {
            let before = sent();
            client.send(&[1; 100]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
            // Its flow, and no more.
            if sent() - before == 105 {
                return;
            }
        }
    };
    timeout(PATIENCE, one).await.unwrap();
}

/// What the hub's policy forbids is not sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_forbidden_gets_nothing() {
    let bed = Bed::start("").await;
    carried(&bed).await;
    let (server, count, _server) = echo().await;
    // The policy of the bed allows loopback, in IPv4.
    let forbidden: SocketAddr = ([169, 254, 169, 254], server.port()).into();
    let _other = client(&bed.terminal, forbidden, b"x").await;
    let client = client(&bed.terminal, server, b"y").await;
    assert_eq!(next(&client).await, b"y");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}
