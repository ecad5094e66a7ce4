//! The rules of RCS, a rate control scheme with low-priority dummy packets, for a reliable
//! transport. RCS itself controls real-time streams, of which nothing is sent again: that is
//! `control = "rcs"` of an application (`bentpipe_traffic::RateControl`).
//!
//! Source: Tang, Morabito & Akyildiz, INFOCOM 2001; Akyildiz, Akan & Morabito, "A rate control
//! scheme for adaptive real-time applications in IP networks with lossy links and long round
//! trip times", IEEE/ACM ToN 13(3), 2005, of which abstracts and public descriptions could be
//! read. From these are the states initial, steady and detection and the rules in them;
//! Backoff is the retransmission timeout here. **What a reliable transport makes of them is
//! ours.**
//!
//! - Initial, at the start and after a timeout: one segment of data, then dummies at
//!   the target rate for a round trip. n answers within a round trip of the first:
//!   the rate is n segments a round trip.
//! - Steady: the rate grows by one segment a round trip, each round trip, up to the
//!   target.
//! - Detection, after a loss at rate S0: the rate is S0/2. Dummies go at the rate S0
//!   for a round trip; the answers to the first half of them change nothing, for so
//!   many a path gets through that S0 had filled. Each further one adds a segment a
//!   round trip, so that the rate is S0 again if the loss was an error.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | target | 10 | Mbit/s of payload: what the application could use |
//! | reach | 1000 | segments: no more dummies in a round trip than this |
//!
//! Also ours:
//! - Losses are repaired at the same rate, and the start is a segment of data.
//! - The window is twice what the rate sends in a round trip, so that the rate
//!   limits.
//! - The rate does not grow after a round trip that used less than half of it.
//! - A loss within two round trips of the one that began a detection, in which its
//!   answers come, begins no other and halves nothing.
//! - A mark (ECN) halves the rate without a detection.
//!
//! Example: RTT 500 ms, 1250 bytes, target 1 Mbit/s: 100 segments a second, 49
//! dummies 10 ms apart. 30 answers and the segment's ACK: 31 segments a round trip,
//! 62 a second. A loss at 62 a second: 31 a second, and 31 dummies; 15 answers
//! change nothing, 16 more restore 62.

use super::probed_rate::ProbedRate;
use crate::declaration::{Algorithm, Control, Described, Family, LossRecovery, TransportDefaults};
use crate::event::half;
use crate::parameter::{number, parameters};
use crate::{
    Ack, CongestionControl, Loss, Phase, ProbeContent, Probes, RecoveryExit, Repair, Timeout,
    Window,
};
use bentpipe_units::{Duration, Rate, Segments, Time};

parameters! {
    /// Settings of [`Rcs`].
    pub struct RcsParameters {
        target: f64 = number(10.0, "Mbit/s", (0.000_001, 1_000_000.0)),
            "payload that the application could use";
        reach: f64 = number(1000.0, "segments", (1.0, 1_000_000.0)),
            "no more dummies in a round trip than this";
    }
}

/// State of RCS for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Rcs {
    target: Rate,
    reach: Segments,
    probed: ProbedRate,
    /// Answers of a detection that are still to be ignored, and the most that the
    /// others add, segments a round trip.
    to_ignore: u32,
    to_restore: Segments,
    /// When the last answers of a detection have come.
    detects_until: Time,
}

impl Rcs {
    /// RCS for an application that could use `target`, with no more than `reach`
    /// dummies in a round trip.
    #[must_use]
    pub const fn new(target: Rate, reach: Segments) -> Rcs {
        Rcs {
            target,
            reach,
            probed: ProbedRate::new(reach),
            to_ignore: 0,
            to_restore: 0.0,
            detects_until: Time::ZERO,
        }
    }

    /// The rate, segments a second.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.probed.rate
    }

    /// The target, segments a second.
    fn most(&self, mss: u32) -> f64 {
        self.target.bps_f64() / (8.0 * f64::from(mss.max(1)))
    }

    fn begin(&mut self, window: &mut Window) {
        (self.to_ignore, self.to_restore) = (0, 0.0);
        self.detects_until = Time::ZERO;
        self.probed.begin(window);
    }

    /// The dummies of the start follow from the round trip.
    fn set_reach(&mut self, rtt: Duration, mss: u32) {
        let most = self.most(mss) * rtt.as_secs();
        self.probed.opening.set_reach(most.min(self.reach));
    }

    fn detected(&mut self, probes: u32) {
        let ignored = self.to_ignore.min(probes);
        self.to_ignore -= ignored;
        let gained = f64::from(probes - ignored).min(self.to_restore);
        self.to_restore -= gained;
        self.probed.add(gained);
    }
}

impl Algorithm for Rcs {
    fn controls() -> Vec<Control<Rcs>> {
        let described = Described {
            name: "rcs",
            summary: "a rate that low-priority dummies find and restore after errors",
            source: "Tang, Morabito & Akyildiz 2001 (public descriptions)",
            open: "a reliable transport in place of a real-time stream, which has `control = \"rcs\"` \
                   of an application. Needs queues that drop low priority first",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "a rate up to `target` that low-priority dummies find; needs priority \
                          queues",
                source: "Tang, Morabito & Akyildiz 2001 (our reading of public descriptions)",
                initial_window: Some(1.0),
                recovery: Some(LossRecovery::Sack),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, |p: RcsParameters| {
            Rcs::new(Rate::from_bps_f64(p.target * 1e6), p.reach)
        })]
    }
}

impl CongestionControl for Rcs {
    named!("rcs");
    always!(owns_window);
    ignores!(on_ack, on_recovery_exit, on_spurious);

    fn on_open(&mut self, receive_window: Segments) {
        self.probed.opening.set_receive_window(receive_window);
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.set_reach(rtt.unwrap_or_default(), window.mss);
        self.probed.opening.establish(rtt, window);
    }

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        if self.probed.rtt().is_zero() {
            self.set_reach(ack.smoothed_rtt, ack.mss);
        }
        let round_start = self.probed.on_sample(ack, window);
        if !self.probed.opening.is_on() {
            self.detected(ack.probes);
            if round_start && self.probed.in_use && !ack.in_recovery {
                self.probed.add(1.0);
            }
        }
        self.probed.rate = self.probed.rate.min(self.most(ack.mss));
    }

    fn on_control(&mut self, _: &Ack, _: Repair, window: &mut Window) {
        self.probed.steer(window);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        if !loss.ecn && loss.now < self.detects_until {
            return;
        }
        let before = self.probed.per_round_trip();
        self.probed.rate /= 2.0;
        window.ssthresh = (loss.flight / 2.0).max(2.0);
        if loss.ecn || self.probed.opening.is_on() {
            self.probed.opening.stop();
        } else {
            let count = before.min(self.reach) as u32;
            self.to_ignore = count / 2;
            self.to_restore = before / 2.0;
            self.detects_until = loss.now + self.probed.rtt() * 2;
            window.actions.probes = Some(Box::new(Probes {
                count,
                interval: self.probed.rtt() / u64::from(count.max(1)),
                content: ProbeContent::Copy,
                ..Probes::default()
            }));
        }
        self.probed.steer(window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        timeout.reduce(window, half);
        self.set_reach(self.probed.rtt(), timeout.mss);
        self.begin(window);
    }

    fn phase(&self, _: &Window) -> Phase {
        if self.probed.opening.is_on() {
            Phase::Own("initial")
        } else if self.to_restore > 0.0 {
            Phase::Own("detection")
        } else {
            Phase::Own("steady")
        }
    }
}
