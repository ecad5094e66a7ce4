//! stand-in
use crate::Cut;
use crate::tunnel::{Receiver, Sender};
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How a relayed connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Bytes from the client to the server.
    pub up: u64,
    /// Bytes from the server to the client.
    pub down: u64,
    /// `None` if both directions came to an orderly end.
    pub cut: Option<Cut>,
}
/// Bytes carried.
#[derive(Debug, Default)]
pub struct Meter {
    up: AtomicU64,
    down: AtomicU64,
}
impl Meter {
    pub(crate) fn count_up(&self, bytes: u64) {
        self.up.fetch_add(bytes, Ordering::Relaxed);
    }
}
/// Timeouts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience;
/// How connections to servers are made.
#[derive(Clone, Debug, Default)]
pub struct Dialer;
/// Which host the TCP side leads to.
#[derive(Clone, Copy, Debug)]
pub enum Toward {
    /// The client.
    Client,
    /// The server.
    Server,
}
/// Connects.
pub(crate) async fn connect(
    to: SocketAddr,
    _source: Option<SocketAddr>,
    _dialer: &Dialer,
) -> Result<TcpStream, Cut> {
    let connected = tokio::time::timeout(Duration::from_secs(30), TcpStream::connect(to)).await;
    let tcp = connected
        .map_err(|_| Cut::TimedOut)?
        .map_err(|error| Cut::from_io(&error))?;
    let _ = socket2::SockRef::from(&tcp).set_linger(Some(Duration::ZERO));
    let _ = tcp.set_nodelay(true);
    Ok(tcp)
}
/// Pumps.
pub(crate) async fn pump(
    mut tcp: TcpStream,
    toward: Toward,
    mut sender: Sender,
    mut receiver: Receiver,
    early: Bytes,
    _patience: &Patience,
    meter: &Meter,
) -> Closed {
    let _ = tcp.write_all(&early).await;
    let (mut read, mut write) = tcp.split();
    let (from, into) = match toward {
        Toward::Client => (&meter.up, &meter.down),
        Toward::Server => (&meter.down, &meter.up),
    };
    let out = async {
        let mut buffer = vec![0; 32 * 1024];
        loop {
            let n = read.read(&mut buffer).await.map_err(|e| Cut::from_io(&e))?;
            if n == 0 {
                sender.finish().await?;
                return sender.done().await;
            }
            from.fetch_add(n as u64, Ordering::Relaxed);
            sender.send(Bytes::copy_from_slice(&buffer[..n])).await?;
        }
    };
    let back = async {
        while let Some(bytes) = receiver.receive(64 * 1024).await? {
            into.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            write
                .write_all(&bytes)
                .await
                .map_err(|e| Cut::from_io(&e))?;
        }
        write.shutdown().await.map_err(|e| Cut::from_io(&e))
    };
    let cut = tokio::try_join!(out, back).err();
    if let Some(why) = cut {
        sender.cut(why);
        receiver.stop(why);
    } else {
        let _ = socket2::SockRef::from(&tcp).set_linger(None);
    }
    Closed {
        up: meter.up.load(Ordering::Relaxed),
        down: meter.down.load(Ordering::Relaxed),
        cut,
    }
}
