//! TP-Planet: a rate for paths with round trips of minutes, found within the first two
//! and controlled by how low-priority packets fare beside those of normal priority.
//!
//! Source: Akan, Fang & Akyildiz, "TP-Planet: A Reliable Transport Protocol for Interplanetary
//! Internet", IEEE JSAC 22(2), 2004, of which public abstracts and descriptions could be read.
//! They say: AIMD on a rate with parameters tuned for long round trips; an Initial State with the
//! phases Immediate Start and Follow-Up, which emulates slow start and congestion avoidance
//! within a round trip, in time slots; a Steady State in which NIX segments of low and of high
//! priority accompany the data, and the ratio of their arrivals decides whether the rate is
//! held, increased or decreased, in place of single losses; a Blackout State; delayed SACK for
//! asymmetric links. **The rules within the states and all numbers are our reading.**
//!
//! A round trip R is divided into `slots` of T = R / `slots`.
//!
//! - Immediate Start, the first round trip: a segment of data, then low-priority NIX segments: one
//!   in the first slot, twice as many in each further one up to `threshold` x m, then in even
//!   steps up to m in the last slot; m = `reach` / `slots`, bounded by the receive window.
//! - Follow-Up, the round trip in which their answers come: after each slot with n answers data
//!   goes at n / T, unless it goes faster already.
//! - Steady: pairs of NIX segments, one of low and one of normal priority, accompany the data,
//!   `share` of the rate and at least 8 pairs a round trip. At the end of a slot, once 8 of normal
//!   priority have been answered, phi = answers at low priority / answers at normal priority. Errors
//!   and blackouts strike both alike, a queue that drops low priority first strikes one.
//!   phi >= `increase_above`: Increase, `increase` segments a round trip more after each slot.
//!   phi < `decrease_below`: Decrease, to `decrease` x the rate, once in a round trip. Between
//!   them: Hold. Losses of data change nothing.
//! - Blackout, after a retransmission timeout, before which nothing has been acknowledged: the rate
//!   is kept and not used. A pair of NIX segments goes in each slot, and a segment of data at each
//!   further timeout, which does not double. The first answer or ACK ends it: Hold at the rate of
//!   before.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | round_trip | 0 s | known beforehand, as from an ephemeris; 0: that of the handshake |
//! | slots | 20 | in a round trip |
//! | reach | 1000 | segments a round trip: start with no more, however large the receive window |
//! | threshold | 0.5 | of the most in a slot: the emulated slow start threshold |
//! | share | 0.05 | pairs per segment of data |
//! | increase_above, decrease_below | 0.9, 0.6 | phi |
//! | increase | 1 | segments a round trip, each slot |
//! | decrease | 0.875 | of the rate |
//!
//! Also ours:
//! - Who is silent does not know why: what the data has lost in a blackout is repaired like other
//!   losses. One that is shorter than the retransmission timeout shows as lost data only, and
//!   changes nothing.
//! - The timeout must leave room for the round trip: a transport for minutes needs `minimum_rto`
//!   above two of them, in which the loss of a retransmission shows.
//! - Delayed SACK is left to a scenario (`delayed_ack` of the transport).
//! - The window is twice what the rate sends in a round trip; the rate does not grow after a round
//!   trip that used less than half of it.
//! - A mark (ECN) is congestion: Decrease.
//!
//! Examples: with 20 slots, a reach of 1000 and the threshold 0.5 the slots have 1, 2, 4, 8, 16, 25,
//! 26, 28 ... 50 segments. 20 pairs, 18 and 18 answered: phi = 1, errors; 8 and 20: phi = 0.4,
//! congestion.

use super::probed_rate::ProbedRate;
use crate::declaration::{Algorithm, Control, Described, Family, LossRecovery, TransportDefaults};
use crate::event::half;
use crate::parameter::{number, parameters, time};
use crate::{
    Ack, CWND_LIMIT, CongestionControl, Loss, Phase, ProbeContent, ProbePattern, Probes,
    RecoveryExit, Repair, Timeout, Window,
};
use bentpipe_units::{Duration, Segments, Time};

/// Pairs a round trip, at least, and answers at normal priority before phi is judged.
const LEAST: f64 = 8.0;
const JUDGED: u32 = 8;

