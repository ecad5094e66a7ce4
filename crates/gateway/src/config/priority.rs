//! Priorities of connections over the satellite.

use super::net::Ports;
use super::read;
use bentpipe_document::Reported;

/// How urgent a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Urgency {
    /// It has what the others leave.
    Background,
    /// As most.
    #[default]
    Normal,
    /// Before all others.
    First,
}

/// Which connections go first over the satellite, by the server's port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Priority {
    /// Ports whose connections go before all others.
    pub first: Ports,
    /// Ports whose connections have what the others leave.
    pub background: Ports,
}

impl Priority {
    /// How urgent a connection to `port` is.
    #[must_use]
    pub fn of(&self, port: u16) -> Urgency {
        if self.first.contains(port) {
            Urgency::First
        } else if self.background.contains(port) {
            Urgency::Background
        } else {
            Urgency::Normal
        }
    }
}

impl Default for Priority {
    fn default() -> Priority {
        read::of_defaults(read)
    }
}

bentpipe_document::table! {
    /// which connections go first over the satellite; within each class, the first 64 KiB of a connection go before bulk, and bulk is shared equally
    pub(super) PriorityTable at "priority", called "the priorities of",
        example "[priority]\nfirst = [22, 53]\nbackground = 873";
    /// ports of servers whose connections go before all others, at their full rate: for terminals and names
    first: Ports, or "none";
    /// ports of servers whose connections have what the others leave, possibly nothing: for backups
    background: Ports, or "none";
}

/// The section.
pub(super) fn read(table: PriorityTable) -> Result<Priority, Reported> {
    Ok(Priority {
        first: read::or_default(table.first)?,
        background: read::or_default(table.background)?,
    })
}
