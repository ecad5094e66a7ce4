//! F_CONST and F_LINEAR: slow starts whose ACKs add more than one segment.
//!
//! Sources: Marchese 2006, eq. 6 and 7; Marchese 2001, eq. 2 and 3. MTSI has a separate file.
//!
//! Common law of Marchese: an ACK that advances adds F segments, one call per ACK and not per
//! segment; everything outside slow start is unchanged.

use super::SEGMENTS;
use super::newreno::{Halve, Reno};
use crate::declaration::{Control, Described, TransportDefaults, of_slots};
use crate::hoe::HoeOff;
use crate::parameter::{number, parameters, word, words};
use crate::slot::{Parts, SlowStart};
use crate::{Ack, Window};
use bentpipe_units::{Bytes, Segments};

/// The transports of Marchese 2006 share IW 6 and "320 Kbytes", of which Linux
/// 2.2 advertises half: 113 segments, so a Kbyte is 1024 bytes.
pub(super) const TRANSPORT: TransportDefaults = TransportDefaults {
    initial_window: Some(6.0),
    buffers: Some(Bytes::new(320 * 1024)),
    ..TransportDefaults::NEW
};

/// The control `const`.
pub(crate) fn constant() -> Control<Parts<Const, Reno, Halve, HoeOff>> {
    of_slots(Described {
        name: "const",
        summary: "slow start with K segments per ACK",
        source: "Marchese 2006, eq. 6; Marchese 2001, eq. 2",
        open: "nothing is said about losses: F is used in every slow start",
        transport: TransportDefaults {
            summary: "K segments per ACK in slow start, initial window 6",
            source: "Marchese 2006, eq. 6",
            ..TRANSPORT
        },
        settles: true,
        ..Described::NEW
    })
}

/// The control `linear`.
pub(crate) fn linear() -> Control<Parts<Linear, Reno, Halve, HoeOff>> {
    of_slots(Described {
        name: "linear",
        summary: "slow start whose increment grows by one with every ACK up to a threshold",
        source: "Marchese 2006, eq. 7; Marchese 2001, eq. 3",
        open: "2001 leaves unreadable what is compared with the threshold and what holds above \
               it: cwnd and 1, as in 2006",
        transport: TransportDefaults {
            summary: "one segment more with every ACK of slow start, initial window 6",
            source: "Marchese 2006, eq. 7",
            ..TRANSPORT
        },
        settles: true,
        ..Described::NEW
    })
}

parameters! {
    /// Settings of [`Const`].
    pub struct ConstParameters {
        k: f64 = number(4.0, "segments", SEGMENTS),
            "segments that an ACK adds; the papers test 2, 4, 10";
    }
}

words! {
    /// What [`Linear`] compares with its threshold.
    pub enum LinearTest {
        /// cwnd before the ACK: F grows by one while it is below the threshold.
        Cwnd = "cwnd",
        /// The number of ACKs of the connection: F equals it up to the threshold.
        AckCount = "ack-count",
    }
}

parameters! {
    /// Settings of [`Linear`].
    pub struct LinearParameters {
        threshold: f64 = number(20.0, "segments", SEGMENTS),
            "where F stops growing; the papers test 10, 20, 50";
        test: LinearTest = word(),
            "what is compared with the threshold: cwnd (2006) or the number of ACKs (2001)";
        constant: f64 = number(1.0, "segments", SEGMENTS), "F above the threshold";
    }
}

/// F_CONST (Marchese 2006, eq. 6): K segments per ACK, without a threshold.
/// The papers test K = 2, 4 and 10.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Const {
    /// Segments by which each ACK grows cwnd.
    pub k: Segments,
}

/// F_LINEAR (Marchese 2006, eq. 7; Marchese 2001, eq. 3): F grows by one with
/// every ACK up to a threshold and is a constant after it.
///
/// Left open: eq. 7 of 2006 tests cwnd and falls back to 1; in eq. 3 of 2001 neither the tested
/// quantity nor the constant can be read. Chosen: the later text (cwnd, 1), which agrees with the
/// transfer times of its figures. A timeout starts F again under the cwnd test; the count of ACKs
/// continues.
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
    /// ACKs of the connection that advanced, window in use or not.
    acks: f64,
}

impl Const {
    /// Slow start with constant F = `k`.
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

fills! { Const, "const", "K segments per ACK (Marchese 2006, eq. 6)",
    |parameters: ConstParameters| Const::new(parameters.k)
}

impl SlowStart for Const {
    #[inline]
    fn on_ack(&mut self, _: &Ack, window: &mut Window, _: bool) {
        window.cwnd += self.k;
    }
}

fills! { Linear, "linear", "one segment more with every ACK (Marchese 2006, eq. 7)",
    |parameters: LinearParameters| Linear {
        test: parameters.test,
        constant: parameters.constant,
        ..Linear::new(parameters.threshold)

    }
}

impl SlowStart for Linear {
    #[inline]
    fn on_sample(&mut self, ack: &Ack, _: &mut Window) {
        if ack.acked > 0.0 {
            self.acks += 1.0;
        }
    }

    #[inline]
    fn on_ack(&mut self, _: &Ack, window: &mut Window, _: bool) {
        window.cwnd += self.advance(window.cwnd);
    }

    fn on_timeout(&mut self) {
        self.f = 0.0;
    }
}
