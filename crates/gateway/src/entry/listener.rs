//! Listening sockets for interception, SOCKS5 and HTTP CONNECT.

use super::users::Users;
use crate::config::Answer;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Connections that the kernel completes before they are accepted.
const BACKLOG: i32 = 4096;

/// The way in that a socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Intercepted connections (TPROXY): the local address of each is the server
    /// that its client meant.
    Transparent,
    /// A SOCKS5 listener (RFC 1928).
    Socks,
    /// An HTTP CONNECT listener.
    Connect,
}

/// A listening socket, which may be handed to another process.
#[derive(Debug)]
pub struct Listener {
    kind: Kind,
    address: SocketAddr,
    settings: Settings,
    socket: TcpListener,
}

/// Settings of a listener for SOCKS or CONNECT.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// When clients are told that their connection is established.
    pub answer: Answer,
    /// Who may use the listener; `None`: everybody.
    pub users: Option<Arc<Users>>,
}

impl Listener {
    /// Listens at `address`.
    ///
    /// A socket for interception belongs at a loopback address, where no other machine can reach
    /// it: the rules name it, and the kernel looks for no other.
    ///
    /// # Errors
    /// Where the address is taken, or `CAP_NET_ADMIN` is missing for interception.
    pub fn bind(kind: Kind, address: SocketAddr) -> io::Result<Listener> {
        let socket = Socket::new(
            Domain::for_address(address),
            Type::STREAM,
            Some(Protocol::TCP),
        )?;
        socket.set_reuse_address(true)?;
        if address.is_ipv6() {
            // IPv4 has its own socket, so that no address is of both kinds.
            // A listener at [::] serves both, as operators expect.
            socket.set_only_v6(kind == Kind::Transparent || !address.ip().is_unspecified())?;
        }
        if kind == Kind::Transparent {
            match address {
                SocketAddr::V4(_) => socket.set_ip_transparent_v4(true)?,
                SocketAddr::V6(_) => socket.set_ip_transparent_v6(true)?,
            }
        }
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        Listener::adopt(kind, socket.into())
    }

    /// Takes over a socket that already listens, as another process hands it over.
    ///
    /// # Errors
    /// Where it is no socket of TCP.
    pub fn adopt(kind: Kind, socket: OwnedFd) -> io::Result<Listener> {
        let socket = TcpListener::from(socket);
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        // Accepted sockets inherit its options.
        crate::relay::guard(&socket)?;
        Ok(Listener {
            kind,
            address,
            settings: Settings::default(),
            socket,
        })
    }

    /// Lets it know the DSCP of the connections that come from now on.
    pub(crate) fn keep_first_packets(&self) {
        if let Err(error) = crate::sys::keep_first_packets(&self.socket) {
            tracing::info!(%error, "connections have no DSCP here");
        }
    }

    /// Changes its settings.
    #[must_use]
    pub fn with(mut self, settings: Settings) -> Listener {
        self.settings = settings;
        self
    }

    /// What it does, to be given to [`serve`](super::serve).
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The way in that it is for.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The address at which it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// A second handle of the same socket, for a hand-over while it is served.
    ///
    /// # Errors
    /// Where no descriptor is left.
    pub fn try_clone(&self) -> io::Result<Listener> {
        Ok(Listener {
            kind: self.kind,
            address: self.address,
            settings: self.settings.clone(),
            socket: self.socket.try_clone()?,
        })
    }

    pub(super) fn into_tokio(self) -> io::Result<tokio::net::TcpListener> {
        tokio::net::TcpListener::from_std(self.socket)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl From<Listener> for OwnedFd {
    fn from(listener: Listener) -> OwnedFd {
        listener.socket.into()
    }
}
