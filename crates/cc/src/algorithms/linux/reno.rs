//! Reno as Linux has it: whole windows, half of cwnd at a loss.
//!
//! Source: Linux `tcp_cong.c`. Today one segment per segment acknowledged in
//! slow start, which ends at ssthresh, and one per window of them after it;
//! 2.6.22 counts ACKs, takes `cwnd <= ssthresh` for slow start and a window of
//! ACKs plus one for a round trip.

use super::host::LinuxParameters;
use super::module::{Linux, Module, described};
use crate::declaration::{Algorithm, Control};

/// Linux' Reno, which is stateless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reno;

impl Algorithm for Linux<Reno> {
    fn controls() -> Vec<Control<Linux<Reno>>> {
        let described = described(
            ("reno-linux", "reno"),
            "Reno in Linux' whole numbers",
            "Linux tcp_cong.c",
            "Reno in the whole numbers of Linux",
        );
        vec![Control::new(described, |p: LinuxParameters| {
            Linux::new(p.version, Reno)
        })]
    }
}

impl Module for Reno {
    fn name(&self) -> &'static str {
        "reno-linux"
    }
}
