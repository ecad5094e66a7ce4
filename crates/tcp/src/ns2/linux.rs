//! `Agent/TCP/Linux`: the agent of ns-2.35 that runs the congestion control
//! modules of Linux 2.6.22 (`tcp-linux.cc`).
//!
//! - The window is a whole number and 2 from the first packet on: segment 1
//!   leaves together with the SYN, which is segment 0 and treated like any other:
//!   selective acknowledgements of data show that it was lost, a timeout makes it
//!   lost, and it is sent again as the window allows. The first ACK of any kind
//!   initialises the module.
//! - What is in flight is what was sent and neither acknowledged nor lost
//!   ([`super::blocks`]). A segment may go while that is below cwnd: the lowest
//!   lost one, then a new one. Nothing is sent twice but what was found lost.
//! - Every ACK gives a round trip by its timestamp, a duplicate, too: it echoes
//!   the last segment in order, so round trips seem to grow while a segment is
//!   missing. The estimate is Jacobson's in milliseconds, but a sample below the
//!   mean raises the deviation by an eighth only. Every ACK restarts the timer and
//!   ends its back-off.
//! - An ACK that advances grows the window, except in recovery. The first loss found in another
//!   state begins recovery: the module sets ssthresh, and cwnd to its minimum. The window shrinks
//!   one segment with every one that is sent, until it meets cwnd ("rate halving"). Recovery ends
//!   when all that was sent before it is acknowledged: cwnd goes up to ssthresh, at most three
//!   above what is in flight, and what was selectively acknowledged is forgotten.
//! - A timeout loses everything that was not selectively acknowledged. cwnd is 1
//!   and ssthresh the module's, of whatever cwnd was, each time. It also ends with
//!   what was sent before; a loss found before that begins recovery.
//!
//! Without timestamps the agent hands its modules a round trip that it never set;
//! here they then get that of the segment that is timed.

use super::blocks::Blocks;
use crate::packet::{Packet, Transmit, echoed_at, flags};
use crate::sender_core::Core;
use crate::stack::{CongestionState, Repairs, Stack};
use bentpipe_cc::{Ack, Loss, Phase, Timeout};
use bentpipe_units::{Time, math};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Recovery,
    Loss,
}

/// The highest acknowledged segment before the SYN, segment 0, is acknowledged.
const NOTHING: i64 = -1;

/// The state of the agent besides the window.
#[derive(Debug)]
pub(crate) struct Linux {
    highest_ack: i64,
    /// This side has sent a SYN, and when it did so first.
    opened: bool,
    syn_sent_at: Time,
    maxseq: i64,
    recover: i64,
    state: State,
    /// What may be in flight while cwnd is lower (`next_pkts_in_flight_`).
    ramp: i64,
    blocks: Blocks,
    /// Without timestamps: the segment that is being timed.
    timed: Option<(i64, Time)>,
    /// The ACK's ranges, kept for their memory.
    ranges: Vec<(i64, i64)>,
    initial_window: f64,
}

impl Linux {
    pub(crate) fn new(initial_window: f64) -> Linux {
        Linux {
            highest_ack: NOTHING,
            maxseq: 0,
            recover: 0,
            state: State::Open,
            ramp: 0,
            blocks: Blocks::default(),
            timed: None,
            ranges: Vec::new(),
            opened: false,
            syn_sent_at: Time::ZERO,
            initial_window,
        }
    }

    fn in_flight(&self) -> i64 {
        self.maxseq - self.highest_ack - self.blocks.away()
    }

    /// The first segment of data that is not acknowledged.
    fn first(&self) -> i64 {
        self.highest_ack.max(0) + 1
    }

    fn window(s: &Core) -> i64 {
        math::floor(s.window.cwnd) as i64
    }

    fn set_timer(s: &mut Core, now: Time) {
        s.timer.deadline = now + s.rtt.rto();
    }

    fn output<T: Transmit>(&mut self, s: &mut Core, now: Time, number: i64, out: &mut T) {
        let idle = self.highest_ack == self.maxseq;
        if number > self.maxseq {
            let Some(len) = s.next_new() else { return };
            s.send_new(now, len, out);
            self.maxseq = number;
            self.timed.get_or_insert((number, now));
        } else if number == 0 {
            s.send_syn_again(now, out);
        } else if let Some(hole) = s.board.segment((number - self.first()) as usize) {
            s.send_again(now, hole, out);
        }
        if idle || s.timer.deadline == Time::MAX {
            Self::set_timer(s, now);
        }
    }

