//! The family of algorithms that keep a model of the path: what they are, what
//! they take, and how they are built.

use super::reader::Reader;
use super::table::{flag, number, time};
use super::{Described, Parameter};
use crate::Whole;
use crate::model::bbr::BbrSettings;
use crate::model::{Bbr, Model};
use bentpipe_units::Duration;

const GAIN: (f64, f64) = (1.0, 100.0);

static BBR: [Parameter; 8] = [
    number(
        "high_gain",
        2.885,
        "",
        GAIN,
        "pacing and window gain of startup",
    ),
    number(
        "cwnd_gain",
        2.0,
        "",
        GAIN,
        "window in bandwidth-delay products",
    ),
    number(
        "bandwidth_window",
        10.0,
        "rounds",
        (1.0, 10_000.0),
        "length of the bandwidth filter",
    ),
    time(
        "min_rtt_window",
        Duration::from_secs(10),
        (Duration::from_millis(1), Duration::from_secs(86_400)),
        "age at which the smallest RTT is probed again",
    ),
    time(
        "probe_rtt",
        Duration::from_millis(200),
        (Duration::ZERO, Duration::from_secs(3600)),
        "least time with four segments in flight",
    ),
    number(
        "margin",
        0.01,
        "",
        (0.0, 0.9),
        "what pacing stays below the estimate",
    ),
    flag("policer", true, "find policed paths by their loss rate"),
    flag(
        "aggregation",
        true,
        "more window where ACKs come in bursts (Linux since 5.1)",
    ),
];

pub(super) static NAMED: [Described; 1] = [Described {
    name: "bbr",
    summary: "paces at the measured bandwidth, twice the bandwidth-delay product in flight",
    source: "draft-cardwell-iccrg-bbr-congestion-control-00, Linux tcp_bbr.c",
    open: "fixed point of Linux: floats; where probe_bw begins: drawn from the \
           connection's random stream",
    slots: None,
    parameters: &BBR,
}];

/// The algorithm of that name with the reader's parameters.
pub(super) fn build(name: &str, reader: &Reader<'_>) -> Option<Whole> {
    let model = match name {
        "bbr" => Model::Bbr(Bbr::new(bbr(reader))),
        _ => return None,
    };
    Some(Whole::Model(model))
}

fn bbr(reader: &Reader<'_>) -> BbrSettings {
    BbrSettings {
        high_gain: reader.number("high_gain"),
        cwnd_gain: reader.number("cwnd_gain"),
        bandwidth_window: reader.number("bandwidth_window") as u64,
        min_rtt_window: reader.duration("min_rtt_window"),
        probe_rtt: reader.duration("probe_rtt"),
        margin: reader.number("margin"),
        policer: reader.flag("policer"),
        aggregation: reader.flag("aggregation"),
    }
}
