//! What the channel lost and what the queue dropped.
//!
//! A drop-tail queue drops only while it is full, so a packet that it drops would have waited as
//! long as any; a channel loses whatever the queue holds. What was lost at another time was lost
//! by the channel. What was lost while the queue may have been full was, too, if it took time of
//! the link ([`crate::gaps`]), and was dropped if it did not. If that cannot be told, chance is
//! asked: the channel is taken to lose as often while the queue is full as otherwise, and the
//! queue dropped the others. The interval of the channel's share is wide enough for all that
//! cannot be told to have been the queue's, and for as much of it to have been the channel's as
//! chance allows.

use crate::History;
use crate::chance::Runs;
use crate::estimate::{Estimate, sorted};
use crate::waits::{Known, Waits, waits};

/// How many standard deviations more losses than by chance are.
const BEYOND_CHANCE: f64 = 3.5;

/// As many are within the chance that an interval of 95% allows.
const WITHIN_CHANCE: f64 = 1.96;

/// A share of a number of trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proportion {
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// The share, with its interval.
    pub share: Estimate,
}

/// The losses of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Losses {
    /// What the channel lost, of the packets that reached it. The interval allows for losses of
    /// which the capture does not tell whether the queue dropped them.
    pub channel: Proportion,
    /// Packets that were lost by the channel in a row, on average; `None` where they are lost
    /// independently of each other, as far as the capture shows.
    pub burst: Option<Estimate>,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// The transmissions that the channel lost, by their numbers.
    pub lost_by_channel: Vec<usize>,
    /// The waits around what the queue dropped, seconds, in order.
    pub(crate) waits_at_drops: Vec<f64>,
    /// The longest wait, seconds.
    pub(crate) longest_wait: f64,
}

/// What became of a transmission whose fate is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Arrived,
    Channel,
    Queue,
    /// Lost by the one or the other.
    Untold,
}

/// Sorts the losses; `base` is the round trip without a queue, seconds, `packet` the time that
/// the link takes for a packet.
pub(crate) fn losses(history: &History, base: f64, packet: f64) -> Losses {
    sort(&waits(history, base, packet))
}

/// What is lost, by what lost it.
fn sort(waits: &Waits) -> Losses {
    let known = &waits.known;
    let is_top = |k: &Known| k.wait >= waits.full;
    let end = |k: &Known| match (k.lost, is_top(k), k.took_time) {
        (false, ..) => End::Arrived,
        (true, false, _) | (true, true, Some(true)) => End::Channel,
        (true, true, Some(false)) => End::Queue,
        (true, true, None) => End::Untold,
    };
    let ends: Vec<End> = known.iter().map(end).collect();
    let each: Vec<(bool, End)> = known.iter().map(is_top).zip(ends.iter().copied()).collect();
    let untold = Untold::of(&each);
    // Of the packets that reached the channel: less or with those of which nothing is told.
    let runs = |with_untold: bool| {
        let reached = ends.iter().filter(|e| **e != End::Queue);
        let reached = reached.filter(|e| with_untold || **e != End::Untold);
        Runs::of(reached.map(|e| *e != End::Arrived))
    };
    let (least, all) = (runs(false), runs(true));
    let counted = if untold.is_channel { all } else { least };
    let share = counted.share();
    let most = least.with(untold.most).share();
    let share = Estimate {
        value: share.value,
        low: share.low.min(least.share().low),
        high: share.high.max(least.share().high).max(most.high),
    };
    let untold_by = match untold.is_channel {
        true => End::Channel,
        false => End::Queue,
    };
    let by = |cause: End| {
        let each = known.iter().zip(&ends);
        each.filter(move |(_, e)| **e == cause || **e == End::Untold && cause == untold_by)
            .map(|(k, _)| k)
    };
    let dropped = sorted(by(End::Queue).map(|k| k.around));
    Losses {
        lost_by_channel: by(End::Channel).map(|k| k.number).collect(),
        channel: Proportion {
            count: counted.lost,
            of: counted.of,
            share,
        },
        burst: counted.bursts(),
        dropped: dropped.len() as u64,
        waits_at_drops: dropped,
        longest_wait: waits.longest,
    }
}

/// What is to be made of the losses that the capture does not tell the cause of.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Untold {
    /// The channel is taken to have lost them.
    is_channel: bool,
    /// As many of them the channel may have lost, and in so many rows.
    most: (u64, u64),
}

impl Untold {
    /// Of transmissions in their order: whether the queue may have been full, and the end.
    fn of(each: &[(bool, End)]) -> Untold {
        let top = |wanted: End| each.iter().filter(|e| **e == (true, wanted)).count() as u64;
        let (channel, untold) = (top(End::Channel), top(End::Untold));
        let trials = (channel + untold + top(End::Arrived)) as f64;
        let rest = each.iter().filter(|(top, _)| !top);
        let rest = Runs::of(rest.map(|(_, e)| *e != End::Arrived));
        // One loss more than there were keeps few packets from saying too much.
        let chance = (rest.lost as f64 + 0.5) / (rest.of as f64 + 1.0) * trials;
        let lost = (channel + untold) as f64;
        let by_chance = lost <= chance + BEYOND_CHANCE * chance.sqrt() + 0.5;
        // What chance allows is rows: a burst of the channel may have fallen into a full queue. How
        // many there are elsewhere is no better known than by chance, either.
        let most = (rest.runs as f64 + 0.5) / (rest.of as f64 + 1.0) * trials;
        let spread = (most * (1.0 + trials / (rest.of as f64 + 1.0))).sqrt();
        let most = most + WITHIN_CHANCE * spread + 0.5;
        let rows = |wanted: End| {
            let rows = each.chunk_by(|a, b| a == b);
            rows.filter(move |row| row[0] == (true, wanted))
                .map(|row| row.len() as u64)
        };
        let most = (most as usize).saturating_sub(rows(End::Channel).count());
        let mut rows: Vec<u64> = rows(End::Untold).collect();
        rows.sort_unstable_by(|a, b| b.cmp(a));
        rows.truncate(most);
        Untold {
            is_channel: by_chance && channel >= top(End::Queue),
            most: (rows.iter().sum(), rows.len() as u64),
        }
    }
}

#[cfg(test)]
#[path = "loss_tests.rs"]
mod tests;
