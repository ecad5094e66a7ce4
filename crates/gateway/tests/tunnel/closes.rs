//! Every way in which a connection ends, through the tunnel.

use crate::bed::{ANY, Bed, Task, connect};
use bentpipe_gateway::tunnel::association::Health;
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(10);

/// A server that does `work` with each connection.
pub(crate) async fn server<F, W>(work: W) -> (SocketAddr, Task)
where
    F: Future<Output = ()> + Send + 'static,
    W: Fn(TcpStream) -> F + Send + 'static,
{
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = Task::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            tokio::spawn(work(tcp));
        }
    });
    (address, task)
}

/// Bytes that are different at each place.
pub(crate) fn bytes(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(&mut next)
        .flatten()
        .take(length)
        .collect()
}

/// A server that sends back what it gets.
pub(crate) async fn echo() -> (SocketAddr, Task) {
    server(|mut tcp| async move {
        let (mut read, mut write) = tcp.split();
        let _ = tokio::io::copy(&mut read, &mut write).await;
        let _ = write.shutdown().await;
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_half_close_is_one_at_the_other_end() {
    let (address, _server) = server(|mut tcp| async move {
        let mut got = Vec::new();
        tcp.read_to_end(&mut got).await.unwrap();
        got.reverse();
        tcp.write_all(&got).await.unwrap();
    })
    .await;
    for bed in Bed::each().await {
        for length in [0, 1, 1000, 100_000, 5_000_000] {
            let mut sent = bytes(length);
            let mut client = bed.connect(address).await;
            client.write_all(&sent).await.unwrap();
            client.shutdown().await.unwrap();
            let mut got = Vec::new();
            let end = timeout(SOON, client.read_to_end(&mut got)).await;
            end.unwrap().unwrap();
            sent.reverse();
            assert!(got == sent, "{length}: {} bytes came back", got.len());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_may_speak_and_end_first() {
    let (address, _server) = server(|mut tcp| async move {
        tcp.write_all(&bytes(3_000_000)).await.unwrap();
        tcp.shutdown().await.unwrap();
        let mut got = Vec::new();
        tcp.read_to_end(&mut got).await.unwrap();
        assert!(got == bytes(1_000_000));
    })
    .await;
    for bed in Bed::each().await {
        let mut client = bed.connect(address).await;
        let mut got = Vec::new();
        let end = timeout(SOON, client.read_to_end(&mut got)).await;
        end.unwrap().unwrap();
        assert!(got == bytes(3_000_000), "{} bytes came", got.len());
        client.write_all(&bytes(1_000_000)).await.unwrap();
        client.shutdown().await.unwrap();
        // Both directions have ended in order, at both boxes.
        timeout(SOON, async {
            while bed.hub.connections() > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
        .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_is_never_a_clean_end() {
    let (ends, mut ended) = tokio::sync::mpsc::unbounded_channel();
    let (address, _server) = server(move |mut tcp| {
        let ends = ends.clone();
        async move {
            let mut order = [0];
            let begun = tcp.read_exact(&mut order).await;
            if begun.is_ok() && order == *b"r" {
                tcp.write_all(&bytes(1_000_000)).await.unwrap();
                SockRef::from(&tcp)
                    .set_linger(Some(Duration::ZERO))
                    .unwrap();
            } else {
                tcp.write_all(b"w").await.unwrap();
                let mut got = Vec::new();
                // A socket names the error of a reset once.
                let clean = begun.is_ok() && tcp.read_to_end(&mut got).await.is_ok();
                ends.send(clean).unwrap();
            }
        }
    })
    .await;
    for bed in Bed::each().await {
        // By the server.
        let mut client = bed.connect(address).await;
        client.write_all(b"r").await.unwrap();
        let mut got = Vec::new();
        let end = timeout(SOON, client.read_to_end(&mut got)).await.unwrap();
        assert!(end.is_err(), "a clean end after {} bytes", got.len());
        // By the client, once the server has it.
        let mut client = bed.connect(address).await;
        client.write_all(b"w").await.unwrap();
        client.read_exact(&mut [0]).await.unwrap();
        client.write_all(&bytes(500_000)).await.unwrap();
        SockRef::from(&client)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
        drop(client);
        let clean = timeout(SOON, ended.recv()).await.unwrap().unwrap();
        assert!(!clean, "the server saw a clean end");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_gets_everything_and_holds_nobody_up() {
    let (address, _server) = server(|mut tcp| async move {
        tcp.write_all(&bytes(30_000_000)).await.unwrap();
    })
    .await;
    let (quick, _quick) = echo().await;
    for bed in Bed::each().await {
        let mut client = bed.connect(address).await;
        let mut got = vec![0; 1];
        client.read_exact(&mut got).await.unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        echoes(bed.connect(quick).await, 100_000).await;
        let end = timeout(SOON, client.read_to_end(&mut got)).await;
        end.unwrap().unwrap();
        assert!(got == bytes(30_000_000), "{} bytes came", got.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_stand_still_make_room_and_stop_nobody() {
    // At most four streams with full windows fit.
    let bed = Bed::start("stream_window = \"4 MB\"\n[limits]\nmemory = \"16 MiB\"\n").await;
    let (endless, _endless) =
        server(|mut tcp| async move { while tcp.write_all(&[7; 65_536]).await.is_ok() {} }).await;
    let (quick, _quick) = echo().await;
    let mut still = Vec::new();
    for _ in 0..12 {
        still.push(bed.connect(endless).await);
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let begin = Instant::now();
    echoes(bed.connect(quick).await, 100_000).await;
    assert!(begin.elapsed() < Duration::from_secs(1));
    timeout(3 * SOON, async {
        while bed.hub.connections() > 4 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await
    .unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!((1..=4).contains(&bed.hub.connections()));
    echoes(bed.connect(quick).await, 100_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_too_many_is_reset_and_the_next_one_served() {
    let bed = Bed::start("[limits]\nconnections = 2\n").await;
    let (address, _server) = echo().await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut client = bed.connect(address).await;
        client.write_all(b"x").await.unwrap();
        client.read_exact(&mut [0]).await.unwrap();
        held.push(client);
    }
    let mut more = bed.connect(address).await;
    let read = timeout(SOON, more.read(&mut [0; 10])).await.unwrap();
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    drop(held.pop());
    timeout(SOON, async {
        while bed.hub.connections() > 1 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    echoes(bed.connect(address).await, 1000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_drains_takes_no_new_connections_and_lets_the_others_end() {
    let (server, _server) = echo().await;
    for bed in Bed::each().await {
        let mut live = bed.connect(server).await;
        live.write_all(b"before").await.unwrap();
        live.read_exact(&mut [0; 6]).await.unwrap();
        bed.hub.refuse();
        let mut late = bed.connect(server).await;
        let read = timeout(SOON, late.read(&mut [0; 10])).await.unwrap();
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        // Nor does the fallback's listener.
        let address = bed.hub.address().unwrap();
        timeout(SOON, async {
            while TcpStream::connect(address).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
        .unwrap();
        echoes(live, 1_000_000).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_is_about_to_stop_tells_its_terminals_before_it_refuses() {
    let (server, _server) = echo().await;
    let bed = Bed::start("").await;
    let mut live = bed.connect(server).await;
    live.write_all(b"before").await.unwrap();
    live.read_exact(&mut [0; 6]).await.unwrap();
    let drains = |bed: &Bed| bed.terminal.status().borrow().health == Health::Draining;
    let new = async {
        while !drains(&bed) {
            echoes(bed.connect(server).await, 1000).await;
        }
    };
    let (_, begun) = tokio::join!(bed.hub.drain(), timeout(SOON, new));
    begun.expect("the terminal knows");
    assert_eq!(bed.state.status()["associations"][0]["draining"], true);
    // A new connection has its answer at once.
    let begin = Instant::now();
    let mut late = connect(&bed.terminal, server, true).await;
    let mut reply = Vec::new();
    timeout(SOON, late.read_to_end(&mut reply))
        .await
        .unwrap()
        .unwrap();
    assert!(reply[0] == 5 && reply[1] != 0, "{reply:?}");
    assert!(begin.elapsed() < Duration::from_secs(1));
    echoes(live, 1_000_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_that_comes_while_the_hub_tells_that_it_stops_is_told_too() {
    let bed = Bed::start("").await;
    let comes = async {
        // The notice to the first one is under way, and the hub still takes terminals.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let second = bed.keys.terminal(bed.hub.address().unwrap(), "");
        let mut status = second.status();
        let told = status.wait_for(|status| status.health == Health::Draining);
        timeout(SOON, told).await.unwrap().unwrap();
    };
    tokio::join!(bed.hub.drain(), comes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_no_connection() {
    let nobody = {
        let listener = TcpListener::bind(ANY).await.unwrap();
        listener.local_addr().unwrap()
    };
    for bed in Bed::each().await {
        let mut early = bed.connect(nobody).await;
        let read = timeout(SOON, early.read(&mut [0; 10])).await.unwrap();
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        let mut confirmed = connect(&bed.terminal, nobody, true).await;
        let mut reply = Vec::new();
        let end = timeout(SOON, confirmed.read_to_end(&mut reply)).await;
        end.unwrap().unwrap();
        // RFC 1928, section 6: connection refused.
        assert_eq!(reply[..2], [5, 5]);
    }
}

/// Sends `length` bytes, gets them back, and ends in order.
pub(crate) async fn echoes(client: TcpStream, length: usize) {
    let (mut read, mut write) = client.into_split();
    let sent = bytes(length);
    let work = async {
        let mut got = Vec::new();
        let send = async {
            write.write_all(&sent).await.unwrap();
            write.shutdown().await.unwrap();
        };
        let (_, end) = tokio::join!(send, read.read_to_end(&mut got));
        end.unwrap();
        assert!(got == sent, "{} of {length} bytes came back", got.len());
    };
    timeout(SOON, work).await.unwrap();
}
