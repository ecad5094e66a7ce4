//! How the client reaches the server: directly, or by asking a proxy.

use crate::party::End;
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How the client reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It connects to the server's address; something in the path may intercept.
    Direct,
    /// Through SOCKS version 5 (RFC 1928) at this address.
    Socks5(SocketAddr),
    /// Through HTTP CONNECT (RFC 9110, section 9.3.6) at this address.
    Connect(SocketAddr),
}

/// A connection to `server`, by this way. With `first`, the client sends these
/// bytes with its request, without waiting for the proxy's answer.
///
/// # Errors
/// How it ended before it stood.
pub async fn open(way: Way, server: SocketAddr, first: &[u8]) -> Result<TcpStream, End> {
    let to = match way {
        Way::Direct => server,
        Way::Socks5(proxy) | Way::Connect(proxy) => proxy,
    };
    let failed = |error| End::from_io(&error);
    let mut stream = TcpStream::connect(to).await.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    match way {
        Way::Direct => stream.write_all(first).await.map_err(failed)?,
        Way::Socks5(_) => socks5(&mut stream, server, first).await?,
        Way::Connect(_) => connect(&mut stream, server, first).await?,
    }
    Ok(stream)
}

async fn socks5(stream: &mut TcpStream, server: SocketAddr, first: &[u8]) -> Result<(), End> {
    let failed = |error| End::from_io(&error);
    stream.write_all(&[5, 1, 0]).await.map_err(failed)?;
    let mut choice = [0; 2];
    stream.read_exact(&mut choice).await.map_err(cut)?;
    if choice != [5, 0] {
        return Err(End::Other(format!("SOCKS chose {choice:?}")));
    }
    let mut request = vec![5, 1, 0];
    match server.ip() {
        IpAddr::V4(ip) => {
            request.push(1);
            request.extend(ip.octets());
        }
        IpAddr::V6(ip) => {
            request.push(4);
            request.extend(ip.octets());
        }
    }
    request.extend(server.port().to_be_bytes());
    request.extend(first);
    stream.write_all(&request).await.map_err(failed)?;
    let mut reply = [0; 4];
    stream.read_exact(&mut reply).await.map_err(cut)?;
    let rest = match reply[3] {
        1 => 6,
        4 => 18,
        other => return Err(End::Other(format!("SOCKS address of type {other}"))),
    };
    stream.read_exact(&mut [0; 18][..rest]).await.map_err(cut)?;
    match reply[1] {
        0 => Ok(()),
        3 => Err(End::Unreachable),
        4 | 6 => Err(End::TimedOut),
        5 => Err(End::Refused),
        other => Err(End::Other(format!("SOCKS reply {other}"))),
    }
}

async fn connect(stream: &mut TcpStream, server: SocketAddr, first: &[u8]) -> Result<(), End> {
    let mut request = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n").into_bytes();
    request.extend(first);
    stream
        .write_all(&request)
        .await
        .map_err(|error| End::from_io(&error))?;
    // A byte at a time: what follows the empty line is the server's.
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.map_err(cut)?);
        if head.len() > 8192 {
            return Err(End::Other("CONNECT: a head without an end".into()));
        }
    }
    let head = String::from_utf8_lossy(&head);
    match head.split_whitespace().nth(1) {
        Some("200") => Ok(()),
        Some("504") => Err(End::TimedOut),
        Some("502" | "503") => Err(End::Refused),
        _ => Err(End::Other(format!(
            "CONNECT: {}",
            head.lines().next().unwrap_or_default()
        ))),
    }
}

/// A proxy that closes instead of an answer has failed, by whatever close.
fn cut(error: std::io::Error) -> End {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            End::Other("the proxy closed without an answer".into())
        }
        _ => End::from_io(&error),
    }
}
