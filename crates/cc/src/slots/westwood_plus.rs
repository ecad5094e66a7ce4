//! TCP Westwood+: Westwood with one bandwidth sample per round trip.
//!
//! Sources: Grieco & Mascolo 2004 (once per round, the filters, the cut);
//! Linux, `westwood` (two cascaded filters in whole numbers, its cut). A sample
//! is the data acknowledged since the last one / the time it took, which is at
//! least max(RTT, 50 ms). The cut is that of Westwood.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | filter | exponential | .9 BWE + .1 b (the paper) |
//! | | tustin | .9 BWE + .1 (b + b_last) / 2 (ns-3) |
//! | | linux | two 7/8 filters in whole bytes per tick; the first sample loads both |
//! | | linux-from-zero | the same, starting from zero (older Linux) |
//! | | time-constant | a BWE + (1 - a) b with a = exp(-T / tau), T the time of the sample (type 9 of the authors' agent for ns-2) |
//! | tau | 1 s | time constant of that filter |
//! | tick_rate | 100 | ticks per second of the linux filters (HZ of Linux 2.4) |
//! | cut | at-loss | `linux`: half at the loss, BWE x smallest RTT when recovery ends |
//! | accounting | dupack | `delivered`: what SACK says arrived |
//! | skip_app_limited | true | a sample from an unused window counts only if larger |
//!
//! Left open, and the reading chosen:
//! - The first interval begins one RTT before the first ACK, when the data
//!   that it acknowledges left.
//! - An application-limited sample carries no information about the path unless it is above the
//!   estimate; Linux takes all of them (`skip_app_limited = false`).
//! - Before the first sample, and without an RTT, the cut is half of the flight.
//! - The filters of the paper and of ns-3 start from zero: a loss in the first
//!   rounds finds an estimate far below the rate, and cuts to that. `linux`
//!   starts from the first sample.

use super::estimate::{Accounting, AckCount, CutTo, bits};
use super::newreno::{Reno, Standard};
use crate::declaration::{Control, Described, TransportDefaults, of_slots};
use crate::hoe::HoeOff;
use crate::parameter::{flag, number, parameters, time, word, words};
use crate::slot::{LossReaction, Parts};
use crate::{Ack, HostRules, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Rate, Segments, Time, math};

const MIN_INTERVAL: Duration = Duration::from_millis(50);

/// The control `westwood+`.
pub(crate) fn westwood_plus() -> Control<Parts<Standard, Reno, WestwoodPlus, HoeOff>> {
    of_slots(Described {
        name: "westwood+",
        summary: "Westwood with one bandwidth sample per round trip",
        source: "Grieco & Mascolo 2004; Linux westwood",
        open: "samples that the application limited: count only if larger than the estimate",
        transport: TransportDefaults {
            source: "Grieco & Mascolo 2004",
            ..TransportDefaults::NEW
        },
        ..Described::NEW
    })
}

words! {
    /// The filter by its name; [`PlusFilter`] has the numbers.
    pub enum PlusFilterWord {
        /// The paper's.
        Exponential = "exponential",
        /// That of ns-3.
        Tustin = "tustin",
        /// That of Linux.
        Linux = "linux",
        /// That of older Linux.
        LinuxFromZero = "linux-from-zero",
        /// Type 9 of the ns-2 agent.
        TimeConstant = "time-constant",
    }
}

words! {
    /// When the window is cut to the estimate.
    pub enum Cut {
        /// When the loss is found (the papers, ns-3).
        AtLoss = "at-loss",
        /// Half when the loss is found, the estimate when recovery ends (Linux).
        Linux = "linux",
    }
}

parameters! {
    /// Settings of [`WestwoodPlus`].
    pub struct WestwoodPlusParameters {
        filter: PlusFilterWord = word(),
            "low-pass on the samples: the paper's, ns-3's, those of Linux, type 9 of the ns-2 \
             agent";
        tau: Duration =
            time(Duration::from_secs(1), (Duration::from_millis(1), Duration::from_secs(3600))),
            "time constant of time-constant";
        tick_rate: f64 = number(100.0, "1/s", (1.0, 1e9)),
            "ticks per second of the linux filters (HZ)";
        cut: Cut = word(), "cut to the estimate at the loss or after recovery";
        accounting: Accounting = word(),
            "what an ACK accounts for: a duplicate is one segment, or what SACK says";
        skip_app_limited: bool = flag(true),
            "a sample from a window that was not used counts only if larger";
    }
}

