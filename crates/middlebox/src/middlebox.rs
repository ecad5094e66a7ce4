//! Every kind of box behind one enum.

use crate::connections::Connections;
use crate::interface::{Counters, Pass, Side, Surroundings};
use crate::{ReconstructionSettings, SnoopSettings, SpoofSettings, reconstruction, snoop, spoof};
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
pub struct Middlebox(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Snoop(Connections<snoop::Connection>),
    Spoof(Connections<spoof::Connection>),
    Reconstruction(Connections<reconstruction::Connection>),
}

/// Calls a method of whichever box it is.
macro_rules! dispatch {
    ($any:expr, $inner:ident => $call:expr) => {
        match $any {
            Kind::Snoop($inner) => $call,
            Kind::Spoof($inner) => $call,
            Kind::Reconstruction($inner) => $call,
        }
    };
}

impl Middlebox {
    /// A box that has seen nothing.
    #[must_use]
    pub fn new(settings: &Settings) -> Middlebox {
        Middlebox(match settings {
            Settings::Snoop(settings) => Kind::Snoop(Connections::new(*settings)),
            Settings::Spoof(settings) => Kind::Spoof(Connections::new(*settings)),
            Settings::Reconstruction(settings) => Kind::Reconstruction(Connections::new(*settings)),
        })
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
        dispatch!(&mut self.0, inner => inner.on_packet(around, side, packet, out))
    }

    /// Does what has become due at `now`.
    pub fn on_deadline<T: Transmit>(&mut self, now: Time, out: &mut T) {
        dispatch!(&mut self.0, inner => inner.on_deadline(now, out))
    }

    /// When [`Middlebox::on_deadline`] is to be called, [`Time::MAX`] if never.
    /// An earlier call does nothing.
    #[must_use]
    pub fn deadline(&self) -> Time {
        dispatch!(&self.0, inner => inner.deadline())
    }

    /// Its counters so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        dispatch!(&self.0, inner => inner.counters())
    }
}
