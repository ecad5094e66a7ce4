//! What happens at one end happens at the other.

use super::*;
use crate::CloseReason;
use std::time::Instant;

#[tokio::test]
async fn a_half_close_leaves_the_other_direction_open() {
    let mut relayed = relayed().await;
    let data = pattern(1_000_000);
    let request = data.clone();
    let (mut read, mut write) = relayed.client.into_split();
    tokio::spawn(async move {
        write.write_all(&request).await.unwrap();
        write.shutdown().await.unwrap();
    });
    assert_eq!(read_out(&mut relayed.server).await, (data.to_vec(), false));
    tokio::time::sleep(Duration::from_millis(50)).await;
    relayed.server.write_all(b"reply").await.unwrap();
    relayed.server.shutdown().await.unwrap();
    let mut reply = Vec::new();
    read.read_to_end(&mut reply).await.unwrap();
    assert_eq!(reply, b"reply");
    assert_eq!(ended(relayed.relay).await.cut, None);
}

#[tokio::test]
async fn a_half_close_of_the_server_leaves_the_client_sending() {
    let mut relayed = relayed().await;
    relayed.server.write_all(b"greeting").await.unwrap();
    relayed.server.shutdown().await.unwrap();
    assert_eq!(
        read_out(&mut relayed.client).await,
        (b"greeting".to_vec(), false)
    );
    relayed.client.write_all(b"more").await.unwrap();
    drop(relayed.client);
    assert_eq!(
        read_out(&mut relayed.server).await,
        (b"more".to_vec(), false)
    );
    assert_eq!(ended(relayed.relay).await.cut, None);
}

#[tokio::test]
async fn a_reset_of_the_server_after_a_megabyte_is_a_reset_for_the_client() {
    for pipes in [16, 0] {
        let mut relayed = relayed_with(Pipes::new(pipes, 1 << 20), Timeouts::default()).await;
        let data = pattern(1_000_000);
        let sent = data.clone();
        let (mut read, mut write) = relayed.server.into_split();
        let server = tokio::spawn(async move {
            write.write_all(&sent).await.unwrap();
            // The client has asked for something that the server does not read.
            let mut one = [0];
            read.read_exact(&mut one).await.unwrap();
            close_with_reset(read.reunite(write).unwrap());
        });
        relayed.client.write_all(b"go").await.unwrap();
        let (bytes, reset) = read_out(&mut relayed.client).await;
        server.await.unwrap();
        assert!(reset, "a clean end after {} bytes", bytes.len());
        assert!(data.starts_with(&bytes));
        assert_eq!(ended(relayed.relay).await.cut, Some(CloseReason::Reset));
    }
}

#[tokio::test]
async fn bytes_before_a_reset_arrive_before_it() {
    let mut relayed = relayed().await;
    let data = pattern(300_000);
    relayed.server.write_all(&data).await.unwrap();
    // All of them are in the relay's receive queue, or further.
    tokio::time::sleep(Duration::from_millis(100)).await;
    close_with_reset(relayed.server);
    assert_eq!(read_out(&mut relayed.client).await, (data.to_vec(), true));
}

#[tokio::test]
async fn a_reset_of_the_client_is_a_reset_for_the_server() {
    let mut relayed = relayed().await;
    relayed.client.write_all(b"request").await.unwrap();
    let mut request = [0; 7];
    relayed.server.read_exact(&mut request).await.unwrap();
    let begin = Instant::now();
    close_with_reset(relayed.client);
    assert_eq!(read_out(&mut relayed.server).await, (Vec::new(), true));
    assert!(begin.elapsed() < Duration::from_millis(500));
    assert_eq!(ended(relayed.relay).await.cut, Some(CloseReason::Reset));
}

#[tokio::test]
async fn a_reset_arrives_while_its_direction_is_blocked() {
    // The server sends, the client does not read; then the server breaks off.
    let mut blocked = relayed().await;
    narrow(&blocked.client);
    let (read, write) = blocked.server.into_split();
    let server = flooding(write);
    tokio::time::sleep(Duration::from_millis(300)).await;
    server.abort();
    close_with_reset_of(read).await;
    let begin = Instant::now();
    assert_eq!(ended(blocked.relay).await.cut, Some(CloseReason::Reset));
    assert!(begin.elapsed() < Duration::from_secs(2));
    assert!(read_out(&mut blocked.client).await.1, "a clean end");
}

