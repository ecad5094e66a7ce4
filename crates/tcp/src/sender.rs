//! The sending half: window, pacing, retransmission timer.
//!
//! What an acknowledgement does to it is in `acknowledgement.rs`.

mod record;

pub use record::SenderCounters;
pub(crate) use record::Undo;

use crate::imitated::Imitated;
use crate::linux::lateness::{self, Lateness};
use crate::packet::{Packet, Transmit, ecn, flags, priority, timestamp};
use crate::probes::Probing;
use crate::rate::RateSampler;
use crate::rtt::RttEstimator;
use crate::scoreboard::{Hole, Scoreboard};
use crate::{Pacing, Recovery, Rules, Transport};
use bentpipe_cc::{Controller, Phase, QueueReport, Window};
use bentpipe_units::{Duration, Rate, Time, math};

/// With headers, a packet must not exceed 65,535 bytes.
const MAX_MSS: u32 = 65_000;

/// Where the sender stands in the repair of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing is missing.
    Open,
    /// Fast recovery until `recover` is acknowledged.
    Recovery,
    /// Slow start after a timeout (or Tahoe's fast retransmit) until
    /// `recover` is acknowledged.
    Loss,
}

/// The sending half of an endpoint.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) cc: Controller,
    pub(crate) window: Window,
    pub(crate) board: Scoreboard,
    /// Kept where the congestion control asks for rate samples.
    pub(crate) rate: Option<Box<RateSampler>>,
    /// Packets carry congestion headers.
    explicit: bool,
    /// The congestion control sets the window in every state.
    pub(crate) owns_window: bool,
    pub(crate) rtt: RttEstimator,
    pub(crate) rules: Rules,
    pub(crate) recovery: Recovery,
    pub(crate) state: State,
    /// First unacknowledged byte.
    pub(crate) una: u64,
    /// Next new byte.
    pub(crate) next: u64,
    /// One past the last byte that the application has offered.
    pub(crate) offered: u64,
    /// The sequence number of the FIN, the last one offered; [`u64::MAX`] while
    /// the connection is not closed.
    pub(crate) fin: u64,
    /// Window probes sent since the receive window shut; `None` while the
    /// retransmission timer is one.
    pub(crate) window_probes: Option<u32>,
    /// Recovery or loss state ends when this byte is acknowledged.
    pub(crate) recover: u64,
    /// What was sent below this byte has had its reduction of the window: an
    /// ECN echo about it reduces no more.
    pub(crate) reduced_until: u64,
    /// As far as an ECN echo, not a loss, was what reduced it: a loss below
    /// this byte reduces no more.
    pub(crate) echo_cut_until: u64,
    /// The round trip ends when this byte is acknowledged.
    pub(crate) round_end: u64,
    /// When the round trip began, and bytes delivered since.
    pub(crate) round_began_at: Time,
    pub(crate) round_delivered: u64,
    pub(crate) duplicate_acks: u32,
    /// Segments that duplicate ACKs add to the window in recovery without
    /// SACK.
    pub(crate) inflation: f64,
    /// Recovery `snack`: segments that have left the network by count of
    /// duplicate ACKs.
    pub(crate) arrived: f64,
    /// What the ACK in hand names was corrupted, not dropped.
    pub(crate) corrupted: bool,
    /// A partial ACK has been seen in this recovery: the timer is not
    /// restarted again (RFC 6582, "impatient").
    pub(crate) impatient: bool,
    /// The last segment has been sent again once in this recovery.
    pub(crate) rescued: bool,
    pub(crate) undo: Option<Undo>,
    /// The window, not the application or a buffer, stopped the last sending.
    pub(crate) window_limited: bool,
    pub(crate) retransmission_deadline: Time,
    pub(crate) mss: u32,
    pub(crate) limited_transmit: bool,
    pub(crate) recovery_fix: bool,
    pub(crate) undo_enabled: bool,
    pub(crate) timestamps: bool,
    /// The timestamp that data packets echo, where they do.
    pub(crate) echo: u32,
    pub(crate) ecn: bool,
    /// The next new segment tells the receiver that the window was reduced.
    pub(crate) tell_reduced: bool,
    pub(crate) receive_window: u64,
    pub(crate) timed_out_una: Option<u64>,
    pub(crate) probing: Probing,
    /// New segments below this byte go at low priority.
    pub(crate) low_priority_until: u64,
    send_buffer: u64,
    pub(crate) header: u32,
    destination: u32,
    initial_window: f64,
    pacing: Pacing,
    pacing_deadline: Time,
    burst_left: u32,
    /// Segments that may still leave with the last one.
    quantum_left: u32,
    /// Kept where Linux spaces the packets.
    lateness: Option<Lateness>,
    pub(crate) last_sent_at: Time,
    pub(crate) counters: SenderCounters,
    pub(crate) max_cwnd: f64,
    /// The host that takes over what happens between the window, the record and
    /// the timer; boxed and taken out while it works.
    pub(crate) agent: Option<Box<Imitated>>,
}

