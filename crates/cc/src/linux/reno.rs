//! Reno as Linux has it: whole windows, half of cwnd at a loss.
//!
//! Source: Linux `tcp_cong.c`. Today one segment per segment acknowledged in
//! slow start, which ends at ssthresh, and one per window of them after it;
//! 2.6.22 counts ACKs, takes `cwnd <= ssthresh` for slow start and a window of
//! ACKs plus one for a round trip.

use super::module::Module;

/// Reno.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reno;

impl Module for Reno {
    fn name(&self) -> &'static str {
        "reno-linux"
    }
}
