//! The destination of a connection: an address, or a name that the hub resolves.

use std::fmt;
use std::net::SocketAddr;

/// Where a connection goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// An address, as interception and most clients of SOCKS give it.
    Address(SocketAddr),
    /// A host name of at most 255 bytes, which the box at the far end resolves.
    Name {
        /// The name, as the client wrote it.
        host: String,
        /// TCP port.
        port: u16,
    },
}

impl Destination {
    /// TCP port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        match self {
            Destination::Address(address) => address.port(),
            Destination::Name { port, .. } => *port,
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::Address(address) => address.fmt(f),
            Destination::Name { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

impl From<SocketAddr> for Destination {
    fn from(address: SocketAddr) -> Destination {
        Destination::Address(address)
    }
}
