//! Interception: nftables rules that send connections to the gateway (TPROXY),
//! and the routes that bring their packets to its sockets.
//!
//! A new connection that arrives at one of the configured interfaces is assigned
//! to the gateway's listening socket; its later packets, and those of connections
//! that the gateway makes from a client's address, are found by their sockets
//! (`socket transparent`). All of these packets get a mark, and a routing rule
//! delivers what has the mark to this machine. Both ends keep the addresses that
//! they use. Whatever the rules do not match passes as if they were not there:
//! UDP, ICMP, excluded nets and ports, connections older than the gateway.
//!
//! The rules let new connections pass where no socket listens, so a gateway that
//! was killed blocks nothing; the next start, or `bentpipe gateway rules remove`,
//! removes what it left.

mod keeper;
mod plan;
mod record;
mod rules;
mod script;
mod system;

pub use keeper::{Fitness, Keeper};
pub use plan::{Passing, Plan};
pub use rules::{Left, Rules, check, left, print, remove};
pub use system::Error;

#[cfg(test)]
mod tests;
