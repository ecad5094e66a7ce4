//! The family of algorithms that watch the queueing delay: what they are, what
//! they take, and how they are built.

use super::reader::Reader;
use super::table::number;
use super::{Described, Parameter};
use crate::Whole;
use crate::delay::{Delay, Veno};

static VENO: [Parameter; 1] = [number(
    "beta",
    3.0,
    "segments",
    (0.0, 1_000_000.0),
    "backlog that separates random loss from congestion",
)];

pub(super) static NAMED: [Described; 1] = [Described {
    name: "veno",
    summary: "tells random losses from congestion by the backlog in the queue",
    source: "Fu & Liew 2003, sections II.A and II.B",
    open: "which RTT the backlog is computed with: the last sample",
    slots: None,
    parameters: &VENO,
}];

/// The algorithm of that name with the reader's parameters.
pub(super) fn build(name: &str, reader: &Reader<'_>) -> Option<Whole> {
    let delay = match name {
        "veno" => Delay::Veno(Veno::new(reader.number("beta"))),
        _ => return None,
    };
    Some(Whole::Delay(delay))
}
