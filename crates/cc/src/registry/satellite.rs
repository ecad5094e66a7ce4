//! The family of algorithms made for satellite links: what they are, what they
//! take, and how they are built.

use super::reader::Reader;
use super::table::{self as p, number, union, word};
use super::{Described, Parameter};
use crate::satellite::{
    Astart, BulkRepeat, FastStart, Jersey, Peach, Proactive, ProactiveSettings, ProactiveStart,
    Satellite, Star, StarSettings,
};
use crate::{Classic, ProbeContent, Whole};

static PROACTIVE: [Parameter; 7] = [
    number(
        "rises",
        2.0,
        "",
        (1.0, 100.0),
        "rises (and falls) of the mean RTT in a row that change the state: 2 for three windows, \
         3 for three rises",
    ),
    number(
        "dead_band",
        0.0,
        "",
        (0.0, 1.0),
        "share of the last mean RTT that a change must exceed to count",
    ),
    number(
        "penalty",
        0.85,
        "",
        (0.05, 1.0),
        "what incipient congestion leaves of the window; 1 leaves it all",
    ),
    word(
        "slow_start",
        &["same", "one-rise"],
        "what slow start takes for incipient congestion: the same, or the first rise",
    ),
    word(
        "after_error",
        &["avoidance", "by-ssthresh"],
        "where a loss without incipient congestion leads: congestion avoidance, or what cwnd and \
         ssthresh say",
    ),
    word(
        "timeout_ssthresh",
        &["previous", "flight"],
        "what a timeout halves for ssthresh",
    ),
    word(
        "start_ssthresh",
        &["half-receive-window", "transport"],
        "ssthresh where the transport sets none: half of the receive window, or infinite",
    ),
];

static STAR: [Parameter; 3] = [
    number(
        "margin",
        0.25,
        "",
        (0.0, 100.0),
        "share of the fitting window by which cwnd may exceed it before a loss is congestion",
    ),
    number(
        "lift",
        0.75,
        "",
        (0.0, 1.0),
        "share of the fitting window that growth is lifted up to; 0 lifts nothing",
    ),
    number(
        "lift_step",
        2.0,
        "segments",
        (1.0, 1000.0),
        "segments that an ACK lifts by at most",
    ),
];

static PEACH: [Parameter; 1] = [number(
    "reach",
    1000.0,
    "segments",
    (1.0, 1_000_000.0),
    "probe for no larger window than this; the receive window bounds it, too (the papers: 64)",
)];

static FAST_START: [Parameter; 2] = [
    number(
        "cached_cwnd",
        0.0,
        "segments",
        (0.0, 1_000_000.0),
        "window that a new connection finds in the cache; 0: none, Fast Start only after idling",
    ),
    number(
        "cached_ssthresh",
        0.0,
        "segments",
        (0.0, 1_000_000.0),
        "threshold that it finds there; 0: the cached window",
    ),
];

static ASTART: [Parameter; 8] = union(&[p::STANDARD, p::RENO, p::WESTWOOD]);

static BULK_REPEAT: [Parameter; 9] = union(&[
    &[number(
        "backlog",
        3.0,
        "segments",
        (0.0, 1_000_000.0),
        "segments in the queue from which a loss is congestion and not the channel's",
    )],
    p::STANDARD,
    p::RENO,
    p::WESTWOOD,
]);

const fn described(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    open: &'static str,
    parameters: &'static [Parameter],
) -> Described {
    Described {
        name,
        summary,
        source,
        open,
        slots: None,
        parameters,
    }
}

