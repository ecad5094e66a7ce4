//! Which lost packets took time of the link.
//!
//! While packets wait, the link transmits without a pause, and two of them arrive as far apart as
//! what was transmitted from the one to the other takes. What the channel lost was transmitted;
//! what the queue dropped was not. So the time between the last arrival before a loss and the
//! first behind it tells the two apart, if the link was busy in between. How sharp that is, the
//! arrivals without losses between them show: on a host whose clock or whose acknowledgements are
//! less exact than a packet takes, nothing is told.

use crate::History;
use crate::estimate::{quantile, sorted};
use crate::history::Fate;

/// An arrival may be off by this share of a packet's time.
const TOLERANCE: f64 = 0.3;

/// This share of the arrivals without losses must be within the tolerance.
const SHARP: f64 = 0.95;

/// As many must there be of them.
const NEEDED: usize = 20;

/// Duplicate acknowledgements that are sent at once, the longest delay of the others, seconds, and
/// the same as a share of the round trip.
const AT_ONCE: u32 = 2;
const LATE: f64 = 1e-3;
const LATE_SHARE: f64 = 0.05;

/// What is known of a lost transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gap {
    /// Its number.
    pub(crate) number: usize,
    /// How long it would have waited in the queue, had it been admitted, seconds. Before it, the
    /// queue dropped all that it can have dropped: a row of losses cannot be the queue's for
    /// longer than the queue stays full without them.
    pub(crate) wait: f64,
    /// Whether it took time of the link; `None` if that cannot be told.
    pub(crate) took_time: Option<bool>,
}

/// The lost transmissions in order, those after the last arrival left out. `exact` are the
/// acknowledgements that came as soon as their newest packet had arrived.
pub(crate) fn gaps(link: Link, exact: &[bool]) -> Vec<Gap> {
    let Link {
        history, packet, ..
    } = link;
    let mut gaps = Vec::new();
    let mut off = Vec::new();
    let mut told = Vec::new();
    let (mut first, mut begin, mut late_before) = (0, f64::NEG_INFINITY, 0.0);
    let late = late(history, link.base);
    for ((ack, exact), late) in history.acks.iter().zip(exact).zip(late) {
        if !exact || ack.newest <= first {
            continue;
        }
        let stretch = link.stretch(first..ack.newest, begin, ack.at);
        if stretch.lost.is_empty() {
            let counts = stretch.was_busy && late_before + late == 0.0;
            off.extend(counts.then_some(stretch.surplus.abs()));
        } else {
            let begin = gaps.len();
            gaps.extend(stretch.lost.iter().map(|(number, wait)| Gap {
                number: *number,
                wait: *wait,
                took_time: None,
            }));
            told.extend(
                stretch
                    .taken(late_before / packet, late / packet)
                    .map(|taken| (begin..gaps.len(), taken)),
            );
        }
        (first, begin, late_before) = (ack.newest, ack.at, late);
    }
    let is_sharp = quantile(&sorted(off.iter().copied()), SHARP).is_some_and(|x| x <= TOLERANCE);
    if is_sharp && off.len() >= NEEDED {
        for (run, taken) in told {
            for (index, gap) in gaps[run].iter_mut().enumerate() {
                gap.took_time = Some(index < taken);
            }
        }
    }
    gaps
}

/// The link that a connection crossed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<'a> {
    /// What was sent over it.
    pub(crate) history: &'a History,
    /// The round trip without a queue and without the time that a packet takes, seconds.
    pub(crate) base: f64,
    /// The time that the link takes for a packet, seconds.
    pub(crate) packet: f64,
    /// The queue may be full if a packet waits as long, seconds.
    pub(crate) full: f64,
}

/// What lies between two arrivals.
struct Stretch {
    /// What was lost, and how long it would have waited.
    lost: Vec<(usize, f64)>,
    /// No packet found the link idle, whether what was lost took its time or not.
    was_busy: bool,
    /// By how many packets' time the second arrival was later than without what was lost.
    surplus: f64,
}

impl Link<'_> {
    /// The transmissions `range` between an arrival at `begin` and one at `end`, seconds.
    fn stretch(&self, range: std::ops::Range<usize>, begin: f64, end: f64) -> Stretch {
        // Departures where nothing of what was lost took time, and where that did which found the
        // queue with room.
        let (mut least, mut fullest) = (begin, begin);
        let mut was_busy = self.packet > 0.0;
        let mut lost = Vec::new();
        for number in range {
            let sent = &self.history.sent[number];
            let reaches = sent.at + self.base;
            let time = self.packet * f64::from(sent.bytes) / f64::from(self.history.packet());
            was_busy &= sent.seen && sent.fate != Fate::Unknown && reaches <= least;
            let wait = (fullest - reaches).max(0.0);
            let is_lost = sent.fate == Fate::Lost;
            if is_lost {
                lost.push((number, wait));
            } else {
                least = least.max(reaches) + time;
            }
            if !(is_lost && wait >= self.full) {
                fullest = fullest.max(reaches) + time;
            }
        }
        Stretch {
            lost,
            was_busy,
            surplus: (end - least) / self.packet,
        }
    }
}

impl Stretch {
    /// How many of those that were lost took time of the link, if the arrivals tell, where the
    /// acknowledgement of the first may have been late by `before` packets' time and that of the
    /// second by `after`.
    fn taken(&self, before: f64, after: f64) -> Option<usize> {
        let least = (self.surplus - after - TOLERANCE).ceil().max(0.0);
        let most = (self.surplus + before + TOLERANCE).floor();
        let most = most.min(self.lost.len() as f64);
        (self.was_busy && least == most).then_some(least as usize)
    }
}

/// How late each acknowledgement may be, seconds: receivers put off those of packets out of order,
/// but for the first few, to save some of them (Linux's `tcp_comp_sack_delay_ns`).
fn late(history: &History, base: f64) -> Vec<f64> {
    let (mut before, mut again) = (None, 0);
    let late = |acknowledged: u64| {
        again = if before == Some(acknowledged) {
            again + 1
        } else {
            0
        };
        before = Some(acknowledged);
        match again > AT_ONCE {
            true => LATE.min(LATE_SHARE * base),
            false => 0.0,
        }
    };
    history
        .acks
        .iter()
        .map(|ack| ack.acknowledged)
        .map(late)
        .collect()
}

#[cfg(test)]
#[path = "gaps_tests.rs"]
mod tests;
