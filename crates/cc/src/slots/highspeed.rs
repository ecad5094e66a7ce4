//! HighSpeed TCP: the larger the window, the faster it grows and the less a loss
//! takes.
//!
//! Source: RFC 3649, section 5 (equations) and appendix B (the table). Above
//! `low_window`, with f = (ln w - ln low) / (ln high - ln low):
//!
//! - b(w) = 0.5 + f (high_decrease - 0.5),
//! - p(w), the loss rate at which w is the mean window, goes from 1.5 / low^2 to
//!   high_p, straight in logarithms,
//! - a(w) = w^2 p(w) 2 b(w) / (2 - b(w)).
//!
//! Congestion avoidance adds a(w) / w per ACK; a loss leaves w (1 - b(w)). Up to
//! `low_window` a = 1 and b = 0.5: Reno.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | law | formula | `table`: a and b of the next of 72 windows, as Linux and ns-3 |
//! | low_window | 38 | segments |
//! | high_window | 83000 | segments |
//! | high_p | 1e-7 | loss rate at high_window |
//! | high_decrease | 0.1 | what a loss takes at high_window |
//! | count | acks | `segments`: a(w) / w per segment acknowledged |
//!
//! The table holds for the default numbers: row n is the largest window with
//! a = n, and b there is rounded down to 1/256.
//!
//! Left open, and the reading chosen: w of the cut is what the host halves (the flight, RFC 5681),
//! as in every other reaction; a timeout sets ssthresh to w (1 - b(w)), too. Section 5 adds a(w) /
//! w per ACK, which is a(w) per round trip only where every segment is acknowledged. The default is
//! the step per ACK, as in the text and in Linux. With an ACK per two segments it grows half as
//! fast as the response function assumes; `count = segments`, as in ns-3, does not.

use super::newreno::Standard;
use super::{Counted, SEGMENTS};
use crate::declaration::{Control, Described, Family, TransportDefaults, of_slots};
use crate::hoe::HoeOff;
use crate::parameter::{number, parameters, word, words};
use crate::slot::{CongestionAvoidance, LossReaction, Parts};
use crate::{Ack, Hoe, Loss, Timeout, Window};
use bentpipe_units::{Segments, math};

/// The control `highspeed`.
pub(crate) fn highspeed() -> Control<Parts<Standard, HighSpeed, HighSpeedReaction, HoeOff>> {
    of_slots(Described {
        name: "highspeed",
        on_linux: Some("highspeed-linux"),
        summary: "the larger the window, the faster it grows and the less a loss takes",
        source: "RFC 3649, section 5 and appendix B",
        open: "the w of a cut is the flight; a timeout sets ssthresh by the same b(w); a step per \
               ACK as section 5 says, `count = segments` for delayed ACKs",
        family: Family::LargeWindow,
        transport: TransportDefaults {
            source: "RFC 3649",
            ..TransportDefaults::NEW
        },
        settles: true,
        ..Described::NEW
    })
}

/// The largest window of each a = 1, 2, 3, ...
const LIMITS: [u32; 72] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778,
    4177, 4596, 5036, 5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10_661, 11_358, 12_082,
    12_834, 13_614, 14_424, 15_265, 16_137, 17_042, 17_981, 18_955, 19_965, 21_013, 22_101, 23_230,
    24_402, 25_618, 26_881, 28_193, 29_557, 30_975, 32_450, 33_986, 35_586, 37_253, 38_992, 40_808,
    42_707, 44_694, 46_776, 48_961, 51_258, 53_677, 56_230, 58_932, 61_799, 64_851, 68_113, 71_617,
    75_401, 79_517, 84_035, 89_053,
];

words! {
    /// Where a and b come from.
    pub enum HighSpeedLaw {
        /// The equations.
        Formula = "formula",
        /// The table of appendix B, as Linux has it.
        Table = "table",
    }
}

parameters! {
    /// Settings of [`HighSpeed`].
    #[derive(Copy)]
    pub struct HighSpeedParameters {
        law: HighSpeedLaw = word(),
            "a and b by the equations, or by the table of RFC 3649, appendix B";
        low_window: f64 = number(38.0, "segments", SEGMENTS), "up to this window it is Reno";
        high_window: f64 = number(83_000.0, "segments", SEGMENTS),
            "the mean window at loss rate high_p";
        high_p: f64 = number(1e-7, "", (1e-12, 0.1)), "loss rate at high_window";
        high_decrease: f64 = number(0.1, "", (0.01, 0.5)),
            "part of the window that a loss takes at high_window";
        count: Counted = word(), "what a step of congestion avoidance counts";
    }
}

/// The response function: growth and cut of HighSpeed TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HighSpeed {
    law: HighSpeedLaw,
    low_window: Segments,
    ln_low: f64,
    /// ln high - ln low.
    ln_span: f64,
    ln_low_p: f64,
    /// ln high_p - ln low_p.
    ln_p_span: f64,
    high_decrease: f64,
    count: Counted,
}

impl Default for HighSpeed {
    fn default() -> HighSpeed {
        HighSpeed::new(HighSpeedLaw::Formula, 38.0, 83_000.0, 1e-7, 0.1)
    }
}

