//! Traces of TheaterQ, a queueing discipline for Linux.
//!
//! Comma-separated whole numbers, a line for each time that they hold:
//!
//! ```text
//! KEEP,LATENCY,RATE,LOSS,LIMIT                                    (simple)
//! KEEP,LATENCY,JITTER,RATE,LOSS,LIMIT,DUP_PROB,DUP_DELAY,ROUTE_ID (extended)
//! ```
//!
//! KEEP in microseconds, LATENCY, JITTER and DUP_DELAY in nanoseconds, RATE in
//! bit/s, LOSS and DUP_PROB scaled so that 4294967295 is always. Lines that do
//! not begin with a digit are comments. The number of columns in the first line
//! gives the format; ROUTE_ID may be missing and a tenth column, QUEUE_ID, may
//! follow.
//!
//! What is read: LATENCY as the one-way delay, JITTER as a variation evenly within
//! that much on both sides, RATE, LOSS (always: the link is
//! down), and ROUTE_ID. Packets of one ROUTE_ID keep their order; ROUTE_ID 0,
//! that of the simple format, lets them overtake whenever the latency falls,
//! which is read as another route from there on, but not by JITTER. Duplicates must
//! be zero. LIMIT is read over: the link has its own queue, which does not
//! change.
//!
//! What is written: the extended format with ROUTE_IDs from 1, or the simple
//! one, which can neither keep the order nor have JITTER. A delay that goes in a straight line is
//! written in steps.

use super::{MOST_LINES, TraceError, Unwritable};
use crate::timeline::{Loss, Piece, Timeline, WhenDown};
use crate::{ChannelSettings, Limit, LinkSettings};
use bentpipe_units::{Duration, Rate, Ratio, Time};
use std::fmt::Write;

const ALWAYS: u64 = u32::MAX as u64;

/// The longest trace: ten years, in microseconds.
const LONGEST_US: u64 = 10 * 366 * 86_400_000_000;

/// Columns of a line, by their number.
struct Columns {
    names: &'static [&'static str],
    latency: usize,
    jitter: Option<usize>,
    rate: usize,
    loss: usize,
    route: Option<usize>,
    /// These must be zero.
    unknown: &'static [usize],
}

const SIMPLE: Columns = Columns {
    names: &["KEEP", "LATENCY", "RATE", "LOSS", "LIMIT"],
    latency: 1,
    jitter: None,
    rate: 2,
    loss: 3,
    route: None,
    unknown: &[],
};

const EXTENDED: Columns = Columns {
    names: &[
        "KEEP",
        "LATENCY",
        "JITTER",
        "RATE",
        "LOSS",
        "LIMIT",
        "DUP_PROB",
        "DUP_DELAY",
        "ROUTE_ID",
        "QUEUE_ID",
    ],
    latency: 1,
    jitter: Some(2),
    rate: 3,
    loss: 4,
    route: Some(8),
    unknown: &[6, 7],
};

/// Reads a trace. It repeats (TheaterQ's `cont LOOP`) if it `wraps`; its last
/// line holds for ever (`cont HOLD`) otherwise.
///
/// # Errors
/// With the first line that is wrong.
pub fn read(text: &str, wraps: bool) -> Result<Timeline, TraceError> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut format: Option<(usize, &Columns)> = None;
    let mut now_us = 0u64;
    // The latency falls without a separate number.
    let mut falls = 0u32;
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        if !line.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        if pieces.len() >= MOST_LINES {
            let what = format!("more than {MOST_LINES} lines");
            return Err(TraceError::new(number, what));
        }
        let (values, count) = values(line, number)?;
        let (width, columns) = match format {
            Some(known) => known,
            None => {
                let columns = match count {
                    5 => &SIMPLE,
                    8..=10 => &EXTENDED,
                    _ => {
                        let what = format!("expected 5 or 8 to 10 columns, found {count}");
                        return Err(TraceError::new(number, what));
                    }
                };
                format = Some((count, columns));
                (count, columns)
            }
        };
        if count != width {
            let what = format!("expected {width} columns as in the lines above, found {count}");
            return Err(TraceError::new(number, what));
        }
        let before = pieces.last().map(|p: &Piece| p.one_way_delay);
        let (piece, keep) = piece((values, columns), number, now_us, (before, &mut falls))?;
        pieces.push(piece);
        now_us += keep;
    }
    // Without any, that is left to the link.
    let is_steady = |piece: &Piece| piece.jitter.is_none_or(|jitter| jitter.is_zero());
    if pieces.iter().all(is_steady) {
        pieces.iter_mut().for_each(|piece| piece.jitter = None);
    }
    let last = text.lines().count().max(1);
    let failed = |why: crate::TimelineError| TraceError::new(last, why.to_string());
    let timeline = Timeline::new(pieces).map_err(|why| match why {
        crate::TimelineError::Empty => TraceError::new(last, "the trace is empty"),
        why => failed(why),
    })?;
    if wraps {
        timeline
            .repeating(Duration::from_nanos(now_us * 1000))
            .map_err(failed)
    } else {
        Ok(timeline)
    }
}