impl Sender {
    pub(crate) fn new(
        transport: &Transport,
        cc: Controller,
        destination: u32,
        receive_window: u64,
    ) -> Sender {
        let rules = transport.profile.rules();
        let mss = transport.mss.clamp(1, MAX_MSS);
        let mut window = Window::new(transport.initial_window.max(1.0));
        window.mss = mss;
        if let Some(ssthresh) = transport.initial_ssthresh {
            window.ssthresh = ssthresh;
        } else if rules.sender.is_ns2() {
            // ns-2 starts it at its `window_`.
            let room = receive_window.min(transport.send_buffer.get());
            window.ssthresh = (room / u64::from(transport.mss.max(1))) as f64;
        }
        let burst_left = match transport.pacing {
            Pacing::Off => 0,
            Pacing::Window { initial_burst, .. } => initial_burst,
        };
        Sender {
            rate: cc.needs_rate_samples().then(Box::default),
            explicit: cc.needs_feedback(),
            owns_window: cc.owns_window(),
            cc,
            window,
            board: Scoreboard::default(),
            rtt: RttEstimator::new(&rules, transport.minimum_rto),
            rules,
            recovery: transport.recovery,
            state: State::Open,
            una: 0,
            next: 0,
            offered: 0,
            fin: u64::MAX,
            window_probes: None,
            recover: 0,
            reduced_until: 0,
            echo_cut_until: 0,
            round_end: 0,
            round_began_at: Time::ZERO,
            round_delivered: 0,
            duplicate_acks: 0,
            inflation: 0.0,
            arrived: 0.0,
            corrupted: false,
            impatient: false,
            rescued: false,
            undo: None,
            window_limited: false,
            retransmission_deadline: Time::MAX,
            mss,
            limited_transmit: transport.limited_transmit,
            recovery_fix: transport.recovery_fix,
            undo_enabled: transport.undo,
            timestamps: transport.timestamps,
            echo: 0,
            ecn: transport.ecn,
            tell_reduced: false,
            receive_window,
            timed_out_una: None,
            probing: Probing::default(),
            low_priority_until: 0,
            send_buffer: transport.send_buffer.get(),
            header: transport.header_bytes(),
            destination,
            initial_window: transport.initial_window,
            pacing: transport.pacing,
            pacing_deadline: Time::MAX,
            burst_left,
            quantum_left: 0,
            lateness: (transport.recovery == Recovery::Rack).then(Lateness::default),
            last_sent_at: Time::ZERO,
            counters: SenderCounters::default(),
            max_cwnd: transport.initial_window,
            agent: Imitated::new(transport),
        }
    }

    /// Takes sequence numbers, counters and RTTs over from the connection
    /// before this one.
    pub(crate) fn continue_after(&mut self, old: &Sender) {
        let at = old.next;
        self.una = at;
        self.next = at;
        self.offered = at;
        self.recover = at;
        self.reduced_until = at;
        self.echo_cut_until = at;
        self.round_end = at;
        self.low_priority_until = at;
        self.counters = old.counters;
        self.max_cwnd = self.max_cwnd.max(old.max_cwnd);
        self.rtt.continue_after(&old.rtt);
    }

    /// The connection is established, at `now` by a handshake if there was one;
    /// `rtt` is its sample.
    pub(crate) fn established(&mut self, now: Option<Time>, rtt: Option<Duration>) {
        let segments = self.receive_window as f64 / f64::from(self.mss);
        self.cc.on_open(segments);
        if self.agent.as_ref().is_none_or(|a| a.announces_handshake()) {
            self.cc.on_established(rtt, &mut self.window);
        }
        self.take_requests();
        self.with_agent(|agent, s| agent.on_established(s, now));
    }

    /// Sends what goes together with the SYN: with TCP/Linux of ns-2, a segment.
    pub(crate) fn send_with_syn<T: Transmit>(&mut self, now: Time, out: &mut T) {
        self.with_agent(|agent, s| agent.send_with_syn(s, now, out));
    }

