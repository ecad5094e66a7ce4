//! TCP-Peach and TCP-Peach+: low-priority packets find out what the path holds.
//!
//! Sources: Akyildiz, Morabito & Palazzo, "TCP-Peach: A New Congestion Control
//! Scheme for Satellite IP Networks", IEEE/ACM ToN 9(3), 2001; Akyildiz, Zhang &
//! Fang, "TCP-Peach+: Enhancement of TCP-Peach for Satellite IP Networks", IEEE
//! Comm. Letters 6(7), 2002. Queues on the way must drop low priority first.
//!
//! - Sudden start (Peach+: jump start), at the start and after a timeout: cwnd =
//!   1, one data segment, then rwnd - 1 probes, RTT / rwnd apart. An ACK for
//!   data or probe that comes within the next round trip adds a segment: two
//!   round trips after the start the window is what the path let through.
//! - Congestion avoidance as Reno. The answer to a probe adds a segment, or, with
//!   wdsn > 0, lowers wdsn by one instead.
//! - Rapid recovery (Peach+: quick recovery), from a window of W0: cwnd = W0/2,
//!   wdsn = W0/2, and two probes with every ACK until W0 have been sent. The
//!   first W0/2 answers are those that the window's other half would have had;
//!   the rest show that the path holds more, and restore up to W0.
//!
//! Peach's probes are dummies: copies of the last segment, which the receiver
//! throws away. Peach+'s NIL segments carry unacknowledged data, the oldest
//! first, and repair losses as well.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | reach | 1000 | segments: probe for no more, however large the receive window |
//!
//! Only the abstracts could be read. The reading of what is open:
//! - The papers' receive window is 64 segments. One of today would make the
//!   sudden start a flood, so `reach` bounds it.
//! - The RTT of the sudden start is the handshake's, later the smoothed one;
//!   without one it waits for the first sample.
//! - The sudden start ends a round trip after the first answer to a probe, or two
//!   after its first ACK where no probe is answered.
//! - W0 is the window in use, min(cwnd, receive window). No probe raises cwnd
//!   above the receive window.
//! - A round trip's worth of ACKs may be left when recovery ends: the probes
//!   that are still to go then go with the next ACKs.
//! - The answer to a probe grows the window in recovery, too, but never where
//!   the application left a part of it unused.

use super::after_loss::AfterLoss;
use super::opening::Opening;
use crate::declaration::{Algorithm, Control, Described, Family, LossRecovery, TransportDefaults};
use crate::event::half;
use crate::parameter::{number, parameters};
use crate::{
    Ack, CWND_LIMIT, CongestionControl, Loss, Phase, ProbeContent, Probes, RecoveryExit, Timeout,
    Window,
};
use bentpipe_units::{Duration, Segments, math};

parameters! {
    /// Settings of [`Peach`].
    pub struct PeachParameters {
        reach: f64 = number(1000.0, "segments", (1.0, 1_000_000.0)),
            "probe for no larger window than this; the receive window bounds it, too (the \
             papers: 64)";
    }
}

/// Probes that go with an ACK in rapid recovery.
const PER_ACK: u32 = 2;

/// State of TCP-Peach or TCP-Peach+ for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Peach {
    sudden: Opening,
    /// Probes that rapid recovery has still to send.
    to_send: u32,
    /// Answers to probes that are still to be ignored (wdsn).
    to_ignore: u32,
    after_loss: AfterLoss,
}

impl Peach {
    /// Peach with dummies ([`ProbeContent::Copy`]) or Peach+ with NIL segments;
    /// `reach` bounds the window that is probed for.
    #[must_use]
    pub const fn new(content: ProbeContent, reach: Segments) -> Peach {
        Peach {
            sudden: Opening::new(content, reach),
            to_send: 0,
            to_ignore: 0,
            after_loss: AfterLoss::NONE,
        }
    }

    fn is_plus(&self) -> bool {
        self.sudden.content == ProbeContent::Unacknowledged
    }

    fn start_suddenly(&mut self, window: &mut Window) {
        (self.to_send, self.to_ignore) = (0, 0);
        self.sudden.begin(window);
    }

