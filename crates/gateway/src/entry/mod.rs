//! How connections reach the gateway: by interception (TPROXY), through SOCKS5, or through HTTP
//! CONNECT. All three yield an [`Arrival`].

pub mod connect;
pub mod datagram;
mod host;
mod listener;
mod listeners;
mod reply;
mod serve;
pub mod socks;
mod users;

pub use listener::{Kind, Listener, Settings};
pub use listeners::{ListenError, listeners};
pub use reply::Reply;
pub use serve::{Serving, serve};
pub use users::{Users, UsersError};

use crate::Open;
use bytes::Bytes;
use tokio::net::TcpStream;

/// A client's connection, with what it asked for.
///
/// Its socket has `SO_LINGER {1, 0}` since it was accepted, so that it is closed with RST until
/// that is cleared for an orderly end.
#[derive(Debug)]
pub struct Arrival {
    /// The client's socket. Of what the client sent, only [`first`](Self::first)
    /// has been read, after the request itself.
    pub tcp: TcpStream,
    /// Where it goes. Interception sets `source` to the client's address; SOCKS
    /// and CONNECT leave it to the box that connects. With [`Reply::Associate`], whence the client
    /// will send datagrams, or zeros.
    pub open: Open,
    /// Data that the client sent after its request; usually empty.
    pub first: Bytes,
    /// How the client is told what became of its request.
    pub reply: Reply,
}

#[cfg(test)]
mod tests;
