//! The sender's side of recovery `snack`: what an ACK names is sent again at
//! once, not held back by the window ([`crate::receiver::holes`] has the
//! receiver's side and the source).
//!
//! Not sent again is a segment that was sent less than a round trip ago, by the lesser of the last
//! sample and the mean. Before the first sample, that holds for what was sent again only, with a
//! round trip of a second: what was sent once has left a gap. A loss is one of congestion, which
//! reaches the congestion control once a window of data as with SACK, unless the ACK reports
//! corruption: then the window is kept and continues growing. Timeouts are those of the stack.
//! Vegas' own early retransmission of the first segment is left out: what is named has been sent
//! again already.

use super::{Rfc, State};
use crate::packet::{Packet, Transmit};
use crate::receiver::holes::UNKNOWN_ROUND_TRIP;
use crate::sender_core::Core;
use bentpipe_units::Time;

impl Rfc {
    /// Marks the segments lost that an ACK names; returns how many are new.
    pub(super) fn take_snack(&mut self, s: &mut Core, now: Time, packet: &Packet) -> u32 {
        self.corrupted = packet.names_corruption();
        let Some(snack) = packet.snack() else {
            return 0;
        };
        // The answer to what was sent later is still on its way. Samples may
        // include the delay of an ACK, which repairs do not have.
        let shortest = s.rtt.latest().min(s.rtt.fine());
        let answered = |sent_at, resent| {
            let round_trip = if resent && shortest.is_zero() {
                UNKNOWN_ROUND_TRIP
            } else {
                shortest
            };
            now.since(sent_at) >= round_trip
        };
        let mut newly = 0;
        for (start, end) in snack.holes(s.mss) {
            let (start, end) = (packet.acknowledgement + start, packet.acknowledgement + end);
            let board = &mut s.board;
            newly += board.lose_range(start, end, answered);
        }
        newly
    }

    /// Counts what duplicate ACKs show to have left the network: one segment
    /// each, until `acked` of them are acknowledged with the one that filled
    /// the hole below.
    pub(super) fn count_arrived(&mut self, s: &mut Core, acked: u32, duplicate: bool) {
        if duplicate {
            self.arrived += 1.0;
        } else if acked > 0 {
            self.arrived = (self.arrived - f64::from(acked - 1)).max(0.0);
        }
        self.arrived = self.arrived.min(s.board.flight() as f64);
    }

    /// Sends all that is known lost again, whatever the window says.
    pub(super) fn resend_named<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        if self.state == State::Loss {
            return; // The timeout's own pace.
        }
        let mut any = false;
        while !out.is_full()
            && let Some(hole) = s.board.next_lost()
        {
            self.resend(s, now, hole, out);
            any = true;
        }
        if any {
            s.restart_timer(now);
        }
    }
}
