//! Pacing rate, burst and window, as they follow from the model.

use super::{
    Bbr, INITIAL_WINDOW, LARGEST_BURST, LARGEST_BURST_SEGMENTS, LEAST_WINDOW, Mode, NOMINAL_RTT,
    SINGLE_SEGMENT_RATE,
};
use crate::{Ack, CWND_LIMIT, Repair, Window};
use bentpipe_units::{Duration, Rate, Segments, math};

impl Bbr {
    pub(super) fn rate(&self, bw: f64, gain: f64, mss: u32) -> Rate {
        let bits = bw * f64::from(mss) * 8.0;
        Rate::from_bps_f64(gain * bits * (1.0 - self.settings.margin))
    }

    pub(super) fn set_first_pacing_rate(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.has_rtt = rtt.is_some();
        let rtt = rtt.unwrap_or(NOMINAL_RTT).max(Duration::from_nanos(1));
        let bw = window.cwnd / rtt.as_secs();
        self.set_rate(self.rate(bw, self.settings.high_gain, window.mss), window);
    }

    pub(super) fn set_pacing_rate(&mut self, gain: f64, ack: &Ack, window: &mut Window) {
        if !self.has_rtt && !ack.smoothed_rtt.is_zero() {
            self.set_first_pacing_rate(Some(ack.smoothed_rtt), window);
        }
        self.raise_pacing_rate(gain, window);
    }

    /// Startup only ever raises it.
    pub(super) fn raise_pacing_rate(&self, gain: f64, window: &mut Window) {
        self.pace_at(self.bw(), gain, window);
    }

    pub(super) fn pace_at(&self, bw: f64, gain: f64, window: &mut Window) {
        let rate = self.rate(bw, gain, window.mss);
        if self.full || window.pacing_rate.is_none_or(|now| rate > now) {
            self.set_rate(rate, window);
        }
    }

    /// A burst of about a millisecond at the pacing rate.
    pub(super) fn set_rate(&self, rate: Rate, window: &mut Window) {
        // Pacing must go on, however little was measured.
        let rate = rate.max(Rate::from_bps(1));
        window.pacing_rate = Some(rate);
        let bits = rate.bps_f64();
        let bytes = (bits / 8.0 / 1024.0).min(LARGEST_BURST);
        let least = if bits < SINGLE_SEGMENT_RATE { 1.0 } else { 2.0 };
        let segments = math::floor(bytes / f64::from(window.mss.max(1))).max(least);
        window.send_quantum = segments.min(LARGEST_BURST_SEGMENTS) as u32;
    }

    /// `gain` bandwidth-delay products at `bw`, in whole segments.
    pub(super) fn product(&self, bw: f64, gain: f64) -> Segments {
        if self.min_rtt == Duration::MAX {
            return INITIAL_WINDOW;
        }
        math::ceil(bw * self.min_rtt.as_secs() * gain - 1e-6).max(0.0)
    }

    /// Room for the bursts at both ends, and an even number for receivers that
    /// acknowledge every other segment.
    pub(super) fn with_bursts(&self, cwnd: Segments, window: &Window) -> Segments {
        let cwnd = cwnd + 3.0 * f64::from(window.send_quantum);
        let even = 2.0 * math::ceil(cwnd / 2.0);
        let probes = self.mode == Mode::ProbeBw && self.cycle == 0;
        even + if probes { 2.0 } else { 0.0 }
    }

    pub(super) fn inflight(&self, bw: f64, gain: f64, window: &Window) -> Segments {
        self.with_bursts(self.product(bw, gain), window)
    }

    pub(super) fn save_window(&mut self, window: &Window) {
        self.prior_cwnd = if self.repair == Repair::None && self.mode != Mode::ProbeRtt {
            window.cwnd
        } else {
            self.prior_cwnd.max(window.cwnd)
        };
    }

    /// What the beginning and the end of a repair do to the window; true if it
    /// is conserved.
    pub(super) fn repair_window(&mut self, ack: &Ack, repair: Repair, window: &mut Window) -> bool {
        let mut cwnd = (window.cwnd - ack.lost).max(1.0);
        let least = ack.flight + ack.delivered;
        if repair == Repair::Recovery && self.repair != Repair::Recovery {
            self.conserves = true;
            self.round_end = self.delivered;
            cwnd = least;
        } else if self.repair != Repair::None && repair == Repair::None {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        self.repair = repair;
        window.cwnd = if self.conserves {
            cwnd.max(least)
        } else {
            cwnd
        };
        self.conserves
    }

    /// The window at `bw`; at most `probe` while the RTT is probed.
    pub(super) fn set_window(
        &mut self,
        (bw, probe): (f64, Segments),
        ack: &Ack,
        repair: Repair,
        window: &mut Window,
    ) {
        if ack.delivered > 0.0 && !self.repair_window(ack, repair, window) {
            let mut target = self.product(bw, self.window_gain);
            if self.settings.aggregation && self.full {
                target += self.aggregation.extra(bw);
            }
            let target = self.with_bursts(target, window);
            if self.full {
                window.cwnd = (window.cwnd + ack.delivered).min(target);
            } else if window.cwnd < target || self.delivered < INITIAL_WINDOW {
                window.cwnd += ack.delivered;
            }
            window.cwnd = window.cwnd.max(LEAST_WINDOW);
        }
        window.cwnd = window.cwnd.clamp(1.0, CWND_LIMIT);
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(probe);
        }
    }
}
