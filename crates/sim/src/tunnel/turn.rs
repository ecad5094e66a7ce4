//! What leaves in a turn, and how a packet is known at the other end.

use crate::network::Held;
use bentpipe_tcp::packet::{SackBlock, flags};
use bentpipe_tcp::{Packet, Transmit};

/// What a sender sends next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    /// A packet of a stream.
    Stream {
        /// Its flow, and its end of it.
        flow: usize,
        end: usize,
        /// The number that its association gives the packet.
        number: u64,
    },
    /// A datagram, as the association carries it.
    Datagram(Held, Packet),
    /// A packet that restores others.
    Repair(Packet),
}

/// What has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Stream,
    Datagram,
    Repair,
}

/// Where data packets have the number that their association gives them: they report nothing.
const PLACE: usize = 2;

/// The number of a packet, if its association gave it one.
pub(super) fn number_of(packet: &Packet) -> Option<u64> {
    let SackBlock { start, end } = packet.sack[PLACE];
    ((u64::from(end) << 32) | u64::from(start)).checked_sub(1)
}

/// Gives a packet its number.
pub(super) fn number(packet: &mut Packet, number: u64) {
    let mark = number + 1;
    packet.sack[PLACE] = SackBlock {
        start: mark as u32,
        end: (mark >> 32) as u32,
    };
}

/// Numbers the packet that a stream sends in its turn, and passes on everything.
pub(crate) struct Numbering<'a, T> {
    net: &'a mut T,
    destination: u32,
    number: u64,
    /// The packet of the turn.
    pub(crate) sent: Option<Packet>,
}

impl<'a, T: Transmit> Numbering<'a, T> {
    /// The next data packet to `destination` gets this number.
    pub(crate) fn new(net: &'a mut T, destination: u32, number: u64) -> Numbering<'a, T> {
        Numbering {
            net,
            destination,
            number,
            sent: None,
        }
    }
}

impl<T: Transmit> Transmit for Numbering<'_, T> {
    fn transmit(&mut self, mut packet: Packet) {
        let is_data = packet.payload > 0 || packet.has(flags::FIN);
        if is_data && packet.destination == self.destination && self.sent.is_none() {
            number(&mut packet, self.number);
            self.sent = Some(packet);
        }
        self.net.transmit(packet);
    }

    fn carries(&mut self, packet: &Packet, datagram: &[u8]) {
        self.net.carries(packet, datagram);
    }

    fn is_full(&self) -> bool {
        self.net.is_full()
    }
}