parameters! {
    /// Settings of [`TpPlanet`].
    #[derive(Copy)]
    pub struct TpPlanetParameters {
        round_trip: Duration = time(Duration::ZERO, (Duration::ZERO, Duration::from_secs(86_400))),
            "round trip that is known beforehand; 0 s: that of the handshake";
        slots: f64 = number(20.0, "per RTT", (2.0, 1000.0)),
            "time slots of a round trip";
        reach: f64 = number(1000.0, "segments per RTT", (1.0, 1_000_000_000.0)),
            "start with no more than this; the receive window bounds it, too";
        threshold: f64 = number(0.5, "of the most in a slot", (0.0, 1.0)),
            "up to this the segments of a slot double";
        share: f64 = number(0.05, "pairs per segment", (0.001, 1.0)),
            "NIX segments of the steady state";
        increase_above: f64 = number(0.9, "", (0.0, 1.0)),
            "the rate rises where low priority fares at least so well, compared with normal";
        decrease_below: f64 = number(0.6, "", (0.0, 1.0)),
            "it falls where low priority fares worse than so";
        increase: f64 = number(1.0, "segments per RTT", (0.0, 1_000_000.0)),
            "what a slot adds";
        decrease: f64 = number(0.875, "of the rate", (0.01, 1.0)),
            "what congestion leaves";
    }
}

/// Where the connection is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// No round trip is known yet.
    Unknown,
    ImmediateStart,
    /// Answers come since `since`; `count` in the slot that ends then.
    FollowUp {
        since: Time,
        slot_ends: Time,
        count: f64,
    },
    Hold,
    Increase,
    Decrease,
    Blackout,
}

/// State of TP-Planet for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct TpPlanet {
    parameters: TpPlanetParameters,
    probed: ProbedRate,
    state: State,
    /// End of the slot of the steady state.
    slot_ends: Time,
    /// Answers of the pairs that are being judged, at low and at normal priority.
    low: u32,
    high: u32,
    /// Pairs that are due, in part.
    credit: f64,
    /// The rate does not fall again before.
    decreases_from: Time,
}

impl TpPlanet {
    /// TP-Planet with these parameters, before the first acknowledgement.
    #[must_use]
    pub const fn new(parameters: TpPlanetParameters) -> TpPlanet {
        TpPlanet {
            parameters,
            probed: ProbedRate::new(parameters.reach),
            state: State::Unknown,
            slot_ends: Time::ZERO,
            low: 0,
            high: 0,
            credit: 0.0,
            decreases_from: Time::ZERO,
        }
    }

    /// The rate, segments a second.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.probed.rate
    }

    fn slots(&self) -> u32 {
        self.parameters.slots as u32
    }

    /// The length of a slot.
    fn slot(&self) -> Duration {
        let slot = self.probed.rtt() / u64::from(self.slots());
        slot.max(Duration::from_nanos(1))
    }

    /// Begins with what fills the slots of the first round trip.
    fn immediate_start(&mut self, window: &mut Window) {
        self.probed.rate = 0.0;
        window.pacing_rate = None;
        window.cwnd = 1.0;
        if self.probed.rtt().is_zero() {
            self.state = State::Unknown;
            return;
        }
        self.state = State::ImmediateStart;
        let p = self.parameters;
        let in_all = p.reach.min(self.probed.opening.receive_window);
        let most = (in_all / p.slots).max(1.0);
        window.actions.probes = Some(Box::new(Probes {
            count: self.slots(),
            interval: self.slot(),
            content: ProbeContent::Copy,
            pattern: ProbePattern::Slots {
                threshold: (p.threshold * most).max(1.0) as u32,
                most: most as u32,
            },
        }));
    }

    /// An answer of the Follow-Up phase; what came in the slot before is the rate.
    fn follow_up(&mut self, ack: &Ack) {
        let State::FollowUp {
            since,
            slot_ends,
            count,
        } = self.state
        else {
            return;
        };
        let answers = f64::from(ack.probes) + ack.acked;
        if ack.now < slot_ends {
            self.state = State::FollowUp {
                since,
                slot_ends,
                count: count + answers,
            };
            return;
        }
        let slot = self.slot();
        let most = CWND_LIMIT / self.probed.rtt().as_secs();
        let rate = (count / slot.as_secs()).min(most);
        self.probed.rate = self.probed.rate.max(rate);
        // Slots without an answer have passed at once.
        let passed = ack.now.since(slot_ends).as_nanos() / slot.as_nanos().max(1);
        self.state = State::FollowUp {
            since,
            slot_ends: slot_ends + slot * (passed + 1),
            count: answers,
        };
        if ack.now >= since + self.probed.rtt() {
            let least = 1.0 / self.probed.rtt().as_secs();
            self.probed.rate = self.probed.rate.max(least);
            self.hold(ack.now);
        }
    }

    /// Into the steady state, with nothing judged yet.
    fn hold(&mut self, now: Time) {
        self.state = State::Hold;
        self.slot_ends = now;
        self.forget();
    }

    fn forget(&mut self) {
        (self.low, self.high) = (0, 0);
    }

    /// A slot of the steady state has passed: judges, moves the rate, and sends
    /// the pairs of the next.
    fn end_slot(&mut self, now: Time, window: &mut Window) {
        let p = self.parameters;
        self.slot_ends = now + self.slot();
        if self.high >= JUDGED {
            let phi = f64::from(self.low) / f64::from(self.high);
            self.forget();
            self.state = if phi < p.decrease_below {
                State::Decrease
            } else if phi >= p.increase_above {
                State::Increase
            } else {
                State::Hold
            };
        }
        match self.state {
            State::Decrease => self.decrease(now),
            State::Increase if self.probed.in_use => self.probed.add(p.increase),
            _ => {}
        }
        let wanted = (p.share * self.probed.per_round_trip()).max(LEAST);
        self.credit += wanted / p.slots;
        let pairs = self.credit as u32;
        self.credit -= f64::from(pairs);
        if pairs > 0 {
            self.send_pairs(pairs, self.slot() / u64::from(pairs), window);
        }
    }

    /// Congestion; what it dropped says so for a round trip, and counts once.
    fn decrease(&mut self, now: Time) {
        if now >= self.decreases_from {
            self.probed.rate *= self.parameters.decrease;
            self.decreases_from = now + self.probed.rtt();
        }
    }

    fn send_pairs(&self, count: u32, interval: Duration, window: &mut Window) {
        window.actions.probes = Some(Box::new(Probes {
            count,
            interval,
            content: ProbeContent::Copy,
            pattern: ProbePattern::Pair,
        }));
    }
}

