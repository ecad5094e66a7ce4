//! The table of all parameters, by slot.

use super::{DefaultValue, Parameter, Range};
use bentpipe_units::Duration;

pub(super) const fn number(
    name: &'static str,
    default: f64,
    unit: &'static str,
    (min, max): (f64, f64),
    meaning: &'static str,
) -> Parameter {
    let default = DefaultValue::Number(default);
    Parameter {
        name,
        default,
        unit,
        range: Range::Number { min, max },
        meaning,
    }
}

/// A word; the first is the default.
pub(super) const fn word(
    name: &'static str,
    words: &'static [&'static str],
    meaning: &'static str,
) -> Parameter {
    let default = DefaultValue::Text(words[0]);
    Parameter {
        name,
        default,
        unit: "",
        range: Range::OneOf(words),
        meaning,
    }
}

pub(super) const fn flag(name: &'static str, default: bool, meaning: &'static str) -> Parameter {
    Parameter {
        name,
        default: DefaultValue::Flag(default),
        unit: "",
        range: Range::Flag,
        meaning,
    }
}

pub(super) const fn time(
    name: &'static str,
    default: Duration,
    (min, max): (Duration, Duration),
    meaning: &'static str,
) -> Parameter {
    let default = DefaultValue::Duration(default);
    Parameter {
        name,
        default,
        unit: "time",
        range: Range::Duration { min, max },
        meaning,
    }
}

pub(super) const fn numbers(
    name: &'static str,
    default: &'static [f64],
    unit: &'static str,
    (min, max): (f64, f64),
    meaning: &'static str,
) -> Parameter {
    let default = DefaultValue::Numbers(default);
    Parameter {
        name,
        default,
        unit,
        range: Range::Numbers { min, max },
        meaning,
    }
}

const SEGMENTS: (f64, f64) = (1.0, 1_000_000.0);
const SEGMENTS_OR_NONE: (f64, f64) = (0.0, 1_000_000.0);

pub(super) const STANDARD: &[Parameter] = &[number(
    "byte_counting",
    0.0,
    "segments",
    SEGMENTS_OR_NONE,
    "limit L of appropriate byte counting (RFC 3465); 0 counts ACKs",
)];

pub(super) const CONST: &[Parameter] = &[number(
    "k",
    4.0,
    "segments",
    SEGMENTS,
    "segments that an ACK adds; the papers test 2, 4, 10",
)];

pub(super) const LINEAR: &[Parameter] = &[
    number(
        "threshold",
        20.0,
        "segments",
        SEGMENTS,
        "where F stops growing; the papers test 10, 20, 50",
    ),
    word(
        "test",
        &["cwnd", "ack-count"],
        "what is compared with the threshold: cwnd (2006) or the number of ACKs (2001)",
    ),
    number(
        "constant",
        1.0,
        "segments",
        SEGMENTS,
        "F above the threshold",
    ),
];

pub(super) const MTSI: &[Parameter] = &[
    numbers(
        "thresholds",
        &[20.0, 30.0, 40.0],
        "segments",
        SEGMENTS,
        "windows at which the slope changes, ascending",
    ),
    numbers(
        "slopes",
        &[4.0, 2.0, 1.0],
        "segments",
        SEGMENTS_OR_NONE,
        "slope K below each threshold, as many as thresholds",
    ),
    word(
        "rule",
        &["A", "B"],
        "A: F grows by K (2006); B: F = K x number of ACKs (2001)",
    ),
    word(
        "tie",
        &["lt", "le"],
        "whether a window equal to a threshold is below it (le)",
    ),
    word(
        "scope",
        &["strict", "linux-2.2-equality", "below-threshold"],
        "where F acts: slow start, cwnd <= ssthresh, or every cwnd below the last threshold",
    ),
    number(
        "f0",
        0.0,
        "segments",
        SEGMENTS_OR_NONE,
        "F before the first ACK",
    ),
];

pub(super) const RTT0: Parameter = time(
    "rtt0",
    Duration::from_millis(25),
    (Duration::from_micros(1), Duration::from_secs(60)),
    "RTT of the reference connection (papers and Linux 25 ms, ns-3 50 ms)",
);

pub(super) const HYBLA_START: &[Parameter] = &[
    RTT0,
    flag(
        "doubling_limit",
        true,
        "an ACK adds no more than cwnd while Hoe's estimate is not there",
    ),
    word(
        "start_window",
        &["transport", "rho"],
        "initial window: the transport's, or rho (Linux)",
    ),
];

pub(super) const HYBLA_AVOIDANCE: &[Parameter] = &[
    RTT0,
    word(
        "gate",
        &["hoe", "delivery-rate", "off"],
        "the bandwidth-delay product up to which cwnd grows by rho^2",
    ),
    word(
        "count",
        &["segments", "acks"],
        "what a step of congestion avoidance counts",
    ),
];

pub(super) const HYSTART: &[Parameter] = &[
    flag("hystart", true, "leave slow start when the RTT rises"),
    number(
        "limit",
        8.0,
        "segments",
        SEGMENTS,
        "segments that an ACK may add (RFC 9406, L)",
    ),
];

pub(super) const RENO: &[Parameter] = &[word(
    "growth",
    &["per-ack", "per-segment", "integer"],
    "1/cwnd per ACK, per segment acknowledged, or one segment after cwnd ACKs (Linux 2.2)",
)];

const BETA: Parameter = number(
    "beta",
    0.7,
    "",
    (0.1, 0.99),
    "what the cut leaves of the window (Linux: 717/1024)",
);

