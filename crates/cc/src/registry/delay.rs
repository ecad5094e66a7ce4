//! The family of algorithms that watch the queueing delay: what they are, what
//! they take, and how they are built.

use super::reader::Reader;
use super::table::{flag, number, word};
use super::{Described, Parameter};
use crate::Whole;
use crate::delay::{
    DVegas, Delay, NewVegas, NewVegasParts, QueueLaw, Vegas, VegasThresholds, Veno, VenoForm,
    VenoRtt,
};

const QUEUED: (f64, f64) = (0.0, 1_000_000.0);

const fn threshold(name: &'static str, default: f64, meaning: &'static str) -> Parameter {
    number(name, default, "segments", QUEUED, meaning)
}

const ALPHA: &str = "segments in the queue below which cwnd grows";
const BETA: &str = "segments in the queue above which cwnd shrinks";
const GAMMA: &str = "segments in the queue above which slow start ends";

static VEGAS: [Parameter; 5] = [
    threshold("alpha", 1.0, ALPHA),
    threshold("beta", 3.0, BETA),
    threshold("gamma", 1.0, GAMMA),
    flag(
        "whole_diff",
        true,
        "round the segments in the queue to whole ones (ns-2)",
    ),
    flag(
        "syn_is_segment",
        false,
        "the handshake's RTT is one of data (ns-2, whose profile says so)",
    ),
];

static NEW_VEGAS: [Parameter; 8] = [
    VEGAS[0],
    VEGAS[1],
    VEGAS[2],
    VEGAS[3],
    VEGAS[4],
    flag("paced_start", true, "spread the packets of slow start"),
    flag("pairs", true, "send them two at a time"),
    flag(
        "convergence",
        true,
        "go to the window that fits the path when slow start ends",
    ),
];

const PACKETS: (f64, f64) = (0.0, 1_000_000.0);

static DVEGAS: [Parameter; 9] = [
    VEGAS[0],
    VEGAS[1],
    VEGAS[2],
    VEGAS[3],
    VEGAS[4],
    number(
        "minimum",
        5.0,
        "packets",
        PACKETS,
        "mean queue at its node below which cwnd grows",
    ),
    number(
        "maximum",
        15.0,
        "packets",
        PACKETS,
        "mean queue at its node above which cwnd shrinks with every report",
    ),
    flag(
        "share",
        false,
        "the two are a quarter and three quarters of the buffer instead",
    ),
    number(
        "weight",
        0.1,
        "",
        (1e-6, 1.0),
        "of a report in the mean queue",
    ),
];

static VENO: [Parameter; 3] = [
    threshold(
        "beta",
        3.0,
        "backlog that separates random loss from congestion",
    ),
    word(
        "rtt",
        &["last", "smoothed"],
        "the RTT that the backlog is computed with",
    ),
    word(
        "form",
        &["paper", "ns-3"],
        "the paper's, or ns-3's, where one sample per ACK never suffices for a backlog",
    ),
];

pub(super) static NAMED: [Described; 4] = [
    Described {
        name: "vegas",
        summary: "keeps a few segments in the queue; retransmits by a fine timer",
        source: "Brakmo & Peterson 1995; the numbers of ns-2.35",
        open: "RTT of a round: the mean of its samples; the handshake's RTT is the first round; \
               the transport's recovery repairs, the fine timer only starts it",
        slots: None,
        parameters: &VEGAS,
    },
    Described {
        name: "new-vegas",
        summary: "Vegas with pacing, packet pairs and rapid window convergence",
        source: "Sing & Soh 2005 and 2006 (abstracts), Salamanca 2008",
        open: "the three changes are named without a formula: all of it is our reading, not the \
               original",
        slots: None,
        parameters: &NEW_VEGAS,
    },
    Described {
        name: "dvegas",
        summary: "Vegas that hears the MAC queue of its terminal; losses do not cut",
        source: "Wu, Peng & Leung 2004, Peng, Wu & Leung 2006 (abstracts), Salamanca 2008",
        open: "thresholds, what is fed back and how the window follows are all our reading, not \
               the original",
        slots: None,
        parameters: &DVEGAS,
    },
    Described {
        name: "veno",
        summary: "tells random losses from congestion by the backlog in the queue",
        source: "Fu & Liew 2003, sections II.A and II.B",
        open: "which RTT the backlog is computed with: the last sample; a cut is of the flight",
        slots: None,
        parameters: &VENO,
    },
];

/// The algorithm of that name with the reader's parameters.
pub(super) fn build(name: &str, reader: &Reader<'_>) -> Option<Whole> {
    let thresholds = || VegasThresholds {
        alpha: reader.number("alpha"),
        beta: reader.number("beta"),
        gamma: reader.number("gamma"),
    };
    let vegas = || {
        Vegas::new(thresholds(), reader.flag("whole_diff"))
            .with_syn_as_segment(reader.flag("syn_is_segment"))
    };
    let delay = match name {
        "vegas" => Delay::Vegas(vegas()),
        "new-vegas" => {
            let parts = NewVegasParts {
                pacing: reader.flag("paced_start"),
                pairing: reader.flag("pairs"),
                convergence: reader.flag("convergence"),
            };
            Delay::NewVegas(NewVegas::new(vegas(), parts))
        }
        "dvegas" => {
            let law = QueueLaw {
                minimum: reader.number("minimum"),
                maximum: reader.number("maximum"),
                share: reader.flag("share"),
                weight: reader.number("weight"),
            };
            Delay::DVegas(DVegas::new(vegas(), law))
        }
        "veno" => {
            let rtt = if reader.is("rtt", "smoothed") {
                VenoRtt::Smoothed
            } else {
                VenoRtt::Last
            };
            let form = if reader.is("form", "ns-3") {
                VenoForm::Ns3
            } else {
                VenoForm::Paper
            };
            Delay::Veno(Veno::new(reader.number("beta"), rtt, form))
        }
        _ => return None,
    };
    Some(Whole::Delay(delay))
}
