//! The clients' UDP: calls, DNS, QUIC, carried by the association as datagrams (RFC 9221).
//!
//! As CONNECT-UDP (RFC 9298) does, the boxes forward what they get and leave the rest to its ends: nothing
//! is acknowledged or sent again, and the congestion control of each flow is its own. It sees the rate
//! that its subscriber has by losses, where [`sharing`](crate::tunnel) has too much of it waiting.
//!
//! - `Entrance` is the terminal's side: flows that interception brings, and an `Association` those of a
//!   SOCKS5 client.
//! - `Exit` is the hub's side of one association: the same flows, toward their servers.
//! - [`frame`] says what a datagram of the association looks like, and [`parts`] what becomes of those
//!   that are longer than its path carries.

mod association;
mod entrance;
mod exit;
mod flow;
pub mod frame;
mod leaving;
pub mod parts;
mod socket;
mod table;

pub(crate) use association::Association;
pub use entrance::Arrival;
pub(crate) use entrance::Entrance;
pub(crate) use exit::Exit;
pub(crate) use leaving::leave;

use crate::config::Config;
use crate::descriptors;

/// Flows that a box may have at a time: what is configured, and no more than a quarter of its files.
pub(crate) fn most(config: &Config) -> usize {
    config.udp.flows.min((descriptors::allowed() / 4).max(1))
}
