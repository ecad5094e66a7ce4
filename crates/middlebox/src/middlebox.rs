//! Every kind of box behind one enum.

use crate::interface::{Counters, Pass, Side, Surroundings};
use crate::snoop::{Snoop, SnoopSettings};
use crate::spoof::{Spoof, SpoofSettings};
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::Time;

/// A kind of box and its parameters.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum Settings {
    /// Local retransmission of what the receiver's duplicate ACKs report lost.
    Snoop(SnoopSettings),
    /// Acknowledges for the receiver and repairs losses on the rest of the path.
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

    /// Processes a packet that passes. What the box itself sends goes to `out`,
    /// each packet toward its destination.
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

    /// When [`Middlebox::on_deadline`] is to be called, [`Time::MAX`] if never.
    /// An earlier call does nothing.
    #[must_use]
    pub fn deadline(&self) -> Time {
        match self {
            Middlebox::Snoop(snoop) => snoop.deadline(),
            Middlebox::Spoof(spoof) => spoof.deadline(),
        }
    }

    /// Its counters so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        match self {
            Middlebox::Snoop(snoop) => snoop.counters(),
            Middlebox::Spoof(spoof) => spoof.counters(),
        }
    }
}
