//! A TCP connection joined to a stream of the tunnel.

use super::end::End;
use super::lifecycle::{end_orderly, reset, vanishes};
use super::slow::Slow;
use super::{Closed, Meter, Timeouts, drive};
use crate::CloseReason;
use crate::tunnel::{Receiver, Sender};
use bytes::Bytes;
use rustix::net::RecvFlags;
use std::io::IoSlice;
use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Bytes of one read from TCP, and of one write to it.
const MOST: usize = 256 << 10;

/// Slices of one write.
const SLICES: usize = 64;

/// A host that takes nothing for this long is a slow reader, whose data is counted.
const SLOW: Duration = Duration::from_millis(100);

/// The host of the connection at the other end of the TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toward {
    /// The client: what the socket reads goes up.
    Client,
    /// The server: what the socket reads goes down.
    Server,
}

/// Where the connection broke.
pub(super) enum Broken {
    /// At the TCP socket.
    Tcp(CloseReason),
    /// In the tunnel, or beyond it.
    Tunnel(CloseReason),
}

/// Moves bytes between a TCP connection and a stream until both directions have
/// ended or one of them is cut, and closes both accordingly. After an orderly end
/// it returns when the other box has everything. `early` goes to the TCP socket
/// before what the stream brings, and is usually empty.
///
/// No memory is held for a direction that has nothing to carry: a read's buffer
/// is made when there is something to read, and is as large as that.
pub async fn pump(
    tcp: TcpStream,
    toward: Toward,
    mut sender: Sender,
    mut receiver: Receiver,
    early: Bytes,
    timeouts: &Timeouts,
    meter: &Meter,
) -> Closed {
    let end = End::new(tcp);
    let (read, written) = match toward {
        Toward::Client => (&meter.up, &meter.down),
        Toward::Server => (&meter.down, &meter.up),
    };
    let stopped = sender.stopped();
    let mut stopped = pin!(stopped);
    let sent = LastSent::default();
    let broken = {
        let mut out = pin!(into_tunnel(&end, &mut sender, read, &sent));
        let mut back = pin!(from_tunnel(&end, &mut receiver, early, written));
        let mut breaks = pin!(end.breaks());
        let mut vanishing = pin!(vanishes([end.tcp()], timeouts, meter));
        let watch = |cx: &mut Context<'_>| {
            if let Poll::Ready(cut) = breaks.as_mut().poll(cx) {
                return Poll::Ready(Broken::Tcp(cut));
            }
            if let Poll::Ready(cut) = stopped.as_mut().poll(cx) {
                return Poll::Ready(Broken::Tunnel(cut));
            }
            let vanished = vanishing.as_mut().poll(cx);
            vanished.map(|()| Broken::Tcp(end.fails(CloseReason::TimedOut)))
        };
        let ended = drive::both(out.as_mut(), back.as_mut(), watch).await;
        // Data sent before the break is still passed to the other host.
        match &ended.broken {
            Some(Broken::Tcp(_)) if ended.out_runs => {
                let _ = Box::pin(timeout(timeouts.last_bytes, out)).await;
            }
            Some(Broken::Tunnel(_)) => {
                let rest = async {
                    if ended.back_runs {
                        let _ = back.await;
                    }
                    end.delivered().await;
                };
                let _ = Box::pin(timeout(timeouts.last_bytes, rest)).await;
            }
            _ => {}
        }
        ended.broken
    };
    let cut = match broken {
        None => {
            end_orderly(end.into_tcp());
            drop(receiver);
            // A box that drains goes when it has no connections left, and data that
            // the other box has not acknowledged would be lost with it.
            let cut = Box::pin(sender.delivered()).await;
            return meter.closed(cut);
        }
        Some(Broken::Tcp(cut)) => {
            receiver.stop(cut);
            // A cut stream delivers nothing more, so that what was sent just
            // before gets the time to arrive.
            let until = sent.plus(timeouts.last_bytes);
            let _ = Box::pin(timeout(until, stopped)).await;
            cut
        }
        Some(Broken::Tunnel(cut)) => {
            receiver.stop(cut);
            cut
        }
    };
    sender.cut(cut);
    reset(end.into_tcp());
    meter.closed(Some(cut))
}

/// When something was sent last.
#[derive(Default)]
struct LastSent(OnceLock<Instant>, AtomicU64);

impl LastSent {
    fn now(&self) {
        let begin = self.0.get_or_init(Instant::now);
        let after = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.1.store(after, Ordering::Relaxed);
    }

