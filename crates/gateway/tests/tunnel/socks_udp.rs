//! UDP ASSOCIATE of SOCKS5 (RFC 1928, section 7) through the association, with a client of its own.

use crate::bed::{ANY, Bed};
use crate::udp::{carried, echo};
use bentpipe_gateway::entry::{Kind, Listener, Serving, Settings, Users, serve};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// Longer than a busy machine takes for a round trip.
const PATIENCE: Duration = Duration::from_secs(10);
/// Long enough for what must not come.
const SHORT: Duration = Duration::from_millis(300);

/// A SOCKS5 listener of the bed's terminal.
fn listener(bed: &Bed, users: Option<Users>) -> (SocketAddr, Serving) {
    let listener = Listener::bind(Kind::Socks, ANY).unwrap();
    let address = listener.address();
    let settings = Settings {
        users: users.map(Arc::new),
        ..Settings::default()
    };
    let terminal = Arc::clone(&bed.terminal);
    let serving = serve(listener, settings, move |arrival| {
        let terminal = Arc::clone(&terminal);
        async move {
            terminal.serve(arrival).await;
        }
    });
    (address, serving.unwrap())
}

/// A client with an association.
struct Client {
    tcp: TcpStream,
    udp: UdpSocket,
    relay: SocketAddr,
}

/// Says that it will send from `port`; the code of the refusal where there is one.
async fn associate(listener: SocketAddr, port: u16) -> Result<(TcpStream, SocketAddr), u8> {
    let mut tcp = TcpStream::connect(listener).await.unwrap();
    tcp.write_all(&[5, 1, 0]).await.unwrap();
    let mut method = [0; 2];
    tcp.read_exact(&mut method).await.unwrap();
    assert_eq!(method, [5, 0]);
    let [high, low] = port.to_be_bytes();
    tcp.write_all(&[5, 3, 0, 1, 127, 0, 0, 1, high, low])
        .await
        .unwrap();
    let mut reply = [0; 10];
    tcp.read_exact(&mut reply).await.unwrap();
    assert_eq!((reply[0], reply[2], reply[3]), (5, 0, 1));
    if reply[1] != 0 {
        return Err(reply[1]);
    }
    let ip = Ipv4Addr::new(reply[4], reply[5], reply[6], reply[7]);
    Ok((tcp, (ip, u16::from_be_bytes([reply[8], reply[9]])).into()))
}

impl Client {
    async fn new(listener: SocketAddr) -> Client {
        let udp = UdpSocket::bind(ANY).await.unwrap();
        let (tcp, relay) = associate(listener, 0).await.unwrap();
        Client { tcp, udp, relay }
    }

    /// Sends a payload to an address of IPv4 as this fragment.
    async fn send(&self, fragment: u8, to: SocketAddr, payload: &[u8]) {
        let SocketAddr::V4(to) = to else {
            panic!("{to}")
        };
        let head = [
            &[0, 0, fragment, 1][..],
            &to.ip().octets(),
            &to.port().to_be_bytes(),
        ];
        self.raw(&[&head.concat(), payload].concat()).await;
    }

    async fn raw(&self, datagram: &[u8]) {
        self.udp.send_to(datagram, self.relay).await.unwrap();
    }

    /// The next datagram with its header, if one comes in this time.
    async fn next(&self, within: Duration) -> Option<Vec<u8>> {
        let mut buffer = vec![0; 65_535];
        let (length, from) = timeout(within, self.udp.recv_from(&mut buffer))
            .await
            .ok()?
            .unwrap();
        assert_eq!(from, self.relay);
        buffer.truncate(length);
        Some(buffer)
    }

    /// What comes back from an address of IPv4.
    async fn answer(&self) -> (SocketAddr, Vec<u8>) {
        let mut datagram = self.next(PATIENCE).await.expect("nothing comes back");
        assert_eq!(datagram[..4], [0, 0, 0, 1]);
        let ip = Ipv4Addr::new(datagram[4], datagram[5], datagram[6], datagram[7]);
        let port = u16::from_be_bytes([datagram[8], datagram[9]]);
        ((ip, port).into(), datagram.split_off(10))
    }
}