    /// Sends what the window allows.
    fn send_permitted<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        let paced = s.is_paced();
        let window = Self::window(s);
        self.ramp = self.ramp.min(self.in_flight() + 1);
        while self.in_flight() < window.max(self.ramp) && !out.is_full() {
            if paced && !s.pacing_permits(now) {
                return;
            }
            let number = match self.blocks.next_lost() {
                Some(number) => {
                    self.blocks.resent(self.maxseq + 1);
                    number
                }
                None if s.next_new().is_some() => self.maxseq + 1,
                None => break,
            };
            self.output(s, now, number, out);
            self.ramp = self.ramp.min((self.in_flight() - 1).max(1));
            if paced {
                s.note_paced(now, s.mss);
            }
        }
        s.pacing_done(now, paced);
    }

    fn ack(&self, s: &Core, now: Time, flight_before: f64) -> Ack {
        Ack {
            now,
            acked: 0.0,
            delivered: 0.0,
            duplicate: false,
            rtt: None,
            min_rtt: s.rtt.smallest(),
            smoothed_rtt: s.rtt.smoothed(),
            delivery_rate: None,
            rate_sample: None,
            lost: 0.0,
            probes: 0,
            high_probes: 0,
            congestion_echo: false,
            flight_before,
            flight: self.in_flight() as f64,
            outstanding: (self.maxseq - self.highest_ack) as f64,
            head: s.board.head(),
            cwnd_limited: true,
            round_start: false,
            in_recovery: self.state == State::Recovery,
            receive_window: s.room() as f64 / f64::from(s.mss),
            mss: s.mss,
        }
    }

    /// The packet's selectively acknowledged ranges, in segments.
    fn read_ranges(&mut self, s: &Core, packet: &Packet) {
        self.ranges.clear();
        for block in &packet.sack[..usize::from(packet.sack_count)] {
            let number = |x: u32| {
                let byte = packet.acknowledgement + u64::from(x);
                self.first() + s.board.index_of(byte) as i64
            };
            if block.start < block.end {
                self.ranges.push((number(block.start), number(block.end)));
            }
        }
    }

    /// The round trip and the timer.
    fn time(&mut self, s: &mut Core, now: Time, packet: &Packet, advances: bool) {
        if s.headers.timestamps {
            s.rtt.sample(echoed_at(now, packet), now, s.window.cwnd);
        }
        if let Some((timed, since)) = self.timed
            && advances
            && self.highest_ack >= timed
        {
            self.timed = None;
            if !s.headers.timestamps {
                s.rtt.sample(since, now, s.window.cwnd);
            }
        }
        Self::set_timer(s, now);
    }

    /// Ends or begins recovery (`tcp_fastretrans_alert`).
    fn look_at_losses(&mut self, s: &mut Core, ack: &Ack, lost: bool, echo: bool) {
        if self.state != State::Open && self.highest_ack >= self.recover {
            self.blocks.clear();
            s.end_recovery(ack.now, self.in_flight() as f64, ack.min_rtt);
            self.state = State::Open;
            self.ramp = 0;
            return;
        }
        if self.state == State::Recovery || !(lost || echo) {
            return;
        }
        self.recover = self.maxseq;
        self.ramp = Self::window(s);
        let loss = Loss {
            outstanding: s.window.cwnd,
            head: ack.head,
            smoothed_rtt: ack.smoothed_rtt,
            min_rtt: ack.min_rtt,
            ..s.loss(ack.now, s.window.cwnd, false)
        };
        s.reduce(&loss);
        s.counters.recoveries += 1;
        s.headers.cwr_pending = true;
        self.state = State::Recovery;
    }
}

impl Stack for Linux {
    fn uses_sack(&self, _s: &Core) -> bool {
        true
    }

    fn owns_syn(&self) -> bool {
        true
    }

    fn on_syn_sent(&mut self, s: &mut Core, now: Time) {
        self.opened = true;
        self.syn_sent_at = now;
        self.timed = Some((0, now));
        Self::set_timer(s, now);
    }

    fn on_established(&mut self, _s: &mut Core) {
        if !self.opened {
            // No SYN of this side's: its data begin at 1 nevertheless.
            self.highest_ack = 0;
        }
    }

