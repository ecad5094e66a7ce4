//! The look-up of a name, which precedes the connection of a flow: a query and an answer between its
//! two nodes, past all PEPs.

use bentpipe_scenario::Flow;
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_traffic::{DNS_ANSWER, DNS_QUERY};
use bentpipe_units::{Bytes, Time};

/// Headers of IP and UDP.
const HEADERS: u64 = 28;

/// A look-up that has no answer yet.
#[derive(Debug)]
pub(crate) struct Lookup {
    progress: bentpipe_traffic::Lookup,
    /// The side that asks.
    client: usize,
    /// Its endpoints in the network: at `from`, and at `to`.
    endpoints: [u32; 2],
}

impl Lookup {
    /// That of a flow that starts at `start`, as connection `connection` of the run.
    pub(crate) fn new(flow: &Flow, connection: usize, start: Time) -> Box<Lookup> {
        let first = 2 * connection as u32;
        Box::new(Lookup {
            progress: bentpipe_traffic::Lookup::new(start),
            client: flow.opener(),
            endpoints: [first, first + 1],
        })
    }

    /// When [`Lookup::on_call`] is to be called next.
    pub(crate) fn next_call(&self) -> Time {
        self.progress.next()
    }

    /// The client asks, if it is time.
    pub(crate) fn on_call<T: Transmit>(&mut self, now: Time, net: &mut T) {
        if self.progress.asks(now) {
            net.transmit(self.datagram(1 - self.client, DNS_QUERY));
        }
    }

    /// A datagram arrives at `side`: the resolver answers. True if it is the answer.
    pub(crate) fn on_packet<T: Transmit>(&self, side: usize, net: &mut T) -> bool {
        if side != self.client {
            net.transmit(self.datagram(self.client, DNS_ANSWER));
        }
        side == self.client
    }

    fn datagram(&self, to: usize, bytes: Bytes) -> Packet {
        let mut packet = Packet::new(self.endpoints[to]);
        packet.bytes = bytes.get() as u16;
        packet.payload = (bytes.get() - HEADERS) as u16;
        packet
    }
}