/// How samples become the estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PlusFilter {
    /// .9 on the estimate, .1 on the sample.
    #[default]
    Exponential,
    /// .9 on the estimate, .1 on the mean of the last two samples.
    Tustin,
    /// Two cascaded 7/8 filters in whole bytes per tick.
    Linux {
        /// Ticks per second.
        tick_rate: f64,
        /// Start both filters from zero instead of the first sample.
        from_zero: bool,
    },
    /// exp(-T / tau) on the estimate, the rest on a sample over T.
    TimeConstant(Duration),
}

/// The state of Westwood+ in a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WestwoodPlus {
    filter: PlusFilter,
    cut: Cut,
    skip_app_limited: bool,
    count: AckCount,
    /// Bandwidth estimate BWE, bit/s.
    estimate: f64,
    /// The last sample, bit/s.
    last_sample: f64,
    /// Both filters of Linux, bytes per tick.
    stages: [u64; 2],
    samples: u64,
    /// When the running interval began.
    since: Option<Time>,
    /// Segments acknowledged in it.
    acked: Segments,
    /// True once an ACK of it found the window in full use.
    used: bool,
    rtt: Duration,
    cut_to: CutTo,
}

impl WestwoodPlus {
    /// Westwood+ with the given filter, cut, accounting and treatment of
    /// samples from a window that was not used.
    #[must_use]
    pub fn new(
        filter: PlusFilter,
        cut: Cut,
        accounting: Accounting,
        skip_app_limited: bool,
    ) -> WestwoodPlus {
        WestwoodPlus {
            filter,
            cut,
            skip_app_limited,
            count: AckCount::new(accounting),
            estimate: 0.0,
            last_sample: 0.0,
            stages: [0; 2],
            samples: 0,
            since: None,
            acked: 0.0,
            used: false,
            rtt: Duration::ZERO,
            cut_to: CutTo::NEW,
        }
    }

    fn end_interval(&mut self, ack: &Ack, interval: Duration) {
        let sample = bits(core::mem::take(&mut self.acked), ack.mss) / interval.as_secs();
        let used = core::mem::take(&mut self.used);
        self.since = Some(ack.now);
        if used || !self.skip_app_limited || sample > self.estimate {
            self.take(sample, interval);
        }
    }

    /// Takes a sample of `sample` bit/s over `interval` into the estimate.
    fn take(&mut self, sample: f64, interval: Duration) {
        self.estimate = match self.filter {
            PlusFilter::Tustin => 0.9 * self.estimate + 0.1 * (sample + self.last_sample) / 2.0,
            PlusFilter::Exponential => 0.9 * self.estimate + 0.1 * sample,
            PlusFilter::TimeConstant(tau) => {
                let old = math::exp(-interval.as_secs() / tau.as_secs().max(1e-9));
                old * self.estimate + (1.0 - old) * sample
            }
            PlusFilter::Linux {
                tick_rate,
                from_zero,
            } => {
                let whole = (sample / (8.0 * tick_rate)) as u64;
                self.stages = if self.samples == 0 && !from_zero {
                    [whole; 2]
                } else {
                    cascade(self.stages, whole)
                };
                self.stages[1] as f64 * 8.0 * tick_rate
            }
        };
        self.last_sample = sample;
        self.samples += 1;
    }

    /// Estimate x `rtt`, segments.
    fn fitting(&self, rtt: Duration, mss: u32) -> Option<Segments> {
        self.cut_to.fitting(self.estimate, rtt, mss)
    }
}

fills! { WestwoodPlus, "westwood+", "bandwidth estimate per round x smallest RTT",
    |p: WestwoodPlusParameters| {
        let linux = |from_zero| PlusFilter::Linux {
            tick_rate: p.tick_rate,
            from_zero,
        };
        let filter = match p.filter {
            PlusFilterWord::Exponential => PlusFilter::Exponential,
            PlusFilterWord::Tustin => PlusFilter::Tustin,
            PlusFilterWord::Linux => linux(false),
            PlusFilterWord::LinuxFromZero => linux(true),
            PlusFilterWord::TimeConstant => PlusFilter::TimeConstant(p.tau),
        };
        WestwoodPlus::new(filter, p.cut, p.accounting, p.skip_app_limited)
    }
}

