//! Moves the bytes of a connection, and preserves how it ends.
//!
//! A relayed connection has two ends, and what happens at one of them happens at
//! the other: a half-close is passed on as a half-close after the last byte, a
//! reset as a reset. [`splice`] joins two TCP connections, [`pump`] joins a TCP
//! connection and a stream of the tunnel, and [`connect`] opens the connection
//! to the server.
//!
//! The rule that prevents a truncated transfer from looking complete is in [`guard`]: every socket
//! is closed with a reset unless both of its directions came to an orderly end.

mod connect;
mod drive;
mod end;
mod lifecycle;
mod pipes;
mod pump;
mod slow;
mod splice;

pub use connect::{Buffers, Dialer, connect};
pub use end::breaks;
pub(crate) use lifecycle::keep_alive;
pub use lifecycle::{guard, reset};
pub use pipes::Pipes;
pub use pump::{Toward, pump};
pub use splice::splice;

use crate::CloseReason;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How a relayed connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Bytes from the client to the server.
    pub up: u64,
    /// Bytes from the server to the client.
    pub down: u64,
    /// `None` if both directions came to an orderly end.
    pub cut: Option<CloseReason>,
}

/// Bytes that a connection has carried so far; others may read it at any time.
#[derive(Debug, Default)]
pub struct Meter {
    up: AtomicU64,
    down: AtomicU64,
}

impl Meter {
    /// Bytes from the client to the server.
    pub fn up(&self) -> u64 {
        self.up.load(Ordering::Relaxed)
    }

    /// Bytes from the server to the client.
    pub fn down(&self) -> u64 {
        self.down.load(Ordering::Relaxed)
    }

    /// Counts bytes from the client that left before the relay began.
    pub(crate) fn count_up(&self, bytes: u64) {
        self.up.fetch_add(bytes, Ordering::Relaxed);
    }

    fn closed(&self, cut: Option<CloseReason>) -> Closed {
        Closed {
            up: self.up(),
            down: self.down(),
            cut,
        }
    }
}

/// How long a relay waits for hosts that do not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// A connection that carries no byte for this long is cut; `None` keeps it
    /// for as long as both hosts answer.
    pub idle: Option<Duration>,
    /// A host that has data to acknowledge and sends nothing for this long has
    /// vanished. A host that reads slowly, or not at all, still acknowledges
    /// window probes (RFC 9293, section 3.8.6.1) and is never cut for it. The
    /// kernel's probes come up to 2 minutes apart, so shorter times cut such
    /// hosts.
    pub vanished: Duration,
    /// After a reset, how long what its sender sent before has to reach the
    /// other host.
    pub last_bytes: Duration,
    /// A host that sends nothing for this long is asked whether it is there
    /// (keepalive, RFC 9293, section 3.8.4).
    pub keepalive: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            idle: None,
            vanished: Duration::from_secs(300),
            last_bytes: Duration::from_secs(1),
            keepalive: Duration::from_secs(300),
        }
    }
}

#[cfg(test)]
mod tests;
