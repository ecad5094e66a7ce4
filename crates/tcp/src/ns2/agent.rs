//! The common part of the agents Tahoe, Reno, Newreno, Sack1, Vegas and those of Westwood
//! (`tcp.cc`).
//!
//! Segments are numbered as there: the SYN is 0 and data begins at 1. In our
//! words:
//!
//! - **Sending.** A cursor points to the next segment to send. It may be sent while it is at most
//!   `highest_ack` plus the window, min(cwnd, window) rounded down. After a timeout the cursor goes
//!   back to the first unacknowledged segment, and everything is sent again from there, whether it
//!   had arrived or not; an ACK that overtakes the cursor takes it along.
//! - **Growth.** Every ACK that advances outside fast recovery grows the
//!   window, filled or not: below ssthresh by one, else by 1/cwnd. ssthresh is a
//!   whole number and at least 2; cwnd is a fraction and has no floor but 1
//!   after a timeout.
//! - **Loss.** At the third duplicate ACK, but not while `highest_ack` is at
//!   most `recover`, the last segment sent when the last loss or timeout was
//!   found (`bugFix_`); before that the first two send a new segment each if it
//!   is within cwnd plus the count of duplicates (`singledup_`). cwnd becomes
//!   half of min(cwnd, window), Reno's inflation included.
//! - **Round trips.** One segment is timed at a time, from the tick it was sent
//!   in to that of its ACK, 10 ms each. A retransmission stops the timing. Back-off
//!   ends when a timed segment is acknowledged, and not before.
//! - **Timeout.** ssthresh becomes half of the window however often the segment
//!   timed out. The timer also runs with nothing outstanding, and then sets
//!   cwnd to 1: that is how an idle connection starts over.
//!
//! Not modelled: features that are off by default (quick start, F-RTO, the QOption, `overhead_`,
//! ELN, `maxburst_`).

use super::kind::{Kind, Westwood, is_vegas};
use crate::options::Recovery;
use crate::packet::{Packet, Transmit, flags};
use crate::sender_core::Core;
use crate::stack::Stack;
use crate::transport::Transport;
use bentpipe_cc::{Ack, Loss, Phase};
use bentpipe_units::{Duration, Time, math};

/// Duplicate ACKs that mean a loss (`numdupacks_`).
pub(super) const DUPLICATES: u32 = 3;

/// What changed the window last (`last_cwnd_action_`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    None,
    DuplicateAcks,
    Timeout,
    Echo,
    /// The end of what [`Action::DuplicateAcks`] began.
    Exited,
}

/// The state of an agent besides the window.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(super) kind: Kind,
    pub(super) westwood: Option<Westwood>,
    /// Newreno with its settings of 2002: every partial ACK restarts the timer and
    /// ends the inflation.
    pub(super) steady: bool,
    /// Last segment acknowledged cumulatively.
    pub(super) highest_ack: i64,
    /// As above, but frozen during the fast recovery of Sack1.
    pub(super) last_ack: i64,
    /// The segment to send next (`t_seqno_`).
    pub(super) cursor: i64,
    /// Last segment ever sent.
    pub(super) maxseq: i64,
    pub(super) recover: i64,
    pub(super) duplicates: u32,
    pub(super) last_action: Action,
    /// The segment that is being timed, and since when.
    pub(super) timed: Option<(i64, Time)>,
    /// With timestamps: when what the ACK in hand answers was sent.
    pub(super) echoed: Option<Time>,
    /// Smallest round trip that was passed to the algorithm.
    pub(super) smallest: Duration,
    /// Reno: what duplicate ACKs add to the window.
    pub(super) inflation: i64,
    /// No partial ACK of this recovery has restarted the timer yet.
    pub(super) first_partial: bool,
    /// Sack1: in fast recovery.
    pub(super) recovering: bool,
    /// Sack1: segments thought to be in the network.
    pub(super) pipe: i64,
    /// Sack1: holes below this were sent again.
    pub(super) next_hole: i64,
    /// Sack1: a timeout has not been followed by an ACK that advances.
    pub(super) timed_out: bool,
    /// Vegas: what the last cut left; 0 before one and after a timeout.
    pub(super) cut_to: f64,
    pub(super) initial_window: f64,
    /// A mark was echoed while cwnd was one segment.
    pub(super) echo_backoff: bool,
}

