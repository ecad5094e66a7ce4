//! TCP Westwood: after a loss, the window that the ACKs have shown to fit.
//!
//! Source: Mascolo, Casetti, Gerla et al. 2001 (the law and the filter). Every
//! ACK, duplicates included, gives a sample b = data it accounts for / time since
//! the last ACK; a low-pass filter turns samples into the estimate BWE. A loss
//! sets ssthresh = max(2, BWE x smallest RTT) and cwnd = min(cwnd, ssthresh); a
//! timeout the same ssthresh and cwnd = 1. The agents that UCLA and Bari released
//! for ns-2 do some of this otherwise: they are `westwood-nr` and
//! `westwood-bari` ([`super::WestwoodAgent`]).
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | filter | tustin | `type-0`, `type-1`, `type-2`: fixed weights |
//! | tau | 500 ms | time constant of tustin |
//! | zero_samples (m) | 2 | zero samples every tau / m without an ACK |
//! | accounting | dupack | `delivered`: what SACK says arrived |
//!
//! - tustin: BWE_k = ((2 tau / D - 1) BWE_{k-1} + b_k + b_{k-1}) / (2 tau / D + 1),
//!   D the time since the last sample;
//! - type-0: BWE_k = .9 BWE_{k-1} + .1 b_k;
//! - type-1: BWE_k = .9047 BWE_{k-1} + .0476 (b_k + b_{k-1}): tustin at
//!   tau = 10 D; no zero samples;
//! - type-2: the same with .93548 and .03225: tustin at tau = 15 D.
//!
//! The weights are those of UCLA's agents, which call them so. A connection that
//! sends a window in one burst a round trip (RTT 600 ms) makes all of these
//! estimate the rate within the bursts, not the mean: with tustin because the last
//! sample of a burst is taken to reach half way into the pause.
//!
//! On a host that follows the agents of ns-2 ssthresh is a whole number, and
//! the end of recovery leaves cwnd alone.
//!
//! Left open, and the reading chosen:
//! - Several ACKs at one instant are one sample.
//! - Zero samples of tustin are at tau / m, 2 tau / m, ... after the last ACK;
//!   the sample of the ACK that ends the silence divides by the whole silence.
//! - Before the first sample, and without an RTT, the cut is half of the flight.
//! - A window below ssthresh at the loss stays there when recovery ends, and the connection
//!   continues in slow start: Caini & Firrincieli 2006 suppose that this happens often.

use super::estimate::{Accounting, AckCount, CutTo, bits};
use super::newreno::{Reno, Standard};
use crate::declaration::{Control, Described, LossRecovery, TransportDefaults, of_slots};
use crate::hoe::HoeOff;
use crate::parameter::{number, parameters, time, word, words};
use crate::slot::{LossReaction, Parts};
use crate::{Ack, HostRules, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::math;
use bentpipe_units::{Duration, Rate, Segments, Time};

/// The control `westwood`.
pub(crate) fn westwood() -> Control<Parts<Standard, Reno, Westwood, HoeOff>> {
    of_slots(Described {
        name: "westwood",
        on_linux: Some("westwood-linux"),
        summary: "cuts to the bandwidth that the ACKs show, estimated at every ACK",
        source: "Mascolo, Casetti, Gerla et al. 2001; weights of type-0 to type-2: UCLA's agents \
                 for ns-2",
        open: "a window below ssthresh at a loss stays below it after recovery",
        transport: TransportDefaults {
            summary: "cuts to the bandwidth that the ACKs show; NewReno recovery",
            source: "Mascolo, Casetti, Gerla et al. 2001",
            recovery: Some(LossRecovery::NewReno),
            ..TransportDefaults::NEW
        },
        settles: true,
        ..Described::NEW
    })
}

words! {
    /// The filter by its name; [`Filter`] has the numbers.
    pub enum WestwoodFilter {
        /// The paper's.
        Tustin = "tustin",
        /// Fixed weights of the ns-2 agent.
        Type0 = "type-0",
        /// Fixed weights of the ns-2 agent.
        Type1 = "type-1",
        /// Fixed weights of the ns-2 agent.
        Type2 = "type-2",
    }
}

parameters! {
    /// Settings of [`Westwood`].
    pub struct WestwoodParameters {
        filter: WestwoodFilter = word(),
            "low-pass on the samples: the paper's, or fixed weights";
        tau: Duration =
            time(Duration::from_millis(500), (Duration::from_millis(1), Duration::from_secs(3600))),
            "time constant of tustin";
        zero_samples: f64 = number(2.0, "", (1.0, 1000.0)),
            "m: zero samples every tau / m without an ACK";
        accounting: Accounting = word(),
            "what an ACK accounts for: a duplicate is one segment, or what SACK says";
    }
}

fills! { Westwood, "westwood", "bandwidth estimate per ACK x smallest RTT",
    |p: WestwoodParameters| {
        let filter = match p.filter {
            WestwoodFilter::Tustin => Filter::Tustin {
                tau: p.tau,
                zero_samples: p.zero_samples,
            },
            WestwoodFilter::Type0 => Filter::TYPE_0,
            WestwoodFilter::Type1 => Filter::TYPE_1,
            WestwoodFilter::Type2 => Filter::TYPE_2,
        };
        Westwood::new(filter, p.accounting)
    }
}

/// The low-pass filter of the bandwidth samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// Exponential filter with constant weights.
    Weights {
        /// Weight of the estimate.
        old: f64,
        /// Weight of the new sample.
        new: f64,
        /// Weight of the sample before it.
        last: f64,
    },
    /// Tustin's approximation of a first-order low-pass.
    Tustin {
        /// Time constant of the filter.
        tau: Duration,
        /// Zero samples every tau / m without an ACK.
        zero_samples: f64,
    },
}

