//! STP, the Satellite Transport Protocol: automatic repeat request by selective
//! negative acknowledgements, on the sender's demand.
//!
//! Source: T. Henderson and R. Katz, *Transport Protocols for Internet-Compatible
//! Satellite Networks*, IEEE JSAC 17(2), 1999, after SSCOP (ITU-T Q.2110), as
//! J. Salamanca's thesis (2008, section 1.2.3.2) describes it. We read abstracts
//! and descriptions of STP and of SSCOP, not the papers: this is our reading.
//!
//! - **Data is not acknowledged.** Every so often the sender sends a POLL, which
//!   carries the time and the next new sequence number. The receiver answers with
//!   a STAT: the next byte that it expects, its window, every gap up to the
//!   number in the POLL, and the time of the POLL. What was sent before the POLL
//!   and lies in a gap is lost, the last segments included: it is sent again, and
//!   a STAT to an earlier POLL does not repeat it.
//! - **A gap that a segment leaves** behind it is reported at once, without a
//!   poll (USTAT).
//! - **No timer per segment.** SSCOP has none: polls go on while something is
//!   unacknowledged, and so does repair. The thesis writes that STP "does rely on
//!   timeout mechanisms", against SSCOP, on which it says STP is based; a "not"
//!   may be missing. `polling.timeout` is that reading: a retransmission timeout
//!   without a STAT sends everything again and reduces the window, as TCP's does.
//! - **The window** is a congestion control's like that of any transport; the
//!   transport `stp` runs `newreno`, counting segments (`byte_counting`, growth
//!   `per-segment`), since a STAT acknowledges a third of a window. Gaps reduce it
//!   once in a window of data. Nothing clocks the sender but these reports, so
//!   segments are paced at cwnd over the smoothed round trip.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | `polling.per_round_trip` | 3 | polls in a smoothed round trip (in an RTO before a sample) |
//! | `polling.segments` | none | a POLL follows as many data segments at the latest (MaxPD of SSCOP) |
//! | `polling.timeout` | false | the other reading of timeouts |
//!
//! Left open, and the reading chosen:
//! - The connection opens and closes as TCP's. Header sizes are those of TCP
//!   without options, 40 bytes; a gap in a report takes 8.
//! - A POLL is a separate packet, never a bit of a data segment.
//! - What a report names goes again before anything new, paced but not held back
//!   by the window.
//! - A round trip is measured from each POLL to its STAT.
//! - What a gap of a USTAT holds is lost unless it was sent less than the shortest
//!   round trip ago: that has been sent again for an earlier report.
//! - With the receive window closed polls go on: their answers carry the window.
//!
//! Example: RTT 100 ms, ten segments at once, segment 9, the last, lost. The
//! POLL after 33 ms finds it missing; the STAT arrives 133 ms after the start, and
//! the segment goes again then. TCP waits for a timeout.

mod reports;

use crate::options::Polling;
use crate::packet::{Packet, Transmit, flags, is_older, priority, timestamp};
use crate::sender_core::Core;
use crate::stack::{CongestionState, Repairs, Stack};
use bentpipe_cc::Phase;
use bentpipe_units::{Duration, Time};
use std::collections::VecDeque;

/// The sending half of STP.
#[derive(Debug)]
pub(crate) struct Stp {
    polling: Polling,
    /// When the next POLL is due; [`Time::MAX`] with nothing to ask.
    next_poll: Time,
    /// When the first POLL left that no STAT has followed.
    unanswered: Option<Time>,
    /// Data segments since the last POLL.
    unpolled: u32,
    /// The timestamp of the last POLL, and those of POLLs in whose microsecond
    /// segments went again behind them, ascending.
    polled: Option<u32>,
    tied: VecDeque<u32>,
    /// Losses of what was sent below this byte have reduced the window; until it
    /// is acknowledged they are being repaired.
    recover: u64,
    repairs: bool,
    /// The window, not the application or a buffer, ended the last sending.
    window_limited: bool,
}

impl Stp {
    pub(crate) fn new(polling: Polling) -> Stp {
        Stp {
            polling,
            next_poll: Time::MAX,
            unanswered: None,
            unpolled: 0,
            polled: None,
            tied: VecDeque::new(),
            recover: 0,
            repairs: false,
            window_limited: false,
        }
    }

    /// Time from one POLL to the next.
    fn interval(&self, s: &Core) -> Duration {
        let round_trip = match s.rtt.fine() {
            Duration::ZERO => s.rtt.rto(),
            rtt => rtt,
        };
        let share = 1.0 / self.polling.per_round_trip.max(f64::MIN_POSITIVE);
        round_trip.scaled(share).max(Duration::from_micros(1))
    }

    /// Something is to be asked for.
    fn has_questions(s: &Core) -> bool {
        s.board.outstanding() > 0 || s.has_data()
    }