/// The piece of a line from `now_us` on, and how long it holds, in microseconds;
/// `before` is the delay before it, and `falls` counts how often it fell without
/// a route number.
fn piece(
    (values, columns): ([u64; 10], &Columns),
    number: usize,
    now_us: u64,
    (before, falls): (Option<Duration>, &mut u32),
) -> Result<(Piece, u64), TraceError> {
    let column = |index: usize| values.get(index).copied().unwrap_or(0);
    if let Some(&bad) = columns.unknown.iter().find(|index| column(**index) != 0) {
        let name = columns.names[bad];
        let what = format!("{name} is {}; only 0 is understood", column(bad));
        return Err(TraceError::new(number, what));
    }
    let keep = column(0);
    if keep == 0 || keep > LONGEST_US - now_us.min(LONGEST_US) {
        let what = "KEEP must be above zero, and all together less than ten years";
        return Err(TraceError::new(number, what));
    }
    let (latency, rate, loss) = (
        column(columns.latency),
        column(columns.rate),
        column(columns.loss),
    );
    if latency > LONGEST_US * 1000 {
        return Err(TraceError::new(number, "LATENCY is longer than ten years"));
    }
    let jitter = columns.jitter.map_or(0, column);
    if jitter > LONGEST_US * 1000 {
        return Err(TraceError::new(number, "JITTER is longer than ten years"));
    }
    if rate == 0 || rate > 1_000_000_000_000_000 {
        let what = "RATE must be above zero, and no more than 1000000 Gbit/s";
        return Err(TraceError::new(number, what));
    }
    if loss > ALWAYS {
        let what = format!("LOSS is {loss}; {ALWAYS} is always");
        return Err(TraceError::new(number, what));
    }
    let one_way_delay = Duration::from_nanos(latency);
    let given = columns.route.map_or(0, column);
    let Ok(given) = u32::try_from(given) else {
        return Err(TraceError::new(number, "ROUTE_ID does not fit 32 bits"));
    };
    let fell = before.is_some_and(|before| one_way_delay < before);
    *falls += u32::from(fell && given == 0);
    let piece = Piece {
        from: Time::from_nanos(now_us * 1000),
        rate: Rate::from_bps(rate),
        one_way_delay,
        sloped: false,
        loss: match loss {
            0 | ALWAYS => Loss::Channel,
            _ => Loss::Packets(Ratio::new(loss as f64 / ALWAYS as f64).unwrap_or(Ratio::ONE)),
        },
        up: loss != ALWAYS,
        route: if given == 0 { u32::MAX - *falls } else { given },
        jitter: Some(Duration::from_nanos(jitter)),
    };
    Ok((piece, keep))
}

/// The numbers of a line, and how many they are.
fn values(line: &str, number: usize) -> Result<([u64; 10], usize), TraceError> {
    let mut values = [0; 10];
    let mut count = 0;
    for word in line.trim_end().split(',') {
        let word = word.trim();
        let digits = Some(word).filter(|w| w.bytes().all(|b| b.is_ascii_digit()));
        let Some(value) = digits.and_then(|w| w.parse().ok()) else {
            let shown: String = word.chars().take(40).collect();
            let what = format!(
                "expected a whole number in column {}, found `{shown}`",
                count + 1
            );
            return Err(TraceError::new(number, what));
        };
        if let Some(place) = values.get_mut(count) {
            *place = value;
        }
        count += 1;
    }
    Ok((values, count))
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The format with route numbers.
    pub extended: bool,
    /// How long a line holds while the delay goes in a straight line; at least
    /// a microsecond.
    pub step: Duration,
}