impl Filter {
    /// Type 0 of the ns-2 agent.
    pub const TYPE_0: Filter = Filter::Weights {
        old: 0.9,
        new: 0.1,
        last: 0.0,
    };

    /// Type 1 of the ns-2 agent.
    pub const TYPE_1: Filter = Filter::Weights {
        old: 0.9047,
        new: 0.0476,
        last: 0.0476,
    };

    /// Type 2 of the ns-2 agent.
    pub const TYPE_2: Filter = Filter::Weights {
        old: 0.93548,
        new: 0.03225,
        last: 0.03225,
    };
}

/// The state of Westwood in a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Westwood {
    filter: Filter,
    count: AckCount,
    /// Bandwidth estimate BWE, bit/s.
    estimate: f64,
    /// The last sample, bit/s.
    last_sample: f64,
    last_ack: Option<Time>,
    /// Segments of ACKs at the instant of the last one.
    pending: Segments,
    cut: CutTo,
}

impl Westwood {
    /// Westwood with the given filter and accounting.
    #[must_use]
    pub fn new(filter: Filter, accounting: Accounting) -> Westwood {
        Westwood {
            filter,
            count: AckCount::new(accounting),
            estimate: 0.0,
            last_sample: 0.0,
            last_ack: None,
            pending: 0.0,
            cut: CutTo::NEW,
        }
    }

    /// Takes `bits` into the estimate, acknowledged `gap` seconds after the last
    /// ACK.
    #[inline]
    fn filter(&mut self, gap: f64, bits: f64) {
        let sample = bits / gap;
        match self.filter {
            Filter::Weights { old, new, last } => {
                self.estimate = old * self.estimate + new * sample + last * self.last_sample;
            }
            Filter::Tustin { tau, zero_samples } => {
                let tau = tau.as_secs().max(1e-9);
                let period = tau / zero_samples;
                let rest = if gap > period {
                    self.silence(tau, period, gap)
                } else {
                    gap
                };
                self.step(tau, rest, sample);
            }
        }
        self.last_sample = sample;
    }

    /// The zero samples of a silence of `gap` seconds; what is left after the
    /// last of them.
    #[cold]
    fn silence(&mut self, tau: f64, period: f64, gap: f64) -> f64 {
        let zeros = (gap / period).ceil() - 1.0;
        self.step(tau, period, 0.0);
        self.last_sample = 0.0;
        // All further ones weigh the estimate alike.
        let ratio = 2.0 * tau / period;
        self.estimate *= math::pow((ratio - 1.0) / (ratio + 1.0), zeros - 1.0);
        (gap - zeros * period).clamp(1e-9, period)
    }

    #[inline]
    fn step(&mut self, tau: f64, gap: f64, sample: f64) {
        let ratio = 2.0 * tau / gap;
        self.estimate = ((ratio - 1.0) * self.estimate + sample + self.last_sample) / (ratio + 1.0);
    }
}

impl LossReaction for Westwood {
    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        self.pending += self.count.count(ack);
        let Some(last) = self.last_ack else {
            self.last_ack = Some(ack.now);
            self.pending = 0.0;
            return;
        };
        let gap = ack.now.since(last);
        if gap.is_zero() {
            return;
        }
        self.last_ack = Some(ack.now);
        let gap = gap.as_secs();
        let bits = bits(core::mem::take(&mut self.pending), ack.mss);
        self.filter(gap, bits);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        window.ssthresh = self
            .cut
            .fitting(self.estimate, loss.min_rtt, loss.mss)
            .unwrap_or((loss.flight / 2.0).max(2.0));
        window.cwnd = window.cwnd.min(window.ssthresh);
        self.cut.cwnd = window.cwnd;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.cut.on_timeout(self.estimate, timeout, window);
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        self.cut.on_recovery_exit(exit, window);
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        (self.estimate > 0.0).then(|| Rate::from_bps_f64(self.estimate))
    }

    fn apply_host_rules(&mut self, rules: HostRules) {
        self.cut.as_agent |= rules.exact_halves;
    }
}
