//! TCP PBS: a priority-based strategy with explicit error notification.
//!
//! Source: Xu & Wu, "A priority-based TCP congestion control strategy in satellite
//! IP networks", ICCCAS 2005, of which the abstract could be read, and Salamanca
//! (2008), section 1.2.2, which gives the initial window and says that accelerative
//! start is otherwise like TCP-Swift's speedy start, that explicit error
//! notification (EEN) distinguishes losses by errors from losses by congestion, and
//! that queues on the way must drop low priority first.
//!
//! - Accelerative start, at the start and after a timeout: cwnd = IW = min(4 SMSS,
//!   max(2 SMSS, 4380 bytes)), in segments of data; then low-priority dummies up to
//!   the receive window, a round trip divided by that window apart. Each ACK for
//!   data or dummy adds a segment within the next round trip.
//! - Congestion avoidance as Reno.
//! - Expeditious recovery: where the network has notified as many errors as
//!   segments were lost, the segments are sent again and the window stays. Other
//!   losses halve what is in flight.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | reach | 1000 | segments: probe for no more, however large the receive window |
//!
//! What carries the notification is not printed. Here:
//! - The far end of a link with `reports_corruption` detects that a frame was
//!   corrupted and reports it to the receiver of the flow, as an ICMP message
//!   would. The receiver gets the report with the next data packet, and from then
//!   on all its ACKs carry the number of corrupted packets of the connection so
//!   far in an option of four bytes, so that a lost ACK loses nothing. The sender
//!   takes the difference ([`CongestionControl::on_error_report`]).
//! - Where no link reports, every loss counts as congestion.
//!
//! Also ours:
//! - IW is not rounded: 4380 bytes are 3.02 segments of 1448, of which 3 leave.
//! - A loss that the reports explain in part is congestion. So is one that is
//!   found in the course of a recovery and that they do not explain: the window is
//!   halved then, once in the recovery.
//! - On the profile `linux` a recovery counts as one lost segment.
//! - A timeout after reports that no loss has used up leaves ssthresh alone.
//!
//! Examples: SMSS 1460: IW = 4380 bytes, 3 segments. SMSS 536: 2144 bytes, 4. SMSS
//! 2190 and above: 2. One report and one loss at cwnd 40: cwnd stays 40; no report:
//! 20.

use super::after_loss::AfterLoss;
use super::opening::Opening;
use crate::declaration::{Algorithm, Control, Described, Family, LossRecovery, TransportDefaults};
use crate::parameter::{number, parameters};
use crate::{
    Ack, CWND_LIMIT, CongestionControl, Loss, Phase, ProbeContent, RecoveryExit, Timeout, Window,
};
use bentpipe_units::{Duration, Segments};

parameters! {
    /// Settings of [`Pbs`].
    pub struct PbsParameters {
        reach: f64 = number(1000.0, "segments", (1.0, 1_000_000.0)),
            "probe for no larger window than this; the receive window bounds it, too";
    }
}

/// Bytes of the initial window where a segment is neither small nor large.
const INITIAL_BYTES: f64 = 4380.0;

/// The initial window of accelerative start for segments of `mss` bytes.
#[must_use]
pub fn initial_window(mss: u32) -> Segments {
    let mss = f64::from(mss.max(1));
    (4.0 * mss).min((2.0 * mss).max(INITIAL_BYTES)) / mss
}

/// State of TCP PBS for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Pbs {
    opening: Opening,
    /// Corrupted packets that were reported and explain no loss yet.
    reported: u32,
    /// Segments that the last ACK outside recovery found lost.
    lost: Segments,
    /// The recovery in progress, or the last one, has cut the window.
    cut: bool,
    /// It found further losses, which were judged then. Those that it did not repair
    /// begin the next recovery.
    judged: bool,
    after_loss: AfterLoss,
}

impl Pbs {
    /// PBS that probes for `reach` segments at most.
    #[must_use]
    pub const fn new(reach: Segments) -> Pbs {
        Pbs {
            opening: Opening::new(ProbeContent::Copy, reach),
            reported: 0,
            lost: 0.0,
            cut: false,
            judged: false,
            after_loss: AfterLoss::NONE,
        }
    }

    /// True if reports explain `lost` segments; uses them up.
    fn is_error(&mut self, lost: Segments) -> bool {
        let explained = f64::from(self.reported) >= lost;
        self.reported = self.reported.saturating_sub(lost as u32);
        explained
    }

    fn halve(&mut self, flight: Segments, window: &mut Window) {
        window.ssthresh = (flight / 2.0).max(2.0);
        window.cwnd = window.cwnd.min(window.ssthresh);
        self.cut = true;
        self.after_loss = AfterLoss::new(true, window);
    }
}

impl Algorithm for Pbs {
    fn controls() -> Vec<Control<Pbs>> {
        let described = Described {
            name: "pbs",
            summary: "low-priority dummies open the window from 4380 bytes; errors that links \
                      notify leave it alone",
            source: "Xu & Wu 2005 (abstract), Salamanca 2008, section 1.2.2",
            open: "who notifies errors and how: links report to the receiver, whose ACKs carry a \
                   count. Needs queues that drop low priority first",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "opens the window in two round trips and keeps it after errors that \
                          links with `reports_corruption` notify; needs priority queues",
                source: "Xu & Wu 2005 (our reading of its abstract)",
                recovery: Some(LossRecovery::Sack),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, |p: PbsParameters| {
            Pbs::new(p.reach)
        })]
    }
}

impl CongestionControl for Pbs {
    named!("pbs");
    always!(needs_error_reports);

    fn on_open(&mut self, receive_window: Segments) {
        self.opening.set_receive_window(receive_window);
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.opening.set_initial(initial_window(window.mss));
        self.opening.establish(rtt, window);
    }

    fn on_error_report(&mut self, corrupted: u32) {
        self.reported = self.reported.saturating_add(corrupted);
    }

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.opening.on_sample(ack, window);
        if ack.probes > 0 {
            let room = self.opening.receive_window.min(CWND_LIMIT) - window.cwnd;
            if ack.cwnd_limited && self.opening.is_on() {
                window.cwnd += f64::from(ack.probes).min(room.max(0.0));
            }
        } else if ack.in_recovery && ack.lost > 0.0 {
            let error = self.is_error(ack.lost);
            self.judged = true;
            if !error && !self.cut {
                self.halve(ack.flight_before, window);
            }
        } else {
            self.lost = ack.lost;
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
        let lost = core::mem::take(&mut self.lost);
        let judged = core::mem::take(&mut self.judged) && lost == 0.0;
        if !loss.ecn {
            self.opening.stop();
        }
        if !loss.ecn && (judged || self.is_error(lost.max(1.0))) {
            self.cut = false;
            self.after_loss = AfterLoss::new(false, window);
        } else {
            self.halve(loss.flight, window);
        }
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.after_loss.leave(exit, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        let error = core::mem::take(&mut self.reported) > 0;
        if timeout.first && !error {
            window.ssthresh = (timeout.flight / 2.0).max(2.0);
        }
        self.lost = 0.0;
        (self.cut, self.judged) = (false, false);
        self.after_loss = AfterLoss::NONE;
        self.opening.begin(window);
    }

    fn phase(&self, _: &Window) -> Phase {
        if self.opening.is_on() {
            Phase::Own("accelerative_start")
        } else {
            Phase::CongestionAvoidance
        }
    }
}
