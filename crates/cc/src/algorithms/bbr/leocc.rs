//! `LeoCC`: BBR that remeasures its path at each reconfiguration of a low-orbit network.
//!
//! Source: Lai et al., "LeoCC: Making Internet Congestion Control Robust to LEO
//! Satellite Dynamics", ACM SIGCOMM 2025. The paper itself was not read. Read were the
//! authors' public repository SpaceNetLab/LeoCC (its two READMEs; the kernel modules of
//! the live and of the simulation version and the live version's monitor of pings, from
//! which the numbers below are; nothing was taken over as code), draft-lai-ccwg-lsncc-01
//! (abstract), and a public summary of the talk.
//!
//! Starlink reassigns satellites to terminals every 15 s; delay, capacity and loss change
//! then. `LeoCC` is BBR version 1 with these differences:
//!
//! - The sender finds a reconfiguration in its acknowledgements (see `detector`): a
//!   step of the RTT upwards, a silence in which all is lost, or an RTT below the
//!   smallest of this path. From its cruise it then probes the RTT: with half a
//!   bandwidth-delay product (at least 4 segments) in flight for 200 ms and a round, the
//!   smallest RTT becomes the RTT of the ACK that ends the probe, larger or not. The
//!   bandwidth filter is emptied, and startup begins again, at the pacing rate reached.
//! - Who knows the schedule can give it as a hint: with a `period`, a reconfiguration is
//!   also due at `offset` + n x `period`, and the probe begins `lead` before it.
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
//! | silence | 45 ms | without ACKs that shows a reconfiguration, if all is lost meanwhile |
//! | period | 0 s | from one scheduled reconfiguration to the next; 0: no schedule |
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
//!   to the point of presence, and measures `fluctuation` with it after each. A sender
//!   has no such stream here: it watches the ACKs of its own data, which tell as much
//!   only while it sends without pause. It finds none in startup, drain or a probe, nor a
//!   change of the capacity alone, nor a step upwards that is small beside a pause; a
//!   shorter path that a queue hides it finds when the queue has gone.
//! - The simulation version has no detection and knows the schedule; its clock begins
//!   with the connection, ours with the run.
//! - The module marks only where an ACK falls into the 100 ms before; here the first ACK
//!   after their beginning does, so that a pause does not hide a reconfiguration.
//! - A reconfiguration during startup needs no second startup; a scheduled one during
//!   drain or a probe acts at its end.
//! - Before the first round of cruise there is no smoothed rate, and the largest counts;
//!   after a reconfiguration the old path's stays for a round, as in the module.
//! - A startup every period overflows queues below about two bandwidth-delay products;
//!   nothing that was read says otherwise.
//! - The module computes the filters in integers, whose gain settles at 0.60; floats
//!   here, 0.62.

mod detector;
mod kalman;

use detector::{Detector, Seen, Sign};
use kalman::Kalman;

use super::{Bbr, BbrSettings, CYCLE, LEAST_WINDOW, MaxFilter, Mode};
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{number, parameters, time};
use crate::{Ack, CongestionControl, Loss, Phase, RecoveryExit, Repair, Timeout, Window};
use bentpipe_units::{Duration, Rate, Segments, Time};

/// Bandwidth-delay products in flight while the RTT is probed.
const PROBE_RTT_GAIN: f64 = 0.5;
/// The longest time that a setting may be.
const DAY: Duration = Duration::from_secs(86_400);

parameters! {
    /// What can be set; see the table above.
    #[derive(Copy)]
    pub struct LeoccSettings {
        silence: Duration = time(Duration::from_millis(45), (Duration::ZERO, DAY)),
            "time without ACKs that shows a reconfiguration, if all is lost meanwhile";
        period: Duration = time(Duration::ZERO, (Duration::ZERO, DAY)),
            "from one scheduled reconfiguration to the next; 0 without a schedule";
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
        min_rtt_window: Duration = time(Duration::from_secs(20), (Duration::from_millis(1), DAY)),
            "age at which the smallest RTT is probed again";
        probe_rtt: Duration =
            time(Duration::from_millis(200), (Duration::ZERO, Duration::from_secs(3600))),
            "least time of a probe of the RTT";
        high_gain: f64 = number(2.885, "", (1.0, 100.0)), "pacing and window gain of startup";
        cwnd_gain: f64 = number(2.0, "", (1.0, 100.0)), "window in bandwidth-delay products";
        margin: f64 = number(0.01, "", (0.0, 0.9)), "what pacing stays below the estimate";
    }
}

/// The control; bandwidths in segments per second, RTTs in seconds.
#[derive(Clone, Debug)]
pub struct Leocc {
    settings: LeoccSettings,
    bbr: Bbr,
    detector: Detector,
    /// Segments delivered when the cruise began.
    cruises_since: Option<Segments>,
    /// Segments given up by timeouts since the last ACK.
    timed_out: Segments,
    /// Scheduled reconfigurations that have been due; `None` before the first ACK.
    due: Option<u64>,
    /// A reconfiguration was found or due, and the path has not been remeasured yet.
    pending: bool,
    /// The smallest RTT since the last reconfiguration; unlike BBR's it does not expire.
    /// [`Duration::MAX`] while a new path has not been measured.
    path_min: Duration,
    smoothed_bw: Kalman,
    smoothed_rtt: Kalman,
    /// Largest delivery rate of this round, and the last one.
    round_bw: f64,
    latest_bw: f64,
    /// The delivery rate at which the path became shorter, in this probe.
    shorter_bw: f64,
}

