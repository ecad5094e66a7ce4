//! The connection to the server.

use super::guard;
use crate::{CloseReason, descriptors, sys};
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};

/// Buffers of a socket, in bytes of payload; the kernel's own sizes where `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffers {
    /// Send buffer: data sent and not yet acknowledged.
    pub send: Option<usize>,
    /// Receive buffer: data arrived and not yet read.
    pub receive: Option<usize>,
}

impl Buffers {
    /// Buffers for a link with this product of bandwidth and delay, in bytes:
    /// twice the product, so that a lost segment can be repaired while others
    /// are in flight.
    #[must_use]
    pub const fn for_product(bytes: usize) -> Buffers {
        let size = bytes.saturating_mul(2);
        Buffers {
            send: Some(size),
            receive: Some(size),
        }
    }

    /// Sets the buffers; above the system's maximum (`net.core.wmem_max`,
    /// `rmem_max`) with CAP_NET_ADMIN only, otherwise the maximum.
    ///
    /// # Errors
    /// The kernel refuses any size.
    pub fn apply(self, socket: &impl std::os::fd::AsFd) -> io::Result<()> {
        // The kernel counts each segment with its overhead and doubles the value.
        if let Some(send) = self.send
            && setsockopt(socket, sockopt::SndBufForce, &send).is_err()
        {
            setsockopt(socket, sockopt::SndBuf, &send)?;
        }
        if let Some(receive) = self.receive
            && setsockopt(socket, sockopt::RcvBufForce, &receive).is_err()
        {
            setsockopt(socket, sockopt::RcvBuf, &receive)?;
        }
        Ok(())
    }
}

/// How connections to servers are made.
#[derive(Clone, Debug)]
pub struct Dialer {
    /// Firewall mark of the packets, by which rules let them pass.
    pub mark: Option<u32>,
    /// Longest time until the server has answered.
    pub timeout: Duration,
    /// Congestion control of the kernel; the system's own where `None`.
    pub control: Option<String>,
    /// Sizes of the socket buffers.
    pub buffers: Buffers,
    /// True to keep the client's port as well as its address, where it is free.
    pub keep_port: bool,
}

impl Default for Dialer {
    fn default() -> Dialer {
        Dialer {
            mark: None,
            timeout: Duration::from_secs(30),
            control: None,
            buffers: Buffers::default(),
            keep_port: true,
        }
    }
}

/// Connects to a server, from the client's address if `source` is given (which
/// needs CAP_NET_ADMIN, and routes that lead the answers back to this box).
///
/// # Errors
/// Why there is no connection, as the client is to see it.
pub async fn connect(
    to: SocketAddr,
    source: Option<SocketAddr>,
    dialer: &Dialer,
) -> Result<TcpStream, CloseReason> {
    let connected = match source {
        Some(source) if dialer.keep_port && source.port() != 0 => {
            match attempt(to, Some(source), dialer).await {
                // Another socket of this box has the port: any other will do.
                Err(error) if is_taken(&error) => {
                    attempt(to, Some(SocketAddr::new(source.ip(), 0)), dialer).await
                }
                result => result,
            }
        }
        Some(source) => attempt(to, Some(SocketAddr::new(source.ip(), 0)), dialer).await,
        None => attempt(to, None, dialer).await,
    };
    connected.map_err(|error| {
        let cut = CloseReason::from_io(&error);
        if matches!(cut, CloseReason::Failed | CloseReason::Limit) {
            tracing::warn!(%to, %error, "could not open a connection");
        }
        cut
    })
}

fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable
    )
}

async fn attempt(
    to: SocketAddr,
    source: Option<SocketAddr>,
    dialer: &Dialer,
) -> io::Result<TcpStream> {
    let socket = socket(to, source, dialer)?;
    let socket = TcpSocket::from_std_stream(socket.into());
    match tokio::time::timeout(dialer.timeout, socket.connect(to)).await {
        Ok(connected) => connected,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

fn socket(to: SocketAddr, source: Option<SocketAddr>, dialer: &Dialer) -> io::Result<Socket> {
    let kind = Type::STREAM.nonblocking().cloexec();
    let socket = Socket::new(Domain::for_address(to), kind, Some(Protocol::TCP))?;
    if descriptors::is_reserved(&socket) {
        return Err(io::Error::from_raw_os_error(libc::EMFILE));
    }
    guard(&socket)?;
    if let Some(mark) = dialer.mark {
        socket.set_mark(mark)?;
    }
    if let Some(control) = &dialer.control {
        socket.set_tcp_congestion(control.as_bytes())?;
    }
    dialer.buffers.apply(&socket)?;
    if let Some(source) = source {
        bind_as(&socket, source)?;
    }
    Ok(socket)
}

/// Binds to an address of another host.
fn bind_as(socket: &Socket, source: SocketAddr) -> io::Result<()> {
    match source.ip() {
        IpAddr::V4(_) => socket.set_ip_transparent_v4(true)?,
        IpAddr::V6(_) => socket.set_ip_transparent_v6(true)?,
    }
    if source.port() == 0 {
        // The port is chosen when the socket connects, so that the number of
        // ports limits connections to one server, not to all of them.
        sys::set_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)?;
    } else {
        // A client has many connections from one port, each to another server.
        socket.set_reuse_address(true)?;
    }
    socket.bind(&source.into())
}
