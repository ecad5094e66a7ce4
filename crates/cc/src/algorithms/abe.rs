//! Jersey's estimate of the available bandwidth.
//!
//! Source: Xu, Tian & Ansari 2004:
//! R_n = (RTT R_{n-1} + L_n) / ((t_n - t_{n-1}) + RTT), L_n the data that the
//! ACK at t_n acknowledges. The window that fits is RTTmin x R / MSS.
//!
//! Left open, and the reading chosen: the RTT is the smoothed one; a duplicate ACK counts as one
//! segment, which a later cumulative ACK does not count again; the first ACK only sets the clock.

use crate::slots::{Accounting, AckCount, fitting_window};
use crate::{Ack, CWND_LIMIT};
use bentpipe_units::{Duration, Rate, Segments, Time};

/// Available bandwidth estimation (ABE).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Abe {
    count: AckCount,
    /// Estimate of the rate, bit/s.
    rate: f64,
    last_ack: Option<Time>,
}

impl Default for Abe {
    fn default() -> Abe {
        Abe {
            count: AckCount::new(Accounting::DupAck),
            rate: 0.0,
            last_ack: None,
        }
    }
}

impl Abe {
    /// Takes the sample of an ACK.
    #[inline]
    pub(super) fn on_sample(&mut self, ack: &Ack) {
        let segments = self.count.count(ack);
        let rtt = ack.smoothed_rtt.as_secs();
        if rtt == 0.0 {
            return;
        }
        let Some(last) = self.last_ack.replace(ack.now) else {
            return;
        };
        let gap = ack.now.since(last).as_secs();
        let bits = segments.min(CWND_LIMIT) * f64::from(ack.mss) * 8.0;
        self.rate = (rtt * self.rate + bits) / (gap + rtt);
    }

    /// The window that fits at the smallest RTT, at least 2 segments; `None`
    /// before there is an estimate.
    #[must_use]
    pub(super) fn window(&self, min_rtt: Duration, mss: u32) -> Option<Segments> {
        fitting_window(self.rate, min_rtt, mss)
    }

    /// The estimate; `None` before there is one.
    #[must_use]
    pub(super) fn rate(&self) -> Option<Rate> {
        (self.rate > 0.0).then(|| Rate::from_bps_f64(self.rate))
    }
}
