//! The family of algorithms made for satellite links: what they are, what they
//! take, and how they are built.

use super::reader::Reader;
use super::table::{number, word};
use super::{Described, Parameter};
use crate::Whole;
use crate::satellite::{Proactive, ProactiveSettings, ProactiveStart, Satellite};

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

pub(super) static NAMED: [Described; 1] = [Described {
    name: "proactive",
    summary: "a mean RTT that rises for three windows is congestion to come; other losses are \
              the channel's",
    source: "Sarkar, Shukla & Dasgupta 2010, sections 2.1 to 2.4",
    open: "three windows (two rises) or three rises: windows; slow start: the same detector; \
           equal means: neither; the penalty leaves ssthresh and starts the count again; in slow \
           start nothing grows in the window after it; what is cut is the window in use; a loss \
           without incipient congestion leaves cwnd also when recovery ends \
           and leads to congestion avoidance",
    slots: None,
    parameters: &PROACTIVE,
}];

/// The algorithm of that name with the reader's parameters.
pub(super) fn build(name: &str, reader: &Reader<'_>) -> Option<Whole> {
    let satellite = match name {
        "proactive" => Satellite::Proactive(proactive(reader)),
        _ => return None,
    };
    Some(Whole::Satellite(satellite))
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
