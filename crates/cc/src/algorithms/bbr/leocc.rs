//! `LeoCC`: BBR that measures its path anew at each reconfiguration of a low-orbit
//! network.
//!
//! Source: Lai et al., "LeoCC: Making Internet Congestion Control Robust to LEO
//! Satellite Dynamics", ACM SIGCOMM 2025. The paper itself was not read. Read were the
//! authors' public repository SpaceNetLab/LeoCC (its two READMEs, and the kernel module
//! of the simulation version, from which the numbers below are; nothing was taken over
//! as code), draft-lai-ccwg-lsncc-01 (abstract), and a public summary of the talk.
//!
//! Starlink assigns satellites to terminals anew every 15 s, at 12, 27, 42 and 57 s past
//! the minute; delay, capacity and loss change then. `LeoCC` is BBR version 1 with these
//! differences:
//!
//! - A reconfiguration is due at `offset` + n x `period`. `lead` before it the control
//!   is marked; from its cruise it probes the RTT. With half a bandwidth-delay product
//!   (at least 4 segments) in flight for 200 ms and a round, the smallest RTT becomes
//!   the RTT of the ACK that ends the probe, larger or not. The bandwidth filter is
//!   emptied, and startup begins again, at the pacing rate reached.
//! - While a probe drains, an RTT more than `rtt_fall` below the smoothed RTT shows a
//!   path that became shorter; the filter then begins with the last delivery rate.
//! - Between reconfigurations two Kalman filters smooth the largest delivery rate of a
//!   round and the RTT (process and measurement noise equal, first variance 6.25 times
//!   that). Where the smoothed RTT is `fluctuation` above the smallest there is a
//!   queue: bandwidth is the smoothed one, and the probing gain `queue_gain` (1.05)
//!   instead of 1.25. Otherwise it is the largest of `bandwidth_window` rounds.
//! - The RTT is also probed where the smallest is 20 s old; no policer detection.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | period | 15 s | from one reconfiguration to the next |
//! | offset | 12 s | the first, in time of the run (or later by periods) |
//! | lead | 100 ms | how long before it the probe begins |
//! | fluctuation | 10 ms | variation of the smallest RTT that is no queue (5 to 20 ms) |
//! | rtt_fall | 45 ms | fall of the RTT that shows a shorter path |
//! | queue_gain | 1.05 | pacing gain that probes where there is a queue |
//! | bandwidth_window | 10 | rounds |
//! | min_rtt_window | 20 s | |
//! | probe_rtt | 200 ms | least time with half a product in flight |
//! | high_gain, cwnd_gain, margin | 2.885, 2, 0.01 | as in [`super::Bbr`] |
//!
//! Left open or different, and our reading:
//! - The live version detects reconfigurations with a stream of pings from the terminal
//!   to the point of presence. A sender has no such stream here: the schedule of the
//!   simulation version is used. Its clock begins with the connection, ours with the
//!   run.
//! - The module marks only where an ACK falls into the 100 ms before; here the first ACK
//!   after their beginning does, so that a pause does not hide a reconfiguration.
//! - A reconfiguration during startup needs no second startup; one during drain or a
//!   probe acts at its end.
//! - Before a round of cruise there is no smoothed rate, and the largest counts.
//! - A startup every period overflows queues below about two bandwidth-delay products;
//!   nothing that was read says otherwise.
//! - The module computes the filters in integers, whose gain settles at 0.60; floats
//!   here, 0.62.

use super::{Bbr, BbrSettings, LEAST_WINDOW, MaxFilter, Mode};
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{number, parameters, time};
use crate::{Ack, CongestionControl, Loss, Phase, RecoveryExit, Repair, Timeout, Window};
use bentpipe_units::{Duration, Rate, Segments, Time};

/// Variance of the first estimate, where both noises have 1.
const FIRST_VARIANCE: f64 = 6.25;
/// Bandwidth-delay products in flight while the RTT is probed.
const PROBE_RTT_GAIN: f64 = 0.5;
/// The longest time that a setting may be.
const DAY: Duration = Duration::from_secs(86_400);

