//! Vegas as Linux has it: smallest RTT of a round, Reno's reaction to losses,
//! no timer of its own.
//!
//! Source: Linux `tcp_vegas.c` (Heffner, Hemminger after Brakmo & Peterson).
//! Once per round trip with more than two RTT samples, R the smallest of them,
//! base the smallest of the connection, both + 1 us:
//!
//! | | today | 2.6.22 |
//! |---|---|---|
//! | diff | cwnd (R - base) / base | sent - sent x base / R, in half segments |
//! | slow start, diff > gamma | cwnd = min(cwnd, cwnd base / R + 1), ssthresh = min(ssthresh, cwnd) | cwnd = min(cwnd, sent base / R + 1), ssthresh = 2, then + 1 |
//! | slow start, else | + 1 per segment, in every round | + 1 per ACK, in every round |
//! | diff > beta | cwnd - 1, ssthresh = min(ssthresh, cwnd) | towards the cwnd of a round ago - 1 |
//! | diff < alpha | cwnd + 1 | towards the cwnd of a round ago + 1 |
//! | after it | ssthresh at least 3/4 cwnd | |
//!
//! `sent` is what was sent in the round before. With two samples or fewer, and
//! while a loss is repaired, it is Reno.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | alpha | 2 | segments in the queue below which cwnd grows |
//! | beta | 4 | segments in the queue above which cwnd shrinks |
//! | gamma | 1 | segments in the queue above which slow start ends |

use super::host::{Host, LinuxParameters, Version, raise, whole};
use super::module::{Linux, Module, described};
use crate::declaration::{Algorithm, Control};
use crate::parameter::{number, parameters};
use crate::{Ack, Window};
use bentpipe_units::{Duration, Segments};

/// RTT samples that a round must exceed to be judged.
const SAMPLES: u32 = 2;

parameters! {
    /// Settings of [`Vegas`].
    #[derive(Copy)]
    pub struct VegasParameters {
        alpha: f64 = number(2.0, "segments", (0.0, 1_000_000.0)),
            "segments in the queue below which cwnd grows";
        beta: f64 = number(4.0, "segments", (0.0, 1_000_000.0)),
            "segments in the queue above which cwnd shrinks";
        gamma: f64 = number(1.0, "segments", (0.0, 1_000_000.0)),
            "segments in the queue above which slow start ends";
    }
}

/// State of Linux' Vegas for one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vegas {
    thresholds: VegasParameters,
    /// Smallest RTT of the connection and of the round, microseconds.
    base: u64,
    round: u64,
    samples: u32,
    /// `beg_snd_nxt`, `beg_snd_una`, `beg_snd_cwnd`.
    next: Segments,
    una: Segments,
    cwnd: u64,
}

/// An RTT before any sample, microseconds.
pub(super) const NO_RTT: u64 = 0x7fff_ffff;

/// An RTT in whole microseconds, never 0.
pub(super) fn microseconds(rtt: Duration) -> u64 {
    (rtt.as_micros() + 1).min(NO_RTT)
}

/// Two segments are the least, except for a sender that needs none.
pub(super) fn at_least_two(ack: &Ack, window: &mut Window) {
    if ack.cwnd_limited {
        window.cwnd = window.cwnd.max(2.0);
    }
}

impl Vegas {
    /// Vegas with the given thresholds.
    #[must_use]
    pub const fn new(thresholds: VegasParameters) -> Vegas {
        Vegas {
            thresholds,
            base: NO_RTT,
            round: NO_RTT,
            samples: 0,
            next: 0.0,
            una: 0.0,
            cwnd: 0,
        }
    }

    fn sample(&mut self, rtt: Duration) {
        let rtt = microseconds(rtt);
        self.base = self.base.min(rtt);
        self.round = self.round.min(rtt);
        self.samples += 1;
    }

    fn forget_round(&mut self) {
        self.samples = 0;
        self.round = NO_RTT;
    }

