use super::*;
use bentpipe_units::Rate;
use std::time::Duration;

/// A poller and its socket, with a receiver that takes everything.
fn pair(rate: Option<Rate>) -> (Arc<ShapedSocket>, std::net::UdpSocket) {
    let receiver = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let shaped = ShapedSocket::new(socket, Shaper::new(rate)).unwrap();
    (shaped, receiver)
}

async fn send(
    poller: &mut Pin<Box<dyn UdpPoller>>,
    socket: &ShapedSocket,
    to: SocketAddr,
    size: usize,
) {
    let contents = vec![0; size];
    std::future::poll_fn(|cx| poller.as_mut().poll_writable(cx))
        .await
        .unwrap();
    socket
        .try_send(&Transmit {
            destination: to,
            ecn: None,
            contents: &contents,
            segment_size: None,
            src_ip: None,
        })
        .unwrap();
}

#[tokio::test]
async fn a_socket_keeps_its_rate() {
    let (socket, receiver) = pair(Some(Rate::from_mbps(20)));
    let to = receiver.local_addr().unwrap();
    let mut poller = Arc::clone(&socket).create_io_poller();
    let began = Instant::now();
    // 500 packets of 1228 bytes are 614 kB: 245.6 ms.
    for _ in 0..500 {
        send(&mut poller, &socket, to, 1200).await;
    }
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(235), "{took:?}");
    assert_eq!(socket.shaper().sent_bytes(), 614_000);
}

#[tokio::test]
async fn senders_share_the_rate_equally() {
    let (socket, receiver) = pair(Some(Rate::from_mbps(8)));
    let to = receiver.local_addr().unwrap();
    let count = |socket: Arc<ShapedSocket>| async move {
        let mut poller = Arc::clone(&socket).create_io_poller();
        let mut sent = 0u32;
        let end = tokio::time::Instant::now() + Duration::from_millis(400);
        while tokio::time::timeout_at(end, send(&mut poller, &socket, to, 972))
            .await
            .is_ok()
        {
            sent += 1;
        }
        sent
    };
    // 8 Mbit/s are one packet of 1000 bytes each millisecond.
    let (a, b) = tokio::join!(count(Arc::clone(&socket)), count(Arc::clone(&socket)));
    assert!(a.abs_diff(b) <= 20, "{a} and {b}");
    assert!(a + b <= 420, "{a} and {b}");
}

#[tokio::test]
async fn a_peer_whose_address_changes_keeps_its_rate() {
    let (socket, receiver) = pair(None);
    let to = receiver.local_addr().unwrap();
    let peer = socket.shaper().peer(to);
    peer.set_cap(Some(Rate::from_mbps(8)));
    let mut poller = Arc::clone(&socket).create_io_poller();
    send(&mut poller, &socket, to, 972).await;
    let other = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let other = other.local_addr().unwrap();
    let began = Instant::now();
    for _ in 0..100 {
        send(&mut poller, &socket, other, 972).await;
    }
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(90), "{took:?}");
}

#[tokio::test]
async fn a_peer_has_a_rate_of_its_own() {
    let (socket, receiver) = pair(None);
    let to = receiver.local_addr().unwrap();
    let peer = socket.shaper().peer(to);
    peer.set_rate(Some(Rate::from_mbps(8)));
    let mut poller = Arc::clone(&socket).create_io_poller();
    let began = Instant::now();
    for _ in 0..100 {
        send(&mut poller, &socket, to, 972).await;
    }
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(90), "{took:?}");
    // Another peer does not wait.
    let other = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let other = other.local_addr().unwrap();
    let mut poller = Arc::clone(&socket).create_io_poller();
    let began = Instant::now();
    for _ in 0..100 {
        send(&mut poller, &socket, other, 972).await;
    }
    let took = began.elapsed();
    assert!(took < Duration::from_millis(60), "{took:?}");
}

#[tokio::test]
async fn a_rate_that_rises_ends_the_wait() {
    let (socket, receiver) = pair(Some(Rate::from_bps(8)));
    let to = receiver.local_addr().unwrap();
    let mut poller = Arc::clone(&socket).create_io_poller();
    send(&mut poller, &socket, to, 1200).await;
    let shaper = Arc::clone(socket.shaper());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        shaper.set_rate(Some(Rate::from_mbps(20)));
    });
    let wait = tokio::time::timeout(Duration::from_secs(5), send(&mut poller, &socket, to, 1200));
    wait.await.unwrap();
}
