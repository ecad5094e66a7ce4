//! Two TCP connections joined.
//!
//! Few bytes are read and written through a buffer of the thread. A direction
//! that fills it borrows a pipe, and its bytes move by splice(2) without being
//! copied; the pipe goes back when nothing is in flight, so that an idle
//! connection has its two sockets and no memory. Where no pipe is left, bytes
//! are copied out of the receive queue and leave it only when they are written:
//! however many readers are slow, their bytes stay in the kernel's buffers,
//! where the sender's window counts them.
//!
//! SPLICE_F_MORE is never set: it would hold back the end of each burst.

use super::end::End;
use super::lifecycle::{end_orderly, reset, vanishes};
use super::pipes::Lent;
use super::{Closed, Meter, Patience, Pipes, drive};
use crate::Cut;
use rustix::net::{RecvFlags, SendFlags};
use rustix::pipe::SpliceFlags;
use std::cell::RefCell;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// Which socket broke, and why.
enum Broken {
    Client(Cut),
    Server(Cut),
}

/// Moves bytes between two TCP connections until both directions have ended or
/// one of the sockets breaks, and closes both accordingly: in order, or with RST.
pub async fn splice(
    client: TcpStream,
    server: TcpStream,
    pipes: &Pipes,
    patience: &Patience,
    meter: &Meter,
) -> Closed {
    let client = End::new(client);
    let server = End::new(server);
    let broken = {
        let up = async {
            match direction(&client, &server, pipes, &meter.up).await {
                Ok(()) => Ok(()),
                Err(Side::From(cut)) => Err(Broken::Client(cut)),
                Err(Side::To(cut)) => Err(Broken::Server(cut)),
            }
        };
        let down = async {
            match direction(&server, &client, pipes, &meter.down).await {
                Ok(()) => Ok(()),
                Err(Side::From(cut)) => Err(Broken::Server(cut)),
                Err(Side::To(cut)) => Err(Broken::Client(cut)),
            }
        };
        let (mut up, mut down) = (pin!(up), pin!(down));
        let watch = drive::first(
            async { Broken::Client(client.breaks().await) },
            async { Broken::Server(server.breaks().await) },
            async {
                vanishes([client.tcp(), server.tcp()], patience, meter).await;
                Broken::Client(client.fails(Cut::TimedOut))
            },
        );
        let ended = drive::both(up.as_mut(), down.as_mut(), watch).await;
        // What the host that broke off sent before goes on to the other.
        let rest = async {
            match &ended.broken {
                Some(Broken::Client(_)) => {
                    if ended.out_runs {
                        let _ = up.await;
                    }
                    server.delivered().await;
                }
                Some(Broken::Server(_)) => {
                    if ended.back_runs {
                        let _ = down.await;
                    }
                    client.delivered().await;
                }
                None => {}
            }
        };
        let _ = timeout(patience.last_bytes, rest).await;
        ended.broken
    };
    match broken {
        None => {
            end_orderly(client.into_tcp());
            end_orderly(server.into_tcp());
            meter.closed(None)
        }
        Some(Broken::Client(cut) | Broken::Server(cut)) => {
            reset(client.into_tcp());
            reset(server.into_tcp());
            meter.closed(Some(cut))
        }
    }
}

/// Which socket of a direction broke.
enum Side {
    From(Cut),
    To(Cut),
}

/// What one burst came to.
enum Burst {
    /// The sender has ended this direction.
    End,
    /// Nothing is left to read; this many bytes were moved.
    Dry(usize),
    /// There may be more.
    More,
}

/// Moves bytes one way, and then the half-close.
async fn direction(from: &End, to: &End, pipes: &Pipes, meter: &AtomicU64) -> Result<(), Side> {
    let mut bulk = false;
    loop {
        // Other connections have their turn, however much arrives here.
        tokio::task::consume_budget().await;
        from.readable().await.map_err(Side::From)?;
        // Nothing is read before it can be passed on.
        to.writable().await.map_err(Side::To)?;
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
    to.finish().map_err(Side::To)
}

/// One read through the thread's buffer.
async fn small(from: &End, to: &End, meter: &AtomicU64) -> Result<Burst, Side> {
    let (length, rest) = BUFFER.with_borrow_mut(|buffer| {
        let Some(length) = from.read(buffer).map_err(Side::From)? else {
            return Ok((None, None));
        };
        let wrote = match length {
            0 => 0,
            _ => to.write(&buffer[..length]).map_err(Side::To)?.unwrap_or(0),
        };
        // Seldom: the socket had room, but not for all.
        let rest = (wrote < length).then(|| buffer[wrote..length].to_vec());
        Ok((Some(length), rest))
    })?;
    if let Some(rest) = rest {
        to.write_all(&rest).await.map_err(Side::To)?;
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
) -> Result<Burst, Side> {
    let mut moved = 0;
    while moved < TURN {
        let got = from
            .read_with(|| {
                let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
                let got = rustix::pipe::splice(from.tcp(), None, lent.inlet(), None, size, flags)?;
                Ok(got)
            })
            .map_err(Side::From)?;
        match got {
            None => return Ok(Burst::Dry(moved)),
            Some(0) => return Ok(Burst::End),
            Some(got) => lent.held = got,
        }
        while lent.held > 0 {
            let held = lent.held;
            let wrote = to
                .write_with(|| {
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
                })
                .map_err(Side::To)?;
            let Some(wrote) = wrote else {
                to.writable().await.map_err(Side::To)?;
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
fn by_copy(from: &End, to: &End, meter: &AtomicU64) -> Result<Burst, Side> {
    BUFFER.with_borrow_mut(|buffer| {
        let seen = from
            .read_with(|| {
                let (_, seen) = rustix::net::recv(from.tcp(), &mut buffer[..], RecvFlags::PEEK)?;
                Ok(seen)
            })
            .map_err(Side::From)?;
        let seen = match seen {
            None => return Ok(Burst::Dry(0)),
            Some(0) => return Ok(Burst::End),
            Some(seen) => seen,
        };
        let sent = to
            .write_with(|| {
                Ok(rustix::net::send(
                    to.tcp(),
                    &buffer[..seen],
                    SendFlags::NOSIGNAL,
                )?)
            })
            .map_err(Side::To)?;
        let Some(sent) = sent else {
            return Ok(Burst::More);
        };
        meter.fetch_add(sent as u64, Ordering::Relaxed);
        let mut left = sent;
        while left > 0 {
            // What was seen is there: this takes it without waiting.
            let taken = from
                .read_with(|| {
                    let (_, taken) =
                        rustix::net::recv(from.tcp(), &mut buffer[..left], RecvFlags::TRUNC)?;
                    Ok(taken)
                })
                .map_err(Side::From)?;
            match taken {
                Some(taken) if taken > 0 => left -= taken.min(left),
                _ => return Err(Side::From(from.fails(Cut::Failed))),
            }
        }
        Ok(Burst::More)
    })
}
