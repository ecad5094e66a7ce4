//! Hybla as Linux has it: fixed-point numbers, no Hoe estimate, no gate, no
//! pacing.
//!
//! Source: Linux `tcp_hybla.c` (Lacamera after Caini & Firrincieli). rho is kept
//! in eighths, max(8 srtt / rtt0, 8), and renewed when the smoothed RTT falls
//! below the smallest one so far. The window starts at rho. An ACK adds, in
//! 1/128 of a segment,
//!
//! - below ssthresh 2^floor(rho) x f(rho) - 128, with f = 128 x 2^fraction of the
//!   fraction in eighths, and cwnd stops at ssthresh;
//! - above it 2 rho8^2 / cwnd, that is 128 rho^2 / cwnd;
//!
//! and cwnd never passes 65535. While a loss is repaired it is Reno.
//!
//! In 2.6.22 the smoothed RTT has a resolution of 1/8 ms, today 1/8 us. At rho
//! of 16 and more a slow start step leads to ssthresh or to 65535 whatever
//! comes out of the shift, which today stops at 2^16.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | rtt0 | 25 ms | round-trip time of the reference connection |

use super::host::{Host, LinuxParameters, Version, whole};
use super::module::{Linux, Module, described};
use crate::declaration::{Algorithm, Control};
use crate::parameter::{parameters, time};
use crate::slots::{RTT0, RTT0_RANGE};
use crate::{Ack, Window};
use bentpipe_units::Duration;

/// `snd_cwnd_clamp` as Hybla sets it.
const CLAMP: u64 = 65_535;

/// 128 x 2^(i/8), for i from 0 to 7.
const FRACTIONS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];

parameters! {
    /// Settings of [`Hybla`].
    pub struct HyblaParameters {
        rtt0: Duration = time(RTT0, RTT0_RANGE),
            "RTT of the reference connection (papers and Linux 25 ms, ns-3 50 ms)";
    }
}

/// State of Linux' Hybla for one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hybla {
    rtt0: Duration,
    /// rho in eighths; 0 before a round-trip time.
    rho8: u64,
    /// 1/128 of segments not yet added.
    cents: u64,
    /// Smallest smoothed RTT.
    least: Duration,
    /// The module was initialised while the connection was not in state Open,
    /// which it then takes it for (`hybla_en`).
    takes_for_open: bool,
}

impl Hybla {
    /// Hybla with reference RTT `rtt0`.
    #[must_use]
    pub const fn new(rtt0: Duration) -> Hybla {
        Hybla {
            rtt0,
            rho8: 0,
            cents: 0,
            least: Duration::MAX,
            takes_for_open: false,
        }
    }

    fn renew(&mut self, srtt: Duration, version: Version) {
        // 8 x srtt divided by rtt0, both in ticks of the host's clock.
        let unit = match version {
            Version::Current => 1_000,
            Version::Ns2 => 1_000_000,
        };
        let eighths = srtt.as_nanos().saturating_mul(8) / unit;
        let rtt0 = (self.rtt0.as_nanos() / unit).max(1);
        self.rho8 = (eighths / rtt0).max(8);
        self.least = srtt;
    }

    /// What an ACK of slow start adds, in 1/128 of a segment.
    fn slow_start_step(&self) -> u64 {
        let (whole, fraction) = (self.rho8 >> 3, (self.rho8 & 7) as usize);
        (FRACTIONS[fraction] << whole.min(30)) - 128
    }
}

impl Algorithm for Linux<Hybla> {
    fn controls() -> Vec<Control<Linux<Hybla>>> {
        let described = described(
            ("hybla-linux", "hybla"),
            "Hybla of Linux: fixed point, no Hoe estimate, no gate, no pacing",
            "Linux tcp_hybla.c",
            "Hybla of Linux: no Hoe estimate, no gate, no pacing",
        );
        type Settings = (HyblaParameters, LinuxParameters);
        vec![Control::new(described, |(own, p): Settings| {
            Linux::new(p.version, Hybla::new(own.rtt0))
        })]
    }
}

impl Module for Hybla {
    fn name(&self) -> &'static str {
        "hybla-linux"
    }

    fn init(&mut self, rtt: Option<Duration>, host: &mut Host, window: &mut Window) {
        if let Some(rtt) = rtt {
            self.renew(rtt, host.version);
            window.cwnd = (self.rho8 >> 3).min(CLAMP) as f64;
        }
        self.takes_for_open = !host.is_open();
    }

    fn left_open(&mut self) {
        self.takes_for_open = false;
    }

    fn opened(&mut self, _: &Host) {
        self.takes_for_open = false;
    }

    fn grow(&mut self, ack: &Ack, host: &mut Host, window: &mut Window) {
        if self.rho8 == 0 || (ack.smoothed_rtt < self.least && !ack.smoothed_rtt.is_zero()) {
            self.renew(ack.smoothed_rtt, host.version);
        }
        if !host.needs_window(ack, window) {
            return;
        }
        if !host.is_open() && !self.takes_for_open {
            return host.reno(ack, window);
        }
        let cwnd = whole(window.cwnd);
        let slow_start = window.cwnd < window.ssthresh;
        let step = if slow_start {
            self.slow_start_step()
        } else {
            let step = 2 * self.rho8 * self.rho8 / cwnd;
            host.count += u64::from(step < 128);
            step
        };
        let mut grown = cwnd + (step >> 7);
        self.cents += step & 127;
        if self.cents >= 128 {
            self.cents -= 128;
            grown += 1;
            host.count = 0;
        }
        if slow_start {
            grown = grown.min(whole(window.ssthresh));
        }
        let grown = grown.min(CLAMP) as f64;
        // A window above the limit falls to it, as in the kernel.
        window.cwnd = grown.max(window.cwnd.min(CLAMP as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rtt_us: u64, version: Version) -> Hybla {
        let mut hybla = Hybla::new(Duration::from_millis(25));
        hybla.renew(Duration::from_micros(rtt_us), version);
        hybla
    }

    #[test]
    fn steps_in_fixed_point() {
        // 60 ms: rho 2.375 in eighths, 4.156 segments a step in slow start.
        let hybla = at(60_000, Version::Ns2);
        assert_eq!(hybla.rho8, 19);
        assert_eq!(hybla.slow_start_step(), 4 * 165 - 128);
        assert!((hybla.slow_start_step() as f64 / 128.0 - 4.156).abs() < 1e-3);
        // 600 ms: rho 24, 2^24 - 1 segments.
        let hybla = at(600_000, Version::Current);
        assert_eq!(hybla.rho8, 192);
        assert_eq!(hybla.slow_start_step() / 128, 16_777_215);
        // W = 100: 737/128 segments.
        assert_eq!(2 * hybla.rho8 * hybla.rho8 / 100, 737);
        // Below the reference it is Reno.
        assert_eq!(at(10_000, Version::Current).slow_start_step(), 128);
    }

    #[test]
    fn rho_of_the_shift() {
        for (rho, step) in [(1, 1), (2, 3), (4, 15), (8, 255), (10, 1023), (16, 65_535)] {
            assert_eq!(
                at(rho * 25_000, Version::Current).slow_start_step() / 128,
                step
            );
        }
    }
}