    /// How long it still is until `later` after that; zero if nothing was sent.
    fn plus(&self, later: Duration) -> Duration {
        self.0.get().map_or(Duration::ZERO, |begin| {
            let last = *begin + Duration::from_millis(self.1.load(Ordering::Relaxed));
            (last + later).saturating_duration_since(Instant::now())
        })
    }
}

/// TCP into the tunnel.
async fn into_tunnel(
    end: &End,
    sender: &mut Sender,
    meter: &AtomicU64,
    sent: &LastSent,
) -> Result<(), Broken> {
    loop {
        end.readable().await.map_err(Broken::Tcp)?;
        // What is not read stays with its host. An end needs no room.
        let most = if end.has_bytes() {
            sender.room().await.min(MOST)
        } else {
            1
        };
        match read(end, most).map_err(Broken::Tcp)? {
            None => {}
            Some(data) if data.is_empty() => break,
            Some(data) => {
                let length = data.len() as u64;
                sender.send(data).await.map_err(Broken::Tunnel)?;
                meter.fetch_add(length, Ordering::Relaxed);
                sent.now();
            }
        }
    }
    sender.finish().await.map_err(Broken::Tunnel)
}

/// What has arrived, at most `most` bytes, in a buffer of just that size.
fn read(end: &End, most: usize) -> Result<Option<Bytes>, CloseReason> {
    let arrived = rustix::io::ioctl_fionread(end.tcp()).unwrap_or(0);
    let size = usize::try_from(arrived).unwrap_or(most).clamp(1, most);
    let mut buffer = Vec::with_capacity(size);
    let got = end.read_with(|| {
        let spare = rustix::buffer::spare_capacity(&mut buffer);
        let (_, length) = rustix::net::recv(end.tcp(), spare, RecvFlags::empty())?;
        Ok(length)
    })?;
    Ok(got.map(|_| Bytes::from(buffer)))
}

/// The tunnel into TCP.
async fn from_tunnel(
    end: &End,
    receiver: &mut Receiver,
    early: Bytes,
    meter: &AtomicU64,
) -> Result<(), Broken> {
    let mut chunks = Vec::new();
    if !early.is_empty() {
        chunks.push(early);
    }
    loop {
        if !chunks.is_empty() {
            write(end, &mut chunks, receiver, meter).await?;
            // An idle connection holds no memory here.
            chunks = Vec::new();
        }
        match receiver.receive(MOST).await.map_err(Broken::Tunnel)? {
            None => break,
            Some(chunk) => {
                let rest = MOST.saturating_sub(chunk.len());
                chunks.push(chunk);
                receiver.more(&mut chunks, rest);
            }
        }
    }
    end.finish().map_err(Broken::Tcp)
}

/// Waits for room at a host that reads quickly; `None` for one that does not.
async fn soon_writable(end: &End, receiver: &mut Receiver) -> Option<Result<(), CloseReason>> {
    let mut late = pin!(tokio::time::sleep(SLOW));
    loop {
        let fills = receiver.has_gaps();
        tokio::select! {
            biased;
            ready = end.writable() => return Some(ready),
            () = late.as_mut() => return None,
            () = receiver.fill(), if fills => {}
        }
    }
}

/// Writes all chunks, and what arrives while the host is too slow for them.
async fn write(
    end: &End,
    chunks: &mut Vec<Bytes>,
    receiver: &mut Receiver,
    meter: &AtomicU64,
) -> Result<(), Broken> {
    let mut at = 0;
    let mut slow = None;
    while at < chunks.len() {
        let wrote = end.write_with(|| {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = chunks.len().saturating_sub(at).min(SLICES);
            for (slice, chunk) in slices.iter_mut().zip(&chunks[at..]) {
                *slice = IoSlice::new(chunk);
            }
            Ok(rustix::io::writev(end.tcp(), &slices[..count])?)
        });
        let Some(mut wrote) = wrote.map_err(Broken::Tcp)? else {
            if let Some(ready) = soon_writable(end, receiver).await {
                ready.map_err(Broken::Tcp)?;
                continue;
            }
            chunks.drain(..at);
            at = 0;
            let slow = slow.get_or_insert_with(|| Box::new(Slow::new(receiver)));
            Box::pin(slow.wait(end, chunks, receiver)).await?;
            continue;
        };
        meter.fetch_add(wrote as u64, Ordering::Relaxed);
        while at < chunks.len() && wrote >= chunks[at].len() {
            wrote -= chunks[at].len();
            // Written data is freed before the rest.
            chunks[at] = Bytes::new();
            at += 1;
        }
        if wrote > 0
            && let Some(chunk) = chunks.get_mut(at)
        {
            *chunk = chunk.slice(wrote..);
        }
    }
    Ok(())
}
