//! Congestion avoidances: what an ACK adds to cwnd from ssthresh on.
//!
//! Sources: RFC 5681, section 3.1 (Reno). Hybla, CUBIC, HighSpeed and
//! Scalable have files of their own.
//!
//! | parameter of Reno | default | |
//! |---|---|---|
//! | growth | per-ack | 1/cwnd per ACK, as the papers and ns-2 |
//! | | per-segment | 1/cwnd per segment acknowledged: one segment a round also with delayed ACKs |
//! | | integer | cwnd + 1 after more than cwnd ACKs, counted whole, as Linux 2.2 |
//!
//! Left open: RFC 5681 allows the first two; the papers count ACKs. The counter
//! of `integer` starts again at a loss and at a timeout.

pub use crate::cubic::Cubic;
pub use crate::highspeed::HighSpeed;
pub use crate::hybla::{Gate, HyblaAvoidance};
pub use crate::scalable::Scalable;

use crate::{Ack, Hoe, Window};
use bentpipe_units::{Segments, Time};

/// Growth above ssthresh.
#[derive(Clone, Debug, PartialEq)]
pub enum Avoidance {
    /// One segment per round trip.
    Reno(Reno),
    /// rho^2 segments per round trip.
    Hybla(HyblaAvoidance),
    /// A cubic of the time since the loss.
    Cubic(Cubic),
    /// a(w) segments per round trip (RFC 3649).
    HighSpeed(HighSpeed),
    /// A part of the window per round trip (Kelly 2003).
    Scalable(Scalable),
    /// No growth.
    Hold,
}

/// What one segment per window means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// 1/cwnd per ACK.
    #[default]
    PerAck,
    /// 1/cwnd per segment acknowledged.
    PerSegment,
    /// One segment after more than cwnd ACKs.
    Integer,
}

/// RFC 5681: one segment per window of ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reno {
    /// How the window of ACKs is counted.
    pub growth: Growth,
    /// ACKs since the last step of [`Growth::Integer`].
    counter: Segments,
}

impl Reno {
    /// Reno with the given way of counting.
    #[must_use]
    pub const fn new(growth: Growth) -> Reno {
        Reno {
            growth,
            counter: 0.0,
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        match self.growth {
            Growth::PerAck => window.cwnd += 1.0 / window.cwnd,
            // At most one segment, however much a stretch ACK covers.
            Growth::PerSegment => window.cwnd += (ack.acked / window.cwnd).min(1.0),
            Growth::Integer => {
                if self.counter >= window.cwnd {
                    window.cwnd += 1.0;
                    self.counter = 0.0;
                } else {
                    self.counter += 1.0;
                }
            }
        }
    }
}

impl Avoidance {
    /// Every ACK: take samples.
    #[inline]
    pub fn on_sample(&mut self, ack: &Ack) {
        if let Avoidance::Hybla(hybla) = self {
            hybla.on_sample(ack);
        }
    }

    /// An ACK of congestion avoidance. `hoe` is the connection's estimate.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, window: &mut Window, hoe: Option<&Hoe>) {
        match self {
            Avoidance::Reno(reno) => reno.on_ack(ack, window),
            Avoidance::Hybla(hybla) => hybla.on_ack(ack, window, hoe),
            Avoidance::Cubic(cubic) => cubic.on_ack(ack, window),
            Avoidance::HighSpeed(highspeed) => highspeed.on_ack(ack, window),
            Avoidance::Scalable(scalable) => scalable.on_ack(ack, window),
            Avoidance::Hold => {}
        }
    }

    /// An ACK that found the window unused.
    #[inline]
    pub fn on_idle_ack(&mut self, now: Time) {
        if let Avoidance::Cubic(cubic) = self {
            cubic.on_idle_ack(now);
        }
    }

    /// A loss was found while cwnd was `before`.
    pub fn on_loss(&mut self, before: Segments) {
        match self {
            Avoidance::Reno(reno) => reno.counter = 0.0,
            Avoidance::Cubic(cubic) => cubic.on_loss(before),
            _ => {}
        }
    }

    /// The retransmission timer ran out while cwnd was `before`; `first` as in
    /// [`crate::Timeout`].
    pub fn on_timeout(&mut self, before: Segments, first: bool) {
        match self {
            Avoidance::Reno(reno) => reno.counter = 0.0,
            Avoidance::Cubic(cubic) => cubic.on_timeout(before, first),
            _ => {}
        }
    }

    /// The last loss or timeout was spurious.
    pub fn on_spurious(&mut self) {
        if let Avoidance::Cubic(cubic) = self {
            cubic.on_spurious();
        }
    }
}
