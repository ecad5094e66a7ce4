//! The modules of Linux: what they are, what they take, and how they are built.

use super::reader::Reader;
use super::table::{RTT0, number, word};
use super::{Described, Parameter};
use crate::Whole;
use crate::delay::VegasThresholds;
use crate::linux::{
    HighSpeed, Hybla, Linux, Modules, Reno, Scalable, Vegas, Veno, Version, Westwood,
};

const VERSION: Parameter = word(
    "version",
    &["current", "ns-2"],
    "the kernels of today, or 2.6.22 as TCP/Linux of ns-2.35 calls it",
);

const fn queued(name: &'static str, default: f64, meaning: &'static str) -> Parameter {
    number(name, default, "segments", (0.0, 1_000_000.0), meaning)
}

static ONLY_VERSION: [Parameter; 1] = [VERSION];
static VEGAS: [Parameter; 4] = [
    queued("alpha", 2.0, "segments in the queue below which cwnd grows"),
    queued(
        "beta",
        4.0,
        "segments in the queue above which cwnd shrinks",
    ),
    queued(
        "gamma",
        1.0,
        "segments in the queue above which slow start ends",
    ),
    VERSION,
];
static VENO: [Parameter; 2] = [
    queued(
        "beta",
        3.0,
        "backlog that separates random loss from congestion",
    ),
    VERSION,
];
static HYBLA: [Parameter; 2] = [RTT0, VERSION];

const fn module(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    parameters: &'static [Parameter],
) -> Described {
    Described {
        name,
        summary,
        source,
        open: "state Disorder is left out; cwnd stops growing at the receive window",
        slots: None,
        parameters,
    }
}

pub(super) static NAMED: [Described; 7] = [
    module(
        "reno-linux",
        "Reno in Linux' whole numbers",
        "Linux tcp_cong.c",
        &ONLY_VERSION,
    ),
    module(
        "vegas-linux",
        "Vegas of Linux: smallest RTT of a round, Reno's reaction to losses",
        "Linux tcp_vegas.c",
        &VEGAS,
    ),
    module(
        "veno-linux",
        "Veno of Linux, in half segments",
        "Linux tcp_veno.c",
        &VENO,
    ),
    module(
        "highspeed-linux",
        "HighSpeed of Linux: the table of RFC 3649 in whole numbers",
        "Linux tcp_highspeed.c",
        &ONLY_VERSION,
    ),
    module(
        "scalable-linux",
        "Scalable of Linux: a segment per 100 acknowledged, an eighth less at a loss",
        "Linux tcp_scalable.c",
        &ONLY_VERSION,
    ),
    module(
        "westwood-linux",
        "Westwood+ of Linux: two filters in whole bytes per millisecond",
        "Linux tcp_westwood.c",
        &ONLY_VERSION,
    ),
    module(
        "hybla-linux",
        "Hybla of Linux: fixed point, no Hoe estimate, no gate, no pacing",
        "Linux tcp_hybla.c",
        &HYBLA,
    ),
];

/// The module of that name with the reader's parameters.
pub(super) fn build(name: &str, reader: &Reader<'_>) -> Option<Whole> {
    let version = || {
        if reader.is("version", "ns-2") {
            Version::Ns2
        } else {
            Version::Current
        }
    };
    let module = match name {
        "reno-linux" => Modules::Reno(Linux::new(version(), Reno)),
        "vegas-linux" => {
            let thresholds = VegasThresholds {
                alpha: reader.number("alpha"),
                beta: reader.number("beta"),
                gamma: reader.number("gamma"),
            };
            Modules::Vegas(Linux::new(version(), Vegas::new(thresholds)))
        }
        "veno-linux" => Modules::Veno(Linux::new(version(), Veno::new(reader.number("beta")))),
        "highspeed-linux" => Modules::HighSpeed(Linux::new(version(), HighSpeed::default())),
        "scalable-linux" => Modules::Scalable(Linux::new(version(), Scalable)),
        "westwood-linux" => Modules::Westwood(Linux::new(version(), Westwood::new(version()))),
        "hybla-linux" => {
            let hybla = Hybla::new(reader.duration("rtt0"));
            Modules::Hybla(Linux::new(version(), hybla))
        }
        _ => return None,
    };
    Some(Whole::Linux(module))
}
