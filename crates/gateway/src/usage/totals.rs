//! Counters of what was carried over the satellite: for a subscriber, a terminal, or connections of one
//! urgency.

use crate::config::Urgency;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes over the satellite, without headers, and connections.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
    pub(super) connections: AtomicU64,
}

impl Totals {
    /// Bytes sent, bytes received, and connections.
    pub(super) fn read(&self) -> [u64; 3] {
        [&self.sent, &self.received, &self.connections].map(|it| it.load(Relaxed))
    }
}

/// Which turns something has in its subscriber's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A connection of TCP.
    Tcp(Urgency),
    /// A flow of UDP.
    Udp,
}

impl Class {
    pub(super) const ALL: [Class; 4] = [
        Class::Tcp(Urgency::First),
        Class::Tcp(Urgency::Normal),
        Class::Tcp(Urgency::Background),
        Class::Udp,
    ];

    /// As the file writes it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Class::Tcp(Urgency::First) => "first",
            Class::Tcp(Urgency::Normal) => "normal",
            Class::Tcp(Urgency::Background) => "background",
            Class::Udp => "udp",
        }
    }

    /// Its place in [`Class::ALL`].
    pub(super) const fn place(self) -> usize {
        match self {
            Class::Tcp(Urgency::First) => 0,
            Class::Tcp(Urgency::Normal) => 1,
            Class::Tcp(Urgency::Background) => 2,
            Class::Udp => 3,
        }
    }
}
