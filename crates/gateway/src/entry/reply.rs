//! Replies to a client's request, in its own protocol.

use crate::CloseReason;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longest time that a refusal waits for its client to close.
const LINGER: Duration = Duration::from_secs(2);

/// Most bytes of a refused client that are read away, so that they do not turn
/// the refusal into RST.
const DRAIN: usize = 256 << 10;

/// How a client is told what became of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// There is nothing left to say: the connection was intercepted, or its
    /// request was answered early. A failure is RST.
    Nothing,
    /// SOCKS5 waits for its reply (RFC 1928, section 6).
    Socks,
    /// SOCKS5 waits for the reply to UDP ASSOCIATE, and no connection is made: its own one stands for
    /// as long as datagrams pass.
    Associate,
    /// HTTP CONNECT waits for its response (RFC 9110, section 9.3.6).
    Connect,
}

impl Reply {
    /// Writes that the connection is established. Bytes of the server may follow.
    ///
    /// # Errors
    /// Where the client is gone.
    pub async fn connected(self, tcp: &mut TcpStream) -> Result<(), CloseReason> {
        let answer = match self {
            Reply::Nothing | Reply::Associate => return Ok(()),
            Reply::Socks => socks(None).to_vec(),
            Reply::Connect => b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec(),
        };
        let written = tcp.write_all(&answer).await;
        written.map_err(|error| CloseReason::from_io(&error))
    }

    /// Writes to which address a client of UDP ASSOCIATE is to send its datagrams.
    ///
    /// # Errors
    /// Where the client is gone.
    pub(crate) async fn associated(tcp: &mut TcpStream, bound: SocketAddr) -> io::Result<()> {
        let mut answer = vec![5, 0];
        // A reserved byte, then the address as in a datagram's header.
        answer.extend_from_slice(&super::datagram::header(&bound.into())[2..]);
        tcp.write_all(&answer).await
    }

    /// Writes why there is no connection, and closes: with RST where there is
    /// nothing to write it in.
    pub async fn failed(self, tcp: TcpStream, why: CloseReason) {
        let answer = match self {
            // The socket lingers for no time since it was accepted, so dropping
            // it sends RST.
            Reply::Nothing => return,
            Reply::Socks | Reply::Associate => socks(Some(why)).to_vec(),
            Reply::Connect => response(status(why), &sentence(why)),
        };
        refuse(tcp, &answer).await;
    }
}

/// Writes `answer`, ends the connection in order, and waits a little for the
/// client to take it.
pub(super) async fn refuse(mut tcp: TcpStream, answer: &[u8]) {
    // A client that went away meanwhile needs no answer.
    let _ = timeout(LINGER, say(&mut tcp, answer)).await;
}

async fn say(tcp: &mut TcpStream, answer: &[u8]) -> io::Result<()> {
    tcp.write_all(answer).await?;
    socket2::SockRef::from(&*tcp).set_linger(None)?;
    tcp.shutdown().await?;
    let mut scratch = [0; 1024];
    let mut drained = 0;
    while drained < DRAIN {
        match tcp.read(&mut scratch).await? {
            0 => break,
            read => drained += read,
        }
    }
    Ok(())
}

/// The reply of SOCKS5 with no bound address, since the box at the far end binds.
pub(super) fn socks(why: Option<CloseReason>) -> [u8; 10] {
    // The codes of RFC 1928, section 6.
    let code = match why {
        None => 0,
        Some(CloseReason::Forbidden) => 2,
        Some(CloseReason::Unreachable | CloseReason::NoSuchName) => 4,
        Some(CloseReason::Refused | CloseReason::Reset) => 5,
        // A host that does not answer is what "TTL expired" is used for, and
        // clients print it as a timeout.
        Some(CloseReason::TimedOut) => 6,
        Some(CloseReason::Limit | CloseReason::PeerGone | CloseReason::Failed) => 1,
    };
    [5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// The status of HTTP for a connection that failed.
fn status(why: CloseReason) -> &'static str {
    match why {
        CloseReason::Forbidden => "403 Forbidden",
        CloseReason::TimedOut | CloseReason::PeerGone => "504 Gateway Timeout",
        CloseReason::Limit => "503 Service Unavailable",
        CloseReason::Reset
        | CloseReason::Refused
        | CloseReason::Unreachable
        | CloseReason::Failed
        | CloseReason::NoSuchName => "502 Bad Gateway",
    }
}

fn sentence(why: CloseReason) -> String {
    format!("The connection was not made: {why}.")
}

/// A whole response of HTTP/1.1 with one line of plain text, after which the
/// connection closes.
pub(super) fn response(status: &str, text: &str) -> Vec<u8> {
    let length = text.len() + 1;
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{text}\n"
    )
    .into_bytes()
}