    /// A round has ended, today's kernels.
    fn judge(&mut self, ack: &Ack, host: &mut Host, window: &mut Window) {
        let cwnd = whole(window.cwnd);
        let product = |x: u64, y: u64| u128::from(x) * u128::from(y);
        let target = (product(cwnd, self.base) / u128::from(self.round)) as u64;
        let queued = product(cwnd, self.round - self.base) / u128::from(self.base);
        let queued = queued as f64;
        if host.in_slow_start(window) {
            if queued > self.thresholds.gamma {
                window.cwnd = cwnd.min(target + 1) as f64;
                window.ssthresh = window.ssthresh.min(window.cwnd);
            } else if ack.cwnd_limited {
                host.slow_start(ack, window);
            }
        } else if queued > self.thresholds.beta {
            window.cwnd = cwnd as f64 - 1.0;
            window.ssthresh = window.ssthresh.min(window.cwnd);
        } else if queued < self.thresholds.alpha && ack.cwnd_limited {
            raise(window, (cwnd + 1).min(host.clamp(ack)));
        }
        at_least_two(ack, window);
        let cwnd = whole(window.cwnd);
        let floor = (cwnd >> 1) + (cwnd >> 2);
        window.ssthresh = window.ssthresh.max(floor.max(2) as f64);
    }

    /// A round in which `sent` segments had been sent has ended, 2.6.22.
    fn judge_old(&self, ack: &Ack, (sent, before): (u64, u64), host: &mut Host, w: &mut Window) {
        let cwnd = whole(w.cwnd);
        let target = u128::from(sent) * u128::from(self.base) * 2 / u128::from(self.round);
        let target = target as u64;
        let queued = (2 * sent - target) as f64 / 2.0;
        if host.in_slow_start(w) {
            if queued > self.thresholds.gamma {
                w.ssthresh = 2.0;
                w.cwnd = cwnd.min(target / 2 + 1) as f64;
            }
            if ack.cwnd_limited {
                host.slow_start(ack, w);
            }
        } else {
            let wanted = if queued > self.thresholds.beta {
                before.saturating_sub(1)
            } else if queued < self.thresholds.alpha {
                before + 1
            } else {
                before
            };
            if wanted > cwnd && ack.cwnd_limited {
                raise(w, (cwnd + 1).min(host.clamp(ack)));
            } else if wanted < cwnd {
                w.cwnd = cwnd as f64 - 1.0;
            }
        }
        at_least_two(ack, w);
    }
}

impl Algorithm for Linux<Vegas> {
    fn controls() -> Vec<Control<Linux<Vegas>>> {
        let described = described(
            ("vegas-linux", "vegas"),
            "Vegas of Linux: smallest RTT of a round, Reno's reaction to losses",
            "Linux tcp_vegas.c",
            "Vegas of Linux: two to four segments in the queue, no timer of its own",
        );
        type Settings = (VegasParameters, LinuxParameters);
        vec![Control::new(described, |(own, p): Settings| {
            Linux::new(p.version, Vegas::new(own))
        })]
    }
}

impl Module for Vegas {
    fn name(&self) -> &'static str {
        "vegas-linux"
    }

    fn init(&mut self, rtt: Option<Duration>, host: &mut Host, window: &mut Window) {
        self.next = host.next();
        // In ns-2 the SYN is a segment: its ACK is a sample and grows the
        // window.
        if let (Version::Ns2, Some(rtt), true) = (host.version, rtt, host.next() == 0.0) {
            self.sample(rtt);
            self.una = -1.0;
            if host.in_slow_start(window) {
                raise(window, whole(window.cwnd) + 1);
            }
        }
    }

    fn acked(&mut self, ack: &Ack, host: &Host, _: &mut Window) {
        // Today what is acknowledged selectively gives samples, too.
        let counts = host.version == Version::Current || !ack.duplicate;
        if let (Some(rtt), true) = (ack.rtt, counts) {
            self.sample(rtt);
        }
    }

    fn grow(&mut self, ack: &Ack, host: &mut Host, window: &mut Window) {
        if !host.is_open() {
            return host.reno(ack, window);
        }
        if host.acknowledged() <= self.next {
            if host.in_slow_start(window) && ack.cwnd_limited {
                host.slow_start(ack, window);
            }
            return;
        }
        let sent = (self.next - self.una).max(0.0) as u64;
        let before = core::mem::replace(&mut self.cwnd, whole(window.cwnd));
        self.una = self.next;
        self.next = host.next();
        if self.samples <= SAMPLES {
            host.reno(ack, window);
        } else {
            match host.version {
                Version::Current => self.judge(ack, host, window),
                Version::Ns2 => self.judge_old(ack, (sent, before), host, window),
            }
        }
        self.forget_round();
    }

    fn opened(&mut self, host: &Host) {
        self.next = host.next();
        self.forget_round();
    }
}