pub(super) const CUBIC: &[Parameter] = &[
    number(
        "c",
        0.4,
        "segments/s^3",
        (1e-6, 1e6),
        "constant C of the cubic",
    ),
    BETA,
    flag(
        "fast_convergence",
        true,
        "leave room for new flows when the window peaks lower",
    ),
    flag("reno_friendly", true, "never slower than Reno"),
    word(
        "count",
        &["acks", "segments"],
        "what a step of congestion avoidance counts",
    ),
];

pub(super) const CUBIC_REACTION: &[Parameter] = &[BETA];

pub(super) const HIGHSPEED: &[Parameter] = &[
    word(
        "law",
        &["formula", "table"],
        "a and b by the equations, or by the table of RFC 3649, appendix B",
    ),
    number(
        "low_window",
        38.0,
        "segments",
        SEGMENTS,
        "up to this window it is Reno",
    ),
    number(
        "high_window",
        83_000.0,
        "segments",
        SEGMENTS,
        "the mean window at loss rate high_p",
    ),
    number("high_p", 1e-7, "", (1e-12, 0.1), "loss rate at high_window"),
    number(
        "high_decrease",
        0.1,
        "",
        (0.01, 0.5),
        "part of the window that a loss takes at high_window",
    ),
];

pub(super) const SCALABLE: &[Parameter] = &[
    number(
        "increase",
        0.01,
        "segments",
        (1e-6, 1.0),
        "what an ACK adds in congestion avoidance",
    ),
    number(
        "decrease",
        0.125,
        "",
        (0.01, 0.9),
        "part of the window that a loss takes",
    ),
    number(
        "low_window",
        16.0,
        "segments",
        SEGMENTS,
        "below this window it is Reno",
    ),
    word(
        "count",
        &["acks", "segments"],
        "what a step of congestion avoidance counts",
    ),
];

pub(super) const HALVE: &[Parameter] = &[
    word(
        "half_of",
        &["flight", "window"],
        "half of what: in flight (RFC 5681) or cwnd (ns-2)",
    ),
    flag(
        "whole_ssthresh",
        false,
        "round ssthresh down to whole segments (ns-2, Linux)",
    ),
];

const ACCOUNTING: Parameter = word(
    "accounting",
    &["dupack", "delivered"],
    "what an ACK accounts for: a duplicate is one segment, or what SACK says",
);

pub(super) const WESTWOOD: &[Parameter] = &[
    word(
        "filter",
        &["tustin", "type-0", "type-1", "type-2", "type-3", "type-4"],
        "low-pass on the samples: the paper's, or one of the ns-2 agent (type-4: per round)",
    ),
    time(
        "tau",
        Duration::from_millis(500),
        (Duration::from_millis(1), Duration::from_secs(3600)),
        "time constant of tustin and type-3 (the ns-2 agent: 1 s)",
    ),
    number(
        "zero_samples",
        2.0,
        "",
        (1.0, 1000.0),
        "m: zero samples every tau / m without an ACK",
    ),
    ACCOUNTING,
    number(
        "count_cap",
        0.0,
        "segments",
        SEGMENTS_OR_NONE,
        "segments that an ACK accounts for at most (the ns-2 agent: 2); 0: no limit",
    ),
    number(
        "timeout_window",
        1.0,
        "segments",
        (1.0, 100.0),
        "cwnd after a timeout (the ns-2 agent: 2)",
    ),
];

pub(super) const WESTWOOD_PLUS: &[Parameter] = &[
    word(
        "filter",
        &[
            "exponential",
            "tustin",
            "linux",
            "linux-from-zero",
            "time-constant",
        ],
        "low-pass on the samples: the paper's, ns-3's, those of Linux, type 9 of the ns-2 agent",
    ),
    time(
        "tau",
        Duration::from_secs(1),
        (Duration::from_millis(1), Duration::from_secs(3600)),
        "time constant of time-constant",
    ),
    number(
        "tick_rate",
        100.0,
        "1/s",
        (1.0, 1e9),
        "ticks per second of the linux filters (HZ)",
    ),
    word(
        "cut",
        &["at-loss", "linux"],
        "cut to the estimate at the loss or after recovery",
    ),
    ACCOUNTING,
    flag(
        "skip_app_limited",
        true,
        "a sample from a window that was not used counts only if larger",
    ),
];

pub(super) const FIXED: &[Parameter] = &[number("window", 10.0, "segments", SEGMENTS, "cwnd")];

const HOE_MEANING: &str = "Hoe's estimate of the initial ssthresh: from ACKs 2 and 3 (ns-2), or \
                           from the closest ACKs of one round";

pub(super) const HOE: &[Parameter] = &[word("hoe", &["off", "ns-2", "round"], HOE_MEANING)];
pub(super) const HOE_OF_HYBLA: &[Parameter] =
    &[word("hoe", &["round", "ns-2", "off"], HOE_MEANING)];

/// `N` parameters out of several lists; the first of a name stands.
pub(super) const fn union<const N: usize>(lists: &[&[Parameter]]) -> [Parameter; N] {
    let mut out = [RTT0; N];
    let mut len = 0;
    let mut i = 0;
    while i < lists.len() {
        let mut j = 0;
        while j < lists[i].len() {
            if !has(&out, len, lists[i][j].name) {
                out[len] = lists[i][j];
                len += 1;
            }
            j += 1;
        }
        i += 1;
    }
    assert!(len == N, "the number of parameters differs");
    out
}

const fn has(list: &[Parameter], len: usize, name: &str) -> bool {
    let mut i = 0;
    while i < len {
        if same(list[i].name.as_bytes(), name.as_bytes()) {
            return true;
        }
        i += 1;
    }
    false
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