parameters! {
    /// What can be set; see the table above.
    #[derive(Copy)]
    pub struct LeoccSettings {
        period: Duration = time(Duration::from_secs(15), (Duration::from_millis(100), DAY)),
            "from one reconfiguration of the network to the next";
        offset: Duration = time(Duration::from_secs(12), (Duration::ZERO, DAY)),
            "time of the run at which one is due";
        lead: Duration = time(Duration::from_millis(100), (Duration::ZERO, DAY)),
            "how long before a reconfiguration its probe begins";
        fluctuation: Duration = time(Duration::from_millis(10), (Duration::ZERO, DAY)),
            "how far the smoothed RTT may exceed the smallest without a queue";
        rtt_fall: Duration = time(Duration::from_millis(45), (Duration::ZERO, DAY)),
            "fall of the RTT during a probe that shows a shorter path";
        queue_gain: f64 = number(1.05, "", (1.0, 10.0)), "probing gain where there is a queue";
        bandwidth_window: u64 = number(10.0, "rounds", (1.0, 10_000.0)),
            "length of the bandwidth filter";
        min_rtt_window: Duration = time(
            Duration::from_secs(20),
            (Duration::from_millis(1), DAY),
        ),
            "age at which the smallest RTT is probed again";
        probe_rtt: Duration = time(
            Duration::from_millis(200),
            (Duration::ZERO, Duration::from_secs(3600)),
        ),
            "least time of a probe of the RTT";
        high_gain: f64 = number(2.885, "", (1.0, 100.0)), "pacing and window gain of startup";
        cwnd_gain: f64 = number(2.0, "", (1.0, 100.0)), "window in bandwidth-delay products";
        margin: f64 = number(0.01, "", (0.0, 0.9)), "what pacing stays below the estimate";
    }
}

/// A scalar Kalman filter whose process and measurement noise have variance 1.
#[derive(Clone, Copy, Debug)]
struct Kalman {
    /// `None` before the first measurement.
    value: Option<f64>,
    variance: f64,
}

impl Kalman {
    const NEW: Kalman = Kalman {
        value: None,
        variance: FIRST_VARIANCE,
    };

    /// The first measurement counts whole.
    fn update(&mut self, measured: f64) {
        let before = self.variance + 1.0;
        let gain = before / (before + 1.0);
        self.variance = (1.0 - gain) * before;
        let value = self.value.unwrap_or(measured);
        self.value = Some(value + gain * (measured - value));
    }
}

/// The control; bandwidths in segments per second, RTTs in seconds.
#[derive(Clone, Debug)]
pub struct Leocc {
    settings: LeoccSettings,
    bbr: Bbr,
    /// Reconfigurations that have been due; `None` before the first ACK.
    due: Option<u64>,
    /// A reconfiguration has been due, and the path was not yet measured anew.
    pending: bool,
    smoothed_bw: Kalman,
    smoothed_rtt: Kalman,
    /// Largest delivery rate of this round, and the last one.
    round_bw: f64,
    latest_bw: f64,
    /// The delivery rate at which the path became shorter, in this probe.
    shorter_bw: f64,
}

impl Leocc {
    /// `LeoCC` with `settings`.
    #[must_use]
    pub fn new(settings: LeoccSettings) -> Leocc {
        let bbr = BbrSettings {
            high_gain: settings.high_gain,
            cwnd_gain: settings.cwnd_gain,
            bandwidth_window: settings.bandwidth_window,
            min_rtt_window: settings.min_rtt_window,
            probe_rtt: settings.probe_rtt,
            margin: settings.margin,
            policer: false,
            aggregation: true,
        };
        Leocc {
            settings,
            bbr: Bbr::new(bbr),
            due: None,
            pending: false,
            smoothed_bw: Kalman::NEW,
            smoothed_rtt: Kalman::NEW,
            round_bw: 0.0,
            latest_bw: 0.0,
            shorter_bw: 0.0,
        }
    }

