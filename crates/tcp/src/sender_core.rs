//! What every host stack shares: the congestion control and its window, the
//! record of segments, sequence numbers, timers, pacing and counters.
//!
//! A host stack decides what an acknowledgement, a timeout or an open window
//! means and works on a [`Core`]; the core builds and records the packets.

mod counters;
mod explicit;
mod headers;
mod lateness;
mod output;
mod pacer;
mod probes;
mod round;
mod zero_window;

pub use counters::SenderCounters;

use crate::options::{KernelSettings, Recovery};
use crate::packet::Packet;
use crate::profile::{Rules, StackKind};
use crate::rate::RateSampler;
use crate::rtt::RttEstimator;
use crate::scoreboard::{Acked, Scoreboard};
use crate::transport::Transport;
use bentpipe_cc::{
    Actions, Controller, Loss, PathHeader, QueueReport, RecoveryExit, Timeout, Window,
};
use bentpipe_units::{Duration, Time};
use headers::Headers;
use pacer::Pacer;
use probes::Probing;
use round::Round;

/// With headers, a packet must not exceed 65,535 bytes.
const MAX_MSS: u32 = 65_000;

/// The send sequence variables of RFC 9293, section 3.3.1, in bytes of the
/// stream: `first <= una <= next <= offered`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendSequence {
    /// The first byte of the connection: not 0 where it follows another.
    pub(crate) first: u64,
    /// First unacknowledged byte.
    pub(crate) una: u64,
    /// Next new byte.
    pub(crate) next: u64,
    /// One past the last byte that the application has offered.
    pub(crate) offered: u64,
    /// The sequence number of the FIN, the last one offered; [`u64::MAX`] while
    /// the connection is not closed.
    pub(crate) fin: u64,
    /// The peer's receive window, bytes.
    pub(crate) window: u64,
    /// The send buffer, bytes.
    pub(crate) buffer: u64,
}

/// Settings of the transport that host stacks consult.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) recovery: Recovery,
    pub(crate) initial_window: f64,
    /// The congestion control sets the window in every state.
    pub(crate) owns_window: bool,
    pub(crate) limited_transmit: bool,
    pub(crate) recovery_fix: bool,
    pub(crate) undo: bool,
    /// cwnd decays after idle times.
    pub(crate) restart_after_idle: bool,
    /// Where they are not the usual ones.
    kernel: Option<Box<KernelSettings>>,
}

impl Options {
    /// The settings of a Linux kernel.
    #[inline]
    pub(crate) fn kernel(&self) -> &KernelSettings {
        self.kernel.as_deref().unwrap_or(&KernelSettings::DEFAULT)
    }
}

/// The retransmission timer, which also paces the probes of a closed window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimer {
    /// When it runs out; [`Time::MAX`] while it is stopped.
    pub(crate) deadline: Time,
    /// Window probes sent since the receive window closed; `None` while the
    /// timer guards data.
    pub(crate) window_probes: Option<u32>,
}

impl RetransmissionTimer {
    const STOPPED: RetransmissionTimer = RetransmissionTimer {
        deadline: Time::MAX,
        window_probes: None,
    };
}

/// The state that host stacks share.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) cc: Controller,
    pub(crate) window: Window,
    pub(crate) snd: SendSequence,
    pub(crate) board: Scoreboard,
    pub(crate) rtt: RttEstimator,
    pub(crate) timer: RetransmissionTimer,
    pub(crate) round: Round,
    pub(crate) pacer: Pacer,
    pub(crate) headers: Headers,
    pub(crate) options: Options,
    pub(crate) rules: &'static Rules,
    /// Present where the congestion control needs rate samples.
    pub(crate) rate: Option<Box<RateSampler>>,
    /// Present once the congestion control has asked for probes.
    pub(crate) probing: Option<Box<Probing>>,
    /// Corrupted packets that ACKs have counted.
    pub(crate) errors: u32,
    /// Payload bytes of a full segment.
    pub(crate) mss: u32,
    /// Neither the congestion control nor the recovery needs to see more of an
    /// ACK that advances than that: the RFC stack has a fast path for it.
    pub(crate) is_simple: bool,
    pub(crate) last_sent_at: Time,
    /// What segmentation offload puts together stays one packet on the way.
    pub(crate) sends_whole: bool,
    pub(crate) counters: SenderCounters,
    /// What of them connections before this one counted.
    pub(crate) earlier: Earlier,
    pub(crate) max_cwnd: f64,
}

/// The header for routers that packets carry.
fn path_header(cc: &Controller) -> PathHeader {
    if cc.needs_bandwidth() {
        PathHeader::Bandwidth
    } else if cc.needs_feedback() {
        PathHeader::Congestion
    } else {
        PathHeader::None
    }
}