/// One association has flows to several servers, and each answer says from where it is.
#[tokio::test(flavor = "multi_thread")]
async fn datagrams_go_to_each_server_and_say_whence_they_come() {
    let bed = Bed::start("").await;
    carried(&bed).await;
    let (listener, _serving) = listener(&bed, None);
    let (one, _, _one) = echo().await;
    let (two, _, _two) = echo().await;
    let client = Client::new(listener).await;
    for length in [0, 1, 1200, 1452, 9000, 60_000] {
        for server in [one, two] {
            let payload = vec![length as u8; length];
            client.send(0, server, &payload).await;
            let answer = client.answer().await;
            assert!(answer == (server, payload), "{length} {server}");
        }
    }
    let counters = &bed.state.counters;
    assert_eq!(counters.udp_flows_active.get(), 2);
    assert_eq!(counters.udp_dropped.get(), 0);
    assert_eq!(counters.connections_active.get(), 1);
}

/// The hub resolves names, and what comes back has the name that was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_resolved_at_the_hub() {
    let bed = Bed::start("").await;
    carried(&bed).await;
    let (listener, _serving) = listener(&bed, None);
    let (server, count, _server) = echo().await;
    let client = Client::new(listener).await;
    let header = |name: &[u8]| {
        let length = [u8::try_from(name.len()).unwrap()];
        [
            &[0, 0, 0, 3][..],
            &length,
            name,
            &server.port().to_be_bytes(),
        ]
        .concat()
    };
    let named = [&header(b"localhost")[..], b"a name"].concat();
    client.raw(&named).await;
    assert_eq!(client.next(PATIENCE).await.unwrap(), named);
    client.raw(&named).await;
    assert_eq!(client.next(PATIENCE).await.unwrap(), named);
    // One that nobody has, and one that is none.
    client
        .raw(&[&header(b"no-such-name.invalid")[..], b"x"].concat())
        .await;
    client.raw(&[&header(b"a b")[..], b"x"].concat()).await;
    assert_eq!(client.next(SHORT).await, None);
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn fragments_and_datagrams_of_others_go_nowhere() {
    let bed = Bed::start("").await;
    carried(&bed).await;
    let (listener, _serving) = listener(&bed, None);
    let (server, count, _server) = echo().await;
    let client = Client::new(listener).await;
    client.send(1, server, b"a fragment").await;
    client.raw(b"\0\0\0").await;
    client.raw(b"\0\0\0\x09").await;
    client.send(0, server, b"mine").await;
    assert_eq!(client.answer().await, (server, b"mine".to_vec()));
    let other = UdpSocket::bind(ANY).await.unwrap();
    let whole = [
        &[0, 0, 0, 1, 127, 0, 0, 1][..],
        &server.port().to_be_bytes(),
        b"not mine",
    ]
    .concat();
    other.send_to(&whole, client.relay).await.unwrap();
    assert_eq!(client.next(SHORT).await, None);
    assert_eq!(count.load(Ordering::Relaxed), 1);
    assert!(bed.state.counters.udp_dropped.get() >= 3);
    // A client that says its port is heard from there only, also at first.
    let said = UdpSocket::bind(ANY).await.unwrap();
    let (_tcp, relay) = associate(listener, said.local_addr().unwrap().port())
        .await
        .unwrap();
    other.send_to(&whole, relay).await.unwrap();
    said.send_to(&whole, relay).await.unwrap();
    let mut buffer = [0; 100];
    let length = timeout(PATIENCE, said.recv(&mut buffer))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&buffer[..length], &whole);
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

