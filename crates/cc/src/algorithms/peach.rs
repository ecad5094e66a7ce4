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
//! - The sudden start ends a round trip after its first ACK.
//! - W0 is the window in use, min(cwnd, receive window). No probe raises cwnd
//!   above the receive window.
//! - A round trip's worth of ACKs may be left when recovery ends: the probes
//!   that are still to go then go with the next ACKs.
//! - The answer to a probe grows the window in recovery, too, but never where
//!   the application left a part of it unused.

use super::after_loss::AfterLoss;
use crate::declaration::{Algorithm, Control, Described, Family, LossRecovery, TransportDefaults};
use crate::parameter::{number, parameters};
use crate::{
    Ack, CWND_LIMIT, CongestionControl, Loss, Phase, ProbeContent, Probes, RecoveryExit, Timeout,
    Window,
};
use bentpipe_units::{Duration, Segments, Time, math};

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

/// Where the sudden start stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sudden {
    Off,
    /// No RTT is known yet.
    Unpaced,
    /// The probes are on their way.
    Sent,
    /// The first answer has come.
    Until(Time),
}

/// TCP-Peach or TCP-Peach+.
#[derive(Clone, Debug, PartialEq)]
pub struct Peach {
    content: ProbeContent,
    reach: Segments,
    receive_window: Segments,
    rtt: Duration,
    sudden: Sudden,
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
            content,
            reach,
            receive_window: f64::INFINITY,
            rtt: Duration::ZERO,
            sudden: Sudden::Off,
            to_send: 0,
            to_ignore: 0,
            after_loss: AfterLoss::NONE,
        }
    }

    fn is_plus(&self) -> bool {
        self.content == ProbeContent::Unacknowledged
    }

    /// The window that is probed for, whole segments.
    fn target(&self) -> u32 {
        self.receive_window.min(self.reach).max(1.0) as u32
    }

    fn start_suddenly(&mut self, window: &mut Window) {
        window.cwnd = 1.0;
        (self.to_send, self.to_ignore) = (0, 0);
        if self.rtt.is_zero() {
            self.sudden = Sudden::Unpaced;
        } else {
            self.send_sudden(window);
        }
    }

    fn send_sudden(&mut self, window: &mut Window) {
        self.sudden = Sudden::Sent;
        let target = self.target();
        window.actions.probes = Some(Probes {
            count: target - 1,
            interval: self.rtt / u64::from(target),
            content: self.content,
        });
    }

    fn in_use(&self, window: &Window) -> Segments {
        window.cwnd.min(self.receive_window)
    }

    /// The answers to `probes`.
    fn answered(&mut self, probes: u32, limited: bool, window: &mut Window) {
        let ignored = self.to_ignore.min(probes);
        self.to_ignore -= ignored;
        let room = (self.receive_window.min(CWND_LIMIT) - window.cwnd).max(0.0);
        let grows = f64::from(probes - ignored).min(room);
        if limited && grows > 0.0 {
            window.cwnd += grows;
            self.after_loss.grow(grows);
        }
    }

    fn send_with_ack(&mut self, window: &mut Window) {
        let count = self.to_send.min(PER_ACK);
        self.to_send -= count;
        window.actions.probes = Some(Probes {
            count,
            interval: Duration::ZERO,
            content: self.content,
        });
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
                   sudden start ends a round trip after its first ACK. Needs queues that drop low \
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
        self.receive_window = receive_window.max(1.0);
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.rtt = rtt.unwrap_or_default();
        self.start_suddenly(window);
    }

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.receive_window = ack.receive_window.max(1.0);
        if !ack.smoothed_rtt.is_zero() {
            self.rtt = ack.smoothed_rtt;
        }
        match self.sudden {
            Sudden::Unpaced if !self.rtt.is_zero() => self.send_sudden(window),
            Sudden::Sent => self.sudden = Sudden::Until(ack.now + self.rtt),
            Sudden::Until(end) if ack.now >= end => self.sudden = Sudden::Off,
            _ => {}
        }
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
        let before = window.cwnd;
        let step = if matches!(self.sudden, Sudden::Until(_)) {
            1.0
        } else {
            1.0 / before
        };
        window.cwnd = (before + step).min(CWND_LIMIT.max(before));
        self.after_loss.grow(window.cwnd - before);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let before = math::floor(self.in_use(window));
        window.ssthresh = (before / 2.0).max(2.0);
        window.cwnd = window.cwnd.min(window.ssthresh);
        self.after_loss = AfterLoss::new(true, window);
        if !loss.ecn {
            self.sudden = Sudden::Off;
            self.to_send = before as u32;
            self.to_ignore = (before / 2.0) as u32;
        }
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.after_loss.leave(exit, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            window.ssthresh = (timeout.flight / 2.0).max(2.0);
        }
        self.after_loss = AfterLoss::NONE;
        self.start_suddenly(window);
    }

    fn phase(&self, _: &Window) -> Phase {
        match (self.sudden, self.is_plus()) {
            (Sudden::Off, _) if self.to_send == 0 && self.to_ignore == 0 => {
                Phase::CongestionAvoidance
            }
            (Sudden::Off, false) => Phase::Own("rapid_recovery"),
            (Sudden::Off, true) => Phase::Own("quick_recovery"),
            (_, false) => Phase::Own("sudden_start"),
            (_, true) => Phase::Own("jump_start"),
        }
    }
}
