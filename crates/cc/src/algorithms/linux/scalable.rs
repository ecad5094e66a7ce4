//! Scalable TCP as Linux has it: a segment per 100 acknowledged ones, an eighth
//! less at a loss.
//!
//! Source: Linux `tcp_scalable.c` (Heffner after Kelly). Windows below 100 (in
//! 2.6.22, which counts ACKs, 50) grow as Reno's do.

use super::host::{Host, LinuxParameters, Version, whole};
use super::module::{Linux, Module, described};
use crate::declaration::{Algorithm, Control};
use crate::{Ack, Window};

/// Linux' Scalable TCP, which is stateless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scalable;

impl Algorithm for Linux<Scalable> {
    fn controls() -> Vec<Control<Linux<Scalable>>> {
        let described = described(
            ("scalable-linux", "scalable"),
            "Scalable of Linux: a segment per 100 acknowledged, an eighth less at a loss",
            "Linux tcp_scalable.c",
            "Scalable of Linux: a segment per 100 acknowledged",
        );
        vec![Control::new(described, |p: LinuxParameters| {
            Linux::new(p.version, Scalable)
        })]
    }
}

impl Module for Scalable {
    fn name(&self) -> &'static str {
        "scalable-linux"
    }

    fn grow(&mut self, ack: &Ack, host: &mut Host, window: &mut Window) {
        if !host.needs_window(ack, window) {
            return;
        }
        let mut acked = ack.acked as u64;
        if host.in_slow_start(window) {
            acked = host.slow_start(ack, window);
            if acked == 0 {
                return;
            }
        }
        let cwnd = whole(window.cwnd);
        match host.version {
            Version::Current => host.avoid(ack, window, cwnd.min(100), acked),
            Version::Ns2 => host.avoid_old(ack, window, cwnd.min(50)),
        }
    }

    fn threshold(&mut self, cwnd: u64, _: bool) -> u64 {
        cwnd - (cwnd >> 3)
    }
}
