//! Where the box stands, and how it reaches the other one.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Where the box stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One box: kernel TCP on both sides.
    Single,
    /// On the users' side of the satellite, with a hub beyond it.
    Terminal,
    /// On the Internet's side of the satellite: it serves terminals.
    Hub,
}

/// What becomes of new connections while the other box does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WhenDown {
    /// They pass directly, without the gateway.
    #[default]
    Open,
    /// They are refused.
    Closed,
}

/// When a client of SOCKS or CONNECT is told that its connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Answer {
    /// At once: a connection costs no round trip, and a refusal is a reset.
    Early,
    /// When the server has answered: it costs a round trip, and a refusal is a
    /// refusal.
    #[default]
    Confirmed,
}

/// The association with the other box.
#[derive(Clone, Debug)]
pub struct Tunnel {
    /// Terminal: where the hub is. Hub: where it listens (UDP, and TCP for the
    /// fallback).
    pub address: SocketAddr,
    /// File of this box's private key.
    pub key: PathBuf,
    /// Public keys of the boxes that it talks to, as `bentpipe gateway keys`
    /// prints them.
    pub peers: Vec<String>,
    /// Longest time without a packet from the other box in which connections are
    /// kept.
    pub outage: Duration,
    /// What becomes of new connections while the other box does not answer.
    pub when_down: WhenDown,
    /// Bytes that a connection may have under way to this box.
    pub stream_window: u64,
}