    fn send<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.send_permitted(s, now, out);
    }

    fn on_ack<T: Transmit>(&mut self, s: &mut Core, now: Time, packet: &Packet, out: &mut T) {
        s.take_error_count(packet);
        // TCP/Linux has no XCP: feedback is taken as the other agents take it.
        if packet.acknowledgement > s.snd.una {
            s.take_feedback(now, packet);
        }
        if packet.acknowledgement > s.snd.next || packet.acknowledgement < s.snd.una {
            return;
        }
        s.counters.acks += 1;
        s.snd.window = u64::from(packet.window);
        let flight_before = self.in_flight() as f64;
        let sacked_before = self.blocks.sacked();
        let mut acked = crate::scoreboard::Acked::default();
        let syn = self.highest_ack == NOTHING && packet.has(flags::ACK);
        let advances = syn || packet.acknowledgement > s.snd.una;
        if syn {
            self.highest_ack = 0;
        }
        if packet.acknowledgement > s.snd.una {
            s.snd.una = packet.acknowledgement;
            acked = s.board.acknowledge(s.snd.una);
            self.highest_ack += i64::from(acked.segments);
        }
        self.read_ranges(s, packet);
        let news = if self.ranges.is_empty() && self.blocks.is_empty() {
            super::blocks::AckSummary::default()
        } else {
            let mut ranges = std::mem::take(&mut self.ranges);
            let news = self.blocks.update(self.highest_ack, &mut ranges);
            self.ranges = ranges;
            news
        };
        self.time(s, now, packet, advances);

        let echo = s.headers.ecn && packet.has(flags::ECE);
        let delivered =
            (i64::from(acked.segments) + self.blocks.sacked() - sacked_before).max(0) as u64;
        let (round_start, rate) = s.count_delivered(now, advances, delivered);
        let mut ack = self.ack(s, now, flight_before);
        ack.acked = f64::from(acked.segments + u32::from(syn));
        ack.delivered = (delivered + u64::from(syn)) as f64;
        ack.duplicate = !advances;
        ack.rtt = if advances && !news.ambiguous {
            let sent_at = acked.last.map_or(self.syn_sent_at, |last| last.sent_at);
            Some(now.since(sent_at))
        } else {
            None
        };
        ack.delivery_rate = rate;
        ack.round_start = round_start;
        ack.congestion_echo = echo;
        s.cc.on_sample(&ack, &mut s.window);

        let may_raise = !echo || s.window.cwnd < s.window.ssthresh;
        if advances && self.state != State::Recovery && may_raise {
            s.cc.on_ack(&ack, &mut s.window);
        }
        if !advances || news.sacked || echo || self.state != State::Open {
            self.look_at_losses(s, &ack, news.lost, echo);
        }
        // Losses are found here only.
        s.window.actions = bentpipe_cc::Actions::default();
        self.send_permitted(s, now, out);
        s.note_max_cwnd();
    }

    fn on_timeout<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.ramp = 0;
        self.timed = None;
        if self.highest_ack == self.maxseq {
            // Idle: the connection starts over.
            s.window.cwnd = self.initial_window;
            s.timer.deadline = Time::MAX;
            return;
        }
        s.counters.timeouts += 1;
        let timeout = Timeout {
            outstanding: s.window.cwnd,
            ..s.timeout(now, s.window.cwnd, true)
        };
        s.reduce_after_timeout(&timeout);
        s.headers.cwr_pending = true;
        self.recover = self.maxseq;
        self.state = State::Loss;
        self.blocks.lose_all(self.highest_ack + 1, self.maxseq);
        s.rtt.back_off();
        Self::set_timer(s, now);
        self.send_permitted(s, now, out);
    }

    fn flight(&self, _s: &Core) -> usize {
        self.in_flight().max(0) as usize
    }

    fn repairs(&self, s: &Core) -> Repairs {
        let state = match self.state {
            State::Open => CongestionState::Open,
            State::Recovery => CongestionState::Recovery,
            State::Loss => CongestionState::Loss,
        };
        Repairs {
            state,
            sacked: s.board.sacked(),
            reordering: 3,
        }
    }

    fn phase(&self, s: &Core) -> Phase {
        if self.state == State::Recovery {
            return Phase::Recovery;
        }
        s.cc.phase(&s.window)
    }
}
