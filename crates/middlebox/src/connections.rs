//! The connections that a box follows, by endpoint, and their earliest deadline.

use crate::interface::{Counters, Pass, Side, Surroundings};
use bentpipe_tcp::packet::{flags, priority};
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::Time;

/// What a box keeps for one connection.
pub(crate) trait Connection: Sized {
    /// What all connections of a box share.
    type Shared;

    /// The counters of the box.
    fn counters(shared: &mut Self::Shared) -> &mut Counters;

    /// The box matches packets of flows under IPsec and their acknowledgements.
    fn identifies_ipsec(_shared: &Self::Shared) -> bool {
        false
    }

    /// The connection whose first data packet is `packet`.
    fn of_data(packet: &Packet, shared: &Self::Shared) -> Self;

    /// Processes a SYN of the receiver; `connection` is empty before any data.
    fn on_answer(_connection: &mut Option<Box<Self>>, _packet: &Packet) {}

    /// Processes a data packet toward the link.
    fn on_data<T: Transmit>(
        &mut self,
        around: Surroundings,
        packet: &Packet,
        shared: &mut Self::Shared,
        out: &mut T,
    ) -> Pass;

    /// Processes a packet with an acknowledgement from the link.
    fn on_ack<T: Transmit>(
        &mut self,
        now: Time,
        packet: &Packet,
        shared: &mut Self::Shared,
        out: &mut T,
    ) -> Pass;

    /// When its timer runs out; [`Time::MAX`] while it is stopped.
    fn deadline(&self) -> Time;

    /// The timer ran out.
    fn on_deadline<T: Transmit>(&mut self, now: Time, shared: &mut Self::Shared, out: &mut T);
}

/// The connections of a box.
#[derive(Clone, Debug)]
pub(crate) struct Connections<C: Connection> {
    pub(crate) shared: C::Shared,
    /// By the endpoint that the data goes to.
    slots: Vec<Option<Box<C>>>,
    /// No timer runs out before.
    deadline: Time,
}

impl<C: Connection> Connections<C> {
    pub(crate) fn new(shared: C::Shared) -> Connections<C> {
        Connections {
            shared,
            slots: Vec::new(),
            deadline: Time::MAX,
        }
    }

    /// The slot of the connection whose data goes the way of the box or comes
    /// back from it.
    fn slot(&mut self, side: Side, packet: &Packet) -> (&mut Option<Box<C>>, &mut C::Shared) {
        let data_goes_to = match side {
            Side::Toward => packet.destination,
            Side::Back => packet.destination ^ 1,
        } as usize;
        if data_goes_to >= self.slots.len() {
            self.slots.resize_with(data_goes_to + 1, || None);
        }
        (&mut self.slots[data_goes_to], &mut self.shared)
    }

    /// Processes a packet that passes. Datagrams and probes are forwarded, and
    /// what IPsec hides from the box.
    pub(crate) fn on_packet<T: Transmit>(
        &mut self,
        around: Surroundings,
        side: Side,
        packet: &Packet,
        out: &mut T,
    ) -> Pass {
        C::counters(&mut self.shared).seen += 1;
        let is_tcp = packet.flags & (flags::ACK | flags::SYN) != 0;
        if !is_tcp || packet.flags & (flags::PROBE | flags::DUMMY) != 0 {
            return Pass::Forward;
        }
        if packet.carries(priority::SEALED) && !C::identifies_ipsec(&self.shared) {
            return Pass::Forward;
        }
        let (slot, shared) = self.slot(side, packet);
        if packet.has(flags::SYN) {
            match side {
                // A new connection between the same endpoints.
                Side::Toward => *slot = None,
                Side::Back => C::on_answer(slot, packet),
            }
            return Pass::Forward;
        }
        let (pass, deadline) = match (side, slot) {
            (Side::Toward, slot) if packet.payload > 0 => {
                let connection = slot.get_or_insert_with(|| Box::new(C::of_data(packet, shared)));
                let pass = connection.on_data(around, packet, shared, out);
                (pass, connection.deadline())
            }
            (Side::Back, Some(connection)) => {
                let pass = connection.on_ack(around.now, packet, shared, out);
                C::counters(shared).suppressed += u64::from(pass == Pass::Suppress);
                (pass, connection.deadline())
            }
            _ => return Pass::Forward,
        };
        self.deadline = self.deadline.min(deadline);
        pass
    }

    /// Does what has become due at `now`.
    pub(crate) fn on_deadline<T: Transmit>(&mut self, now: Time, out: &mut T) {
        let mut next = Time::MAX;
        for connection in self.slots.iter_mut().flatten() {
            if connection.deadline() <= now {
                connection.on_deadline(now, &mut self.shared, out);
            }
            next = next.min(connection.deadline());
        }
        self.deadline = next;
    }

    /// When [`Connections::on_deadline`] is to be called.
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }
}
