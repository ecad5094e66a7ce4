//! Slow starts: what an ACK adds to cwnd below ssthresh.
//!
//! Sources: RFC 5681, section 3.1 and RFC 3465 (Standard); Marchese 2006,
//! eq. 6 and 7, and Marchese 2001, eq. 2 and 3 (Const, Linear). MTSI, Hybla
//! and HyStart++ have files of their own.
//!
//! Common law of Marchese: an ACK that advances adds F segments, one call per
//! ACK and not per segment; everything outside slow start stays as it is.

mod hystart;
mod mtsi;

pub use crate::hybla::HyblaStart;
pub use hystart::HyStart;
pub use mtsi::{Mtsi, MtsiRule, Scope, Tie};

use crate::{Ack, Window};
use bentpipe_units::{Duration, Segments};

/// Growth below ssthresh.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// One segment per ACK, or RFC 3465 byte counting.
    Standard(Standard),
    /// K segments per ACK.
    Const(Const),
    /// One segment more with every ACK.
    Linear(Linear),
    /// Multiple thresholds, smoothed increase.
    Mtsi(Mtsi),
    /// 2^rho - 1 segments per ACK.
    Hybla(HyblaStart),
    /// Standard until the delay rises (RFC 9406).
    HyStart(HyStart),
    /// cwnd is this many segments whatever happens: for measuring.
    Fixed(Segments),
}

/// RFC 5681: one segment per ACK that advances.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standard {
    /// Limit L of appropriate byte counting (RFC 3465), segments: an ACK adds
    /// min(newly acknowledged, L), and stops at ssthresh. 0 (default) counts
    /// ACKs instead, as the papers, ns-2 and Linux 2.2 do.
    pub byte_counting: Segments,
}

/// F_CONST (Marchese 2006, eq. 6): K segments per ACK, without a threshold.
/// The papers test K = 2, 4 and 10.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Const {
    /// Segments per ACK.
    pub k: Segments,
}

/// What [`Linear`] compares with its threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinearTest {
    /// cwnd before the ACK: F grows by one while it is below the threshold.
    #[default]
    Cwnd,
    /// The number of ACKs of the connection: F equals it up to the threshold.
    AckCount,
}

/// F_LINEAR (Marchese 2006, eq. 7; Marchese 2001, eq. 3): F grows by one with
/// every ACK up to a threshold and is a constant after it.
///
/// Left open: eq. 7 of 2006 tests cwnd and falls back to 1; in eq. 3 of 2001
/// neither the tested quantity nor the constant can be read. Chosen: the later
/// text (cwnd, 1), which agrees with the transfer times of its figures. A
/// timeout starts F again under the cwnd test; the count of ACKs goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    /// The threshold: segments, or ACKs under [`LinearTest::AckCount`].
    pub threshold: f64,
    /// What is compared with it.
    pub test: LinearTest,
    /// F above the threshold.
    pub constant: Segments,
    /// F of the last ACK.
    f: Segments,
    /// ACKs of the connection.
    acks: f64,
}

impl Const {
    /// F = `k`.
    #[must_use]
    pub const fn new(k: Segments) -> Const {
        Const { k }
    }
}

impl Linear {
    /// F_LINEAR with the cwnd test and 1 above the threshold.
    #[must_use]
    pub const fn new(threshold: f64) -> Linear {
        Linear {
            threshold,
            test: LinearTest::Cwnd,
            constant: 1.0,
            f: 0.0,
            acks: 0.0,
        }
    }

    /// F of the ACK that finds the window at `cwnd`.
    fn advance(&mut self, cwnd: Segments) -> Segments {
        self.f = match self.test {
            LinearTest::Cwnd if cwnd < self.threshold => self.f + 1.0,
            LinearTest::AckCount if self.acks <= self.threshold => self.acks,
            LinearTest::Cwnd | LinearTest::AckCount => self.constant,
        };
        self.f
    }
}

impl Standard {
    #[inline]
    fn on_ack(self, ack: &Ack, window: &mut Window) {
        if self.byte_counting <= 0.0 {
            window.cwnd += 1.0;
            return;
        }
        // A stretch ACK must not carry the window far past ssthresh.
        let ceiling = window.ssthresh.max(window.cwnd + 1.0);
        window.cwnd = (window.cwnd + ack.acked.min(self.byte_counting)).min(ceiling);
    }
}

impl Start {
    /// The connection is established.
    pub fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        match self {
            Start::Hybla(hybla) => hybla.on_established(rtt, window),
            Start::Fixed(cwnd) => window.cwnd = *cwnd,
            _ => {}
        }
    }

    /// Every ACK: take samples and count.
    #[inline]
    pub fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        match self {
            Start::Standard(_) | Start::Const(_) => {}
            Start::Linear(linear) => {
                if ack.cwnd_limited && !ack.duplicate {
                    linear.acks += 1.0;
                }
            }
            Start::Mtsi(mtsi) => mtsi.on_sample(ack),
            Start::Hybla(hybla) => hybla.on_sample(ack, window),
            Start::HyStart(hystart) => hystart.on_sample(ack, window),
            Start::Fixed(cwnd) => window.cwnd = *cwnd,
        }
    }

    /// An ACK of slow start. `estimate_pending` says that Hoe's estimate will
    /// set ssthresh and has not yet.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, window: &mut Window, estimate_pending: bool) {
        match self {
            Start::Standard(standard) => standard.on_ack(ack, window),
            Start::Const(constant) => window.cwnd += constant.k,
            Start::Linear(linear) => window.cwnd += linear.advance(window.cwnd),
            Start::Mtsi(mtsi) => window.cwnd += mtsi.advance(window.cwnd),
            Start::Hybla(hybla) => hybla.on_ack(ack, window, estimate_pending),
            Start::HyStart(hystart) => hystart.on_ack(ack, window),
            Start::Fixed(_) => {}
        }
    }

    /// An ACK that congestion avoidance took.
    #[inline]
    pub fn on_avoidance_ack(&mut self, window: &Window) {
        if let Start::Mtsi(mtsi) = self {
            mtsi.on_avoidance_ack(window.cwnd);
        }
    }

    /// True where the slow start takes this ACK although cwnd is not below
    /// ssthresh.
    #[must_use]
    #[inline]
    pub fn claims(&self, window: &Window) -> bool {
        match self {
            Start::Mtsi(mtsi) => mtsi.claims(window),
            _ => false,
        }
    }

    /// True where the slow start itself stops at ssthresh: such a start is
    /// over at `cwnd == ssthresh` on every host.
    #[must_use]
    pub fn stops_at_ssthresh(&self) -> bool {
        matches!(self, Start::Hybla(_))
    }

    /// A loss was found.
    pub fn on_loss(&mut self) {
        if let Start::HyStart(hystart) = self {
            hystart.stop();
        }
    }

    /// The retransmission timer ran out.
    pub fn on_timeout(&mut self) {
        match self {
            Start::Linear(linear) => linear.f = 0.0,
            Start::Mtsi(mtsi) => mtsi.on_timeout(),
            Start::HyStart(hystart) => hystart.stop(),
            _ => {}
        }
    }

    /// The last loss or timeout was spurious.
    pub fn on_spurious(&mut self) {
        if let Start::Mtsi(mtsi) = self {
            mtsi.on_spurious();
        }
    }
}