impl Leocc {
    /// A new connection under `settings`, in BBR's `Startup`.
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
            detector: Detector::new(settings.silence, settings.fluctuation),
            cruises_since: None,
            timed_out: 0.0,
            due: None,
            pending: false,
            path_min: Duration::MAX,
            smoothed_bw: Kalman::NEW,
            smoothed_rtt: Kalman::NEW,
            round_bw: 0.0,
            latest_bw: 0.0,
            shorter_bw: 0.0,
        }
    }

    /// Marks a reconfiguration that the ACKs show, from the first ACK on of what the
    /// cruise has sent.
    fn detect(&mut self, ack: &Ack, repair: Repair) {
        let lost = ack.lost + std::mem::take(&mut self.timed_out);
        let Some(sample) = ack.rate_sample else {
            return;
        };
        let bbr = &self.bbr;
        if bbr.mode != Mode::ProbeBw {
            if self.cruises_since.take().is_some() {
                self.detector.pause();
            }
            return;
        }
        let since = *self.cruises_since.get_or_insert(bbr.delivered);
        if sample.prior_delivered < since {
            return;
        }
        let seen = Seen {
            now: ack.now,
            rtt: sample.rtt.or(ack.rtt),
            delivered: ack.delivered,
            lost,
            bandwidth: bbr.bandwidth.get(),
            path_min: self.path_min,
            round_start: sample.prior_delivered >= bbr.round_end,
            app_limited: sample.app_limited,
            repairs: repair != Repair::None,
        };
        match self.detector.sees(&seen) {
            Some(Sign::Shorter) => self.pending = true,
            Some(Sign::Other) => self.leave_path(),
            None => {}
        }
    }

    /// Marks a reconfiguration; the RTTs until now are those of another path.
    fn leave_path(&mut self) {
        self.pending = true;
        self.path_min = Duration::MAX;
    }

    /// Marks a scheduled reconfiguration whose lead has begun since the last ACK.
    fn check_schedule(&mut self, now: Time) {
        let period = self.settings.period.as_nanos();
        if period == 0 {
            return;
        }
        let offset = self.settings.offset.as_nanos() % period;
        let ahead = now.as_nanos() + self.settings.lead.as_nanos();
        let due = (ahead + period - offset) / period;
        if self.due.is_some_and(|before| due > before) {
            self.leave_path();
        }
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
            && (self.path_min < Duration::MAX || !self.pending)
        {
            self.path_min = self.path_min.min(rtt);
        }
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
        self.path_min = self.path_min.min(bbr.min_rtt);
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
            summary: "BBR that measures its path again at each reconfiguration of a low orbit",
            source: "Lai et al. (2025), from the authors' public module (our reading)",
            open: "reconfigurations are found in the ACKs of its own data, not by pings; Kalman \
                   filters in floats",
            family: Family::Model,
            transport: TransportDefaults {
                summary: "LeoCC: BBR that measures its path again where a low orbit reassigns it",
                source: "Lai et al. (2025), from the authors' public module (our reading)",
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, Leocc::new)]
    }
}

impl CongestionControl for Leocc {
    named!("leocc");
    always!(owns_window, needs_rate_samples);
    delegates!(bbr: on_established, on_spurious, seed);
    ignores!(on_ack, on_loss, on_recovery_exit);

    fn on_control(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        self.check_schedule(ack.now);
        self.detect(ack, repair);
        self.update_smoothed(ack);
        let bbr = &mut self.bbr;
        bbr.delivered = ack.delivered_after(bbr.delivered);
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

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.timed_out += timeout.flight;
        self.bbr.on_timeout(timeout, window);
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

    /// Without a schedule, or with that of Starlink.
    fn leocc(scheduled: bool) -> Leocc {
        let none = crate::Parameters::new();
        let reader = Reader::new("leocc", &[], &none).unwrap();
        let mut settings = LeoccSettings::read(&reader).unwrap();
        if scheduled {
            settings.period = Duration::from_secs(15);
        }
        Leocc::new(settings)
    }

    #[test]
    fn reconfigurations_are_due_at_12_27_42_57_seconds() {
        let mut leocc = leocc(true);
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
        let mut leocc = leocc(true);
        leocc.check_schedule(Time::ZERO + Duration::from_secs(11));
        leocc.check_schedule(Time::ZERO + Duration::from_secs(14));
        assert!(leocc.pending);
    }

    #[test]
    fn a_connection_that_begins_after_a_reconfiguration_takes_no_notice_of_it() {
        let mut leocc = leocc(true);
        leocc.check_schedule(Time::ZERO + Duration::from_secs(13));
        assert!(!leocc.pending);
    }

    #[test]
    fn a_probe_after_a_reconfiguration_replaces_the_model() {
        let mut leocc = leocc(false);
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
    fn the_smallest_rtt_of_a_path_outlives_that_of_the_model() {
        let mut leocc = leocc(false);
        let mut window = Window::new(20.0);
        let now = Time::ZERO + Duration::from_secs(40);
        leocc.path_min = Duration::from_millis(40);
        // A probe beside a queue of others finds 90 ms.
        leocc.bbr.min_rtt = Duration::from_millis(90);
        leocc.end_probe(now, &mut window);
        assert_eq!(leocc.path_min, Duration::from_millis(40));
        // On another path it is all that is known.
        leocc.leave_path();
        leocc.end_probe(now, &mut window);
        assert_eq!(leocc.path_min, Duration::from_millis(90));
    }

    #[test]
    fn a_queue_makes_the_smoothed_rate_count() {
        let mut leocc = leocc(false);
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