/// What the connections before this one counted, where it goes on with their counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Earlier {
    pub(crate) packets: u64,
    pub(crate) retransmissions: u64,
}

impl Core {
    pub(crate) fn new(
        transport: &Transport,
        cc: Controller,
        destination: u32,
        receive_window: u64,
    ) -> Core {
        let rules = transport.profile.static_rules();
        let mss = transport.mss.clamp(1, MAX_MSS);
        let mut window = Window::new(transport.initial_window.max(1.0));
        window.mss = mss;
        if let Some(ssthresh) = transport.initial_ssthresh {
            window.ssthresh = ssthresh;
        } else if rules.stack.is_ns2() {
            // ns-2 starts it at its `window_`.
            let room = receive_window.min(transport.send_buffer.get());
            window.ssthresh = (room / u64::from(transport.mss.max(1))) as f64;
        }
        let cc_owns_window = cc.owns_window();
        Core {
            rate: cc.needs_rate_samples().then(Box::default),
            headers: Headers::new(transport, destination, path_header(&cc)),
            options: Options {
                recovery: transport.recovery,
                initial_window: transport.initial_window,
                owns_window: cc_owns_window,
                limited_transmit: transport.limited_transmit,
                recovery_fix: transport.recovery_fix,
                undo: transport.undo,
                restart_after_idle: transport
                    .kernel
                    .restart_after_idle
                    .unwrap_or(rules.restart_after_idle),
                kernel: (!transport.kernel.is_default()).then(|| Box::new(transport.kernel)),
            },
            cc,
            window,
            snd: SendSequence {
                first: 0,
                una: 0,
                next: 0,
                offered: 0,
                fin: u64::MAX,
                window: receive_window,
                buffer: transport.send_buffer.get(),
            },
            board: Scoreboard::default(),
            rtt: RttEstimator::new(rules, transport.minimum_rto),
            timer: RetransmissionTimer::STOPPED,
            round: Round::default(),
            pacer: Pacer::new(
                transport.pacing,
                rules.stack == StackKind::Linux && transport.recovery.uses_sack(),
            ),
            rules,
            probing: None,
            errors: 0,
            mss,
            is_simple: !cc_owns_window
                && transport.recovery != Recovery::Snack
                && rules.stack != StackKind::Linux,
            last_sent_at: Time::ZERO,
            sends_whole: false,
            counters: SenderCounters::default(),
            earlier: Earlier::default(),
            max_cwnd: transport.initial_window,
        }
    }

    /// Takes sequence numbers, counters and RTTs over from the connection
    /// before this one.
    pub(crate) fn continue_after(&mut self, old: &Core) {
        let at = old.snd.next;
        self.snd.first = at;
        self.snd.una = at;
        self.snd.next = at;
        self.snd.offered = at;
        self.round.end = at;
        self.headers.low_priority_until = at;
        self.sends_whole = old.sends_whole;
        self.counters = old.counters;
        self.earlier = Earlier {
            packets: old.counters.packets,
            retransmissions: old.counters.retransmissions,
        };
        self.max_cwnd = self.max_cwnd.max(old.max_cwnd);
        self.rtt.continue_after(&old.rtt);
        if old.pacer.takes_turns() {
            self.pacer.wait_for_turns();
        }
    }

    /// The receive window, segments.
    #[inline]
    pub(crate) fn receive_window(&self) -> f64 {
        self.snd.window as i64 as f64 / f64::from(self.mss)
    }

    /// Bytes that may be unacknowledged: the smaller of the two buffers.
    #[inline]
    pub(crate) fn room(&self) -> u64 {
        self.snd.buffer.min(self.snd.window)
    }

    /// True if the connection has sent data.
    #[inline]
    pub(crate) fn has_sent(&self) -> bool {
        self.snd.next > self.snd.first
    }

    /// True if the application has offered something that was not sent.
    #[inline]
    pub(crate) fn has_data(&self) -> bool {
        self.snd.offered > self.snd.next
    }

