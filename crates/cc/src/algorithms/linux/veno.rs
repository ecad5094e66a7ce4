//! Veno as Linux has it.
//!
//! Source: Linux `tcp_veno.c` (Zhou, Fu). With R the smallest RTT since the last
//! ACK that grew the window and base the smallest of the connection, both + 1
//! us, diff = cwnd - cwnd x base / R in half segments. Slow start is standard;
//! then cwnd grows by one in every round trip while diff < 3, in every other
//! one otherwise. A loss takes a fifth where the last diff is below 3, else
//! half. The first two ACKs of a connection, and those that repair a loss, are
//! Reno's.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | beta | 3 | segments: what diff is compared with |

use super::host::{Host, LinuxParameters, Version, raise, whole};
use super::module::{Linux, Module, described};
use super::vegas::{NO_RTT, microseconds};
use crate::declaration::{Algorithm, Control};
use crate::parameter::{number, parameters};
use crate::{Ack, Window};
use bentpipe_units::{Duration, Segments};

/// RTT samples that a connection must exceed.
const SAMPLES: u64 = 2;

parameters! {
    /// Settings of [`Veno`].
    pub struct VenoParameters {
        beta: f64 = number(3.0, "segments", (0.0, 1_000_000.0)),
            "backlog that separates random loss from congestion";
    }
}

/// State of Linux' Veno for one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Veno {
    beta: Segments,
    /// Smallest RTT of the connection and since the last growth, microseconds.
    base: u64,
    since: u64,
    samples: u64,
    /// In a congested path, the next window of ACKs grows.
    grows_next: bool,
    /// Segments in the queue, by the last growth.
    queued: Segments,
}

impl Veno {
    /// Veno with the given backlog.
    #[must_use]
    pub const fn new(beta: Segments) -> Veno {
        Veno {
            beta,
            base: NO_RTT,
            since: NO_RTT,
            samples: 0,
            grows_next: true,
            queued: 0.0,
        }
    }

    fn sample(&mut self, rtt: Duration) {
        let rtt = microseconds(rtt);
        self.base = self.base.min(rtt);
        self.since = self.since.min(rtt);
        self.samples += 1;
    }

    /// Congestion avoidance with a queue: one segment every other round trip.
    fn every_other(&mut self, ack: &Ack, acked: u64, host: &mut Host, window: &mut Window) {
        let cwnd = whole(window.cwnd);
        if host.count < cwnd {
            host.count += match host.version {
                Version::Current => acked,
                Version::Ns2 => 1,
            };
            return;
        }
        host.count = 0;
        let grows = self.grows_next && cwnd < host.clamp(ack);
        self.grows_next = !grows;
        if grows {
            raise(window, cwnd + 1);
        }
    }
}

impl Algorithm for Linux<Veno> {
    fn controls() -> Vec<Control<Linux<Veno>>> {
        let described = described(
            ("veno-linux", "veno"),
            "Veno of Linux, in half segments",
            "Linux tcp_veno.c",
            "",
        );
        type Settings = (VenoParameters, LinuxParameters);
        vec![Control::new(described, |(own, p): Settings| {
            Linux::new(p.version, Veno::new(own.beta))
        })]
    }
}

impl Module for Veno {
    fn name(&self) -> &'static str {
        "veno-linux"
    }

    fn init(&mut self, rtt: Option<Duration>, host: &mut Host, _: &mut Window) {
        if let (Version::Ns2, Some(rtt), true) = (host.version, rtt, host.next() == 0.0) {
            self.sample(rtt);
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
        if !host.needs_window(ack, window) {
            return;
        }
        if self.samples <= SAMPLES {
            host.reno(ack, window);
            self.since = NO_RTT;
            return;
        }
        let cwnd = whole(window.cwnd);
        let target = u128::from(cwnd) * u128::from(self.base) * 2 / u128::from(self.since);
        self.queued = (2 * u128::from(cwnd) - target) as f64 / 2.0;
        self.since = NO_RTT;
        window.cwnd = window.cwnd.max(2.0);
        let mut acked = ack.acked as u64;
        if host.in_slow_start(window) {
            acked = host.slow_start(ack, window);
            if acked == 0 {
                return;
            }
        }
        if self.queued >= self.beta {
            self.every_other(ack, acked, host, window);
        } else {
            match host.version {
                Version::Current => host.avoid(ack, window, whole(window.cwnd), acked),
                Version::Ns2 => host.avoid_old(ack, window, cwnd),
            }
        }
    }

    fn threshold(&mut self, cwnd: u64, _: bool) -> u64 {
        if self.queued < self.beta {
            cwnd * 4 / 5
        } else {
            cwnd / 2
        }
    }

    fn least(&self, ssthresh: u64, _: u32) -> u64 {
        ssthresh
    }

    fn opened(&mut self, _: &Host) {
        self.since = NO_RTT;
    }
}