/// The trace of a link with `settings` that follows `timeline`, from the start
/// for `duration`. LIMIT is the queue's, in packets of 1500 bytes where it is
/// in bytes.
///
/// # Errors
/// Where the format has no word for what the link does.
pub fn write(
    settings: &LinkSettings,
    timeline: &Timeline,
    duration: Duration,
    style: Style,
) -> Result<String, Unwritable> {
    if timeline.opportunities().is_some() {
        return Err(Unwritable::Opportunities);
    }
    let limit = match settings.queue.limit() {
        Limit::Packets(n) => n,
        Limit::Bytes(n) => u32::try_from(n.get() / 1500).unwrap_or(u32::MAX).max(1),
    };
    if !style.extended && timeline.has_jitter() {
        return Err(Unwritable::Jitter);
    }
    let us = |at: Time| at.as_nanos() / 1000;
    let (mut text, mut lines) = (String::new(), 0);
    if style.extended {
        text.push_str("# KEEP,LATENCY,JITTER,RATE,LOSS,LIMIT,DUP_PROB,DUP_DELAY,ROUTE_ID\n");
    } else {
        text.push_str("# KEEP,LATENCY,RATE,LOSS,LIMIT\n");
    }
    let end = Time::ZERO + duration;
    let (mut at, mut route, mut number) = (Time::ZERO, None, 0u32);
    while at < end {
        let state = timeline.at(at);
        let change = timeline.next_change(at).unwrap_or(Time::MAX);
        let until = if timeline.is_sloped(at) {
            change.min(at + style.step.max(Duration::from_micros(1)))
        } else {
            change
        };
        let until = until.min(end);
        let waits = !state.up && timeline.rules().0 == WhenDown::Waits;
        if waits || state.rate == Rate::ZERO {
            return Err(Unwritable::Waits);
        }
        let share = match state.loss {
            _ if !state.up => 1.0,
            Loss::Packets(p) => p.get(),
            Loss::Bits(p) if p > Ratio::ZERO => return Err(Unwritable::BitErrors),
            Loss::Bits(_) => 0.0,
            Loss::Channel => match settings.channel {
                ChannelSettings::Perfect => 0.0,
                ChannelSettings::Uniform { packet_error_rate }
                | ChannelSettings::GilbertElliott {
                    packet_error_rate, ..
                }
                | ChannelSettings::Bursts {
                    packet_error_rate, ..
                } => packet_error_rate.get(),
                ChannelSettings::BitErrors { .. } => return Err(Unwritable::BitErrors),
            },
        };
        // Nothing but an outage is written as always.
        let most = if state.up { ALWAYS - 1 } else { ALWAYS };
        let loss = ((share * ALWAYS as f64 + 0.5) as u64).min(most);
        if route != Some(state.route) {
            route = Some(state.route);
            number += 1;
        }
        let keep = us(until) - us(at);
        if keep > 0 {
            let jitter = timeline.jitter(at).unwrap_or_default().as_nanos();
            let (latency, rate) = (state.one_way_delay.as_nanos(), state.rate.bps());
            // Writing into a string cannot fail. Numbers of routes are used
            // again after 200, as TheaterQ has 244 of them.
            let _ = if style.extended {
                let route = (number - 1) % 200 + 1;
                writeln!(
                    text,
                    "{keep},{latency},{jitter},{rate},{loss},{limit},0,0,{route}"
                )
            } else {
                writeln!(text, "{keep},{latency},{rate},{loss},{limit}")
            };
            lines += 1;
            if lines > MOST_LINES {
                return Err(Unwritable::TooLong);
            }
        }
        at = until;
    }
    if lines == 0 {
        return Err(Unwritable::Nothing);
    }
    Ok(text)
}

#[cfg(test)]
#[path = "theaterq_tests.rs"]
mod tests;
