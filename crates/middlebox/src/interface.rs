//! The interface of a box: what it receives, returns and counts.

use bentpipe_units::Time;

/// The direction of a packet through a box. A box is at one end of the link that it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The packet is about to enter that link.
    Toward,
    /// The packet has left the reverse direction of that link.
    Back,
}

/// What happens to a packet that a box has processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The packet continues on its path.
    Forward,
    /// The box consumes the packet.
    Suppress,
}

/// What a box receives with each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Current time.
    pub now: Time,
    /// The queue that the packet is about to enter has room for it.
    pub room: bool,
}

/// Counters of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that passed or ended here.
    pub seen: u64,
    /// Data packets put into the cache.
    pub cached: u64,
    /// Data packets that were not put into it: it was full, or the queue
    /// behind it.
    pub overflow: u64,
    /// Packets sent again from the cache.
    pub local_retransmissions: u64,
    /// Retransmissions by a timer of the box.
    pub timeouts: u64,
    /// Acknowledgements that ended here.
    pub suppressed: u64,
    /// Acknowledgements that the box sent itself.
    pub acknowledged: u64,
}
