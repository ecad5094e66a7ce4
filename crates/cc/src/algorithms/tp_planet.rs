//! TP-Planet-like probing: congestion is what low-priority packets suffer and data
//! do not.
//!
//! Source: Akan, Fang & Akyildiz, "TP-Planet: A Reliable Transport Protocol for Interplanetary
//! Internet", IEEE JSAC 22(2), 2004, of which the abstract could be read. It says: AIMD on a rate
//! with parameters tuned for long round trips; an Initial State that captures the link's resources
//! fast and under control in place of slow start; decisions about congestion that are decoupled
//! from single losses; a Blackout State; delayed SACK for asymmetric links. Sarkar, Shukla &
//! Dasgupta (2010), section 1, mention it together with TCP-Peach and RCS for its probing. **The
//! rules and all numbers below are our reading, not the protocol.**
//!
//! - Initial State: one segment of data, then low-priority dummies up to `reach` or
//!   the receive window, spread over a round trip. n answers within a round trip of
//!   the first: the rate is n segments a round trip.
//! - Steady State: dummies accompany the data, `share` of the rate and at least 4 a round trip.
//!   Once at least 8 have been judged, the share of them that was answered is divided by the share
//!   of the data that arrived in the same time: phi. Errors strike both alike, a queue that drops
//!   low priority first strikes the dummies. phi >= `increase_above`: the rate rises by `increase`
//!   segments a round trip. phi < `decrease_below`: it falls to `decrease` x the rate. Between them
//!   it stays. Losses by themselves change nothing.
//! - Blackout State, after a timeout: the rate is kept, one segment goes each
//!   retransmission timeout, which does not double, and the first ACK ends it.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | reach | 1000 | segments: probe for no more, however large the receive window |
//! | share | 0.05 | dummies per segment of data |
//! | increase_above, decrease_below | 0.9, 0.6 | phi |
//! | increase | 4 | segments a round trip, each round trip |
//! | decrease | 0.875 | of the rate |
//!
//! Also ours:
//! - Delayed SACK is left to a scenario (`delayed_ack` of the transport).
//! - The window is twice what the rate sends in a round trip; the rate does not
//!   grow after a round trip that used less than half of it.
//!
//! Example: 20 dummies, 18 answered, 400 segments of data of which 40 were lost:
//! phi = 0.9 / 0.9 = 1, an error; 8 answered and none lost: phi = 0.4, congestion.

use super::probed_rate::ProbedRate;
use crate::declaration::{Algorithm, Control, Described, Family, LossRecovery, TransportDefaults};
use crate::event::half;
use crate::parameter::{number, parameters};
use crate::{
    Ack, CongestionControl, Loss, Phase, ProbeContent, Probes, RecoveryExit, Repair, Timeout,
    Window,
};
use bentpipe_units::{Duration, Segments};

/// Dummies a round trip, at least, and before phi is judged.
const LEAST: u32 = 4;
const JUDGED: u32 = 8;

parameters! {
    /// Settings of [`TpPlanet`].
    #[derive(Copy)]
    pub struct TpPlanetParameters {
        reach: f64 = number(1000.0, "segments", (1.0, 1_000_000.0)),
            "probe for no larger window than this; the receive window bounds it, too";
        share: f64 = number(0.05, "dummies per segment", (0.001, 1.0)),
            "dummies of the steady state";
        increase_above: f64 = number(0.9, "", (0.0, 1.0)),
            "the rate rises where dummies fare at least so well, compared with data";
        decrease_below: f64 = number(0.6, "", (0.0, 1.0)),
            "it falls where they fare worse than so";
        increase: f64 = number(4.0, "segments per RTT", (0.0, 1_000.0)),
            "what a round trip adds";
        decrease: f64 = number(0.875, "of the rate", (0.01, 1.0)),
            "what congestion leaves";
    }
}

/// State of TP-Planet-like probing for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct TpPlanet {
    parameters: TpPlanetParameters,
    probed: ProbedRate,
    /// Dummies of this round trip, whose answers come in the next.
    sent: u32,
    /// Dummies that are being judged, and their answers.
    judged: u32,
    answered: u32,
    /// Data that arrived and was lost meanwhile, segments.
    arrived: Segments,
    lost: Segments,
    blackout: bool,
}

