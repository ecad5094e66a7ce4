//! Every kind of box behind one enum.

use crate::interface::{Counters, Pass, Side, Surroundings};
use crate::reconstruction::{Reconstruction, ReconstructionSettings};
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
    /// Fills the gaps that an ACK filter has left, and spaces the ACKs.
    Reconstruction(ReconstructionSettings),
}

impl Settings {
    /// Its name in a scenario.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Settings::Snoop(_) => "snoop",
            Settings::Spoof(_) => "spoof",
            Settings::Reconstruction(_) => "ack-reconstruction",
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
    /// See [`crate::reconstruction`].
    Reconstruction(Reconstruction),
}

/// Calls a method of whichever box it is.
macro_rules! dispatch {
    ($any:expr, $inner:ident => $call:expr) => {
        match $any {
            Middlebox::Snoop($inner) => $call,
            Middlebox::Spoof($inner) => $call,
            Middlebox::Reconstruction($inner) => $call,
        }
    };
}

impl Middlebox {
    /// A box that has seen nothing.
    #[must_use]
    pub fn new(settings: &Settings) -> Middlebox {
        match settings {
            Settings::Snoop(settings) => Middlebox::Snoop(Snoop::new(*settings)),
            Settings::Spoof(settings) => Middlebox::Spoof(Spoof::new(*settings)),
            Settings::Reconstruction(settings) => {
                Middlebox::Reconstruction(Reconstruction::new(*settings))
            }
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
        dispatch!(self, inner => inner.on_packet(around, side, packet, out))
    }

    /// Does what has become due at `now`.
    pub fn on_deadline<T: Transmit>(&mut self, now: Time, out: &mut T) {
        dispatch!(self, inner => inner.on_deadline(now, out))
    }

    /// When [`Middlebox::on_deadline`] is to be called, [`Time::MAX`] if never.
    /// An earlier call does nothing.
    #[must_use]
    pub fn deadline(&self) -> Time {
        dispatch!(self, inner => inner.deadline())
    }

    /// Its counters so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        dispatch!(self, inner => inner.counters())
    }
}