    fn in_use(&self, window: &Window) -> Segments {
        window.cwnd.min(self.sudden.receive_window)
    }

    /// The answers to `probes`.
    fn answered(&mut self, probes: u32, limited: bool, window: &mut Window) {
        let ignored = self.to_ignore.min(probes);
        self.to_ignore -= ignored;
        let room = (self.sudden.receive_window.min(CWND_LIMIT) - window.cwnd).max(0.0);
        let grows = f64::from(probes - ignored).min(room);
        if limited && grows > 0.0 {
            window.cwnd += grows;
            self.after_loss.grow(grows);
        }
    }

    fn send_with_ack(&mut self, window: &mut Window) {
        let count = self.to_send.min(PER_ACK);
        self.to_send -= count;
        window.actions.probes = Some(Box::new(Probes {
            count,
            interval: Duration::ZERO,
            content: self.sudden.content,
            ..Probes::default()
        }));
    }
}

impl Algorithm for Peach {
    fn controls() -> Vec<Control<Peach>> {
        let peach = Described {
            name: "peach",
            summary: "low-priority dummies find the window in two round trips and restore it \
                      after errors",
            source: "Akyildiz, Morabito & Palazzo 2001, as its abstract and surveys have it",
            open: "the window probed for: at most `reach`; the RTT before a sample: wait; the \
                   sudden start ends a round trip after the first answer. Needs queues that drop low \
                   priority first",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "low-priority dummies find the window in two round trips; needs priority \
                          queues",
                source: "Akyildiz, Morabito & Palazzo 2001 (a reading of its abstract)",
                initial_window: Some(1.0),
                recovery: Some(LossRecovery::NewReno),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        let plus = Described {
            name: "peach+",
            summary: "Peach whose probes carry unacknowledged data and repair losses",
            source: "Akyildiz, Zhang & Fang 2002, as its abstract and surveys have it",
            open: "as Peach; NIL segments carry the oldest unacknowledged data in turn",
            transport: TransportDefaults {
                summary: "Peach with SACK and probes that repair losses; needs priority queues",
                source: "Akyildiz, Zhang & Fang 2002 (a reading of its abstract)",
                recovery: Some(LossRecovery::Sack),
                ..peach.transport
            },
            ..peach
        };
        vec![
            Control::new(peach, |p: PeachParameters| {
                Peach::new(ProbeContent::Copy, p.reach)
            }),
            Control::new(plus, |p: PeachParameters| {
                Peach::new(ProbeContent::Unacknowledged, p.reach)
            }),
        ]
    }
}

impl CongestionControl for Peach {
    fn name(&self) -> &str {
        if self.is_plus() { "peach+" } else { "peach" }
    }

    fn on_open(&mut self, receive_window: Segments) {
        self.sudden.set_receive_window(receive_window);
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.sudden.establish(rtt, window);
    }

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.sudden.on_sample(ack, window);
        if ack.probes > 0 {
            self.answered(ack.probes, ack.cwnd_limited, window);
        } else if self.to_send > 0 {
            self.send_with_ack(window);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            return;
        }
        self.after_loss
            .grow(window.grow_per_ack(self.sudden.grows()));
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let before = math::floor(self.in_use(window));
        window.ssthresh = (before / 2.0).max(2.0);
        window.cwnd = window.cwnd.min(window.ssthresh);
        self.after_loss = AfterLoss::new(true, window);
        if !loss.ecn {
            self.sudden.stop();
            self.to_send = before as u32;
            self.to_ignore = (before / 2.0) as u32;
        }
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.after_loss.leave(exit, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        timeout.reduce(window, half);
        self.after_loss = AfterLoss::NONE;
        self.start_suddenly(window);
    }

    fn phase(&self, _: &Window) -> Phase {
        match (self.sudden.is_on(), self.is_plus()) {
            (false, _) if self.to_send == 0 && self.to_ignore == 0 => Phase::CongestionAvoidance,
            (false, false) => Phase::Own("rapid_recovery"),
            (false, true) => Phase::Own("quick_recovery"),
            (true, false) => Phase::Own("sudden_start"),
            (true, true) => Phase::Own("jump_start"),
        }
    }
}