impl HighSpeed {
    /// A response function through (`low_window`, 1.5 / low^2) and
    /// (`high_window`, `high_p`), where a loss takes 0.5 and `high_decrease`.
    #[must_use]
    pub fn new(
        law: HighSpeedLaw,
        low_window: Segments,
        high_window: Segments,
        high_p: f64,
        high_decrease: f64,
    ) -> HighSpeed {
        let low_window = low_window.max(1.0);
        let ln_low_p = math::ln(1.5 / (low_window * low_window));
        HighSpeed {
            law,
            low_window,
            ln_low: math::ln(low_window),
            ln_span: math::ln(high_window.max(low_window + 1.0) / low_window),
            ln_low_p,
            ln_p_span: math::ln(high_p) - ln_low_p,
            high_decrease,
            count: Counted::default(),
        }
    }

    /// Where `ln_w` lies between the two windows: 0 to 1, and on.
    fn place(&self, ln_w: f64) -> f64 {
        (ln_w - self.ln_low) / self.ln_span
    }

    fn decrease_at(&self, place: f64) -> f64 {
        // Far above the high window the line would reach 0 and below.
        (0.5 + place * (self.high_decrease - 0.5)).clamp(0.01, 0.5)
    }

    /// a(w), segments per round trip.
    #[must_use]
    pub fn increase(&self, w: Segments) -> Segments {
        if self.law == HighSpeedLaw::Table {
            return (row(w) + 1) as f64;
        }
        if w <= self.low_window {
            return 1.0;
        }
        let ln_w = math::ln(w);
        let place = self.place(ln_w);
        let b = self.decrease_at(place);
        let w2p = math::exp(2.0 * ln_w + self.ln_low_p + place * self.ln_p_span);
        w2p * 2.0 * b / (2.0 - b)
    }

    /// b(w), the part of the window that a loss takes.
    #[must_use]
    pub fn decrease(&self, w: Segments) -> f64 {
        if self.law == HighSpeedLaw::Table {
            return decrease_of_row(row(w)) as f64 / 256.0;
        }
        if w <= self.low_window {
            return 0.5;
        }
        self.decrease_at(self.place(math::ln(w)))
    }

    fn cut(&self, w: Segments) -> Segments {
        (w * (1.0 - self.decrease(w))).max(2.0)
    }
}

fills! { HighSpeed, "highspeed", "a(w) segments per round trip (RFC 3649)",
    |p: HighSpeedParameters| {
        let count = p.count;
        HighSpeed {
            count,
            ..HighSpeed::new(
                p.law,
                p.low_window,
                p.high_window,
                p.high_p,
                p.high_decrease,
            )
        }
    }
}

impl CongestionAvoidance for HighSpeed {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window, _: Option<&Hoe>) {
        let step = self.increase(window.cwnd) / window.cwnd;
        // A stretch ACK adds at most the window.
        window.cwnd += (step * self.count.of(ack)).min(window.cwnd);
    }
}

/// The cut of HighSpeed TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HighSpeedReaction(HighSpeed);

fills! { HighSpeedReaction, "highspeed", "1 - b(w) of what is in flight (RFC 3649)",
    |parameters: HighSpeedParameters| HighSpeedReaction(HighSpeed::build(parameters))
}

impl LossReaction for HighSpeedReaction {
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        window.ssthresh = self.0.cut(loss.flight);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        timeout.reduce(window, |flight| self.0.cut(flight));
    }
}

/// The row of the table that holds for a window of `w` segments: the first
/// whose limit is not below it, or the last.
pub(crate) fn row(w: Segments) -> usize {
    LIMITS
        .partition_point(|limit| f64::from(*limit) < w)
        .min(LIMITS.len() - 1)
}

/// b of a row of the table, in 1/256.
pub(crate) fn decrease_of_row(row: usize) -> u64 {
    let limit = f64::from(LIMITS[row.min(LIMITS.len() - 1)]);
    (256.0 * HighSpeed::default().decrease(limit)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "got {got}, want {want}");
    }

    #[test]
    fn windows_of_the_specification() {
        let law = HighSpeed::default();
        for (w, b, a) in [
            (118.0, 0.441, 2.09),
            (1000.0, 0.330, 8.03),
            (83_000.0, 0.1, 72.5),
        ] {
            close(law.decrease(w), b, 5e-4);
            close(law.increase(w), a, 5e-2);
        }
        assert_eq!((law.increase(38.0), law.decrease(38.0)), (1.0, 0.5));
        // The equations meet Reno at the low window.
        close(law.increase(38.000_001), 1.0, 1e-6);
    }

    #[test]
    fn rows_of_the_table() {
        // RFC 3649, appendix B: w, a(w), b(w).
        let table = HighSpeed::new(HighSpeedLaw::Table, 38.0, 83_000.0, 1e-7, 0.1);
        for (w, a, b) in [
            (10.0, 1.0, 0.50),
            (38.0, 1.0, 0.50),
            (39.0, 2.0, 0.44),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (10_661.0, 30.0, 0.21),
            (84_035.0, 71.0, 0.10),
            (1e6, 72.0, 0.10),
        ] {
            assert_eq!(table.increase(w), a, "{w}");
            close(table.decrease(w), b, 8e-3);
        }
        // In 1/256, as Linux stores them.
        let stored: Vec<u64> = [0, 1, 2, 3, 29, 71].map(decrease_of_row).to_vec();
        assert_eq!(stored, [128, 112, 104, 98, 52, 24]);
    }

    #[test]
    fn the_table_stays_less_than_two_segments_below_the_equations() {
        let law = HighSpeed::default();
        for (i, limit) in LIMITS.iter().enumerate() {
            let above = law.increase(f64::from(*limit)) - (i + 1) as f64;
            assert!((-1e-9..1.76).contains(&above), "{limit}: {above}");
        }
    }
}
