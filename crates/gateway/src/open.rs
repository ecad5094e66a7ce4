//! The first bytes of a stream in the tunnel: which connection it carries.

use crate::Destination;
use crate::config::Urgency;
use std::net::{IpAddr, SocketAddr};

/// The request for a connection. It leaves with the first bytes of the client,
/// so that a connection costs no round trip over the satellite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Where the connection goes.
    pub destination: Destination,
    /// The client's address, where the hub is to connect from it (interception
    /// keeps both addresses); `None` lets the hub use its own.
    pub source: Option<SocketAddr>,
    /// The client's address or the first of its network, by which the hub shares the link; `None` where
    /// `source` says it, or where it is not known.
    pub subscriber: Option<IpAddr>,
    /// How urgent the terminal has found it by what the hub does not see; it stands with `subscriber`.
    pub urgency: Option<Urgency>,
    /// True where the terminal waits for the hub's answer before it tells its client that the
    /// connection is established (SOCKS and CONNECT with `answer = "confirmed"`).
    pub confirm: bool,
}
