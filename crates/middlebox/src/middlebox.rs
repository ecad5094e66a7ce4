//! The boxes there are, and how each is driven.

use crate::snoop::{Snoop, SnoopSettings};
use crate::spoof::{Spoof, SpoofSettings};
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::Time;

/// Which way a packet goes through a box. A box stands at one end of a link,
/// the one whose far side is to be helped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The packet is about to enter that link.
    Toward,
    /// The packet has come out of the way back of that link.
    Back,
}

/// What becomes of a packet that a box has looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// It goes on.
    Forward,
    /// It ends here.
    Suppress,
}

/// What a box must know besides the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Now.
    pub now: Time,
    /// The queue that the packet is about to enter would take it.
    pub room: bool,
}

/// What a box has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that passed or ended here.
    pub seen: u64,
    /// Data packets put into the cache.
    pub cached: u64,
    /// Data packets that were not put into it: it was full, or the queue
    /// behind it was.
    pub overflow: u64,
    /// Packets sent again from the cache.
    pub local_retransmissions: u64,
    /// Times that a timer of the box made it send a packet again.
    pub timeouts: u64,
    /// Acknowledgements that ended here.
    pub suppressed: u64,
    /// Acknowledgements that the box sent itself.
    pub acknowledged: u64,
}

/// A kind of box and its parameters.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum Settings {
    /// Local retransmission of what the receiver's duplicate ACKs say is lost.
    Snoop(SnoopSettings),
    /// Acknowledges for the receiver and answers for the rest of the way.
    Spoof(SpoofSettings),
}

impl Settings {
    /// Its name in a scenario.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Settings::Snoop(_) => "snoop",
            Settings::Spoof(_) => "spoof",
        }
    }
}

/// A box at work.
#[derive(Clone, Debug)]
pub enum Middlebox {
    /// See [`crate::snoop`].
    Snoop(Snoop),
    /// See [`crate::spoof`].
    Spoof(Spoof),
}

impl Middlebox {
    /// A box that has seen nothing.
    #[must_use]
    pub fn new(settings: &Settings) -> Middlebox {
        match settings {
            Settings::Snoop(settings) => Middlebox::Snoop(Snoop::new(*settings)),
            Settings::Spoof(settings) => Middlebox::Spoof(Spoof::new(*settings)),
        }
    }

    /// A packet passes. What the box sends itself goes to `out`, each packet
    /// on the way to its destination.
    #[must_use]
    pub fn on_packet<T: Transmit>(
        &mut self,
        around: Surroundings,
        side: Side,
        packet: &mut Packet,
        out: &mut T,
    ) -> Pass {
        match self {
            Middlebox::Snoop(snoop) => snoop.on_packet(around, side, packet, out),
            Middlebox::Spoof(spoof) => spoof.on_packet(around, side, packet, out),
        }
    }

    /// Does what has become due at `now`.
    pub fn on_deadline<T: Transmit>(&mut self, now: Time, out: &mut T) {
        match self {
            Middlebox::Snoop(snoop) => snoop.on_deadline(now, out),
            Middlebox::Spoof(spoof) => spoof.on_deadline(now, out),
        }
    }

    /// When [`Middlebox::on_deadline`] is to be called; it may be called for
    /// nothing. [`Time::MAX`] if never.
    #[must_use]
    pub fn deadline(&self) -> Time {
        match self {
            Middlebox::Snoop(snoop) => snoop.deadline(),
            Middlebox::Spoof(spoof) => spoof.deadline(),
        }
    }

    /// What it has done so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        match self {
            Middlebox::Snoop(snoop) => snoop.counters(),
            Middlebox::Spoof(spoof) => spoof.counters(),
        }
    }
}
