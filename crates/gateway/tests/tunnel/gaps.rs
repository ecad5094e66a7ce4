//! A stream of which so much is lost at once that more gaps are in it than quinn-proto keeps.

use crate::bed::{Bed, connect};
use crate::closes::server;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

/// Bytes of the upload, and full datagrams of which every second is lost: 2800 parts with a gap
/// before each, where quinn-proto closes the connection at 1024 once it has 2048 parts.
const UPLOAD: usize = 12 << 20;
const HALVED: u64 = 5600;
const PATIENCE: Duration = Duration::from_secs(120);

/// Byte `i` of the upload.
fn byte(i: usize) -> u8 {
    (i / 3 + i / 1000) as u8
}

async fn upload(bed: &Bed, server: SocketAddr) -> tokio::task::JoinHandle<TcpStream> {
    let mut client = connect(&bed.terminal, server, false).await;
    tokio::spawn(async move {
        let bytes: Vec<u8> = (0..UPLOAD).map(byte).collect();
        client.write_all(&bytes).await.unwrap();
        client.shutdown().await.unwrap();
        client
    })
}

/// Loses half of a fast upload's first window, as an unreported fade on a long path does: the hub's
/// acknowledgements come when all of it is sent.
async fn fade(bed: &Bed) {
    let began = Instant::now();
    while bed.proxy.halved() > 0 {
        assert!(began.elapsed() < PATIENCE, "{} left", bed.proxy.halved());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bed.proxy.go_dark_downward(false);
}

async fn is_whole(mut tcp: TcpStream) -> bool {
    let mut all = Vec::with_capacity(UPLOAD);
    tcp.read_to_end(&mut all).await.unwrap();
    all.len() == UPLOAD && all.iter().enumerate().all(|(i, it)| *it == byte(i))
}

/// A link of which a window holds 12 MB or more.
const LINK: &str = "rate = \"250 Mbit/s\"\nrtt = \"600 ms\"\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_with_thousands_of_gaps_arrives_and_the_association_stays() {
    let bed = Bed::start_over(LINK, "").await;
    let (whole, mut arrived) = mpsc::channel(1);
    let (server, _server) = server(move |tcp| {
        let whole = whole.clone();
        async move { whole.send(is_whole(tcp).await).await.unwrap() }
    })
    .await;
    let associations = bed.state.counters.associations_lost.get();
    bed.proxy.go_dark_downward(true);
    bed.proxy.halve_upward(HALVED);
    let sending = upload(&bed, server).await;
    fade(&bed).await;
    let is_whole = tokio::time::timeout(PATIENCE, arrived.recv()).await;
    assert_eq!(is_whole.unwrap(), Some(true));
    sending.await.unwrap();
    assert_eq!(bed.state.counters.associations_lost.get(), associations);
}
