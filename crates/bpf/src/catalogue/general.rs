//! Controls that watch the RTT, and those for large windows.

use super::table::{choice, control, count, decimal, flag, parameters};
use crate::{Control, Kind, Parameter};

/// Segments in a queue, in millionths.
const QUEUED: (u64, u64) = (0, 1_000_000_000_000);

const ALPHA: Parameter = decimal(
    "alpha",
    "segments",
    &[1_000_000],
    QUEUED,
    "segments in the queue below which cwnd grows",
);

const BETA: Parameter = decimal(
    "beta",
    "segments",
    &[3_000_000],
    QUEUED,
    "segments in the queue above which cwnd shrinks",
);

const GAMMA: Parameter = decimal(
    "gamma",
    "segments",
    &[1_000_000],
    QUEUED,
    "segments in the queue above which slow start ends",
);

const WHOLE_DIFF: Parameter = flag(
    "whole_diff",
    &[1],
    "round the segments in the queue to whole ones (ns-2)",
);

parameters! { VEGAS:
    shared ALPHA;
    shared BETA;
    shared GAMMA;
    shared WHOLE_DIFF;
}

parameters! { NEW_VEGAS:
    shared ALPHA;
    shared BETA;
    shared GAMMA;
    shared WHOLE_DIFF;
    flag paced_start: &[1], "spread the packets of slow start";
    flag pairs: &[1], "send them two at a time";
    flag convergence: &[1], "go to the window that fits the path when slow start ends";
}

parameters! { VENO:
    decimal beta: "segments", &[3_000_000], QUEUED,
        "backlog that separates random loss from congestion";
}

parameters! { SCALABLE:
    decimal increase: "segments", &[10_000], (1, 1_000_000),
        "what an ACK adds in congestion avoidance";
    decimal decrease: "", &[125_000], (10_000, 900_000), "part of the window that a loss takes";
    count low_window: "segments", &[16], (1, 1_000_000), "below this window it is Reno";
    choice count: &["acks", "segments"], "what a step of congestion avoidance counts";
}

const HIGH_P: Parameter = Parameter {
    name: "high_p",
    kind: Kind::Decimal(1_000_000_000_000),
    unit: "",
    default: &[100_000],
    minimum: 1,
    maximum: 100_000_000_000,
    summary: "loss rate at high_window",
};

parameters! { HIGHSPEED:
    count low_window: "segments", &[38], (1, 1_000_000), "up to this window it is Reno";
    count high_window: "segments", &[83_000], (1, 1_000_000), "the mean window at loss rate high_p";
    shared HIGH_P;
    decimal high_decrease: "", &[100_000], (10_000, 500_000),
        "part of the window that a loss takes at high_window";
    choice count: &["acks", "segments"], "what a step of congestion avoidance counts";
}

parameters! { CUBIC_SEARCH:
    decimal window: "first RTTs", &[3_500_000], (1_000_000, 20_000_000),
        "first RTTs in which deliveries are compared";
    decimal threshold: "", &[350_000], (10_000, 500_000),
        "part of the expected deliveries whose absence ends slow start";
    flag rolls_back: &[1], "cwnd returns to where the path became full";
    decimal c: "segments/s^3", &[400_000], (1_000, 2_000_000), "constant C of the cubic";
    decimal beta: "", &[700_000], (100_000, 990_000), "what the cut leaves of the window";
    flag fast_convergence: &[1], "leave room for new flows when the window peaks lower";
    flag reno_friendly: &[1], "never slower than Reno";
    choice count: &["acks", "segments"], "what a step of congestion avoidance counts";
}

parameters! { PROACTIVE:
    count rises: "", &[2], (1, 100),
        "rises (and falls) of the mean RTT in a row that change the state: 2 for three windows";
    decimal dead_band: "", &[0], (0, 1_000_000),
        "share of the last mean RTT that a change must exceed to count";
    decimal penalty: "", &[850_000], (50_000, 1_000_000),
        "what incipient congestion leaves of the window; 1 leaves it all";
    choice slow_start: &["same", "one-rise"],
        "what slow start takes for incipient congestion: the same, or the first rise";
    choice timeout_ssthresh: &["previous", "flight"], "what a timeout halves for ssthresh";
    choice after_error: &["avoidance", "by-ssthresh"],
        "where a loss without incipient congestion leads: congestion avoidance, or what cwnd and \
         ssthresh say";
    choice start_ssthresh: &["half-receive-window", "transport"],
        "first ssthresh: half of the receive window, or the kernel's";
}

pub(super) const CONTROLS: [Control; 7] = [
    control!(
        "vegas",
        "keeps one to three segments in the queue",
        "Brakmo & Peterson 1995, with the numbers of ns-2; no fine timer",
        VEGAS,
        "keeps one to three segments in the queue" => "Brakmo & Peterson 1995, with the numbers of ns-2"
    ),
    control!(
        "newvegas",
        "Vegas with paced pairs in slow start and rapid window convergence (our reading)",
        "Sing & Soh 2005 and 2006, as their abstracts have it",
        NEW_VEGAS,
        "Vegas with paced pairs and rapid convergence (our reading)" => "Sing & Soh 2005 and 2006"
    ),
    control!(
        "veno",
        "cuts by a fifth where the queue is short, by half where it is not",
        "Fu & Liew 2003",
        VENO,
        "Veno" => "Fu & Liew 2003"
    ),
    control!(
        "proactive",
        "a rising mean RTT cuts ahead of losses; losses without it cut nothing",
        "Sarkar, Shukla & Dasgupta 2010, section 2",
        PROACTIVE,
        "a rising mean RTT cuts ahead of losses" => "Sarkar, Shukla & Dasgupta 2010, section 2"
    ),
    control!(
        "scalable",
        "grows by a hundredth per ACK, loses an eighth",
        "Kelly 2003",
        SCALABLE,
        "Scalable TCP" => "Kelly 2003"
    ),
    control!(
        "highspeed",
        "the larger the window, the faster it grows and the less a loss takes",
        "RFC 3649, section 5",
        HIGHSPEED,
        "HighSpeed TCP" => "RFC 3649"
    ),
    control!(
        "cubic_search",
        "CUBIC whose slow start ends when deliveries stop doubling",
        "SEARCH 3.0, draft-chung-ccwg-search-08, section 3; RFC 9438",
        CUBIC_SEARCH,
        "CUBIC with the slow start SEARCH" => "draft-chung-ccwg-search-08, RFC 9438"
    ),
];