    fn poll<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        // Of a place that a FIN does not lie below.
        let mut packet = s.packet(now, s.snd.una.min(s.snd.fin), 0);
        packet.sequence = s.snd.next;
        packet.flags = flags::ACK | flags::DUMMY;
        packet.priority = priority::POLL;
        packet.timestamp = timestamp(now);
        self.unpolled = 0;
        self.polled = Some(packet.timestamp);
        self.unanswered.get_or_insert(now);
        self.next_poll = now + self.interval(s);
        out.transmit(packet);
    }

    /// When a poll that nothing answers counts as a timeout.
    fn gives_up_at(&self, s: &Core) -> Time {
        match self.unanswered {
            Some(at) if self.polling.timeout && s.board.outstanding() > 0 => at + s.rtt.rto(),
            _ => Time::MAX,
        }
    }

    /// Sets the timer of the core, which is that of polls here.
    fn arm(&mut self, s: &mut Core, now: Time) {
        if !Stp::has_questions(s) {
            self.next_poll = Time::MAX;
            self.unanswered = None;
        } else if self.next_poll == Time::MAX {
            self.next_poll = now + self.interval(s);
        }
        s.timer.window_probes = None;
        s.timer.deadline = self.next_poll.min(self.gives_up_at(s));
    }

    /// Segments that the congestion window lets leave now.
    fn permitted(s: &Core) -> i64 {
        // Truncation is the floor of what is not negative, and saturates.
        (s.window.cwnd as i64).max(1) - s.board.flight() as i64
    }

    /// A segment goes again: a STAT to a POLL of the same microsecond need not
    /// know of it.
    fn note_again(&mut self, now: Time) {
        let now = timestamp(now);
        if self.polled == Some(now) && self.tied.back() != Some(&now) {
            self.tied.push_back(now);
        }
    }

    /// True if what left in the microsecond of a POLL left before it. Forgets the
    /// POLLs before.
    fn left_before(&mut self, poll: u32) -> bool {
        while self.tied.front().is_some_and(|tied| is_older(*tied, poll)) {
            self.tied.pop_front();
        }
        self.tied.front() != Some(&poll)
    }

    fn send_permitted<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        let paced = s.is_paced();
        let mut permitted = Stp::permitted(s);
        while !out.is_full() {
            let hole = s.board.next_lost();
            let is_closed = permitted < 1 && hole.is_none();
            if is_closed || (paced && !s.pacing_permits(now)) {
                self.window_limited = true;
                break;
            }
            let payload = if let Some(hole) = hole {
                s.retransmit(now, hole, out);
                self.note_again(now);
                hole.len
            } else if let Some(len) = s.next_new() {
                s.send_new(now, len, out);
                len
            } else {
                self.window_limited = false;
                s.note_app_limited();
                break;
            };
            if paced {
                s.note_paced(now, u32::from(payload));
            }
            permitted -= 1;
            self.unpolled += 1;
            if self
                .polling
                .segments
                .is_some_and(|most| self.unpolled >= most)
            {
                self.poll(s, now, out);
            }
        }
        s.pacing_done(now, paced);
        if s.pacer.takes_turns() {
            let has_new = permitted >= 1 && s.next_new().is_some();
            let is_wanted = has_new || s.board.next_lost().is_some();
            s.pacer.ask_turn(is_wanted);
        }
        self.arm(s, now);
        s.begin_probes(now, out);
    }

    /// What a reduction is of: the part of the window that is in use.
    fn used(s: &Core) -> f64 {
        (s.board.outstanding() as f64).min(s.window.cwnd).max(1.0)
    }

    /// A loss among what was sent since the last reduction.
    fn reduce(&mut self, s: &mut Core, now: Time) {
        s.reduce(&s.loss(now, Stp::used(s), false));
        s.counters.recoveries += 1;
        self.recover = s.snd.next;
        self.repairs = true;
    }

    /// No STAT came for a retransmission timeout.
    fn time_out(&mut self, s: &mut Core, now: Time) {
        s.counters.timeouts += 1;
        s.reduce_after_timeout(&s.timeout(now, Stp::used(s), true));
        s.rtt.back_off();
        s.board.lose_all(true);
        self.recover = s.snd.next;
        self.repairs = false;
        self.unanswered = Some(now);
        s.take_requests();
    }
}

impl Stack for Stp {
    fn uses_sack(&self, _s: &Core) -> bool {
        false
    }

    fn start_at(&mut self, sequence: u64) {
        self.recover = sequence;
    }

    fn send<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.send_permitted(s, now, out);
    }

    fn on_ack<T: Transmit>(&mut self, s: &mut Core, now: Time, packet: &Packet, out: &mut T) {
        self.on_report(s, now, packet, out);
    }

    fn on_timeout<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        if now >= self.gives_up_at(s) {
            self.time_out(s, now);
        }
        self.send_permitted(s, now, out);
        if now >= self.next_poll {
            self.poll(s, now, out);
        }
        self.arm(s, now);
    }

    fn flight(&self, s: &Core) -> usize {
        s.board.flight()
    }

    fn repairs(&self, s: &Core) -> Repairs {
        let state = if self.repairs {
            CongestionState::Recovery
        } else {
            CongestionState::Open
        };
        Repairs {
            state,
            sacked: s.board.sacked(),
            reordering: 3,
        }
    }

    fn phase(&self, s: &Core) -> Phase {
        match s.cc.phase(&s.window) {
            Phase::Own(name) => Phase::Own(name),
            _ if self.repairs => Phase::Recovery,
            phase => phase,
        }
    }
}