impl Agent {
    /// The agent for `transport`; `None` for recovery `fack` and `snack`, which
    /// keep our own.
    pub(crate) fn new(transport: &Transport) -> Option<Agent> {
        let westwood = Westwood::of(transport);
        let kind = match transport.recovery {
            _ if is_vegas(transport) => Kind::Vegas,
            Recovery::Reno if westwood == Some(Westwood::Ucla) => Kind::Westwood,
            Recovery::Tahoe => Kind::Tahoe,
            Recovery::Reno => Kind::Reno,
            Recovery::NewReno => Kind::NewReno,
            Recovery::Sack | Recovery::SackRepeat => Kind::Sack1,
            Recovery::Rack | Recovery::Fack | Recovery::Snack | Recovery::Stp => {
                return None;
            }
        };
        Some(Agent {
            kind,
            westwood,
            steady: westwood.is_some_and(|agent| agent.is_steady(transport)),
            highest_ack: 0,
            last_ack: 0,
            cursor: 1,
            maxseq: 0,
            recover: 0,
            duplicates: 0,
            last_action: Action::None,
            timed: None,
            echoed: None,
            smallest: Duration::MAX,
            inflation: 0,
            first_partial: true,
            recovering: false,
            pipe: 0,
            next_hole: 0,
            timed_out: false,
            cut_to: 0.0,
            initial_window: transport.initial_window,
            echo_backoff: false,
        })
    }

    /// Segments in flight as the agent counts them.
    pub(super) fn in_flight(&self) -> usize {
        let flight = if self.recovering {
            self.pipe
        } else {
            self.cursor - 1 - self.highest_ack
        };
        flight.max(0) as usize
    }

    /// The receiver's or the sender's buffer, segments (`window_`).
    pub(super) fn limit(s: &Core) -> i64 {
        (s.room() / u64::from(s.mss)).max(1) as i64
    }

    /// The window, whole segments.
    pub(super) fn window(&self, s: &Core) -> i64 {
        (math::floor(s.window.cwnd) as i64 + self.inflation).min(Self::limit(s))
    }

    /// What a loss halves.
    pub(super) fn exact_window(&self, s: &Core) -> f64 {
        (s.window.cwnd + self.inflation as f64).min(Self::limit(s) as f64)
    }

    /// True if segment `number` was sent before or can be sent now.
    pub(super) fn exists(&self, s: &Core, number: i64) -> bool {
        number <= self.maxseq || s.next_new().is_some()
    }

    pub(super) fn set_timer(s: &mut Core, now: Time) {
        s.timer.deadline = now + s.rtt.rto();
    }

    pub(super) fn output<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        number: i64,
        out: &mut T,
    ) {
        let idle = self.highest_ack == self.maxseq && self.kind != Kind::Vegas;
        if number > self.maxseq {
            let Some(len) = s.next_new() else { return };
            s.send_new(now, len, out);
            self.maxseq = number;
            self.timed.get_or_insert((number, now));
        } else if let Some(hole) = s.board.segment((number - self.highest_ack - 1) as usize) {
            s.send_again(now, hole, out);
            if self.recovering && s.options.recovery == Recovery::SackRepeat {
                s.board.watch(hole.index);
            }
        }
        if idle || s.timer.deadline == Time::MAX {
            Self::set_timer(s, now);
        }
    }

    /// Sends what the window allows, at most `most` segments.
    pub(super) fn send_at_most<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        most: usize,
        out: &mut T,
    ) {
        let paced = s.is_paced();
        let mut sent = 0;
        while sent < most && !out.is_full() {
            if paced && !s.pacing_permits(now) {
                return;
            }
            let next = if self.kind == Kind::Sack1 {
                self.next_of_sack1(s)
            } else {
                (self.cursor <= self.highest_ack + self.window(s) && self.exists(s, self.cursor))
                    .then_some(self.cursor)
            };
            let Some(number) = next else { break };
            self.output(s, now, number, out);
            self.cursor = self.cursor.max(number + 1);
            self.pipe += 1;
            sent += 1;
            if paced {
                s.note_paced(now, s.mss);
            }
        }
        s.pacing_done(now, paced);
    }

    /// A new segment for one of the first two duplicate ACKs.
    pub(super) fn send_one<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        let beyond = (self.cursor - self.highest_ack) as f64;
        if beyond <= Self::limit(s) as f64
            && beyond <= s.window.cwnd + f64::from(self.duplicates)
            && self.exists(s, self.cursor)
        {
            self.output(s, now, self.cursor, out);
            self.cursor += 1;
        }
    }

    /// An ACK up to `number` that advances: cursor, round trip, timer.
    pub(super) fn new_ack(&mut self, s: &mut Core, ack: &Ack, number: i64) {
        self.duplicates = 0;
        self.last_ack = number;
        self.highest_ack = number;
        self.cursor = self.cursor.max(number + 1);
        let now = ack.now;
        let keeps_backoff = s.headers.ecn && self.echo_backoff && ack.congestion_echo;
        let timed = self.timed.filter(|&(timed, _)| number >= timed);
        if let Some(sent) = self.echoed.take() {
            s.rtt.sample_rounded(sent, now);
        }
        if let Some((_, since)) = timed {
            if !s.headers.timestamps {
                s.rtt.sample_keeping_backoff(since, now);
            }
            self.timed = None;
            if !keeps_backoff {
                s.rtt.end_backoff();
                self.echo_backoff = false;
            }
        }
        Self::set_timer(s, now);
    }

    /// [`Agent::new_ack`] outside fast recovery: the window grows.
    pub(super) fn new_ack_and_grow(&mut self, s: &mut Core, ack: &Ack, number: i64) {
        self.new_ack(s, ack, number);
        let echo = s.headers.ecn && ack.congestion_echo;
        if !echo {
            s.cc.on_ack(ack, &mut s.window);
            self.echo_backoff = false;
        }
    }

    pub(super) fn loss(&self, s: &Core, now: Time, ecn: bool) -> Loss {
        Loss {
            outstanding: s.window.cwnd,
            min_rtt: self.smallest,
            ..s.loss(now, self.exact_window(s), ecn)
        }
    }

    /// The congestion control reduces the window for a loss.
    pub(super) fn reduce(&mut self, s: &mut Core, now: Time) {
        self.last_action = Action::DuplicateAcks;
        s.reduce(&self.loss(s, now, false));
        s.counters.recoveries += 1;
        s.headers.cwr_pending = true;
    }

    /// True if an ACK up to `number` leaves the sender in fast recovery. Such
    /// an ACK gives no round trip.
    pub(super) fn is_partial(&self, number: i64) -> bool {
        number < self.recover
            && (self.recovering
                || (self.kind == Kind::NewReno && self.last_action == Action::DuplicateAcks))
    }

    /// True if `recover` does not forbid another fast retransmit.
    pub(super) fn may_retransmit(&self) -> bool {
        self.highest_ack > self.recover || self.highest_ack == 0
    }

    /// An echoed mark reduces the window once in a window of data.
    pub(super) fn on_echo(&mut self, s: &mut Core, now: Time, number: i64) {
        if number <= self.recover && self.last_action != Action::Timeout {
            return;
        }
        self.recover = self.maxseq;
        self.last_action = Action::Echo;
        if s.window.cwnd <= 1.0 {
            if self.echo_backoff {
                s.rtt.back_off();
            }
            self.echo_backoff = true;
        } else {
            self.echo_backoff = false;
        }
        s.reduce(&self.loss(s, now, true));
        s.headers.cwr_pending = true;
    }
}