impl LossReaction for WestwoodPlus {
    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        // The agents of ns-2 time one segment a round trip: its first one, which
        // meets no queue of its own round.
        let timed = !self.cut_to.as_agent || ack.round_start || self.rtt.is_zero();
        if let (Some(rtt), true) = (ack.rtt, timed) {
            self.rtt = rtt;
        }
        self.acked += self.count.count(ack);
        self.used |= ack.cwnd_limited;
        let since = match self.since {
            Some(since) => since,
            None => {
                let since = ack.now.as_nanos().saturating_sub(self.rtt.as_nanos());
                let since = Time::from_nanos(since);
                self.since = Some(since);
                since
            }
        };
        let interval = ack.now.since(since);
        if interval >= self.rtt.max(MIN_INTERVAL) {
            self.end_interval(ack, interval);
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let half = (loss.flight / 2.0).max(2.0);
        let fitting = self.fitting(loss.min_rtt, loss.mss);
        match (self.cut, fitting) {
            (Cut::AtLoss, Some(fitting)) => {
                window.ssthresh = fitting;
                window.cwnd = window.cwnd.min(fitting);
            }
            (Cut::Linux, _) | (_, None) => {
                window.ssthresh = half;
                window.cwnd = half;
            }
        }
        self.cut_to.cwnd = window.cwnd;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.cut_to.on_timeout(self.estimate, timeout, window);
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        if self.cut == Cut::AtLoss {
            return self.cut_to.on_recovery_exit(exit, window);
        }
        if let Some(fitting) = self.fitting(exit.min_rtt, exit.mss) {
            window.ssthresh = fitting;
        }
        exit.leave(window.ssthresh, window);
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        (self.estimate > 0.0).then(|| Rate::from_bps_f64(self.estimate))
    }

    fn apply_host_rules(&mut self, rules: HostRules) {
        self.cut_to.as_agent |= rules.exact_halves;
    }
}

/// One step of two 7/8 filters in whole numbers, the second fed by the first.
fn cascade(stages: [u64; 2], sample: u64) -> [u64; 2] {
    let eighth = |old: u64, new: u64| old.saturating_mul(7).saturating_add(new) / 8;
    let first = eighth(stages[0], sample);
    [first, eighth(stages[1], first)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimates(filter: PlusFilter, sample: f64) -> Vec<f64> {
        let mut westwood = WestwoodPlus::new(filter, Cut::AtLoss, Accounting::DupAck, true);
        (0..5)
            .map(|_| {
                westwood.take(sample, Duration::from_millis(600));
                westwood.estimate
            })
            .collect()
    }

    #[test]
    fn tustin_filter_of_ns3() {
        let got = estimates(PlusFilter::Tustin, 1000.0);
        for (got, want) in got.iter().zip([50.0, 145.0, 230.5, 307.45, 376.705]) {
            assert!((got - want).abs() < 1e-9, "{got} {want}");
        }
    }

    #[test]
    fn a_time_constant_weighs_samples_by_their_length() {
        // exp(-0.6) = 0.548812 on the estimate.
        let filter = PlusFilter::TimeConstant(Duration::from_secs(1));
        let got = estimates(filter, 1000.0);
        for (got, want) in got
            .iter()
            .zip([451.188, 698.806, 834.701, 909.282, 950.213])
        {
            assert!((got - want).abs() < 1e-3, "{got} {want}");
        }
    }

    #[test]
    fn linux_filters_in_whole_numbers() {
        // Samples of 1000 bytes per tick.
        let filter = |from_zero| PlusFilter::Linux {
            tick_rate: 1000.0,
            from_zero,
        };
        let old = estimates(filter(true), 8e6);
        let ticks: Vec<f64> = old.iter().map(|bps| bps / 8000.0).collect();
        assert_eq!(ticks, [15.0, 42.0, 77.0, 118.0, 163.0]);
        assert_eq!(estimates(filter(false), 8e6), [8e6; 5]);
    }
}