    /// Payload bytes acknowledged by the peer.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.snd.una.min(self.snd.fin)
    }

    /// Payload bytes that the send buffer has room for.
    pub(crate) fn writable(&self) -> u64 {
        let held = self.snd.offered.min(self.snd.fin) - self.acknowledged();
        self.snd.buffer.saturating_sub(held)
    }

    /// The earliest time at which the sender must act without an
    /// acknowledgement.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.timer
            .deadline
            .min(self.pacer.deadline())
            .min(self.probes_at())
    }

    /// True if the congestion control has requested an action.
    #[inline]
    pub(crate) fn has_actions(&self) -> bool {
        !Actions::is_none(&self.window.actions)
    }

    /// Passes a report of the queue at the sender's node to the congestion
    /// control.
    pub(crate) fn on_queue(&mut self, report: &QueueReport) {
        self.cc.on_queue(report, &mut self.window);
    }

    /// A loss at `flight` segments in flight, as the congestion control learns of it.
    pub(crate) fn loss(&self, now: Time, flight: f64, ecn: bool) -> Loss {
        Loss {
            now,
            flight,
            outstanding: self.board.outstanding() as f64,
            ecn,
            head: self.board.head(),
            smoothed_rtt: self.rtt.smoothed(),
            min_rtt: self.rtt.smallest(),
            mss: self.mss,
        }
    }

    /// The same of a timeout.
    pub(crate) fn timeout(&self, now: Time, flight: f64, first: bool) -> Timeout {
        Timeout {
            now,
            flight,
            outstanding: self.board.outstanding() as f64,
            first,
            min_rtt: self.rtt.smallest(),
            mss: self.mss,
        }
    }

    /// The congestion control reduces the window for a loss.
    pub(crate) fn reduce(&mut self, loss: &Loss) {
        let before = self.window.cwnd;
        self.cc.on_loss(loss, &mut self.window);
        self.note_reduction(before);
    }

    /// The congestion control reduces the window for a timeout.
    pub(crate) fn reduce_after_timeout(&mut self, timeout: &Timeout) {
        let before = self.window.cwnd;
        self.cc.on_timeout(timeout, &mut self.window);
        self.note_reduction(before);
    }

    /// Recovery ends, with `flight` segments in flight.
    pub(crate) fn end_recovery(&mut self, now: Time, flight: f64, min_rtt: Duration) {
        let exit = RecoveryExit {
            now,
            flight,
            recovery_fix: self.options.recovery_fix,
            min_rtt,
            mss: self.mss,
        };
        self.cc.on_recovery_exit(&exit, &mut self.window);
    }

    /// Counts a reduction if the window was `before` and is smaller now.
    pub(crate) fn note_reduction(&mut self, before: f64) {
        self.counters.reductions += u64::from(self.window.cwnd < before);
    }

    /// Records the largest window.
    #[inline]
    pub(crate) fn note_max_cwnd(&mut self) {
        self.max_cwnd = self.max_cwnd.max(self.window.cwnd);
    }

    /// Starts the retransmission timer at `now`, or stops it when nothing is
    /// outstanding.
    #[inline]
    pub(crate) fn restart_timer(&mut self, now: Time) {
        self.timer.deadline = if self.board.outstanding() == 0 {
            Time::MAX
        } else {
            now + self.rtt.rto()
        };
    }

    /// The sending is limited by the application or a buffer and not by the
    /// window: the rate samples of what is sent from now on show the
    /// application's rate, unless the receive window limits it.
    pub(crate) fn note_app_limited(&mut self) {
        if self.rate.is_none() {
            return;
        }
        let unsent = self.snd.offered.saturating_sub(self.snd.next);
        let buffered = self.snd.next - self.snd.una + u64::from(self.mss) > self.snd.buffer;
        if unsent < u64::from(self.mss) || buffered {
            self.limit_rate();
        }
    }

    /// The rate samples of what is sent from now on do not show the path's rate.
    pub(crate) fn limit_rate(&mut self) {
        if let Some(rate) = &mut self.rate {
            rate.limit(self.board.flight());
        }
    }

    /// Takes what lies below `una` off the record and out of the delivery-rate sampler.
    #[inline]
    pub(crate) fn acknowledge(&mut self, una: u64) -> Acked {
        self.snd.una = una;
        match &mut self.rate {
            None => self.board.acknowledge(una),
            Some(rate) => self
                .board
                .acknowledge_with(una, |covered| rate.acknowledged(covered.newly)),
        }
    }

    /// Updates the record from the packet's SACK blocks; returns how many
    /// segments they newly cover and when the newest of those sent once left.
    pub(crate) fn take_sack_blocks(&mut self, packet: &Packet) -> (u32, Option<Time>) {
        let mut total = (0, None);
        if !self.options.recovery.uses_sack() {
            return total;
        }
        for (start, end) in packet.sack_ranges() {
            if start < packet.acknowledgement {
                continue; // A duplicate report (RFC 2883).
            }
            let (newly, sent_at) = match &mut self.rate {
                None => self.board.sack(start, end),
                Some(rate) => self
                    .board
                    .sack_with(start, end, |index, _| rate.sacked(index)),
            };
            total.0 += newly;
            total.1 = total.1.max(sent_at);
        }
        total
    }

    /// Ends the connection: nothing is sent and no timer runs any more.
    pub(crate) fn stop(&mut self) {
        self.snd.offered = self.snd.next;
        self.timer = RetransmissionTimer::STOPPED;
        self.probing = None;
        self.pacer.stop();
    }
}
