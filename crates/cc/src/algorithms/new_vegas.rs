//! TCP New Vegas: Vegas for long paths and delayed ACKs, by three changes of the
//! sender.
//!
//! Source: Sing & Soh, NCA 2005, ISCC 2006 and AINA 2006, of which the abstracts
//! could be read, and Salamanca 2008: packet pacing, packet pairing and rapid
//! window convergence. **Our reading, not the original**: the sources at hand
//! name the three and print no formula.
//!
//! - *Packet pacing*: in slow start packets are spread over the round trip, at
//!   cwnd / smoothed RTT. Bursts otherwise queue at the bottleneck and end
//!   Vegas' slow start before the window fits the path.
//! - *Packet pairing*: they go two at a time, so that a receiver that delays
//!   ACKs answers each pair at once.
//! - *Rapid window convergence*: when slow start ends by gamma, the window goes
//!   to Wt = BWE x base RTT + alpha by max(1, (Wt - cwnd) / 2) segments per round
//!   trip, as long as less than alpha segments are queued, until it is within a
//!   segment of Wt. BWE is the bandwidth at which the closest two ACKs of the last
//!   round came: those of a pair leave the bottleneck back to back.
//!
//! The rest is `Vegas`.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | alpha, beta, gamma | 1, 3, 1 | segments, as in Vegas |
//! | whole_diff, syn_is_segment | true, false | as in Vegas |
//! | paced_start, pairs, convergence | true | each change by itself |
//!
//! Left open, and the reading chosen: a receiver that acknowledges pairs shows no
//! gap inside them; BWE is then the pacing rate, and convergence has nothing to
//! do. A step adds at most one segment per segment acknowledged, and is spread
//! over the round. A loss or a timeout ends the convergence.

use super::vegas::{Vegas, VegasParameters};
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{flag, parameters};
use crate::{Ack, CongestionControl, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::{Bytes, Duration, Rate, Segments, Time};

parameters! {
    /// Which of the changes are on.
    #[derive(Copy)]
    pub struct NewVegasParts {
        paced_start: bool = flag(true), "spread the packets of slow start";
        pairs: bool = flag(true), "send them two at a time";
        convergence: bool = flag(true), "go to the window that fits the path when slow start ends";
    }
}

/// State of TCP New Vegas for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct NewVegas {
    vegas: Vegas,
    parts: NewVegasParts,
    last_ack: Option<Time>,
    /// Smallest time between segments, nanoseconds: of the round so far, and of
    /// the one before.
    closest: f64,
    closest_before: f64,
}

impl NewVegas {
    /// The changes `parts` of `vegas`.
    #[must_use]
    pub const fn new(vegas: Vegas, parts: NewVegasParts) -> NewVegas {
        NewVegas {
            vegas,
            parts,
            last_ack: None,
            closest: f64::INFINITY,
            closest_before: f64::INFINITY,
        }
    }

    /// The window that the connection converges to, while it does.
    #[must_use]
    pub fn target(&self) -> Option<Segments> {
        self.vegas.target()
    }

    /// Sets the spacing of packets: in slow start, once an RTT is known.
    fn pace(&self, srtt: Duration, mss: u32, window: &mut Window) {
        let slow_start = window.in_slow_start() && !srtt.is_zero();
        let payload = window.cwnd * f64::from(mss);
        window.pacing_rate = (self.parts.paced_start && slow_start)
            .then(|| Rate::of(Bytes::new(payload as u64), srtt));
        window.send_quantum = if self.parts.pairs && slow_start { 2 } else { 1 };
    }

    fn stop_pacing(window: &mut Window) {
        window.pacing_rate = None;
        window.send_quantum = 1;
    }

    /// Takes note of how close this ACK came to the last one.
    fn measure(&mut self, ack: &Ack) {
        let gap = self.last_ack.map(|last| ack.now.since(last));
        self.last_ack = Some(ack.now);
        if ack.round_start {
            self.closest_before = self.closest;
            self.closest = f64::INFINITY;
            return;
        }
        if let Some(gap) = gap.filter(|gap| !gap.is_zero())
            && ack.acked > 0.0
        {
            self.closest = self.closest.min(gap.as_nanos() as f64 / ack.acked);
        }
    }

    /// Wt at the end of slow start.
    fn fitting_window(&self) -> Option<Segments> {
        let base = self.vegas.base_rtt()?;
        let closest = self.closest_before.min(self.closest);
        let product = base.as_nanos() as f64 / closest;
        closest.is_finite().then_some(product + self.vegas.alpha())
    }
}

impl Algorithm for NewVegas {
    fn controls() -> Vec<Control<NewVegas>> {
        let described = Described {
            name: "new-vegas",
            summary: "Vegas with pacing, packet pairs and rapid window convergence",
            source: "Sing & Soh 2005 and 2006 (abstracts), Salamanca 2008",
            open: "the three changes are named without a formula: all of it is our reading, not \
                   the original",
            family: Family::Delay,
            transport: TransportDefaults {
                summary: "Vegas with paced pairs in slow start and rapid window convergence (our \
                          reading)",
                source: "Sing & Soh 2005 and 2006",
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        type Settings = (VegasParameters, NewVegasParts);
        vec![Control::new(described, |(vegas, parts): Settings| {
            NewVegas::new(Vegas::new(vegas), parts)
        })]
    }
}

impl CongestionControl for NewVegas {
    named!("new-vegas");
    delegates!(vegas: on_established, on_recovery_exit, on_spurious, bandwidth_estimate);

    #[inline]
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.duplicate {
            self.measure(ack);
        }
        self.vegas.on_sample(ack, window);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let slow_start = window.in_slow_start();
        self.vegas.on_ack(ack, window);
        if self.parts.convergence && slow_start && !window.in_slow_start() {
            self.vegas.converge_to(self.fitting_window());
        }
        self.pace(ack.smoothed_rtt, ack.mss, window);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        self.vegas.converge_to(None);
        self.vegas.on_loss(loss, window);
        NewVegas::stop_pacing(window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.vegas.converge_to(None);
        self.vegas.on_timeout(timeout, window);
        NewVegas::stop_pacing(window);
    }
}
