//! A relay with a fault: what a careless gateway does to connections.

use socket2::SockRef;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// What the relay does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// It closes cleanly when a reset came.
    EndForReset,
    /// It accepts, and closes cleanly when the server refuses.
    EndForRefusal,
    /// It resets where an end came.
    ResetForEnd,
    /// It loses the last bytes before an end.
    LastBytes,
    /// It repeats a piece.
    Repeat,
    /// It swaps halves of a piece.
    Swap,
    /// It changes a bit.
    Flip,
    /// It closes both directions when one ends.
    NoHalfClose,
    /// It does not pass an end on.
    LostEnd,
    /// It opens the way to the server at the first bytes of the client.
    WaitsForClient,
}

/// Relays connections to `to`, and to the ports that follow it; the address of
/// the first port.
pub(crate) async fn start(to: SocketAddr, ports: u16, fault: Fault) -> io::Result<SocketAddr> {
    let (listeners, first) = consecutive(ports).await?;
    for (offset, listener) in (0..).zip(listeners) {
        let mut to = to;
        to.set_port(to.port() + offset);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(relay(client, to, fault));
            }
        });
    }
    Ok(first)
}

/// Listeners on ports that follow each other.
async fn consecutive(ports: u16) -> io::Result<(Vec<TcpListener>, SocketAddr)> {
    loop {
        let first = TcpListener::bind("127.0.0.1:0").await?;
        let address = first.local_addr()?;
        let mut all = vec![first];
        for offset in 1..ports {
            let Some(port) = address.port().checked_add(offset) else {
                break;
            };
            match TcpListener::bind((address.ip(), port)).await {
                Ok(listener) => all.push(listener),
                Err(_) => break,
            }
        }
        if all.len() == usize::from(ports) {
            return Ok((all, address));
        }
    }
}

fn linger(stream: &impl std::os::fd::AsFd, time: Option<Duration>) {
    SockRef::from(stream).set_linger(time).unwrap();
}

async fn relay(mut client: TcpStream, to: SocketAddr, fault: Fault) {
    let mut first = vec![0; 1 << 16];
    let mut length = 0;
    if fault == Fault::WaitsForClient {
        length = client.read(&mut first).await.unwrap_or(0);
    }
    let server = tokio::time::timeout(Duration::from_secs(2), TcpStream::connect(to)).await;
    let Ok(Ok(mut server)) = server else {
        if fault == Fault::EndForRefusal {
            // Unread bytes would make a reset of the close.
            let _ = client.read(&mut first).await;
        } else {
            linger(&client, Some(Duration::ZERO));
        }
        return;
    };
    if server.write_all(&first[..length]).await.is_err() {
        return;
    }
    let (up_from, down_into) = client.into_split();
    let (down_from, up_into) = server.into_split();
    let up = tokio::spawn(pump(up_from, up_into, fault, false));
    let down = tokio::spawn(pump(down_from, down_into, fault, true));
    let (Ok((up_from, up_into, up)), Ok((down_from, down_into, down))) = tokio::join!(up, down)
    else {
        return;
    };
    let (Ok(client), Ok(server)) = (up_from.reunite(down_into), down_from.reunite(up_into)) else {
        return;
    };
    if (up.is_err() || down.is_err()) && fault != Fault::EndForReset || fault == Fault::ResetForEnd
    {
        linger(&client, Some(Duration::ZERO));
        linger(&server, Some(Duration::ZERO));
    }
    if fault == Fault::LostEnd {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

type Pumped = (OwnedReadHalf, OwnedWriteHalf, io::Result<()>);

async fn pump(
    mut from: OwnedReadHalf,
    mut into: OwnedWriteHalf,
    fault: Fault,
    down: bool,
) -> Pumped {
    let mut buffer = vec![0; 1 << 14];
    let mut held = Vec::new();
    let ended = loop {
        let read = match from.read(&mut buffer).await {
            Ok(read) => read,
            Err(error) => break Err(error),
        };
        if read == 0 {
            break Ok(());
        }
        let mut piece = buffer[..read].to_vec();
        match fault {
            // Both directions, but not the plan.
            Fault::Repeat if down => piece.extend_from_within(..read / 2),
            Fault::Swap if down => piece.rotate_left(read / 2),
            Fault::Flip if down => piece[read / 2] ^= 4,
            Fault::LastBytes => piece = std::mem::replace(&mut held, piece),
            _ => {}
        }
        if let Err(error) = into.write_all(&piece).await {
            break Err(error);
        }
    };
    if fault == Fault::LastBytes && !down {
        let _ = into.write_all(&held).await;
    }
    let cut = ended.is_err();
    match fault {
        Fault::LostEnd if !cut => {}
        // It closes both ways, as a relay does that knows only of one end.
        Fault::NoHalfClose => {
            SockRef::from(from.as_ref())
                .shutdown(std::net::Shutdown::Both)
                .ok();
            SockRef::from(into.as_ref())
                .shutdown(std::net::Shutdown::Both)
                .ok();
        }
        Fault::ResetForEnd if down => {}
        _ if cut && fault != Fault::EndForReset => {
            // The other direction ends too, and both sockets are then reset.
            linger(from.as_ref(), Some(Duration::ZERO));
            linger(into.as_ref(), Some(Duration::ZERO));
            disconnect(into.as_ref());
            disconnect(from.as_ref());
        }
        _ if cut => {
            SockRef::from(from.as_ref())
                .shutdown(std::net::Shutdown::Both)
                .ok();
            SockRef::from(into.as_ref())
                .shutdown(std::net::Shutdown::Both)
                .ok();
        }
        _ => {
            let _ = into.shutdown().await;
        }
    }
    (from, into, ended)
}

/// Wakes the other direction's read, without a FIN: its receiving side ends.
fn disconnect(stream: &TcpStream) {
    SockRef::from(stream)
        .shutdown(std::net::Shutdown::Read)
        .ok();
}
