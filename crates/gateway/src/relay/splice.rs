//! Two TCP connections joined.
//!
//! Few bytes are read and written through a buffer of the thread. A direction that fills it borrows
//! a pipe, and its bytes move by splice(2) without being copied; the pipe goes back when nothing is
//! in flight, so that an idle connection has its two sockets and no memory. If no pipe is left,
//! bytes are copied from the receive queue and removed only when they are written: however many
//! readers are slow, their bytes stay in the kernel's buffers, where the sender's window accounts
//! for them.
//!
//! SPLICE_F_MORE is never set: it would hold back the end of each burst.

use super::end::End;
use super::lifecycle::{end_orderly, reset, vanishes};
use super::pipes::Lent;
use super::{Closed, Meter, Pipes, Timeouts, drive};
use crate::CloseReason;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::pipe::SpliceFlags;
use std::cell::RefCell;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Bytes of the thread's buffer: short requests and responses fit.
const SMALL: usize = 16 << 10;

/// Bytes that a direction moves before others have their turn.
const TURN: usize = 4 << 20;

/// Bursts shorter than this are not worth a pipe.
const BURST: usize = 4 << 10;

thread_local! {
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; SMALL].into_boxed_slice());
}

/// One of the sockets broke; [`End::broken`] has the reason.
#[derive(Debug)]
struct Broken;

impl From<CloseReason> for Broken {
    fn from(_: CloseReason) -> Broken {
        Broken
    }
}

/// Moves bytes between two TCP connections until both directions have ended or
/// one of the sockets breaks, and closes both accordingly: in order, or with RST.
pub async fn splice(
    client: TcpStream,
    server: TcpStream,
    pipes: &Pipes,
    timeouts: &Timeouts,
    meter: &Meter,
) -> Closed {
    let client = End::new(client);
    let server = End::new(server);
    let broken = {
        let mut up = pin!(direction(&client, &server, pipes, &meter.up));
        let mut down = pin!(direction(&server, &client, pipes, &meter.down));
        let mut client_breaks = pin!(client.breaks());
        let mut server_breaks = pin!(server.breaks());
        let mut vanishing = pin!(vanishes([client.tcp(), server.tcp()], timeouts, meter));
        let watch = |cx: &mut Context<'_>| {
            if client_breaks.as_mut().poll(cx).is_ready()
                || server_breaks.as_mut().poll(cx).is_ready()
            {
                return Poll::Ready(Broken);
            }
            vanishing.as_mut().poll(cx).map(|()| {
                client.fails(CloseReason::TimedOut);
                Broken
            })
        };
        let ended = drive::both(up.as_mut(), down.as_mut(), watch).await;
        if ended.broken.is_some() {
            // Data sent before the break is still passed to the other host. This is rare, and not
            // worth memory in every connection.
            let rest = async {
                if client.broken().is_some() {
                    if ended.out_runs {
                        let _ = up.await;
                    }
                    server.delivered().await;
                } else {
                    if ended.back_runs {
                        let _ = down.await;
                    }
                    client.delivered().await;
                }
            };
            let _ = Box::pin(timeout(timeouts.last_bytes, rest)).await;
        }
        ended.broken
    };
    match broken {
        None => {
            end_orderly(client.into_tcp());
            end_orderly(server.into_tcp());
            meter.closed(None)
        }
        Some(Broken) => {
            let cut = client
                .broken()
                .or(server.broken())
                .unwrap_or(CloseReason::Failed);
            reset(client.into_tcp());
            reset(server.into_tcp());
            meter.closed(Some(cut))
        }
    }
}

/// Result of one burst.
enum Burst {
    /// The sender has ended this direction.
    End,
    /// Nothing is left to read; this many bytes were moved.
    Dry(usize),
    /// There may be more.
    More,
}

/// Moves bytes one way, and then the half-close.
async fn direction(from: &End, to: &End, pipes: &Pipes, meter: &AtomicU64) -> Result<(), Broken> {
    let mut bulk = false;
    loop {
        // Other connections have their turn, however much arrives here.
        tokio::task::consume_budget().await;
        from.readable().await?;
        // Nothing is read before it can be passed on.
        to.writable().await?;
        let burst = if !bulk {
            small(from, to, meter).await?
        } else if let Some(pipe) = pipes.lend() {
            through_pipe(from, to, pipe, pipes.size(), meter).await?
        } else {
            by_copy(from, to, meter)?
        };
        match burst {
            Burst::End => break,
            Burst::More => bulk = true,
            Burst::Dry(moved) => bulk &= moved >= BURST,
        }
    }
    Ok(to.finish()?)
}

