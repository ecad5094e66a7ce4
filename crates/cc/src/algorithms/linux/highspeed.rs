//! HighSpeed TCP as Linux has it: the table of RFC 3649 in whole numbers.
//!
//! Source: Linux `tcp_highspeed.c` (Heffner). An ACK of congestion avoidance
//! adds the row's number to the count and a full count adds a segment; the row
//! of the last such ACK decides what a loss takes.

use super::host::{Host, LinuxParameters, raise, whole};
use super::module::{Linux, Module, described};
use crate::declaration::{Algorithm, Control};
use crate::slots::{decrease_of_row, row};
use crate::{Ack, Window};

/// State of Linux' HighSpeed TCP for one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HighSpeed {
    row: usize,
}

impl Algorithm for Linux<HighSpeed> {
    fn controls() -> Vec<Control<Linux<HighSpeed>>> {
        let described = described(
            ("highspeed-linux", "highspeed"),
            "HighSpeed of Linux: the table of RFC 3649 in whole numbers",
            "Linux tcp_highspeed.c",
            "HighSpeed of Linux: the table of RFC 3649",
        );
        vec![Control::new(described, |p: LinuxParameters| {
            Linux::new(p.version, HighSpeed::default())
        })]
    }
}

impl Module for HighSpeed {
    fn name(&self) -> &'static str {
        "highspeed-linux"
    }

    fn grow(&mut self, ack: &Ack, host: &mut Host, window: &mut Window) {
        if !host.needs_window(ack, window) {
            return;
        }
        if host.in_slow_start(window) {
            host.slow_start(ack, window);
            return;
        }
        let cwnd = whole(window.cwnd);
        self.row = row(cwnd as f64);
        if cwnd < host.clamp(ack) {
            host.count += self.row as u64 + 1;
            if host.count >= cwnd {
                host.count -= cwnd;
                raise(window, cwnd + 1);
            }
        }
    }

    fn threshold(&mut self, cwnd: u64, _: bool) -> u64 {
        cwnd - ((cwnd * decrease_of_row(self.row)) >> 8)
    }
}
