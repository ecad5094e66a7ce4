//! The table of named congestion controls.

use super::Parameter;
use super::table::{self as p, union};

/// A named congestion control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Described {
    /// As scenarios write it.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Paper with section or equation, or RFC.
    pub source: &'static str,
    /// What the source leaves open, and the reading chosen.
    pub open: &'static str,
    /// The slots that it is made of; `None` where its parts share one state.
    pub slots: Option<NamedSlots>,
    /// What can be set: the parameters of its slots and of Hoe's estimate.
    pub parameters: &'static [Parameter],
}

/// The slots of a [`Described`], by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedSlots {
    /// The slot that is its slow start.
    pub start: &'static str,
    /// The slot that is its congestion avoidance.
    pub avoidance: &'static str,
    /// The slot that is its reaction.
    pub reaction: &'static str,
}

const fn made_of(
    start: &'static str,
    avoidance: &'static str,
    reaction: &'static str,
) -> Option<NamedSlots> {
    Some(NamedSlots {
        start,
        avoidance,
        reaction,
    })
}

static NEWRENO: [Parameter; 5] = union(&[p::STANDARD, p::RENO, p::HALVE, p::HOE]);
static CONST: [Parameter; 5] = union(&[p::CONST, p::RENO, p::HALVE, p::HOE]);
static LINEAR: [Parameter; 7] = union(&[p::LINEAR, p::RENO, p::HALVE, p::HOE]);
static MTSI: [Parameter; 10] = union(&[p::MTSI, p::RENO, p::HALVE, p::HOE]);
static WESTWOOD: [Parameter; 9] = union(&[p::STANDARD, p::RENO, p::WESTWOOD, p::HOE]);
static WESTWOOD_PLUS: [Parameter; 9] = union(&[p::STANDARD, p::RENO, p::WESTWOOD_PLUS, p::HOE]);
static HYBLA: [Parameter; 8] = union(&[
    p::HYBLA_START,
    p::HYBLA_AVOIDANCE,
    p::HOE_OF_HYBLA,
    p::HALVE,
]);
static CUBIC: [Parameter; 8] = union(&[p::HYSTART, p::CUBIC, p::CUBIC_REACTION, p::HOE]);
static FIXED: [Parameter; 1] = union(&[p::FIXED]);

static HIGHSPEED: [Parameter; 7] = union(&[p::STANDARD, p::HIGHSPEED, p::HOE]);
static SCALABLE: [Parameter; 6] = union(&[p::STANDARD, p::SCALABLE, p::HOE]);

static NAMED: [Described; 11] = [
    Described {
        name: "newreno",
        summary: "the baseline: one segment per ACK, then one per round trip, half at a loss",
        source: "RFC 5681, section 3.1; the recovery (RFC 6582, RFC 6675) is the transport's",
        open: "1/cwnd per ACK or per segment: per ACK, as the papers and ns-2; \
               ssthresh keeps its fraction of a segment",
        slots: made_of("standard", "reno", "halve"),
        parameters: &NEWRENO,
    },
    Described {
        name: "const",
        summary: "slow start with K segments per ACK",
        source: "Marchese 2006, eq. 6; Marchese 2001, eq. 2",
        open: "nothing is said about losses: F is used in every slow start",
        slots: made_of("const", "reno", "halve"),
        parameters: &CONST,
    },
    Described {
        name: "linear",
        summary: "slow start whose increment grows by one with every ACK up to a threshold",
        source: "Marchese 2006, eq. 7; Marchese 2001, eq. 3",
        open: "2001 leaves unreadable what is compared with the threshold and what holds above \
               it: cwnd and 1, as in 2006",
        slots: made_of("linear", "reno", "halve"),
        parameters: &LINEAR,
    },
    Described {
        name: "mtsi",
        summary: "slow start with multiple thresholds and smoothed increase",
        source: "Marchese 2006, eq. 3-5 (rule A); Marchese 2001, eq. 5-6 (rule B)",
        open: "F before the first ACK: 0; the sign of rule B's test: both, `lt` by default; \
               behaviour after losses: slow start only, F = F_0 after a timeout (tables 8-10 of \
               2006 need scope `below-threshold`)",
        slots: made_of("mtsi", "reno", "halve"),
        parameters: &MTSI,
    },
    Described {
        name: "westwood",
        summary: "cuts to the bandwidth that the ACKs show, estimated at every ACK",
        source: "Mascolo, Casetti, Gerla et al. 2001; filters type-0 to type-4: WestwoodNR \
                 agent for ns-2",
        open: "which filter Caini & Firrincieli 2006 used: all are there; a window below \
               ssthresh at a loss stays below it after recovery",
        slots: made_of("standard", "reno", "westwood"),
        parameters: &WESTWOOD,
    },
    Described {
        name: "westwood+",
        summary: "Westwood with one bandwidth sample per round trip",
        source: "Grieco & Mascolo 2004; Linux westwood",
        open: "samples that the application limited: count only if larger than the estimate",
        slots: made_of("standard", "reno", "westwood+"),
        parameters: &WESTWOOD_PLUS,
    },
    Described {
        name: "hybla",
        summary: "grows like a connection of RTT0, whatever the round-trip time",
        source: "Caini & Firrincieli 2004; Caini & Firrincieli 2006, sec. IV",
        open: "RTT in rho: the smallest; initial window: the transport's; before Hoe's estimate \
               an ACK at most doubles cwnd; gate: Hoe's bandwidth x smallest RTT; with delayed \
               ACKs the step of congestion avoidance counts segments",
        slots: made_of("hybla", "hybla", "halve"),
        parameters: &HYBLA,
    },
    Described {
        name: "cubic",
        summary: "the default of most hosts: a cubic of the time since the last loss",
        source: "RFC 9438; slow start: HyStart++ (RFC 9406)",
        open: "a step per ACK as section 4.2 says, `count = segments` for delayed ACKs; after a \
               timeout K = 0 and W_max = cwnd",
        slots: made_of("hystart++", "cubic", "cubic"),
        parameters: &CUBIC,
    },
    Described {
        name: "highspeed",
        summary: "the larger the window, the faster it grows and the less a loss takes",
        source: "RFC 3649, section 5 and appendix B",
        open: "the w of a cut is the flight; a timeout sets ssthresh by the same b(w)",
        slots: made_of("standard", "highspeed", "highspeed"),
        parameters: &HIGHSPEED,
    },
    Described {
        name: "scalable",
        summary: "growth and cut in proportion to the window",
        source: "Kelly 2003",
        open: "per ACK as the paper says; below 16 segments Reno, growth and cut",
        slots: made_of("standard", "scalable", "scalable"),
        parameters: &SCALABLE,
    },
    Described {
        name: "fixed-window",
        summary: "cwnd is constant and ignores losses: for measuring",
        source: "no paper: a probe",
        open: "nothing",
        slots: made_of("fixed", "hold", "ignore"),
        parameters: &FIXED,
    },
];

/// Every named congestion control.
pub fn list() -> impl Iterator<Item = &'static Described> {
    NAMED
        .iter()
        .chain(&super::delay::NAMED)
        .chain(&super::satellite::NAMED)
        .chain(&super::linux::NAMED)
        .chain(super::kernel::NAMED.iter())
        .chain(&super::model::NAMED)
        .chain(&super::explicit::NAMED)
}

/// The congestion control of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Described> {
    list().find(|described| described.name == name)
}
