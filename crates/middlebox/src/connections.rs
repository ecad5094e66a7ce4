//! The connections that a box follows, by endpoint, and their earliest deadline.

use crate::interface::{Counters, Pass, Side, Surroundings};
use bentpipe_tcp::packet::{flags, priority};
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::Time;
use std::fmt::Debug;

/// What all connections of a box share.
#[derive(Clone, Debug)]
pub(crate) struct Shared<S, M> {
    pub(crate) settings: S,
    pub(crate) counters: Counters,
    /// What only boxes of this kind keep.
    pub(crate) more: M,
}

/// What a box keeps for one connection.
pub(crate) trait Connection: Sized {
    /// The settings of the box.
    type Settings: Clone + Debug;
    /// [`Shared::more`]; `()` where there is none.
    type More: Clone + Debug + Default;

    /// The box matches packets of flows under IPsec and their acknowledgements.
    fn identifies_ipsec(_settings: &Self::Settings) -> bool {
        false
    }

    /// The connection whose first data packet is `packet`.
    fn of_data(packet: &Packet, settings: &Self::Settings) -> Self;

    /// Processes a SYN of the receiver; `connection` is empty before any data.
    fn on_answer(_connection: &mut Option<Box<Self>>, _packet: &Packet) {}

    /// Processes a data packet toward the link.
    fn on_data<T: Transmit>(
        &mut self,
        around: Surroundings,
        packet: &Packet,
        shared: &mut SharedOf<Self>,
        out: &mut T,
    ) -> Pass;

    /// Processes a packet with an acknowledgement from the link.
    fn on_ack<T: Transmit>(
        &mut self,
        now: Time,
        packet: &Packet,
        shared: &mut SharedOf<Self>,
        out: &mut T,
    ) -> Pass;

    /// When its timer runs out; [`Time::MAX`] while it is stopped.
    fn deadline(&self) -> Time;

    /// The timer ran out.
    fn on_deadline<T: Transmit>(&mut self, now: Time, shared: &mut SharedOf<Self>, out: &mut T);
}

type SharedOf<C> = Shared<<C as Connection>::Settings, <C as Connection>::More>;

/// A box: its connections, and what they share.
#[derive(Clone, Debug)]
pub(crate) struct Connections<C: Connection> {
    shared: SharedOf<C>,
    /// By the endpoint that the data goes to.
    slots: Vec<Option<Box<C>>>,
    /// No timer runs out before.
    deadline: Time,
}

impl<C: Connection> Connections<C> {
    /// A box that has processed no packet.
    pub(crate) fn new(settings: C::Settings) -> Connections<C> {
        let counters = Counters::default();
        let more = C::More::default();
        Connections {
            shared: Shared {
                settings,
                counters,
                more,
            },
            slots: Vec::new(),
            deadline: Time::MAX,
        }
    }

    /// The slot of the connection whose data goes the way of the box or comes
    /// back from it.
    fn slot(&mut self, side: Side, packet: &Packet) -> (&mut Option<Box<C>>, &mut SharedOf<C>) {
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
        self.shared.counters.seen += 1;
        let is_tcp = packet.flags & (flags::ACK | flags::SYN) != 0;
        if !is_tcp || packet.flags & (flags::PROBE | flags::DUMMY) != 0 {
            return Pass::Forward;
        }
        if packet.carries(priority::SEALED) && !C::identifies_ipsec(&self.shared.settings) {
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
                let connection =
                    slot.get_or_insert_with(|| Box::new(C::of_data(packet, &shared.settings)));
                let pass = connection.on_data(around, packet, shared, out);
                (pass, connection.deadline())
            }
            (Side::Back, Some(connection)) => {
                let pass = connection.on_ack(around.now, packet, shared, out);
                shared.counters.suppressed += u64::from(pass == Pass::Suppress);
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

    pub(crate) fn counters(&self) -> &Counters {
        &self.shared.counters
    }
}
