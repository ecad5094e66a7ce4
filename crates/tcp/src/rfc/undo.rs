//! The undo of reductions that prove spurious: by timestamps (Eifel, RFC 3522)
//! or by duplicate reports (RFC 3708).

use super::{Rfc, State};
use crate::packet::{Packet, is_older, timestamp};
use crate::sender_core::Core;
use bentpipe_cc::Window;
use bentpipe_units::Time;

/// State to undo the last reduction of the window.
#[derive(Clone, Debug)]
pub(super) struct Undo {
    window: Window,
    /// Reductions before this one.
    reductions: u64,
    /// First byte that was unacknowledged when the window was reduced.
    una: u64,
    /// Time of the first retransmission of the episode.
    first_resent_at: Option<Time>,
    /// An ACK after it has advanced: later ones prove nothing by timestamp.
    answered: bool,
    /// Retransmissions of the episode not yet reported as duplicates.
    unreported: u32,
    /// A retransmission has been reported as a duplicate.
    any_reported: bool,
}

impl Undo {
    /// The segment at `start` was sent again at `now`.
    pub(super) fn note_resent(&mut self, now: Time, start: u64) {
        // The timestamp shows only whether the first segment of the episode
        // arrived before it was sent again in it.
        self.answered |= self.first_resent_at.is_none() && start != self.una;
        self.first_resent_at.get_or_insert(now);
        self.unreported += 1;
    }
}

impl Rfc {
    /// Records the window before a reduction.
    pub(super) fn remember_for_undo(&mut self, s: &Core) {
        if s.options.undo {
            self.undo = Some(Box::new(Undo {
                window: s.window.clone(),
                reductions: s.counters.reductions,
                una: s.snd.una,
                first_resent_at: None,
                answered: false,
                // Retransmissions of an earlier episode may still be reported.
                unreported: s.board.retransmitted(),
                any_reported: false,
            }));
        }
    }

    /// D-SACK (RFC 2883): the first block reports a duplicate if it lies below
    /// the acknowledgement or inside the second one.
    #[inline]
    pub(super) fn note_duplicate_report(&mut self, packet: &Packet) {
        let Some(undo) = &mut self.undo else { return };
        if packet.sack_count == 0 {
            return;
        }
        let [first, second, ..] = packet.sack;
        let Some((start, end)) = packet.sack_ranges().next() else {
            return;
        };
        let below = start < packet.acknowledgement;
        let inside =
            packet.sack_count > 1 && first.start >= second.start && first.end <= second.end;
        if (below || inside) && end > undo.una {
            undo.unreported = undo.unreported.saturating_sub(1);
            undo.any_reported = true;
        }
    }

    /// Undoes the last reduction if the retransmissions proved spurious: the
    /// first new ACK echoes a timestamp from before them, or every one of them
    /// was reported as a duplicate.
    #[inline(always)]
    pub(super) fn detect_spurious(&mut self, s: &mut Core, packet: &Packet, advances: bool) {
        let Some(undo) = &mut self.undo else { return };
        let Some(resent_at) = undo.first_resent_at else {
            return;
        };
        let new_ack = advances && s.snd.una > undo.una;
        let first_new_ack = new_ack && !undo.answered;
        undo.answered |= new_ack;
        let older = is_older(packet.timestamp_echo, timestamp(resent_at));
        let eifel = s.headers.timestamps && first_new_ack && older;
        let duplicates = undo.any_reported && undo.unreported == 0;
        if eifel || duplicates {
            s.counters.reductions = undo.reductions;
            s.cc.on_spurious(&undo.window, &mut s.window);
            self.undo = None;
            s.counters.undone += 1;
            if self.state != State::Open {
                self.state = State::Open;
                s.board.unlose_all();
                self.inflation = 0.0;
                self.duplicate_acks = 0;
            }
        } else if new_ack && s.headers.timestamps && s.snd.una >= self.recover {
            // The retransmissions were needed; only duplicates that are still
            // to be reported could show otherwise, and those come soon.
            if undo.unreported == 0 || self.state == State::Open {
                self.undo = None;
            }
        }
    }
}