pub(super) static NAMED: [Described; 8] = [
    described(
        "proactive",
        "a mean RTT that rises for three windows is congestion to come; other losses are the \
         channel's",
        "Sarkar, Shukla & Dasgupta 2010, sections 2.1 to 2.4",
        "three windows (two rises) or three rises: windows; slow start: the same detector; equal \
         means: neither; the penalty leaves ssthresh and starts the count again; in slow start \
         nothing grows in the window after it; what is cut is the window in use; a loss without \
         incipient congestion leaves cwnd also when recovery ends and leads to congestion \
         avoidance",
        &PROACTIVE,
    ),
    described(
        "jersey",
        "cuts to the available bandwidth where queues warn; other losses are only repaired",
        "Xu, Tian & Ansari 2004, as its abstract and surveys have it",
        "the warning is an ECN mark, echoed and answered once a round trip; it never raises cwnd; \
         the RTT of the estimate: smoothed. Where no queue marks it cuts only at timeouts",
        &[],
    ),
    described(
        "star",
        "Jersey's estimate sets the window after errors and lifts its growth",
        "Obata et al. 2006, as Salamanca 2008 describes it",
        "all laws: ours. A loss is congestion with a mark or with cwnd above the fitting window; \
         an ACK lifts cwnd towards a share of that window; notification of ACK errors: the \
         host's undo of spurious retransmissions",
        &STAR,
    ),
    described(
        "peach",
        "low-priority dummies find the window in two round trips and restore it after errors",
        "Akyildiz, Morabito & Palazzo 2001, as its abstract and surveys have it",
        "the window probed for: at most `reach`; the RTT before a sample: wait; the sudden start \
         ends a round trip after its first ACK. Needs queues that drop low priority first",
        &PEACH,
    ),
    described(
        "peach+",
        "Peach whose probes carry unacknowledged data and repair losses",
        "Akyildiz, Zhang & Fang 2002, as its abstract and surveys have it",
        "as Peach; NIL segments carry the oldest unacknowledged data in turn",
        &PEACH,
    ),
    described(
        "fast-start",
        "begins with the window of the last transfer, its first burst at low priority",
        "Padmanabhan & Katz 1998, as Salamanca 2008 describes it",
        "the cache: after idling the connection's own, for a new one a parameter; a loss or \
         timeout in the burst goes back to the initial window",
        &FAST_START,
    ),
    described(
        "astart",
        "Westwood whose estimate resets ssthresh all through slow start",
        "Wang et al. 2004, as Salamanca 2008 describes it",
        "ssthresh follows the estimate up and down at every ACK until the first loss and after a \
         timeout; the estimate: Westwood's",
        &ASTART,
    ),
    described(
        "bulk-repeat",
        "Westwood that sends everything again on a random loss, without back-off",
        "Yang, Wang, Gerla & Sanadidi 2005, as Salamanca 2008 describes it",
        "which losses are random: those with less than `backlog` segments in the queue, as Veno",
        &BULK_REPEAT,
    ),
];

/// The algorithm of that name with the reader's parameters.
pub(super) fn build(name: &str, reader: &Reader<'_>) -> Option<Whole> {
    let satellite = match name {
        "proactive" => Satellite::Proactive(proactive(reader)),
        "jersey" => Satellite::Jersey(Jersey::default()),
        "star" => Satellite::Star(Star::new(StarSettings {
            margin: reader.number("margin"),
            lift: reader.number("lift"),
            lift_step: reader.number("lift_step"),
        })),
        "peach" => Satellite::Peach(Peach::new(ProbeContent::Copy, reader.number("reach"))),
        "peach+" => {
            let content = ProbeContent::Unacknowledged;
            Satellite::Peach(Peach::new(content, reader.number("reach")))
        }
        "fast-start" => Satellite::FastStart(FastStart::new(
            reader.number("cached_cwnd"),
            reader.number("cached_ssthresh"),
        )),
        "astart" => Satellite::Astart(Astart::new(westwood(reader)?)),
        "bulk-repeat" => {
            let westwood = westwood(reader)?;
            Satellite::BulkRepeat(BulkRepeat::new(westwood, reader.number("backlog")))
        }
        _ => return None,
    };
    Some(Whole::Satellite(satellite))
}

/// The Westwood that others build on. It always builds: only parameters of MTSI
/// can contradict each other.
fn westwood(reader: &Reader<'_>) -> Option<Classic> {
    let slots = ("standard", "reno", "westwood");
    reader.classic("westwood".into(), slots).ok()
}

fn proactive(reader: &Reader<'_>) -> Proactive {
    Proactive::new(ProactiveSettings {
        rises: reader.number("rises") as u32,
        dead_band: reader.number("dead_band"),
        penalty: reader.number("penalty"),
        start: if reader.is("slow_start", "one-rise") {
            ProactiveStart::OneRise
        } else {
            ProactiveStart::Same
        },
        error_ends_start: reader.is("after_error", "avoidance"),
        halves_ssthresh: reader.is("timeout_ssthresh", "previous"),
        half_receive_window: reader.is("start_ssthresh", "half-receive-window"),
    })
}
