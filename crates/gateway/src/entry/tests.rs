//! The parsers against any input in any pieces, and the listeners over sockets.

use super::connect::{self, Connect};
use super::socks::{self, Socks};
use super::*;
use crate::config::Answer;
use crate::{CloseReason, Destination};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// What SOCKS makes of the pieces of an input: the answers, how it ended, and
/// what is left.
fn socks_in_pieces(pieces: &[&[u8]], users: Option<&Users>) -> (Vec<u8>, socks::Step, Vec<u8>) {
    let mut negotiation = Socks::new(users);
    let (mut held, mut said) = (Vec::new(), Vec::new());
    let mut ended = socks::Step::More;
    for piece in pieces {
        held.extend_from_slice(piece);
        while matches!(ended, socks::Step::More | socks::Step::Answer(_)) {
            let (length, step) = negotiation.read(&held);
            held.drain(..length);
            ended = step;
            match &ended {
                socks::Step::Answer(answer) => said.extend_from_slice(answer),
                _ => break,
            }
        }
    }
    (said, ended, held)
}

fn connect_in_pieces(pieces: &[&[u8]]) -> connect::Step {
    let mut request = Connect::new(None);
    let mut held = Vec::new();
    for piece in pieces {
        held.extend_from_slice(piece);
        let step = request.read(&held);
        if step != connect::Step::More {
            return step;
        }
    }
    connect::Step::More
}

/// Bytes that are often near a request.
fn socks_like() -> impl Strategy<Value = Vec<u8>> {
    let request = (0..9_u8, 0..6_u8, prop::collection::vec(any::<u8>(), 0..40)).prop_map(
        |(command, kind, rest)| {
            let mut bytes = vec![5, 1, 0, 5, command, 0, kind];
            bytes.extend(rest);
            bytes
        },
    );
    prop_oneof![prop::collection::vec(any::<u8>(), 0..600), request]
}

fn connect_like() -> impl Strategy<Value = Vec<u8>> {
    let text = "(\r?\n){0,2}(CONNECT|GET|connect) [a-z.:0-9\\[\\]]{0,20} HTTP/1\\.[01]\r?\n\
                ([A-Za-z-]{1,8}: ?[ -~]{0,20}\r?\n){0,3}(\r?\n)?[ -~]{0,20}";
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..600),
        text.prop_map(String::into_bytes),
    ]
}

/// `input` cut at `cuts`.
fn cut_up<'a>(input: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
    places.extend([0, input.len()]);
    places.sort_unstable();
    places.windows(2).map(|w| &input[w[0]..w[1]]).collect()
}