    /// The SYN or its answer was lost: the window (RFC 5681, section 3.1) and
    /// the timeout (RFC 6298, section 5.7) start over.
    ///
    /// ns-2 takes it for an ordinary timeout of a window of one segment, and
    /// the back-off of `handshake` lasts until data has been timed.
    pub(crate) fn handshake_was_lost(&mut self, handshake: &RttEstimator) {
        self.window.cwnd = 1.0;
        if self.rules.sender.is_ns2() {
            self.window.ssthresh = 2.0;
            self.rtt = handshake.clone();
            return;
        }
        self.rtt.handshake_was_lost();
    }

    /// Takes `bytes` more from the application.
    pub(crate) fn offer(&mut self, bytes: u64) {
        self.offered = self.offered.saturating_add(bytes);
    }

    /// True if the application has offered something that was not sent.
    pub(crate) fn has_data(&self) -> bool {
        self.offered > self.next
    }

    /// Segments in flight.
    pub(crate) fn flight(&self) -> usize {
        if let Some(flight) = self.agent.as_ref().and_then(|agent| agent.flight()) {
            return flight;
        }
        self.board.flight() - self.arrived as usize
    }

    /// Payload bytes acknowledged by the peer.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.una.min(self.fin)
    }

    /// Payload bytes that the send buffer has room for.
    pub(crate) fn writable(&self) -> u64 {
        let held = self.offered.min(self.fin) - self.acknowledged();
        self.send_buffer.saturating_sub(held)
    }

    /// When the sender wants to be called without an acknowledgement.
    pub(crate) fn deadline(&self) -> Time {
        self.retransmission_deadline
            .min(self.pacing_deadline)
            .min(self.probing.deadline())
    }

    pub(crate) fn wants_queue_reports(&self) -> bool {
        self.cc.wants_queue_reports()
    }

    pub(crate) fn on_queue(&mut self, report: &QueueReport) {
        self.cc.on_queue(report, &mut self.window);
    }

    /// The phase, by the names of qlog.
    pub(crate) fn phase(&self) -> Phase {
        if let Some(phase) = self.agent.as_ref().and_then(|a| a.phase()) {
            return phase;
        }
        match self.cc.phase(&self.window) {
            Phase::Own(name) => Phase::Own(name),
            _ if self.state == State::Recovery => Phase::Recovery,
            phase => phase,
        }
    }

    /// The rate at which packets leave now; `None` sends as the window allows.
    fn pacing_rate(&self) -> Option<Rate> {
        if let Some(rate) = self.window.pacing_rate {
            return Some(rate);
        }
        let Pacing::Window { gain, .. } = self.pacing else {
            return None;
        };
        // Ticks of 10 ms are for timers: they would stretch a short RTT.
        let rtt = self.rtt.fine();
        if rtt.is_zero() {
            return None;
        }
        let bits = self.window.cwnd * f64::from(self.mss + self.header) * 8.0;
        Some(Rate::from_bps_f64(gain * bits / rtt.as_secs()))
    }

    /// True if pacing lets a packet go at `now`; else the deadline is armed.
    /// When it is due a quantum may go.
    pub(crate) fn pacing_permits(&mut self, now: Time) -> bool {
        if self.pacing_deadline == Time::MAX || now >= self.pacing_deadline {
            self.quantum_left = self.window.send_quantum;
            if let Some(lateness) = &mut self.lateness {
                lateness.begin(now);
            }
            return true;
        }
        self.quantum_left > 0
    }

    /// Moves the deadline by the time that a packet with `payload` bytes takes.
    pub(crate) fn note_paced(&mut self, now: Time, payload: u32) {
        self.quantum_left = self.quantum_left.saturating_sub(1);
        if let Some(lateness) = &mut self.lateness {
            if self.counters.packets < lateness::UNPACED {
                lateness.end(now);
                return;
            }
        } else if self.burst_left > 0 {
            self.burst_left -= 1;
            return;
        }
        if let Some(rate) = self.pacing_rate() {
            // The controller's own rate counts payload.
            let bytes = match self.window.pacing_rate {
                Some(_) => payload,
                None => payload + self.header,
            };
            let mut interval = rate.transmission_time(bentpipe_units::Bytes::new(u64::from(bytes)));
            if let Some(lateness) = &mut self.lateness {
                interval = lateness.shorten(interval);
            }
            // An idle sender earns no credit: it starts from now.
            let from = if self.pacing_deadline == Time::MAX {
                now
            } else {
                self.pacing_deadline
            };
            self.pacing_deadline = from.max(now) + interval.min(Duration::from_secs(60));
            if let Some(lateness) = &mut self.lateness {
                lateness.end(self.pacing_deadline);
            }
        }
    }

    /// True where packets are spaced.
    pub(crate) fn is_paced(&self) -> bool {
        self.window.pacing_rate.is_some() || self.pacing != Pacing::Off
    }

    /// Bytes of a full packet at the IP layer.
    pub(crate) fn full_packet(&self) -> u16 {
        (self.mss + self.header) as u16
    }

    /// A full packet was sent with spacing.
    pub(crate) fn note_full_paced(&mut self, now: Time) {
        self.note_paced(now, self.mss);
    }

    /// Nothing more can go for now: unless spacing holds it back, no timer is
    /// needed for it.
    pub(crate) fn pacing_done(&mut self, now: Time, paced: bool) {
        if !paced || self.pacing_deadline <= now {
            self.pacing_deadline = Time::MAX;
        }
    }

    /// No packet waits for its time any more.
    pub(crate) fn stop_pacing(&mut self) {
        self.pacing_deadline = Time::MAX;
    }

    /// Bytes that may be unacknowledged: the smaller of the two buffers.
    pub(crate) fn room(&self) -> u64 {
        self.send_buffer.min(self.receive_window)
    }

    /// Lets the host that is followed, if one is, do `work` with this sender.
    #[inline]
    pub(crate) fn with_agent(&mut self, work: impl FnOnce(&mut Imitated, &mut Sender)) -> bool {
        let Some(mut agent) = self.agent.take() else {
            return false;
        };
        work(&mut agent, self);
        self.agent = Some(agent);
        true
    }

    /// Sends what the window, the buffers and pacing allow at `now`.
    pub(crate) fn send<T: Transmit>(&mut self, now: Time, out: &mut T) {
        if self.with_agent(|agent, s| agent.send(s, now, out)) {
            self.begin_probes(now, out);
            return;
        }
        if self.rules.restart_after_idle
            && self.board.outstanding() == 0
            && self.next > 0
            && now.since(self.last_sent_at) > self.rtt.rto()
            && !self.owns_window
        {
            self.cc.after_idle(self.initial_window, &mut self.window);
            self.take_requests();
        }
        let paced = self.is_paced();
        let mut permitted = self.permitted();
        while !out.is_full() {
            if permitted < 1.0 {
                self.window_limited = true;
                break;
            }
            if paced && !self.pacing_permits(now) {
                self.window_limited = true;
                break;
            }
            let payload = if let Some(hole) = self.next_hole() {
                self.resend(now, hole, out);
                u32::from(hole.len)
            } else if let Some(len) = self.next_new() {
                self.send_new(now, len, out);
                u32::from(len)
            } else {
                // Data, a buffer or the receive window ran out.
                self.window_limited = false;
                self.note_limited();
                self.mind_shut_window(now);
                break;
            };
            if paced {
                self.note_paced(now, payload);
            }
            permitted -= 1.0;
        }
        self.pacing_done(now, paced);
        self.begin_probes(now, out);
    }

    /// The window would let more go: the samples of what is sent from now on
    /// show the application's rate, unless the receive window holds it back.
    pub(crate) fn note_limited(&mut self) {
        if let Some(rate) = &mut self.rate {
            let unsent = self.offered.saturating_sub(self.next);
            let buffered = self.next - self.una + u64::from(self.mss) > self.send_buffer;
            if unsent < u64::from(self.mss) || buffered {
                rate.limit(self.board.flight());
            }
        }
    }

    /// Segments that the congestion window lets go now.
    fn permitted(&self) -> f64 {
        let window = math::floor(self.window.cwnd + self.inflation).max(1.0);
        if self.recovery == Recovery::Snack {
            return window + self.arrived - self.board.flight() as f64;
        }
        if self.state != State::Open || self.owns_window {
            return window - self.board.flight() as f64;
        }
        // Before a loss is established a duplicate ACK frees no room in the
        // window; limited transmit lends two segments (RFC 3042).
        let lent = if self.limited_transmit {
            self.duplicate_acks.min(2)
        } else {
            0
        };
        window + f64::from(lent) - self.board.outstanding() as f64
    }

    /// The next segment to send again, in recovery.
    fn next_hole(&mut self) -> Option<Hole> {
        match self.state {
            State::Open => None,
            State::Loss => self.board.next_lost(),
            State::Recovery => self.board.next_lost().or_else(|| {
                // RFC 6675, NextSeg (3) and (4): only when nothing new can go.
                if !self.recovery.uses_sack() || self.next_new().is_some() {
                    return None;
                }
                self.board.next_doubtful().or_else(|| {
                    if self.rescued || !self.rules.rescues_tail {
                        None
                    } else {
                        self.board.last()
                    }
                })
            }),
        }
    }

    /// Length of the next new segment, if data, buffer and receive window let
    /// it go.
    pub(crate) fn next_new(&self) -> Option<u16> {
        let room = self.room();
        // A window below a segment is used in part (RFC 1122, 4.2.3.4).
        let len = self
            .offered
            .saturating_sub(self.next)
            .min(u64::from(self.mss))
            .min(room);
        // The MSS fits a u16, and so does what is shorter.
        (len > 0 && self.next + len - self.una <= room).then_some(len as u16)
    }

    pub(crate) fn packet(&self, now: Time, sequence: u64, len: u16) -> Packet {
        let mut packet = Packet::new(self.destination);
        packet.sequence = sequence;
        packet.payload = len;
        packet.bytes = (u32::from(len) + self.header) as u16;
        packet.flags = flags::ACK;
        if sequence + u64::from(len) > self.fin {
            packet.flags |= flags::FIN;
            packet.payload -= 1;
            packet.bytes -= 1;
        }
        if self.timestamps {
            packet.timestamp = timestamp(now);
            packet.timestamp_echo = self.echo;
        }
        if self.explicit {
            self.write_congestion_header(&mut packet, len);
        }
        packet
    }

    pub(crate) fn send_new<T: Transmit>(&mut self, now: Time, len: u16, out: &mut T) {
        let mut packet = self.packet(now, self.next, len);
        if self.ecn {
            packet.ecn = ecn::CAPABLE;
            if self.tell_reduced {
                packet.flags |= flags::CWR;
                self.tell_reduced = false;
            }
        }
        if self.next < self.low_priority_until {
            packet.priority |= priority::LOW;
        }
        let outstanding = self.board.outstanding();
        if let Some(rate) = &mut self.rate {
            if outstanding == 0 && self.next > 0 && rate.is_limited() {
                self.cc.on_restart(now, &mut self.window);
            }
            rate.sent(now, self.board.flight(), outstanding);
        }
        self.board.push(self.next, len, now);
        self.next += u64::from(len);
        self.sent(now, packet.payload);
        out.transmit(packet);
    }

    /// Sends `hole` again as ns-2 does: nothing is marked lost.
    pub(crate) fn send_again<T: Transmit>(&mut self, now: Time, hole: Hole, out: &mut T) {
        let mut packet = self.packet(now, hole.start, hole.len);
        if self.ecn {
            packet.ecn = ecn::CAPABLE;
            if std::mem::take(&mut self.tell_reduced) {
                packet.flags |= flags::CWR;
            }
        }
        self.board.sent_again(hole.index, now);
        self.counters.retransmissions += 1;
        self.sent(now, hole.len);
        out.transmit(packet);
    }

    /// Sends `hole` again.
    pub(crate) fn resend<T: Transmit>(&mut self, now: Time, hole: Hole, out: &mut T) {
        let packet = self.packet(now, hole.start, hole.len);
        if self.state == State::Recovery && hole.index + 1 == self.board.outstanding() {
            self.rescued = true;
        }
        if let Some(rate) = &mut self.rate {
            rate.resent(hole.index, now, self.board.flight());
        }
        self.board.resent(hole.index, now);
        if self.state == State::Recovery && self.recovery == Recovery::SackRepeat {
            self.board.watch(hole.index);
        }
        if let Some(undo) = &mut self.undo {
            // The timestamp tells only whether the first segment of the episode
            // arrived before it was sent again in it.
            undo.answered |= undo.first_resent_at.is_none() && hole.start != undo.una;
            undo.first_resent_at.get_or_insert(now);
            undo.unreported += 1;
        }
        self.counters.retransmissions += 1;
        self.sent(now, packet.payload);
        out.transmit(packet);
    }

    pub(crate) fn sent(&mut self, now: Time, len: u16) {
        self.counters.packets += 1;
        self.counters.payload += u64::from(len);
        self.last_sent_at = now;
        if self.retransmission_deadline == Time::MAX || self.window_probes.is_some() {
            self.window_probes = None;
            self.restart_timer(now);
        }
    }

    /// Arms the retransmission timer from `now`, or stops it when nothing is
    /// outstanding.
    pub(crate) fn restart_timer(&mut self, now: Time) {
        self.retransmission_deadline = if self.board.outstanding() == 0 {
            Time::MAX
        } else {
            now + self.rtt.rto()
        };
    }

    /// Does what has become due at `now`.
    pub(crate) fn on_deadline<T: Transmit>(&mut self, now: Time, out: &mut T) {
        if now >= self.retransmission_deadline {
            self.on_timeout(now, out);
        } else if now >= self.pacing_deadline {
            self.send(now, out);
        }
        if now >= self.probing.deadline() {
            self.send_probes(now, out);
        }
    }
}