/// The association and its flows end with the connection.
#[tokio::test(flavor = "multi_thread")]
async fn the_association_ends_with_its_connection() {
    let bed = Bed::start("").await;
    carried(&bed).await;
    let (listener, _serving) = listener(&bed, None);
    let (server, count, _server) = echo().await;
    let client = Client::new(listener).await;
    client.send(0, server, b"one").await;
    client.answer().await;
    let Client {
        mut tcp,
        udp,
        relay,
    } = client;
    tcp.shutdown().await.unwrap();
    assert_eq!(
        timeout(PATIENCE, tcp.read(&mut [0]))
            .await
            .unwrap()
            .unwrap(),
        0
    );
    let counters = &bed.state.counters;
    let gone = async {
        while counters.udp_flows_active.get() > 0 || counters.connections_active.get() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, gone).await.unwrap();
    // The socket is closed.
    udp.connect(relay).await.unwrap();
    let _ = udp.send(b"\0\0\0\x01").await;
    let refused = timeout(PATIENCE, udp.recv(&mut [0; 10])).await.unwrap();
    assert_eq!(
        refused.unwrap_err().kind(),
        std::io::ErrorKind::ConnectionRefused
    );
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rule_blocks_and_what_the_hub_forbids_is_dropped() {
    let blocked = "[intercept]\n[udp]\n[[udp.rule]]\naction = \"block\"\nports = [9]\n";
    let bed = Bed::start_with_terminal(blocked).await;
    carried(&bed).await;
    let (listener, _serving) = listener(&bed, None);
    let (server, count, _server) = echo().await;
    let client = Client::new(listener).await;
    client.send(0, (Ipv4Addr::LOCALHOST, 9).into(), b"x").await;
    // The policy of the bed allows loopback.
    client
        .send(0, ([169, 254, 169, 254], server.port()).into(), b"x")
        .await;
    client.send(0, server, b"y").await;
    assert_eq!(client.answer().await, (server, b"y".to_vec()));
    assert_eq!(client.next(SHORT).await, None);
    assert_eq!(count.load(Ordering::Relaxed), 1);
    assert_eq!(bed.state.counters.udp_dropped.get(), 1);
}

/// Beyond its flows, the one that was silent longest is forgotten, and begins anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_has_so_many_flows_and_no_more() {
    let bed = Bed::start("").await;
    carried(&bed).await;
    let (listener, _serving) = listener(&bed, None);
    let (server, _, _server) = echo().await;
    let client = Client::new(listener).await;
    client.send(0, server, b"first").await;
    client.answer().await;
    for number in 1..400_u16 {
        client
            .send(0, ([127, 0, 1, 1], 20_000 + number).into(), b"x")
            .await;
        // No faster than the socket takes them.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    client.send(0, server, b"again").await;
    assert_eq!(client.answer().await, (server, b"again".to_vec()));
    let active = bed.state.counters.udp_flows_active.get();
    assert!((250..=257).contains(&active), "{active}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_use_the_listener_has_no_association() {
    let bed = Bed::start("").await;
    carried(&bed).await;
    let file = bed.keys.path().join("users");
    std::fs::write(&file, "ann:secret\n").unwrap();
    let (listener, _serving) = listener(&bed, Some(Users::read(&file).unwrap()));
    let mut tcp = TcpStream::connect(listener).await.unwrap();
    tcp.write_all(&[5, 1, 2]).await.unwrap();
    tcp.write_all(b"\x01\x03ann\x05wrong").await.unwrap();
    tcp.write_all(&[5, 3, 0, 1, 0, 0, 0, 0, 0, 0])
        .await
        .unwrap();
    let mut said = Vec::new();
    let _ = timeout(PATIENCE, tcp.read_to_end(&mut said)).await.unwrap();
    assert_eq!(said, [5, 2, 1, 1]);
}

/// Where UDP does not pass, it is refused, and clients turn to TCP.
#[tokio::test(flavor = "multi_thread")]
async fn there_is_no_association_where_udp_is_not_carried() {
    let bed = Bed::start_without_udp().await;
    let (listener, _serving) = listener(&bed, None);
    assert_eq!(associate(listener, 0).await.unwrap_err(), 1);
}