impl Stack for Agent {
    fn uses_sack(&self, _s: &Core) -> bool {
        self.kind == Kind::Sack1
    }

    fn opens_with_a_segment(&self) -> bool {
        self.kind == Kind::Vegas
    }

    fn on_established(&mut self, s: &mut Core) {
        self.smallest = s.rtt.smallest();
        if self.kind == Kind::Vegas {
            s.window.cwnd = 1.0;
        }
    }

    fn send<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.send_at_most(s, now, usize::MAX, out);
    }

    fn on_ack<T: Transmit>(&mut self, s: &mut Core, now: Time, packet: &Packet, out: &mut T) {
        if packet.acknowledgement > s.snd.next {
            return; // Acknowledges what was never sent.
        }
        s.counters.acks += 1;
        s.counters.probe_answers += u64::from(packet.has(flags::PROBE));
        s.take_error_count(packet);
        s.snd.window = u64::from(packet.window);
        let advances = packet.acknowledgement > s.snd.una;
        let flight_before = self.in_flight() as f64;
        let mut ack = self.observe(s, now, packet, advances);
        ack.flight_before = flight_before;
        let number = self.highest_ack + ack.acked as i64;
        if s.headers.ecn && ack.congestion_echo {
            self.on_echo(s, now, number);
        }
        if advances || ack.duplicate || ack.probes > 0 {
            s.cc.on_sample(&ack, &mut s.window);
        }
        let burst = match self.kind {
            Kind::Tahoe => self.on_tahoe_ack(s, &ack, number, out),
            Kind::Reno | Kind::NewReno => self.on_reno_ack(s, &ack, number, out),
            Kind::Sack1 => self.on_sack1_ack(s, &ack, number, out),
            Kind::Vegas => self.on_vegas_ack(s, &ack, number, out),
            Kind::Westwood => self.on_westwood_ack(s, &ack, number, out),
        };
        if advances {
            s.take_feedback(now, packet);
        }
        if s.has_actions() && self.kind != Kind::Vegas {
            self.perform_actions(s, &ack, out);
        }
        if let Some(most) = burst {
            self.send_at_most(s, now, most, out);
        }
        s.begin_probes(now, out);
        s.note_max_cwnd();
    }

    fn on_timeout<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.timed_out(s, now, out);
    }

    fn flight(&self, _s: &Core) -> usize {
        self.in_flight()
    }

    fn phase(&self, s: &Core) -> Phase {
        if self.recovering || self.inflation > 0 {
            return Phase::Recovery;
        }
        s.cc.phase(&s.window)
    }
}