impl Algorithm for TpPlanet {
    fn controls() -> Vec<Control<TpPlanet>> {
        let described = Described {
            name: "tp-planet",
            summary: "a rate for round trips of minutes, by how low-priority packets fare",
            source: "Akan, Fang & Akyildiz 2004 (public abstracts and descriptions)",
            open: "the rules within its states and all numbers are our reading. Needs queues that \
                   drop low priority first",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "TP-Planet: NIX segments of two priorities show congestion, losses do \
                          not; needs priority queues",
                source: "Akan, Fang & Akyildiz 2004 (our reading of public descriptions)",
                initial_window: Some(1.0),
                recovery: Some(LossRecovery::SackRepeat),
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
        let known = self.parameters.round_trip;
        let rtt = rtt.or((!known.is_zero()).then_some(known));
        self.probed.opening.set_rtt(rtt.unwrap_or_default());
        self.immediate_start(window);
    }

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.probed.on_sample(ack, window);
        if self.probed.rtt().is_zero() {
            return;
        }
        match self.state {
            State::Unknown => self.immediate_start(window),
            State::ImmediateStart => {
                self.state = State::FollowUp {
                    since: ack.now,
                    slot_ends: ack.now + self.slot(),
                    count: f64::from(ack.probes) + ack.acked,
                };
            }
            State::FollowUp { .. } => self.follow_up(ack),
            State::Blackout => {
                // The pairs of the blackout end with it.
                self.hold(ack.now);
                self.end_slot(ack.now, window);
                if window.actions.probes.is_none() {
                    self.send_pairs(0, Duration::ZERO, window);
                }
            }
            State::Hold | State::Increase | State::Decrease => {
                self.low = self.low.saturating_add(ack.probes);
                self.high = self.high.saturating_add(ack.high_probes);
                if ack.now >= self.slot_ends {
                    self.end_slot(ack.now, window);
                }
            }
        }
    }

    fn on_control(&mut self, _: &Ack, _: Repair, window: &mut Window) {
        if self.state != State::Blackout {
            self.probed.steer(window);
        }
    }

    /// A mark is congestion; a loss is judged by what the pairs lose.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        window.ssthresh = half(loss.flight);
        if loss.ecn {
            self.decrease(loss.now);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        timeout.reduce(window, half);
        if self.probed.rate > 0.0 {
            self.state = State::Blackout;
            window.actions.keeps_rto = true;
            self.send_pairs(u32::MAX, self.slot(), window);
        } else {
            self.immediate_start(window);
        }
    }

    fn phase(&self, _: &Window) -> Phase {
        Phase::Own(match self.state {
            State::Unknown | State::ImmediateStart => "immediate_start",
            State::FollowUp { .. } => "follow_up",
            State::Hold => "hold",
            State::Increase => "increase",
            State::Decrease => "decrease",
            State::Blackout => "blackout",
        })
    }
}
