//! The host stack of the standards as written: RFC 5681, RFC 6582, RFC 6675 and RFC 3042, with ECN
//! (RFC 3168) and the undo of spurious retransmissions (RFC 3522, RFC 3708). The rules of a host
//! profile change details of it ([`crate::Rules`]), so that it also models Linux 2.2 and 2.4.
//!
//! | part | file |
//! |---|---|
//! | acknowledgements | `acknowledgement` |
//! | losses, ECN echoes and timeouts | `loss` |
//! | sending | `output` |
//! | undo of spurious reductions | `undo` |
//! | requests of the congestion control | `actions` |
//! | recovery `snack` | `snack` |
//! | what duplicate ACKs tell without SACK | `unnamed` |

mod acknowledgement;
mod actions;
mod loss;
mod output;
mod snack;
mod undo;
mod unnamed;

use crate::packet::{Packet, Transmit};
use crate::sender_core::Core;
use crate::stack::{CongestionState, Repairs, Stack};
use bentpipe_cc::Phase;
use bentpipe_units::Time;
use undo::Undo;

/// Duplicate ACKs that indicate a loss.
const DUPLICATE_THRESHOLD: u32 = 3;

/// The stage of loss repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No loss is being repaired.
    Open,
    /// Fast recovery until `recover` is acknowledged.
    Recovery,
    /// Slow start after a timeout (or Tahoe's fast retransmit) until
    /// `recover` is acknowledged.
    Loss,
}

/// The state of the stack besides what all stacks share.
#[derive(Debug)]
pub(crate) struct Rfc {
    state: State,
    /// A partial ACK arrived in this recovery: the timer is not restarted again
    /// (RFC 6582, "impatient").
    impatient: bool,
    /// The last segment was sent again once in this recovery.
    rescued: bool,
    /// Recovery `snack`: the ACK being processed reports corruption, not
    /// congestion.
    corrupted: bool,
    /// The window, not the application or a buffer, ended the last sending.
    window_limited: bool,
    duplicate_acks: u32,
    /// Without SACK: segments that have arrived above the first missing one, as far as duplicate
    /// ACKs tell ([`Rfc::arrived_unnamed`]).
    unnamed: u32,
    /// Recovery or loss state ends when this byte is acknowledged.
    recover: u64,
    /// Data below this byte was sent before the last reduction: an ECN echo for
    /// it does not reduce again.
    reduced_until: u64,
    /// The part of `reduced_until` that is due to an ECN echo: a loss below this
    /// byte does not reduce again.
    echo_cut_until: u64,
    /// Segments that duplicate ACKs add to the window in recovery without
    /// SACK.
    inflation: f64,
    /// Recovery `snack`: segments that have left the network, counted by
    /// duplicate ACKs.
    arrived: f64,
    undo: Option<Box<Undo>>,
    /// The first unacknowledged byte at the last timeout.
    timed_out_una: Option<u64>,
}

impl Rfc {
    pub(crate) fn new() -> Rfc {
        Rfc {
            state: State::Open,
            impatient: false,
            rescued: false,
            corrupted: false,
            window_limited: false,
            duplicate_acks: 0,
            unnamed: 0,
            recover: 0,
            reduced_until: 0,
            echo_cut_until: 0,
            inflation: 0.0,
            arrived: 0.0,
            undo: None,
            timed_out_una: None,
        }
    }
}

impl Stack for Rfc {
    fn uses_sack(&self, s: &Core) -> bool {
        s.options.recovery.uses_sack()
    }

    fn start_at(&mut self, sequence: u64) {
        // All of the connection lies above them, its first byte too: a loss of that is found by
        // duplicate ACKs as well, which RFC 6582 has by the sequence number of the SYN.
        let before = sequence.saturating_sub(1);
        self.recover = before;
        self.reduced_until = before;
        self.echo_cut_until = before;
    }

    fn send<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.send_permitted(s, now, out);
    }

    #[inline(always)]
    fn on_ack<T: Transmit>(&mut self, s: &mut Core, now: Time, packet: &Packet, out: &mut T) {
        if self.is_plain(s, packet) {
            self.acknowledged_plainly(s, now, packet, out);
        } else {
            self.acknowledged(s, now, packet, out);
        }
    }

    fn on_timeout<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.timed_out(s, now, out);
    }

    fn on_backward_notification(&mut self, s: &mut Core, now: Time) {
        if s.headers.ecn {
            self.on_congestion_echo(s, now);
        }
    }

    fn flight(&self, s: &Core) -> usize {
        s.board.flight() - self.arrived as usize
    }

    fn repairs(&self, s: &Core) -> Repairs {
        let sacked = if s.options.recovery.uses_sack() {
            s.board.sacked()
        } else {
            self.arrived_unnamed()
        };
        let state = match self.state {
            State::Open if sacked > 0 => CongestionState::Disorder,
            State::Open => CongestionState::Open,
            State::Recovery => CongestionState::Recovery,
            State::Loss => CongestionState::Loss,
        };
        Repairs {
            state,
            sacked,
            reordering: DUPLICATE_THRESHOLD,
        }
    }

    fn phase(&self, s: &Core) -> Phase {
        match s.cc.phase(&s.window) {
            Phase::Own(name) => Phase::Own(name),
            _ if self.state == State::Recovery => Phase::Recovery,
            phase => phase,
        }
    }
}