#[tokio::test]
async fn a_reset_arrives_while_the_other_direction_is_blocked() {
    // The server sends, the client does not read and breaks off.
    let blocked = relayed().await;
    narrow(&blocked.client);
    let (_read, write) = blocked.server.into_split();
    let server = flooding(write);
    tokio::time::sleep(Duration::from_millis(300)).await;
    close_with_reset(blocked.client);
    assert_eq!(ended(blocked.relay).await.cut, Some(CloseReason::Reset));
    let refused = tokio::time::timeout(Duration::from_secs(10), server).await;
    assert!(refused.is_ok(), "the server can go on writing");
}

/// Resets a connection whose other half was dropped by a task that was aborted.
async fn close_with_reset_of(read: tokio::net::tcp::OwnedReadHalf) {
    tokio::time::sleep(Duration::from_millis(50)).await;
    socket2::SockRef::from(read.as_ref())
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(read);
}

#[tokio::test]
async fn a_reset_after_a_half_close_is_a_reset() {
    let mut relayed = relayed().await;
    relayed.client.shutdown().await.unwrap();
    assert_eq!(read_out(&mut relayed.server).await, (Vec::new(), false));
    close_with_reset(relayed.client);
    assert_eq!(ended(relayed.relay).await.cut, Some(CloseReason::Reset));
    // The end was orderly before the reset came; a write finds it.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(relayed.server.write_all(b"late").await.is_err());
}

#[tokio::test]
async fn a_relay_that_dies_resets_both_hosts() {
    let mut relayed = relayed().await;
    relayed.server.write_all(b"part").await.unwrap();
    let mut part = [0; 4];
    relayed.client.read_exact(&mut part).await.unwrap();
    relayed.relay.abort();
    assert_eq!(read_out(&mut relayed.client).await, (Vec::new(), true));
    assert_eq!(read_out(&mut relayed.server).await, (Vec::new(), true));
}

#[tokio::test]
async fn a_relay_that_dies_after_a_half_close_resets_both_hosts() {
    let mut relayed = relayed().await;
    relayed.client.shutdown().await.unwrap();
    assert_eq!(read_out(&mut relayed.server).await, (Vec::new(), false));
    relayed.relay.abort();
    assert_eq!(read_out(&mut relayed.client).await, (Vec::new(), true));
}

#[tokio::test]
async fn an_idle_connection_is_cut_after_its_time_and_no_earlier() {
    let timeouts = Timeouts {
        idle: Some(Duration::from_millis(400)),
        ..Timeouts::default()
    };
    let mut relayed = relayed_with(Pipes::new(1, 1 << 16), timeouts).await;
    for _ in 0..6 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        relayed.client.write_all(b"x").await.unwrap();
    }
    let begin = Instant::now();
    let (bytes, reset) = read_out(&mut relayed.server).await;
    assert_eq!((bytes.len(), reset), (6, true));
    assert!(begin.elapsed() >= Duration::from_millis(300));
    assert_eq!(ended(relayed.relay).await.cut, Some(CloseReason::TimedOut));
}

#[tokio::test]
async fn a_slow_reader_is_not_taken_for_one_that_vanished() {
    let timeouts = Timeouts {
        vanished: Duration::from_millis(1500),
        ..Timeouts::default()
    };
    let mut relayed = relayed_with(Pipes::new(1, 1 << 20), timeouts).await;
    narrow(&relayed.client);
    let (_read, write) = relayed.server.into_split();
    let server = writing(write, pattern(20_000_000));
    // The window stays shut for longer than the time after which a host that
    // does not answer is gone; it answers the probes.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (_, length) = {
        let mut rest = vec![0; 20_000_000];
        let length = relayed.client.read_exact(&mut rest).await.unwrap();
        (rest, length)
    };
    assert_eq!(length, 20_000_000);
    assert!(server.await.unwrap());
}

#[tokio::test]
async fn a_refusal_and_a_silence_are_told_apart() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = closed.local_addr().unwrap();
    drop(closed);
    let dialer = Dialer::default();
    assert_eq!(
        connect(to, None, &dialer).await.unwrap_err(),
        CloseReason::Refused
    );

    // A listener whose queue is full drops what comes.
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let local = SocketAddr::from(([127, 0, 0, 1], 0));
    socket.bind(&local.into()).unwrap();
    socket.listen(0).unwrap();
    let to = socket.local_addr().unwrap().as_socket().unwrap();
    let dialer = Dialer {
        timeout: Duration::from_millis(200),
        ..Dialer::default()
    };
    let mut waiting = Vec::new();
    let silence = loop {
        match connect(to, None, &dialer).await {
            Ok(tcp) => waiting.push(tcp),
            Err(cut) => break cut,
        }
    };
    assert_eq!(silence, CloseReason::TimedOut);
}