    /// Marks a reconfiguration whose lead has begun since the last ACK.
    fn check_schedule(&mut self, now: Time) {
        let period = self.settings.period.as_nanos();
        let offset = self.settings.offset.as_nanos() % period;
        let ahead = now.as_nanos() + self.settings.lead.as_nanos();
        let due = (ahead + period - offset) / period;
        self.pending |= self.due.is_some_and(|before| due > before);
        self.due = Some(due);
    }

    /// Smooths the largest rate of a round of cruise that has ended, before the new
    /// round counts.
    fn update_smoothed(&mut self, ack: &Ack) {
        let Some(sample) = ack.rate_sample.filter(|s| !s.interval.is_zero()) else {
            return;
        };
        if sample.prior_delivered >= self.bbr.round_end {
            if self.bbr.mode == Mode::ProbeBw && self.round_bw > 0.0 {
                self.smoothed_bw.update(self.round_bw);
            }
            self.round_bw = 0.0;
        }
        let bw = sample.delivered / sample.interval.as_secs();
        self.round_bw = self.round_bw.max(bw);
        let rtt = sample.rtt.or(ack.rtt);
        if let (Mode::ProbeRtt, Some(rtt), Some(smoothed)) =
            (self.bbr.mode, rtt, self.smoothed_rtt.value)
            && smoothed > (rtt + self.settings.rtt_fall).as_secs()
        {
            self.shorter_bw = self.latest_bw;
        }
        self.latest_bw = bw;
    }

    /// The RTT shows a queue, between reconfigurations.
    fn queues(&self) -> bool {
        let most = self.bbr.min_rtt.as_secs() + self.settings.fluctuation.as_secs();
        self.bbr.mode == Mode::ProbeBw
            && !self.pending
            && self.smoothed_rtt.value.is_some_and(|rtt| rtt >= most)
    }

    /// The bandwidth that window and pacing rate follow.
    fn bw(&self) -> f64 {
        match self.smoothed_bw.value {
            Some(smoothed) if self.queues() => smoothed,
            _ => self.bbr.bandwidth.get(),
        }
    }

    fn probe_window(&self) -> Segments {
        let bw = self.bbr.bandwidth.get();
        self.bbr.product(bw, PROBE_RTT_GAIN).max(LEAST_WINDOW)
    }

    fn update_min_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let bbr = &mut self.bbr;
        let seen_at = *bbr.min_rtt_at.get_or_insert(ack.now);
        let expired = ack.now.since(seen_at) > self.settings.min_rtt_window;
        let rtt = ack.rate_sample.and_then(|sample| sample.rtt).or(ack.rtt);
        if let Some(rtt) = rtt
            && (rtt < bbr.min_rtt || expired)
        {
            bbr.min_rtt = rtt;
            bbr.min_rtt_at = Some(ack.now);
        }
        if bbr.mode == Mode::ProbeBw && !bbr.restarts && (expired || self.pending) {
            bbr.save_window(window);
            bbr.mode = Mode::ProbeRtt;
            bbr.probe_rtt_until = None;
            self.shorter_bw = 0.0;
        }
        if self.bbr.mode == Mode::ProbeRtt {
            self.probe_rtt(ack, rtt, window);
        }
        if ack.delivered > 0.0 {
            self.bbr.restarts = false;
        }
    }

    fn probe_rtt(&mut self, ack: &Ack, rtt: Option<Duration>, window: &mut Window) {
        window.actions.limits_rate = true;
        let most = self.probe_window();
        let bbr = &mut self.bbr;
        let Some(until) = bbr.probe_rtt_until else {
            if ack.flight <= most {
                bbr.probe_rtt_until = Some(ack.now + self.settings.probe_rtt);
                bbr.probe_rtt_round_done = false;
                bbr.round_end = bbr.delivered;
            }
            return;
        };
        bbr.probe_rtt_round_done |= bbr.round_start;
        if bbr.probe_rtt_round_done && ack.now > until {
            if let Some(rtt) = rtt {
                bbr.min_rtt = rtt;
            }
            self.end_probe(ack.now, window);
        }
    }

    /// On to cruise, or after a reconfiguration to a new startup.
    fn end_probe(&mut self, now: Time, window: &mut Window) {
        let bbr = &mut self.bbr;
        bbr.min_rtt_at = Some(now);
        window.cwnd = window.cwnd.max(bbr.prior_cwnd);
        if bbr.full && !self.pending {
            bbr.enter_probe_bw();
            return;
        }
        bbr.mode = Mode::Startup;
        (bbr.full, bbr.full_bandwidth, bbr.full_rounds) = (false, 0.0, 0);
        if self.pending {
            bbr.bandwidth = MaxFilter::default();
            let rounds = self.settings.bandwidth_window;
            bbr.bandwidth.update(rounds, bbr.rounds, self.shorter_bw);
        }
    }
}

