//! The family of algorithms that keep a model of the path: what they are, what
//! they take, and how they are built.

use super::reader::Reader;
use super::table::{self as p, flag, number, time, union};
use super::{BuildError, Described, Parameter};
use crate::Whole;
use crate::model::bbr::BbrSettings;
use crate::model::{Bbr, CarefulResume, Model};
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

const SAVED: &[Parameter] = &[
    number(
        "saved_cwnd",
        500.0,
        "segments",
        (1.0, 1_000_000_000.0),
        "what the path carried in a round trip when it was used last",
    ),
    time(
        "saved_rtt",
        Duration::from_millis(600),
        (Duration::from_micros(1), Duration::from_secs(3600)),
        "smallest RTT of that time",
    ),
    number(
        "max_jump",
        1_000_000.0,
        "segments",
        (1.0, 1_000_000_000.0),
        "no jump exceeds it",
    ),
];

static CAREFUL_RESUME: [Parameter; 10] = union(&[SAVED, p::HYSTART, p::CUBIC]);

pub(super) static NAMED: [Described; 2] = [
    Described {
        name: "bbr",
        summary: "paces at the measured bandwidth, twice the bandwidth-delay product in flight",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00, Linux tcp_bbr.c",
        open: "fixed point of Linux: floats; where probe_bw begins: drawn from the \
           connection's random stream",
        slots: None,
        parameters: &BBR,
    },
    Described {
        name: "careful-resume",
        summary: "CUBIC that jumps to half of what the path carried last time",
        source: "RFC 9959",
        open: "PipeSize counts unvalidated segments only; the retreat has no floor of the \
               initial window; saving and ageing of parameters is left to the scenario",
        slots: None,
        parameters: &CAREFUL_RESUME,
    },
];

/// The algorithm of that name with the reader's parameters.
pub(super) fn build(name: &str, reader: &Reader<'_>) -> Result<Option<Whole>, BuildError> {
    let model = match name {
        "bbr" => Model::Bbr(Bbr::new(bbr(reader))),
        "careful-resume" => {
            let cubic = reader.classic(name.to_owned().into(), ("hystart++", "cubic", "cubic"))?;
            Model::CarefulResume(CarefulResume::new(
                cubic,
                reader.number("saved_cwnd"),
                reader.duration("saved_rtt"),
                reader.number("max_jump"),
            ))
        }
        _ => return Ok(None),
    };
    Ok(Some(Whole::Model(model)))
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
