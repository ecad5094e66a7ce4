//! Connections that share a sender with others, and send when they have their turn: streams of a
//! tunnel, and legs between relays that grant each other what they may send.

use super::Endpoint;
use crate::packet::Transmit;
use bentpipe_units::{Bytes, Duration, Time};

impl Endpoint {
    /// Makes the stream exist that this endpoint is an end of, in a tunnel whose
    /// round trip is known.
    pub fn assume_stream(&mut self, rtt: Duration) {
        self.sender.core.rtt.assume(rtt);
        self.assume_open();
    }

    /// From now on what this end sends as data leaves in turns ([`Endpoint::take_turn`]), one
    /// packet a turn, and nothing else spaces it: it shares a sender with other connections. On
    /// the stack of the RFCs and with the recovery `stp`.
    pub fn wait_for_turns(&mut self) {
        self.sender.core.pacer.wait_for_turns();
    }

    /// True if a stream has something to send as soon as it has its turn.
    #[must_use]
    pub fn wants_turn(&self) -> bool {
        self.is_open() && self.sender.wants_turn()
    }

    /// True if it has to send what may be lost, whatever is in flight.
    #[must_use]
    pub fn must_probe(&self) -> bool {
        self.is_open() && self.sender.must_probe()
    }

    /// Bytes that it has to send for the first time, a FIN included.
    #[must_use]
    pub fn unsent(&self) -> Bytes {
        let sequence = &self.sender.core.snd;
        Bytes::new(sequence.offered.saturating_sub(sequence.next))
    }

    /// True if it has to send again what was lost or may be.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        let board = &self.sender.core.board;
        self.must_probe() || board.lost() > board.retransmitted()
    }

    /// From now on packets of a stream are noted that have arrived.
    pub fn log_arrivals(&mut self) {
        self.sender.log_arrivals();
    }

    /// Takes the packets of a stream that have arrived since the last call, as far as
    /// acknowledgements tell: when they were sent, and their payload.
    pub fn take_arrivals(&mut self) -> Vec<(Time, u16)> {
        self.sender.take_arrivals()
    }

    /// A stream has its turn at the sender that it shares: it sends one packet.
    pub fn take_turn<T: Transmit>(&mut self, now: Time, out: &mut T) {
        if self.is_open() {
            self.sender.take_turn(now, out);
        }
    }

    /// Bytes of IP and TCP header, or what takes their place, of a data packet.
    #[must_use]
    pub fn header_bytes(&self) -> Bytes {
        Bytes::new(u64::from(self.header))
    }

    /// Bytes of all acknowledgements and status reports that it has sent, at the IP layer.
    #[must_use]
    pub fn answered(&self) -> Bytes {
        Bytes::new(self.answered)
    }

    /// Bytes in flight, at the IP layer; none once it has been reset.
    #[must_use]
    pub fn under_way(&self) -> Bytes {
        if !self.is_open() {
            return Bytes::ZERO;
        }
        let full = u64::from(self.sender.core.full_packet());
        Bytes::new(self.sender.flight() as u64 * full)
    }
}
