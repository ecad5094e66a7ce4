//! The interface of a host stack: what differs between hosts in the processing
//! of acknowledgements, losses and timeouts.

use crate::packet::{Packet, Transmit};
use crate::sender_core::Core;
use bentpipe_cc::Phase;
use bentpipe_units::Time;

/// What a sender suspects or repairs, as the kernel's `tcp_ca_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CongestionState {
    /// No loss and no reordering is suspected.
    Open,
    /// Something is, but nothing was found lost.
    Disorder,
    /// The window is reduced for an ECN echo.
    Cwr,
    /// Lost segments are retransmitted.
    Recovery,
    /// A timeout is being repaired.
    Loss,
}

/// The state of loss repair, for those who watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repairs {
    pub(crate) state: CongestionState,
    /// Segments that arrived out of order, as far as ACKs tell.
    pub(crate) sacked: u32,
    pub(crate) reordering: u32,
}

/// A host stack. Every method works on the core `s`, which all stacks share.
pub(crate) trait Stack {
    /// True where the peer is to send selective acknowledgements.
    fn uses_sack(&self, s: &Core) -> bool;

    /// True where the first packet is a full segment in place of a SYN.
    fn opens_with_a_segment(&self) -> bool {
        false
    }

    /// True where the SYN is a segment like the others: the stack guards it with
    /// its own timer, sends it again and processes its acknowledgement.
    fn owns_syn(&self) -> bool {
        false
    }

    /// The first SYN has left at `now`, of a stack that owns it.
    fn on_syn_sent(&mut self, _s: &mut Core, _now: Time) {}

    /// The first sequence number, where an earlier connection used those below.
    fn start_at(&mut self, _sequence: u64) {}

    /// The connection is established, by a handshake or without one.
    fn on_established(&mut self, _s: &mut Core) {}

    /// Sends what the window, the buffers and pacing allow at `now`.
    fn send<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T);

    /// Processes an acknowledgement that arrived at `now`.
    fn on_ack<T: Transmit>(&mut self, s: &mut Core, now: Time, packet: &Packet, out: &mut T);

    /// The retransmission timer ran out.
    fn on_timeout<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T);

    /// A router on the path notifies the sender of congestion (backward ECN).
    /// Hosts ignore it since RFC 6633.
    fn on_backward_notification(&mut self, _s: &mut Core, _now: Time) {}

    /// True if something may leave as soon as the stream has its turn, of a stack
    /// whose streams share a sender.
    fn wants_turn(&self, _s: &Core) -> bool {
        false
    }

    /// The stream has its turn: sends one packet.
    fn take_turn<T: Transmit>(&mut self, _s: &mut Core, _now: Time, _out: &mut T) {}

    /// True if a probe timeout has to send what may be lost, whatever is in flight.
    fn must_probe(&self) -> bool {
        false
    }

    /// From now on packets are noted that have arrived.
    fn log_arrivals(&mut self) {}

    /// Takes the packets that have arrived since the last call: when they were sent, and their payload.
    fn take_arrivals(&mut self) -> Vec<(Time, u16)> {
        Vec::new()
    }

    /// Segments in flight.
    fn flight(&self, s: &Core) -> usize;

    /// The state of loss repair.
    fn repairs(&self, s: &Core) -> Repairs {
        let state = match self.phase(s) {
            Phase::Recovery => CongestionState::Recovery,
            _ => CongestionState::Open,
        };
        Repairs {
            state,
            sacked: s.board.sacked(),
            reordering: 3,
        }
    }

    /// The phase, by the names of qlog.
    fn phase(&self, s: &Core) -> Phase;
}
