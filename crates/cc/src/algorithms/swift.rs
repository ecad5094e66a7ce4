//! TCP-Swift: a window that opens in two round trips, and outstanding segments as
//! probes after a loss. (Not Google's Swift of 2020, which only shares the name.)
//!
//! Source: Leung & Yeung, "TCP-Swift: an end-to-end host enhancement scheme for TCP
//! over satellite IP networks", ISCC 2004, of which the abstract could be read, and
//! Salamanca (2008), section 1.2.2. They say: slow start and fast recovery are
//! replaced by speedy start and speedy recovery; the window opens in two round
//! trips; the cause of a loss is inferred from the ACKs that arrive, and the window
//! is reopened more aggressively where it was a transmission error; outstanding
//! segments take the place of TCP-Peach's dummies; queues on the way must drop
//! low priority first. No formula is printed: **the numbers below are our reading.**
//!
//! - Speedy start, at the start and after a timeout: cwnd = 1, one segment of
//!   data, then low-priority copies of it, a round trip divided by the receive
//!   window apart. Each ACK for data or copy adds a segment within the next round
//!   trip.
//! - Congestion avoidance as Reno.
//! - Speedy recovery, from a window of W0: cwnd = ssthresh = W0/2, and two low-priority copies of
//!   outstanding segments, the oldest first, go with every ACK until W0 have gone. A path that W0
//!   had filled lets half of them through in addition to the data. Once `proof` x W0 have been
//!   answered the loss counts as an error, and cwnd = ssthresh = W0 at once. Otherwise the window
//!   stays halved.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | reach | 1000 | segments: probe for no more, however large the receive window |
//! | proof | 0.75 | of the probes of a recovery, answered |
//!
//! Also ours:
//! - The default of `proof` lies half-way between what congestion and an error
//!   let through.
//! - W0 is the window in use, min(cwnd, receive window).
//! - TCP-Peach adds a segment for each answer beyond the first W0/2 and so ends at
//!   W0, too, a quarter of a round trip later. That one step is what is taken for
//!   "more aggressively".
//!
//! Example: a loss at cwnd 40 leaves 20; the 30th answer of 40 probes restores 40.

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
    /// Settings of [`Swift`].
    pub struct SwiftParameters {
        reach: f64 = number(1000.0, "segments", (1.0, 1_000_000.0)),
            "probe for no larger window than this; the receive window bounds it, too";
        proof: f64 = number(0.75, "of the probes", (0.0, 1.0)),
            "share of a recovery's probes whose answers show that the loss was an error";
    }
}

/// Probes that go with an ACK in speedy recovery.
const PER_ACK: u32 = 2;

/// A loss whose cause is still open.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Inquiry {
    /// W0, the window before the error, segments.
    before: Segments,
    /// Probes that are still to go.
    to_send: u32,
    answered: u32,
}

/// State of TCP-Swift for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Swift {
    opening: Opening,
    proof: f64,
    inquiry: Option<Inquiry>,
    after_loss: AfterLoss,
}

impl Swift {
    /// Swift that probes for `reach` segments at most and takes a loss for an
    /// error once the share `proof` of its probes has been answered.
    #[must_use]
    pub const fn new(reach: Segments, proof: f64) -> Swift {
        Swift {
            opening: Opening::new(ProbeContent::Unacknowledged, reach),
            proof,
            inquiry: None,
            after_loss: AfterLoss::NONE,
        }
    }

    /// The answers to `probes`.
    fn answered(&mut self, probes: u32, limited: bool, window: &mut Window) {
        let Some(inquiry) = &mut self.inquiry else {
            let room = self.opening.receive_window.min(CWND_LIMIT) - window.cwnd;
            if limited && self.opening.is_on() {
                window.cwnd += f64::from(probes).min(room.max(0.0));
            }
            return;
        };
        inquiry.answered = inquiry.answered.saturating_add(probes);
        if limited && f64::from(inquiry.answered) >= self.proof * inquiry.before {
            let most = self.opening.receive_window.min(CWND_LIMIT);
            let restored = inquiry.before.min(most).max(window.cwnd);
            self.after_loss.grow(restored - window.cwnd);
            window.cwnd = restored;
            window.ssthresh = restored.max(2.0);
            self.inquiry = None;
        }
    }

    /// Sends probes with an ACK for data.
    fn inquire(&mut self, window: &mut Window) {
        if let Some(inquiry) = &mut self.inquiry
            && inquiry.to_send > 0
        {
            let count = inquiry.to_send.min(PER_ACK);
            inquiry.to_send -= count;
            window.actions.probes = Some(Box::new(Probes {
                count,
                interval: Duration::ZERO,
                content: self.opening.content,
                ..Probes::default()
            }));
        }
    }
}

impl Algorithm for Swift {
    fn controls() -> Vec<Control<Swift>> {
        let described = Described {
            name: "swift",
            summary: "TCP-Swift: low-priority copies of outstanding segments open the window and \
                      show whether a loss was an error",
            source: "Leung & Yeung 2004 (abstract), Salamanca 2008, section 1.2.2",
            open: "how many copies, and which share of answers shows an error: W0 and 3/4. Needs \
                   queues that drop low priority first",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "opens the window in two round trips and restores it at once after \
                          errors; needs priority queues",
                source: "Leung & Yeung 2004 (our reading of its abstract)",
                initial_window: Some(1.0),
                recovery: Some(LossRecovery::Sack),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, |p: SwiftParameters| {
            Swift::new(p.reach, p.proof)
        })]
    }
}

impl CongestionControl for Swift {
    named!("swift");

    fn on_open(&mut self, receive_window: Segments) {
        self.opening.set_receive_window(receive_window);
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.opening.establish(rtt, window);
    }

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.opening.on_sample(ack, window);
        if ack.probes > 0 {
            self.answered(ack.probes, ack.cwnd_limited, window);
        } else {
            self.inquire(window);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            return;
        }
        self.after_loss
            .grow(window.grow_per_ack(self.opening.grows()));
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let before = math::floor(window.cwnd.min(self.opening.receive_window));
        window.ssthresh = (before / 2.0).max(2.0);
        window.cwnd = window.cwnd.min(window.ssthresh);
        self.after_loss = AfterLoss::new(true, window);
        if !loss.ecn {
            self.opening.stop();
            self.inquiry = Some(Inquiry {
                before,
                to_send: before as u32,
                answered: 0,
            });
        }
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.after_loss.leave(exit, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        timeout.reduce(window, half);
        self.after_loss = AfterLoss::NONE;
        self.inquiry = None;
        self.opening.begin(window);
    }

    fn phase(&self, _: &Window) -> Phase {
        if self.opening.is_on() {
            Phase::Own("speedy_start")
        } else if self.inquiry.is_some_and(|inquiry| inquiry.to_send > 0) {
            Phase::Own("speedy_recovery")
        } else {
            Phase::CongestionAvoidance
        }
    }
}
