//! A connection at the sender that it shares with others.

use crate::flow::{Ends, Running};
use bentpipe_quic::turns::YOUNG;
use bentpipe_tcp::Endpoint;
use bentpipe_units::Bytes;

/// An end of a stream at the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) flow: usize,
    pub(super) end: usize,
    /// The association of the sender that it is a stream of, in a tunnel.
    pub(super) association: usize,
    /// Whose it is.
    pub(super) subscriber: u32,
    pub(super) wants: bool,
    /// It waits for a turn.
    pub(super) waits: bool,
    /// It is among those that QUIC sends from.
    pub(super) sends: bool,
    /// Bytes that it has had turns for and that have not been sent.
    pub(super) granted: u64,
    /// Bytes that it has had turns for in all, before the last of them.
    written: u64,
    /// QUIC sends from it before others.
    pub(super) goes_first: bool,
    /// Acknowledgements that have come and are counted.
    pub(super) acks: u64,
    /// Bytes that were sent for the first time and are counted.
    first_sent: u64,
    /// Bytes of its packets in flight.
    pub(super) under_way: u64,
    /// Bytes of acknowledgements that are counted.
    pub(super) answered: Bytes,
    /// Packets that were found lost and are counted.
    pub(super) lost: u64,
}

impl Stream {
    pub(super) fn new(flow: usize, end: usize, association: usize, subscriber: u32) -> Stream {
        Stream {
            flow,
            end,
            association,
            subscriber,
            wants: false,
            waits: false,
            sends: false,
            granted: 0,
            written: 0,
            goes_first: true,
            acks: 0,
            first_sent: 0,
            under_way: 0,
            answered: Bytes::ZERO,
            lost: 0,
        }
    }

    /// The end of it at this sender.
    pub(super) fn of<'a>(&self, flows: &'a [Running]) -> Option<&'a Endpoint> {
        match &flows.get(self.flow)?.ends {
            Ends::Split(chain) => Some(chain.end(self.end)),
            Ends::Tcp(_)
            | Ends::Datagrams { .. }
            | Ends::Stream(_)
            | Ends::Quic(_)
            | Ends::Ideal => None,
        }
    }

    /// The same, to be told something.
    pub(super) fn of_mut<'a>(&self, flows: &'a mut [Running]) -> Option<&'a mut Endpoint> {
        match &mut flows.get_mut(self.flow)?.ends {
            Ends::Split(chain) => Some(chain.end_mut(self.end)),
            Ends::Tcp(_)
            | Ends::Datagrams { .. }
            | Ends::Stream(_)
            | Ends::Quic(_)
            | Ends::Ideal => None,
        }
    }

    /// True if it goes before those that have sent more.
    pub(super) const fn is_young(&self) -> bool {
        self.written < YOUNG
    }

    /// It has a turn for so many bytes more.
    pub(super) const fn grant(&mut self, bytes: u64) {
        self.goes_first = self.is_young();
        self.written += bytes;
        self.granted += bytes;
    }

    /// Takes what was sent for the first time since the last call off what it has had turns for.
    pub(super) fn spend(&mut self, flows: &[Running]) {
        let Some(end) = self.of(flows) else { return };
        let counters = end.counters();
        let sent = counters.payload - counters.retransmitted;
        let bytes = sent - std::mem::replace(&mut self.first_sent, sent);
        // A packet is sent whole.
        self.granted = match end.unsent().get() {
            0 => 0,
            _ => self.granted.saturating_sub(bytes),
        };
    }
}
