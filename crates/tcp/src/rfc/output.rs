//! Sending: lost segments first, then new ones, as far as the window allows.

use super::{Rfc, State};
use crate::options::Recovery;
use crate::packet::Transmit;
use crate::profile::StackKind;
use crate::scoreboard::Hole;
use crate::sender_core::Core;
use bentpipe_units::Time;

impl Rfc {
    /// Sends what the window, the buffers and pacing allow at `now`.
    pub(super) fn send_permitted<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.send_now(s, now, out);
    }

    /// [`Rfc::send_permitted`] in the place of the call, for the usual ACK.
    #[inline(always)]
    pub(super) fn send_now<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.restart_after_idle(s, now);
        let paced = s.is_paced();
        let mut permitted = self.permitted(s);
        while !out.is_full() {
            if permitted < 1 {
                self.window_limited = true;
                break;
            }
            if paced && !s.pacing_permits(now) {
                self.window_limited = true;
                break;
            }
            let payload = if let Some(hole) = self.next_hole(s) {
                self.resend(s, now, hole, out);
                u32::from(hole.len)
            } else if let Some(len) = s.next_new() {
                s.send_new(now, len, out);
                u32::from(len)
            } else {
                // Data, a buffer or the receive window ran out.
                self.window_limited = false;
                s.note_app_limited();
                s.arm_window_probe(now);
                break;
            };
            if paced {
                s.note_paced(now, payload);
            }
            permitted -= 1;
        }
        s.pacing_done(now, paced);
        if paced && s.pacer.takes_turns() {
            self.ask_turn(s, now, permitted);
        }
        s.begin_probes(now, out);
    }

    /// Notes whether a turn has something to send, and asks after a closed window otherwise.
    #[cold]
    fn ask_turn(&mut self, s: &mut Core, now: Time, permitted: i64) {
        let has_new = s.next_new().is_some();
        let is_wanted = permitted >= 1 && (has_new || self.next_hole(s).is_some());
        s.pacer.ask_turn(is_wanted);
        if !has_new {
            s.arm_window_probe(now);
        }
    }

    /// After an idle RTO the window restarts (RFC 5681, section 4.1).
    #[inline]
    fn restart_after_idle(&mut self, s: &mut Core, now: Time) {
        if s.board.outstanding() == 0
            && s.options.restart_after_idle
            && s.has_sent()
            && now.since(s.last_sent_at) > s.rtt.rto()
            && !s.options.owns_window
        {
            s.cc.after_idle(s.options.initial_window, &mut s.window);
            s.take_requests();
        }
    }

    /// Segments that the congestion window lets leave now.
    #[inline]
    fn permitted(&self, s: &Core) -> i64 {
        // Truncation is the floor of what is not negative, and saturates.
        let window = ((s.window.cwnd + self.inflation) as i64).max(1);
        if s.options.recovery == Recovery::Snack {
            return window.saturating_add(self.arrived as i64) - s.board.flight() as i64;
        }
        if self.state != State::Open || s.options.owns_window {
            return window - s.board.flight() as i64;
        }
        // Before a loss is established a duplicate ACK frees no room in the
        // window; limited transmit lends two segments (RFC 3042).
        let outstanding = s.board.outstanding() as i64;
        let mut lent = if s.options.limited_transmit {
            i64::from(self.duplicate_acks.min(2))
        } else {
            0
        };
        // Linux takes at least one segment for missing (`tcp_limit_reno_sacked`).
        if s.rules.stack == StackKind::Linux {
            lent = lent.min((outstanding - 1).max(0));
        }
        window.saturating_add(lent) - outstanding
    }

    /// The next segment to send again, in recovery.
    #[inline]
    fn next_hole(&mut self, s: &mut Core) -> Option<Hole> {
        match self.state {
            State::Open => None,
            State::Loss => s.board.next_lost(),
            State::Recovery => s.board.next_lost().or_else(|| {
                // RFC 6675, NextSeg (3) and (4): only when nothing new can be
                // sent.
                if !s.options.recovery.uses_sack() || s.next_new().is_some() {
                    return None;
                }
                s.board.next_doubtful().or_else(|| {
                    if self.rescued || !s.rules.rescues_tail {
                        None
                    } else {
                        s.board.last()
                    }
                })
            }),
        }
    }

    /// Sends `hole` again.
    pub(super) fn resend<T: Transmit>(&mut self, s: &mut Core, now: Time, hole: Hole, out: &mut T) {
        let recovers = self.state == State::Recovery;
        if recovers && hole.index + 1 == s.board.outstanding() {
            self.rescued = true;
        }
        s.retransmit(now, hole, out);
        if recovers && s.options.recovery == Recovery::SackRepeat {
            s.board.watch(hole.index);
        }
        if let Some(undo) = &mut self.undo {
            undo.note_resent(now, hole.start);
        }
    }
}