impl TpPlanet {
    /// A new connection with these settings, before its first round trip.
    #[must_use]
    /// TP-Planet with these parameters, before the first acknowledgement.
    pub const fn new(parameters: TpPlanetParameters) -> TpPlanet {
        TpPlanet {
            parameters,
            probed: ProbedRate::new(parameters.reach),
            sent: 0,
            judged: 0,
            answered: 0,
            arrived: 0.0,
            lost: 0.0,
            blackout: false,
        }
    }

    /// The rate, segments a second.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.probed.rate
    }

    /// How dummies fared compared with data; `None` while too few have been sent.
    fn phi(&self) -> Option<f64> {
        if self.judged < JUDGED {
            return None;
        }
        let dummies = f64::from(self.answered) / f64::from(self.judged);
        let all = self.arrived + self.lost;
        let data = if all > 0.0 { self.arrived / all } else { 1.0 };
        (data > 0.0).then(|| dummies / data)
    }

    fn forget(&mut self) {
        (self.judged, self.answered) = (0, 0);
        (self.arrived, self.lost) = (0.0, 0.0);
    }

    /// A round trip has passed: judges, and sends the dummies of the next.
    fn turn(&mut self, window: &mut Window) {
        let p = self.parameters;
        if let Some(phi) = self.phi() {
            if phi < p.decrease_below {
                self.probed.rate *= p.decrease;
            } else if phi >= p.increase_above && self.probed.in_use {
                self.probed.add(p.increase);
            }
            self.forget();
        }
        if self.judged == 0 {
            self.forget();
        }
        self.judged = self.judged.saturating_add(self.sent);
        let wanted = p.share * self.probed.per_round_trip();
        self.sent = (wanted as u32).max(LEAST);
        window.actions.probes = Some(Probes {
            count: self.sent,
            interval: self.probed.rtt() / u64::from(self.sent),
            content: ProbeContent::Copy,
        });
    }
}

impl Algorithm for TpPlanet {
    fn controls() -> Vec<Control<TpPlanet>> {
        let described = Described {
            name: "tp-planet",
            summary: "a rate that rises and falls by how low-priority dummies fare beside data",
            source: "Akan, Fang & Akyildiz 2004 (abstract)",
            open: "all rules and numbers of its states are our reading, not the protocol. Needs \
                   queues that drop low priority first",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "TP-Planet-like: dummies beside the data show congestion, losses do not; \
                          needs priority queues",
                source: "Akan, Fang & Akyildiz 2004 (our reading of its abstract)",
                initial_window: Some(1.0),
                recovery: Some(LossRecovery::Sack),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, TpPlanet::new)]
    }
}

impl CongestionControl for TpPlanet {
    named!("tp-planet");
    always!(owns_window);
    ignores!(on_ack, on_recovery_exit, on_spurious);

    fn on_open(&mut self, receive_window: Segments) {
        self.probed.opening.set_receive_window(receive_window);
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.probed.opening.establish(rtt, window);
    }

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        let starting = self.probed.opening.is_on();
        let round_start = self.probed.on_sample(ack, window);
        if self.probed.opening.is_on() {
            return;
        }
        if starting {
            self.sent = 0;
            self.forget();
        }
        self.answered = self.answered.saturating_add(ack.probes);
        self.arrived += ack.delivered;
        self.lost += ack.lost;
        if round_start {
            self.turn(window);
        }
    }

    fn on_control(&mut self, ack: &Ack, _: Repair, window: &mut Window) {
        if ack.acked > 0.0 || ack.probes > 0 {
            self.blackout = false;
        }
        if !self.blackout {
            self.probed.steer(window);
        }
    }

    /// A mark is congestion; a loss is judged with the dummies.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        window.ssthresh = (loss.flight / 2.0).max(2.0);
        self.probed.opening.stop();
        if loss.ecn {
            self.probed.rate *= self.parameters.decrease;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        timeout.reduce(window, half);
        self.sent = 0;
        self.forget();
        if self.probed.rate > 0.0 {
            self.probed.opening.stop();
            self.blackout = true;
            window.actions.keeps_rto = true;
        } else {
            self.probed.begin(window);
        }
    }

    fn phase(&self, _: &Window) -> Phase {
        if self.blackout {
            Phase::Own("blackout")
        } else if self.probed.opening.is_on() {
            Phase::Own("initial")
        } else {
            Phase::Own("steady")
        }
    }
}