proptest! {
    #[test]
    fn socks_is_the_same_in_any_pieces(
        input in socks_like(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        with_users in any::<bool>(),
    ) {
        let users = Users::default();
        let users = with_users.then_some(&users);
        let whole = socks_in_pieces(&[&input], users);
        prop_assert_eq!(&whole, &socks_in_pieces(&cut_up(&input, &cuts), users));
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        if !bytes.is_empty() {
            prop_assert_eq!(&whole, &socks_in_pieces(&bytes, users));
        }
        // A message that is not whole never grows beyond the limit.
        if whole.1 == socks::Step::More {
            prop_assert!(whole.2.len() <= socks::MOST);
        }
    }

    #[test]
    fn connect_is_the_same_in_any_pieces(
        input in connect_like(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let whole = connect_in_pieces(&[&input]);
        prop_assert_eq!(&whole, &connect_in_pieces(&cut_up(&input, &cuts)));
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        prop_assert_eq!(&whole, &connect_in_pieces(&bytes));
        if let connect::Step::Connect(length, _) = whole {
            prop_assert!(length <= input.len());
        }
    }
}

fn named(host: &str, port: u16) -> Destination {
    Destination::Name {
        host: host.into(),
        port,
    }
}

#[test]
fn socks_takes_the_three_forms_of_an_address() {
    let of = |request: &[u8]| {
        let mut negotiation = Socks::new(None);
        assert_eq!(
            negotiation.read(&[5, 2, 1, 0]),
            (4, socks::Step::Answer(&[5, 0]))
        );
        negotiation.read(request)
    };
    let (length, step) = of(b"\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x50rest");
    let address: std::net::SocketAddr = "192.0.2.1:80".parse().unwrap();
    assert_eq!((length, step), (10, socks::Step::Connect(address.into())));
    let (length, step) = of(b"\x05\x01\x00\x03\x09localhost\x01\xbb");
    assert_eq!(
        (length, step),
        (16, socks::Step::Connect(named("localhost", 443)))
    );
    let mut v6 = vec![5, 1, 0, 4];
    v6.extend(
        "2001:db8::1"
            .parse::<std::net::Ipv6Addr>()
            .unwrap()
            .octets(),
    );
    v6.extend([0, 25]);
    let address: std::net::SocketAddr = "[2001:db8::1]:25".parse().unwrap();
    assert_eq!(of(&v6), (22, socks::Step::Connect(address.into())));
    // UDP ASSOCIATE, from zeros, from an address, and from a name, which is as good as zeros.
    let from = |text: &str| socks::Step::Associate(text.parse().unwrap());
    for (request, wanted) in [
        (
            &b"\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00"[..],
            "0.0.0.0:0",
        ),
        (
            b"\x05\x03\x00\x01\xc0\x00\x02\x01\xc0\x00",
            "192.0.2.1:49152",
        ),
        (b"\x05\x03\x00\x03\x01a\xc0\x00", "0.0.0.0:49152"),
    ] {
        assert_eq!(of(request), (request.len(), from(wanted)));
    }
    // BIND; an unknown type; a port of zero; a name with a NUL.
    let code = |request: &[u8]| match of(request).1 {
        socks::Step::Refuse(answer) => answer[1],
        other => panic!("{other:?}"),
    };
    assert_eq!(code(b"\x05\x02\x00\x01\xc0\x00\x02\x01\x00\x50"), 7);
    assert_eq!(code(b"\x05\x01\x00\x05"), 8);
    assert_eq!(code(b"\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x00"), 1);
    assert_eq!(code(b"\x05\x01\x00\x03\x03a\x00b\x00\x50"), 1);
}

#[test]
fn socks_wants_a_password_where_there_are_users() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users");
    std::fs::write(&file, "ann:secret\n").unwrap();
    let users = Users::read(&file).unwrap();
    let refused = Socks::new(Some(&users)).read(&[5, 1, 0]).1;
    assert_eq!(refused, socks::Step::Refuse(&[5, 0xff]));
    let with = |password: &str| {
        let mut negotiation = Socks::new(Some(&users));
        assert_eq!(
            negotiation.read(&[5, 2, 0, 2]).1,
            socks::Step::Answer(&[5, 2])
        );
        let length = u8::try_from(password.len()).unwrap();
        let message = [b"\x01\x03ann", &[length][..], password.as_bytes()].concat();
        negotiation.read(&message).1
    };
    assert_eq!(with("secret"), socks::Step::Answer(&[1, 0]));
    assert_eq!(with("secreT"), socks::Step::Refuse(&[1, 1]));
    assert_eq!(with(""), socks::Step::Refuse(&[1, 1]));
}

#[test]
fn connect_refuses_what_is_not_for_it() {
    let status = |text: &str| match connect_in_pieces(&[text.as_bytes()]) {
        connect::Step::Refuse(response) => {
            let text = String::from_utf8(response).unwrap();
            text.split(' ').nth(1).unwrap().to_owned()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "405");
    assert_eq!(status("CONNECT a HTTP/1.1\r\n\r\n"), "400");
    assert_eq!(status("CONNECT a:0 HTTP/1.1\r\n\r\n"), "400");
    assert_eq!(status("CONNECT a:1\r\n\r\n"), "400");
    assert_eq!(status("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "400");
    assert_eq!(status("\u{16}\u{3}\u{1}\n\n"), "400");
    let fields = "A: b\r\n".repeat(100);
    assert_eq!(
        status(&format!("CONNECT a:1 HTTP/1.1\r\n{fields}\r\n")),
        "431"
    );
    assert_eq!(status(&"x".repeat(connect::MOST)), "431");
    let step = connect_in_pieces(&[b"\r\nCONNECT [2001:db8::1]:443 HTTP/1.0\n\nabc"]);
    let address: std::net::SocketAddr = "[2001:db8::1]:443".parse().unwrap();
    assert_eq!(step, connect::Step::Connect(38, address.into()));
}

/// A listener whose arrivals come out of the channel.
async fn listening(
    kind: Kind,
    answer: Answer,
) -> (std::net::SocketAddr, mpsc::Receiver<Arrival>, Serving) {
    let listener = Listener::bind(kind, "127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.address();
    let (sender, receiver) = mpsc::channel(16);
    let settings = Settings {
        answer,
        users: None,
    };
    let serving = serve(listener, settings, move |arrival| {
        let sender = sender.clone();
        async move { sender.send(arrival).await.unwrap() }
    });
    (address, receiver, serving.unwrap())
}

#[tokio::test]
async fn a_client_of_connect_gets_its_answer_and_keeps_its_bytes() {
    let (address, mut arrivals, _serving) = listening(Kind::Connect, Answer::Confirmed).await;
    let mut client = TcpStream::connect(address).await.unwrap();
    let request = b"CONNECT example.net:443 HTTP/1.1\r\nHost: example.net:443\r\n\r\nhello";
    client.write_all(request).await.unwrap();
    let mut arrival = arrivals.recv().await.unwrap();
    assert_eq!(arrival.open.destination, named("example.net", 443));
    assert!(arrival.open.confirm && arrival.open.source.is_none());
    assert_eq!(&arrival.first[..], b"hello");
    let linger = socket2::SockRef::from(&arrival.tcp).linger().unwrap();
    assert_eq!(linger, Some(Duration::ZERO));
    assert!(arrival.tcp.nodelay().unwrap());
    arrival.reply.connected(&mut arrival.tcp).await.unwrap();
    let mut answer = [0; 15];
    client.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 Co");
}

#[tokio::test]
async fn a_refusal_reaches_its_client_although_more_was_sent() {
    for (kind, request, wanted) in [
        (
            Kind::Connect,
            &b"CONNECT example.net:443 HTTP/1.1\r\n\r\nmore"[..],
            &b"HTTP/1.1 403 Forbidden"[..],
        ),
        (
            Kind::Socks,
            b"\x05\x01\x00\x05\x01\x00\x03\x07example\x00\x50more",
            b"\x05\x00\x05\x02\x00\x01",
        ),
    ] {
        let (address, mut arrivals, _serving) = listening(kind, Answer::Confirmed).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(request).await.unwrap();
        let arrival = arrivals.recv().await.unwrap();
        client.write_all(&[0; 10_000]).await.unwrap();
        let refusing = tokio::spawn(arrival.reply.failed(arrival.tcp, CloseReason::Forbidden));
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert!(answer.starts_with(wanted), "{answer:?}");
        drop(client);
        refusing.await.unwrap();
    }
}

#[tokio::test]
async fn an_early_answer_comes_before_the_server() {
    let (address, mut arrivals, _serving) = listening(Kind::Socks, Answer::Early).await;
    let mut client = TcpStream::connect(address).await.unwrap();
    client
        .write_all(b"\x05\x01\x00\x05\x01\x00\x03\x07example\x00\x50")
        .await
        .unwrap();
    let mut answer = [0; 12];
    client.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer[..4], [5, 0, 5, 0]);
    let arrival = arrivals.recv().await.unwrap();
    assert_eq!(arrival.reply, Reply::Nothing);
    assert!(!arrival.open.confirm);
    // From here on, a failure is a reset.
    arrival
        .reply
        .failed(arrival.tcp, CloseReason::Refused)
        .await;
    let error = client.read(&mut answer).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_client_of_udp_associate_hears_where_to_send() {
    // Also where others are answered early.
    let (address, mut arrivals, _serving) = listening(Kind::Socks, Answer::Early).await;
    let mut client = TcpStream::connect(address).await.unwrap();
    client
        .write_all(b"\x05\x01\x00\x05\x03\x00\x01\x7f\x00\x00\x01\x12\x34")
        .await
        .unwrap();
    let mut arrival = arrivals.recv().await.unwrap();
    assert_eq!(arrival.reply, Reply::Associate);
    let said: std::net::SocketAddr = "127.0.0.1:4660".parse().unwrap();
    assert_eq!(arrival.open.destination, said.into());
    let bound = "[2001:db8::1]:53".parse().unwrap();
    Reply::associated(&mut arrival.tcp, bound).await.unwrap();
    let mut answer = [0; 24];
    client.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer[..8], [5, 0, 5, 0, 0, 4, 0x20, 1]);
    assert_eq!(answer[21..], [1, 0, 53]);
}

#[tokio::test]
async fn silent_clients_keep_nobody_out() {
    crate::descriptors::raise();
    let (address, mut arrivals, serving) = listening(Kind::Socks, Answer::Confirmed).await;
    let mut silent = Vec::new();
    // More than are read at a time, all of one address.
    for _ in 0..2100 {
        // Those beyond their share are reset.
        silent.extend(TcpStream::connect(address).await.ok());
    }
    // Others are served meanwhile.
    let client = tokio::net::TcpSocket::new_v4().unwrap();
    client.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut client = client.connect(address).await.unwrap();
    client
        .write_all(b"\x05\x01\x00\x05\x01\x00\x03\x07example\x00\x50")
        .await
        .unwrap();
    arrivals.recv().await.unwrap();
    drop(serving);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_takes_too_long_is_refused() {
    let (address, _arrivals, _serving) = listening(Kind::Connect, Answer::Confirmed).await;
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(b"CONNECT a").await.unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 408"), "{answer:?}");
}

#[tokio::test]
async fn a_connection_to_the_intercepting_socket_itself_is_reset() {
    let Ok(listener) = Listener::bind(Kind::Transparent, "127.0.0.1:0".parse().unwrap()) else {
        bentpipe_testing::skip("a connection to the intercepting socket", "CAP_NET_ADMIN");
        return;
    };
    let address = listener.address();
    let reached = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = Arc::clone(&reached);
    let _serving = serve(listener, Settings::default(), move |_| {
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        async {}
    })
    .unwrap();
    let mut client = TcpStream::connect(address).await.unwrap();
    let error = client.read(&mut [0; 1]).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    assert!(!reached.load(std::sync::atomic::Ordering::Relaxed));
}
