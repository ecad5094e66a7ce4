//! What Westwood and Westwood+ share: what an ACK accounts for, and what losses
//! and timeouts make of the bandwidth that the ACKs have shown.

use crate::parameter::words;
use crate::{Ack, CWND_LIMIT, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Segments};

words! {
    /// What an ACK accounts for.
    pub enum Accounting {
        /// A duplicate is one segment; a later cumulative ACK does not count those
        /// again.
        DupAck = "dupack",
        /// What was newly delivered, by cumulative or selective acknowledgement.
        Delivered = "delivered",
    }
}

/// Counts the segments that ACKs account for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AckCount {
    accounting: Accounting,
    /// Duplicates that no cumulative ACK has covered yet.
    unaccounted: Segments,
}

impl AckCount {
    pub(crate) const fn new(accounting: Accounting) -> AckCount {
        AckCount {
            accounting,
            unaccounted: 0.0,
        }
    }

    #[inline]
    pub(crate) fn count(&mut self, ack: &Ack) -> Segments {
        match self.accounting {
            Accounting::Delivered => ack.delivered,
            Accounting::DupAck if ack.duplicate => {
                self.unaccounted += 1.0;
                1.0
            }
            Accounting::DupAck if ack.acked > 1.0 => {
                if self.unaccounted >= ack.acked {
                    self.unaccounted -= ack.acked;
                    1.0
                } else {
                    ack.acked - core::mem::take(&mut self.unaccounted)
                }
            }
            Accounting::DupAck => ack.acked,
        }
    }
}

/// `bandwidth` (bit/s) x `rtt` in segments, at least 2; `None` while either is
/// unknown.
pub(crate) fn fitting_window(bandwidth: f64, rtt: Duration, mss: u32) -> Option<Segments> {
    let known = bandwidth > 0.0 && rtt != Duration::MAX;
    let product = bandwidth * rtt.as_secs() / (8.0 * f64::from(mss.max(1)));
    known.then(|| product.clamp(2.0, CWND_LIMIT))
}

/// Bits in `segments`.
pub(super) fn bits(segments: Segments, mss: u32) -> f64 {
    segments * f64::from(mss) * 8.0
}

/// The cut of the window to the estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CutTo {
    /// cwnd after the last cut; 0 before one and after a timeout.
    pub(super) cwnd: Segments,
    /// ssthresh is whole, and the end of recovery leaves cwnd alone, as in the
    /// agents of ns-2. Set by the host profile.
    pub(super) as_agent: bool,
}

impl CutTo {
    pub(super) const NEW: CutTo = CutTo {
        cwnd: 0.0,
        as_agent: false,
    };

    /// `bandwidth` (bit/s) x `rtt` in segments, once both are known.
    pub(super) fn fitting(&self, bandwidth: f64, rtt: Duration, mss: u32) -> Option<Segments> {
        let fitting = fitting_window(bandwidth, rtt, mss)?;
        Some(if self.as_agent {
            fitting.floor()
        } else {
            fitting
        })
    }

    /// The retransmission timer ran out with an estimate of `bandwidth` bit/s.
    pub(super) fn on_timeout(&mut self, bandwidth: f64, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            window.ssthresh = self
                .fitting(bandwidth, timeout.min_rtt, timeout.mss)
                .unwrap_or((timeout.flight / 2.0).max(2.0));
        }
        window.cwnd = 1.0;
        self.cwnd = 0.0;
    }

    /// Recovery ended: the window is that of the cut.
    pub(super) fn on_recovery_exit(&self, exit: &RecoveryExit, window: &mut Window) {
        if self.as_agent {
            return exit.leave_as_agent(window);
        }
        let cwnd = if self.cwnd >= 1.0 {
            self.cwnd.min(window.ssthresh)
        } else {
            window.ssthresh
        };
        exit.leave(cwnd, window);
    }
}