/// One read through the thread's buffer.
async fn small(from: &End, to: &End, meter: &AtomicU64) -> Result<Burst, Broken> {
    let (length, rest) = BUFFER.with_borrow_mut(|buffer| {
        let Some(length) = from.read(buffer)? else {
            return Ok((None, None));
        };
        let wrote = match length {
            0 => 0,
            _ => to.write(&buffer[..length])?.unwrap_or(0),
        };
        // Rarely: the socket had room, but not for all.
        let rest = (wrote < length).then(|| buffer[wrote..length].to_vec());
        Ok::<_, CloseReason>((Some(length), rest))
    })?;
    if let Some(rest) = rest {
        to.write_all(&rest).await?;
    }
    Ok(match length {
        None => Burst::Dry(0),
        Some(0) => Burst::End,
        Some(length) => {
            meter.fetch_add(length as u64, Ordering::Relaxed);
            match length {
                SMALL => Burst::More,
                length => Burst::Dry(length),
            }
        }
    })
}

/// Moves what has arrived, and what arrives meanwhile, through a pipe.
async fn through_pipe(
    from: &End,
    to: &End,
    mut lent: Lent<'_>,
    size: usize,
    meter: &AtomicU64,
) -> Result<Burst, Broken> {
    let mut moved = 0;
    while moved < TURN {
        let got = from.read_with(|| {
            let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
            match rustix::pipe::splice(from.tcp(), None, lent.inlet(), None, size, flags) {
                Err(Errno::AGAIN) if from.has_bytes() => Ok(0),
                got => Ok(got?),
            }
        })?;
        match got {
            None => return Ok(Burst::Dry(moved)),
            // The end, or urgent data, at which splice stops: a read through the
            // buffer finds out.
            Some(0) => return Ok(Burst::Dry(0)),
            Some(got) => lent.held = got,
        }
        while lent.held > 0 {
            let held = lent.held;
            let wrote = to.write_with(|| {
                let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
                let outlet = lent.outlet();
                Ok(rustix::pipe::splice(
                    outlet,
                    None,
                    to.tcp(),
                    None,
                    held,
                    flags,
                )?)
            })?;
            let Some(wrote) = wrote else {
                to.writable().await?;
                continue;
            };
            lent.held -= wrote;
            moved += wrote;
            meter.fetch_add(wrote as u64, Ordering::Relaxed);
        }
    }
    drop(lent);
    tokio::task::yield_now().await;
    Ok(Burst::More)
}

/// Moves what fits without a pipe: the bytes are read, written, and only then
/// taken from the receive queue.
fn by_copy(from: &End, to: &End, meter: &AtomicU64) -> Result<Burst, Broken> {
    BUFFER.with_borrow_mut(|buffer| {
        let seen = from.read_with(|| {
            let (_, seen) = rustix::net::recv(from.tcp(), &mut buffer[..], RecvFlags::PEEK)?;
            Ok(seen)
        })?;
        let seen = match seen {
            None => return Ok(Burst::Dry(0)),
            Some(0) => return Ok(Burst::End),
            Some(seen) => seen,
        };
        let sent = to.write_with(|| {
            Ok(rustix::net::send(
                to.tcp(),
                &buffer[..seen],
                SendFlags::NOSIGNAL,
            )?)
        })?;
        let Some(sent) = sent else {
            return Ok(Burst::More);
        };
        meter.fetch_add(sent as u64, Ordering::Relaxed);
        let mut left = sent;
        while left > 0 {
            // What was seen is there: this takes it without waiting.
            let taken = from.read_with(|| {
                let (_, taken) =
                    rustix::net::recv(from.tcp(), &mut buffer[..left], RecvFlags::TRUNC)?;
                Ok(taken)
            })?;
            match taken {
                Some(taken) if taken > 0 => left -= taken.min(left),
                _ => return Err(from.fails(CloseReason::Failed).into()),
            }
        }
        Ok(Burst::More)
    })
}
