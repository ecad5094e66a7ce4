//! Output: lost segments first, then new data.

use super::offload::SuperSegments;
use super::timer::Timer;
use super::{Linux, State};
use crate::packet::{Transmit, timestamp};
use crate::scoreboard::{Hole, View};
use crate::sender_core::Core;
use bentpipe_units::Time;
use std::cmp::Reverse;

impl Linux {
    /// The application has written, or pacing lets something go.
    pub(super) fn send_permitted<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.restart(s, now);
        if s.is_paced() && self.state >= State::Recovery {
            self.resend_lost(s, now, out);
        }
        self.write(s, now, false, out);
    }

    /// Sends new segments as far as the window lets them; with `forces`, one,
    /// whatever it says. Returns how many.
    pub(super) fn write<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        forces: bool,
        out: &mut T,
    ) -> u32 {
        let paced = s.is_paced();
        self.refill(s);
        if !s.has_data() {
            s.note_app_limited();
            s.pacing_done(now, paced);
            return 0;
        }
        let mut window = Linux::window(s);
        let mut out = SuperSegments::new(out, s.sends_whole);
        let mut sent = 0;
        // Segments that go together with the last one.
        let mut more = 0;
        while !out.is_full() {
            if more == 0 {
                if sent > 0 && forces {
                    break;
                }
                let free = window.saturating_sub(s.board.flight());
                if !forces && (free == 0 || (paced && !s.pacing_permits(now))) {
                    break;
                }
                more = 1;
                if s.sends_whole {
                    out.end();
                    s.end_quantum();
                    more = Linux::super_segment(s, free);
                }
            }
            if !self.is_written(s) {
                s.limit_rate();
                break;
            }
            let whole = s.next_new();
            let behind = sent > 0 && !forces;
            let Some(len) = whole.or_else(|| self.part(s).filter(|_| behind)) else {
                // Data, a buffer or the receive window ran out.
                s.note_app_limited();
                s.arm_window_probe(now);
                break;
            };
            if s.snd.una < self.part_until && u64::from(len) < u64::from(s.mss) {
                break;
            }
            if whole.is_none() {
                self.part_until = s.snd.next + u64::from(len);
            }
            let was_idle = s.board.outstanding() == 0;
            if was_idle && s.has_sent() {
                let idle = now.since(s.last_sent_at);
                s.cc.on_transmission_start(now, idle);
            }
            s.send_new(now, len, &mut out);
            if was_idle {
                // The congestion control may have begun anew.
                window = Linux::window(s);
            }
            // Where a probe follows below, the timer is set there.
            if (was_idle || self.timer == Timer::Probe) && (forces || !self.may_probe(s)) {
                self.rearm(s, now);
            }
            if paced {
                s.note_paced(now, u32::from(len));
            }
            sent += 1;
            more -= 1;
        }
        out.end();
        s.pacing_done(now, paced);
        let by_window = s.board.flight() >= window;
        if self.is_reducing() {
            self.prr.sent += u64::from(sent);
        }
        if sent > 0 && !forces {
            self.schedule_probe(s, now, false);
        }
        if sent > 0 || by_window {
            self.note_use(s, now, by_window);
        }
        sent
    }

    /// What the receive window leaves of a segment behind whole ones that go with
    /// it (`tcp_mss_split_point`). While that is under way nothing else goes that is
    /// not whole: Nagle's algorithm in Minshall's form. Applications whose last
    /// segments are short switch it off, so those set nothing.
    fn part(&self, s: &Core) -> Option<u16> {
        let used = s.snd.next - s.snd.una;
        let len = s.snd.window.checked_sub(used)?;
        let is_part = len > 0 && len < u64::from(s.mss) && s.snd.offered - s.snd.next > len;
        (is_part && s.room() == s.snd.window).then_some(len as u16)
    }

    /// Sends again what was found lost, as far as the window lets it.
    pub(super) fn resend_lost<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        let paced = s.is_paced();
        let mut out = SuperSegments::new(out, s.sends_whole);
        let mut head_went = false;
        let mut more = 0;
        while !out.is_full() && s.board.flight() < Linux::window(s) {
            if more == 0 {
                if paced && !s.pacing_permits(now) {
                    break;
                }
                more = 1;
                if s.sends_whole {
                    out.end();
                    s.end_quantum();
                    more = Linux::largest_super_segment(s);
                }
            }
            let Some(&Reverse(number)) = self.waiting.peek() else {
                break;
            };
            let Some(view) = s.board.view(number).filter(|view| view.waits) else {
                self.waiting.pop();
                continue;
            };
            self.resend(s, now, number, &view, &mut out);
            more -= 1;
            if paced {
                s.note_paced(now, u32::from(view.len));
            }
            if self.is_reducing() {
                self.prr.sent += 1;
            }
            head_went |= view.index == 0;
        }
        out.end();
        s.pacing_done(now, paced);
        if head_went && self.timer != Timer::Reordering {
            self.restart_timeout(s, now);
        }
    }

    /// Retransmits segment `number`, which then counts as in flight.
    pub(super) fn resend<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        number: u64,
        view: &View,
        out: &mut T,
    ) {
        let hole = Hole {
            index: view.index,
            start: view.start,
            len: view.len,
        };
        s.retransmit(now, hole, out);
        s.board.renew(number);
        self.undo.note_resent(timestamp(now));
    }

    /// Sends a copy of segment `number`, which is not taken for lost.
    pub(super) fn copy<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        number: u64,
        view: &View,
        out: &mut T,
    ) {
        let hole = Hole {
            index: view.index,
            start: view.start,
            len: view.len,
        };
        if let Some(rate) = &mut s.rate {
            rate.resent(hole.index, now, s.board.flight());
        }
        s.send_again(now, hole, out);
        s.board.renew(number);
        self.undo.resent_at.get_or_insert(timestamp(now));
    }
}
