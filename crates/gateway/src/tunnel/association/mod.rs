//! The association: one QUIC connection between the boxes that lasts for as long as
//! both run, through outages of the link.
//!
//! - [`Hubs`] is the terminal's side: an association with each of its hubs, which a client connects
//!   and reconnects indefinitely, and the choice of the one that takes new connections.
//! - [`Server`] is the hub's side: it accepts the terminals that it is configured
//!   with.

mod backup;
mod choice;
mod claims;
mod client;
mod group;
mod heartbeat;
mod hubs;
mod opening;
mod pulse;
mod server;
mod split;
mod tails;
mod terminals;
mod throttle;
mod uplink;

pub(crate) use heartbeat::Notice;
pub use hubs::Hubs;
pub(crate) use opening::Openable;
pub(in crate::tunnel) use opening::progress;
pub(crate) use pulse::Lost;
pub use server::Server;
pub(crate) use server::{Common, SWITCH};
pub(crate) use split::{WHOLE, split};
pub use terminals::Association;
pub(crate) use terminals::Associations;

use quinn::{ConnectionError, VarInt};
use std::time::{Duration, Instant};

/// Longest time for the handshakes, beyond which a new attempt begins; at least 8
/// round trips of the link.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);

/// Why a box closed an association, as the code of CONNECTION_CLOSE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close {
    /// The box is shutting down.
    Stopping = 1,
    /// The terminal has made a new association.
    Replaced = 2,
    /// It speaks another version, or nonsense.
    Protocol = 3,
    /// The other box's key is no longer among the peers.
    Unlisted = 4,
}

impl Close {
    pub(crate) const fn code(self) -> VarInt {
        VarInt::from_u32(self as u32)
    }
}

/// How the other box answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// No association yet, or none any more; attempts go on.
    Down,
    /// The association is up and packets arrive.
    Up,
    /// The association is up, but nothing arrives from the other box: connections wait.
    Outage,
    /// UDP does not pass, or is throttled; each connection has its own TLS connection.
    Fallback,
    /// The other box is about to stop: connections that exist go on, and it takes no new ones.
    Draining,
}

impl Health {
    /// The word of the status.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Health::Down => "down",
            Health::Up => "up",
            Health::Outage => "outage",
            Health::Fallback => "fallback",
            Health::Draining => "draining",
        }
    }
}

/// Status of the association, as the terminal sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// How the other box answers.
    pub health: Health,
    /// Start of the current state.
    pub since: Instant,
    /// Smoothed round trip, once it is known.
    pub rtt: Option<Duration>,
    /// The last error, in words.
    pub reason: Option<String>,
    /// Associations made since the start.
    pub associations: u64,
    /// How the association is, whatever replaces it.
    quic: Health,
    /// The hub has said that its process has handed over.
    handed_over: bool,
    /// Acknowledgements of its heartbeats are late.
    late: bool,
    /// Whether the fallback works.
    tls: bool,
    /// Whether it is faster than the association.
    faster: bool,
}

impl Status {
    fn new() -> Status {
        Status {
            health: Health::Down,
            since: Instant::now(),
            rtt: None,
            reason: None,
            associations: 0,
            quic: Health::Down,
            handed_over: false,
            late: false,
            tls: false,
            faster: false,
        }
    }

    /// Whether new connections are carried.
    #[must_use]
    pub fn serves(&self) -> bool {
        matches!(self.health, Health::Up | Health::Fallback)
    }

    /// Notes how the association is; true where that changes anything.
    fn enter(&mut self, quic: Health) -> bool {
        self.quic = quic;
        self.settle()
    }

    /// Notes whether the fallback works, and whether it is faster than the
    /// association; true where that changes anything.
    fn fall_back(&mut self, tls: bool, faster: bool) -> bool {
        self.tls = tls;
        self.faster = faster;
        self.settle()
    }

    fn settle(&mut self) -> bool {
        let health = match self.quic {
            Health::Down | Health::Outage if self.tls => Health::Fallback,
            Health::Up if self.tls && self.faster => Health::Fallback,
            quic => quic,
        };
        let changed = self.health != health;
        if changed {
            self.health = health;
            self.since = Instant::now();
        }
        changed
    }
}

/// TLS alert of a key that is not among the peers (RFC 8446, section 6).
const ACCESS_DENIED: u8 = 49;
/// TLS alert of another protocol or version (RFC 7301, section 3.2).
const NO_APPLICATION_PROTOCOL: u8 = 120;

/// Why an association ended or never began, in words.
fn words(error: &ConnectionError) -> String {
    let alert = |alert| quinn::TransportErrorCode::crypto(alert);
    match error {
        ConnectionError::TimedOut => "the other box does not answer".to_owned(),
        ConnectionError::Reset => "the other box has been restarted".to_owned(),
        ConnectionError::LocallyClosed => "closed by this box".to_owned(),
        ConnectionError::TransportError(error) if error.code == alert(ACCESS_DENIED) => {
            "the other box's key is not the one in `tunnel.peers`".to_owned()
        }
        ConnectionError::ConnectionClosed(close) if close.error_code == alert(ACCESS_DENIED) => {
            "this box's key is not in the other box's `tunnel.peers`".to_owned()
        }
        ConnectionError::ConnectionClosed(close)
            if close.error_code == alert(NO_APPLICATION_PROTOCOL) =>
        {
            "the other box speaks another version of the protocol".to_owned()
        }
        ConnectionError::ApplicationClosed(close) => {
            if close.error_code == Close::Stopping.code() {
                "the other box has been stopped".to_owned()
            } else if close.error_code == Close::Replaced.code() {
                "another terminal with the same key has taken over".to_owned()
            } else if close.error_code == Close::Unlisted.code() {
                "this box's key has been removed from the other box's `tunnel.peers`".to_owned()
            } else {
                "the other box speaks another version of the protocol".to_owned()
            }
        }
        other => other.to_string(),
    }
}