impl Algorithm for Leocc {
    fn controls() -> Vec<Control<Leocc>> {
        let described = Described {
            name: "leocc",
            summary: "BBR that measures its path anew at each reconfiguration of a low orbit",
            source: "Lai et al. (2025), from the authors' public module (our reading)",
            open: "reconfigurations follow a schedule in time of the run and are not detected; \
                   Kalman filters in floats",
            family: Family::Model,
            transport: TransportDefaults {
                summary: "LeoCC: BBR that measures its path anew every 15 s",
                source: "Lai et al. (2025), from the authors' public module (our reading)",
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, Leocc::new)]
    }
}

impl CongestionControl for Leocc {
    fn name(&self) -> &str {
        "leocc"
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.bbr.on_established(rtt, window);
    }

    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}

    fn on_control(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        self.check_schedule(ack.now);
        self.update_smoothed(ack);
        let bbr = &mut self.bbr;
        bbr.delivered += ack.delivered;
        if ack.delivered > 0.0 {
            bbr.delivered_at = ack.now;
        }
        if repair == Repair::Recovery && bbr.repair == Repair::None {
            bbr.save_window(window);
        }
        bbr.update_bandwidth(ack);
        bbr.update_aggregation(ack, window);
        bbr.update_cycle(ack, window);
        bbr.check_full(ack);
        if bbr.mode == Mode::Startup && bbr.full {
            self.pending = false;
        }
        bbr.check_drain(ack, window);
        self.update_min_rtt(ack, window);
        self.bbr.update_gains();
        if let Some(rtt) = ack.rate_sample.and_then(|sample| sample.rtt).or(ack.rtt) {
            self.smoothed_rtt.update(rtt.as_secs());
        }
        if self.queues() && self.bbr.cycle == 0 {
            self.bbr.pacing_gain = self.settings.queue_gain;
        }
        if !self.bbr.has_rtt && !ack.smoothed_rtt.is_zero() {
            self.bbr
                .set_first_pacing_rate(Some(ack.smoothed_rtt), window);
        }
        let (bw, probe) = (self.bw(), self.probe_window());
        self.bbr.pace_at(bw, self.bbr.pacing_gain, window);
        self.bbr.set_window((bw, probe), ack, repair, window);
    }

    fn on_loss(&mut self, _: &Loss, _: &mut Window) {}

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.bbr.on_timeout(timeout, window);
    }

    fn on_recovery_exit(&mut self, _: &RecoveryExit, _: &mut Window) {}

    fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        self.bbr.on_spurious(before, window);
    }

    fn on_restart(&mut self, now: Time, window: &mut Window) {
        self.bbr.restarts = true;
        self.bbr.aggregation.restart(now);
        match self.bbr.mode {
            Mode::ProbeBw => self.bbr.pace_at(self.bw(), 1.0, window),
            Mode::ProbeRtt if self.bbr.probe_rtt_until.is_some_and(|until| now > until) => {
                self.end_probe(now, window);
            }
            Mode::Startup | Mode::Drain | Mode::ProbeRtt => {}
        }
    }

    fn seed(&mut self, seed: u64) {
        self.bbr.seed(seed);
    }

    fn owns_window(&self) -> bool {
        true
    }

    fn needs_rate_samples(&self) -> bool {
        true
    }

    fn phase(&self, window: &Window) -> Phase {
        match self.bbr.mode {
            Mode::ProbeBw => Phase::Own("cruise"),
            _ => self.bbr.phase(window),
        }
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        let bw = self.bw();
        (bw > 0.0).then(|| Rate::from_bps_f64(bw * 8.0 * f64::from(self.bbr.mss)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{ParameterSet as _, Reader};

    fn leocc() -> Leocc {
        let none = crate::Parameters::new();
        let reader = Reader::new("leocc", &[], &none).unwrap();
        Leocc::new(LeoccSettings::read(&reader).unwrap())
    }

    #[test]
    fn the_filter_settles_at_the_golden_ratio() {
        // 6.25 + 1 = 7.25, gain 7.25 / 8.25, variance the same; then (g + 1) / (g + 2).
        let mut filter = Kalman::NEW;
        filter.update(100.0);
        assert_eq!(filter.value, Some(100.0));
        assert!((filter.variance - 7.25 / 8.25).abs() < 1e-12);
        for _ in 0..20 {
            filter.update(100.0);
        }
        filter.update(200.0);
        assert!((filter.value.unwrap() - 161.803).abs() < 1e-3, "{filter:?}");
    }

    #[test]
    fn reconfigurations_are_due_at_12_27_42_57_seconds() {
        let mut leocc = leocc();
        let mut marked = Vec::new();
        for ms in (5..60_000).step_by(10) {
            leocc.check_schedule(Time::ZERO + Duration::from_millis(ms));
            if std::mem::take(&mut leocc.pending) {
                marked.push(ms);
            }
        }
        assert_eq!(marked, [11_905, 26_905, 41_905, 56_905]);
    }

    #[test]
    fn a_pause_does_not_hide_a_reconfiguration() {
        let mut leocc = leocc();
        leocc.check_schedule(Time::ZERO + Duration::from_secs(11));
        leocc.check_schedule(Time::ZERO + Duration::from_secs(14));
        assert!(leocc.pending);
    }

    #[test]
    fn a_connection_that_begins_after_a_reconfiguration_takes_no_notice_of_it() {
        let mut leocc = leocc();
        leocc.check_schedule(Time::ZERO + Duration::from_secs(13));
        assert!(!leocc.pending);
    }

    #[test]
    fn a_probe_after_a_reconfiguration_replaces_the_model() {
        let mut leocc = leocc();
        let mut window = Window::new(20.0);
        leocc.bbr.mode = Mode::ProbeRtt;
        leocc.bbr.full = true;
        leocc.bbr.prior_cwnd = 80.0;
        leocc.bbr.bandwidth.update(10, 0, 800.0);
        leocc.bbr.min_rtt = Duration::from_millis(40);
        leocc.pending = true;
        leocc.end_probe(Time::ZERO + Duration::from_secs(12), &mut window);
        assert_eq!(leocc.bbr.mode, Mode::Startup);
        assert_eq!((window.cwnd, leocc.bbr.bandwidth.get()), (80.0, 0.0));
        // Without one, the bandwidth stays.
        leocc.bbr.mode = Mode::ProbeRtt;
        (leocc.bbr.full, leocc.pending) = (true, false);
        leocc.bbr.bandwidth.update(10, 0, 800.0);
        leocc.end_probe(Time::ZERO + Duration::from_secs(20), &mut window);
        assert_eq!(leocc.bbr.mode, Mode::ProbeBw);
        assert_eq!(leocc.bbr.bandwidth.get(), 800.0);
    }

    #[test]
    fn a_queue_makes_the_smoothed_rate_count() {
        let mut leocc = leocc();
        leocc.bbr.mode = Mode::ProbeBw;
        leocc.bbr.min_rtt = Duration::from_millis(40);
        leocc.bbr.bandwidth.update(10, 0, 800.0);
        leocc.smoothed_bw.update(600.0);
        leocc.smoothed_rtt.update(0.049);
        assert_eq!(leocc.bw(), 800.0);
        leocc.smoothed_rtt = Kalman::NEW;
        leocc.smoothed_rtt.update(0.051);
        assert_eq!(leocc.bw(), 600.0);
        leocc.pending = true;
        assert_eq!(leocc.bw(), 800.0);
    }
}
