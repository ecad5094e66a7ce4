//! Interception: nftables rules that send connections to the gateway (TPROXY),
//! and the routes that bring their packets to its sockets.
//!
//! A new connection that arrives at one of the configured interfaces is assigned to the gateway's
//! listening socket; its later packets, and those of connections that the gateway makes from a
//! client's address, match their existing sockets (`socket transparent`). All of these packets get
//! a mark, and a routing rule delivers marked packets to this machine. Both ends keep their
//! addresses. Packets that the rules do not match pass unchanged: ICMP, excluded nets and
//! ports, connections older than the gateway, and UDP unless `[udp]` says otherwise.
//!
//! A datagram of a new flow of UDP goes to the gateway's socket, too; then the flow has a socket of its
//! own, at its server's address and connected to its client, which later datagrams match.
//!
//! The rules let new connections pass if no socket listens, so a killed gateway blocks nothing; the
//! next start, or `bentpipe gateway rules remove`, removes the leftover rules.

mod plan;
mod record;
mod rules;
mod script;
mod supervisor;
mod system;

pub use plan::{Passing, Plan, Treatment};
pub use rules::{Left, Rules, check, left, print, remove};
pub use supervisor::{Fitness, RuleSupervisor};
pub use system::Error;

#[cfg(test)]
mod tests;
