//! The slow starts of Marchese 2001 and 2006.

use super::table::{choice, control, count, list, parameters};
use crate::{Control, Parameter};

/// Segments of a threshold or step.
const SEGMENTS: (u64, u64) = (1, 1_000_000);

parameters! { CONST:
    count k: "segments", &[4], SEGMENTS, "segments that an ACK adds; the papers test 2, 4, 10";
}

parameters! { LINEAR:
    count threshold: "segments", &[20], SEGMENTS,
        "where F stops growing; the papers test 10, 20, 50";
    choice test: &["cwnd", "ack-count"],
        "what is compared with the threshold: cwnd (2006) or the number of ACKs (2001)";
    count constant: "segments", &[1], SEGMENTS, "F above the threshold";
}

parameters! { MTSI:
    list thresholds: 8, "segments", &[20, 30, 40], SEGMENTS,
        "windows at which the slope changes, ascending";
    list slopes: 8, "segments", &[4, 2, 1], SEGMENTS,
        "slope K below each threshold, as many as thresholds";
    choice rule: &["A", "B"], "A: F grows by K (2006); B: F = K x number of ACKs (2001)";
    choice tie: &["lt", "le"], "whether a window equal to a threshold is below it (le)";
    choice scope: &["strict", "linux-2.2-equality", "below-threshold"],
        "where F acts: slow start, cwnd <= ssthresh, or every cwnd below the last threshold";
    count f0: "segments", &[0], (0, 1_000_000), "F before the first ACK";
}

pub(super) const CONTROLS: [Control; 3] = [
    control!(
        "const",
        "F_CONST: every ACK of slow start adds K segments, however much it covers",
        "Marchese 2006, eq. 6; K = 1 is the baseline that counts ACKs",
        CONST,
        "K segments per ACK in slow start" => "Marchese 2006, eq. 6"
    ),
    control!(
        "linear",
        "F_LINEAR: every ACK of slow start adds one segment more than the last, up to a threshold",
        "Marchese 2006, eq. 7; Marchese 2001, eq. 3",
        LINEAR,
        "one segment more with every ACK of slow start" => "Marchese 2006, eq. 7"
    ),
    control!(
        "mtsi",
        "multi-threshold slow start: F rises by slopes between thresholds on cwnd",
        "Marchese 2006, eq. 3-5; Marchese 2001, eq. 5-6",
        MTSI,
        "multi-threshold slow start 20-30-40" => "Marchese 2006, eq. 3-5"
    ),
];
