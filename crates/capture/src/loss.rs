//! What the channel lost and what the queue dropped.
//!
//! A drop-tail queue drops only while it is full, so the packets around such a loss waited as
//! long as any; a channel loses whatever the queue holds. Losses are sorted by how long their
//! neighbours waited. If those with the longest waits are more frequent than the other ones by
//! more than chance explains, the queue dropped them, less what the channel would have lost
//! there; if not, the channel lost them all.

use crate::estimate::{Estimate, quantile, sorted};
use crate::history::Fate;
use crate::{Acked, History};

/// The queue is near full where packets wait this share of the longest wait.
const NEAR_FULL: f64 = 0.85;

/// How many standard deviations more losses than by chance are.
const BEYOND_CHANCE: f64 = 3.5;

/// A packet that is followed by the next within this share of its wait is no lone one.
const HELD_BACK: f64 = 0.5;

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
    /// What the channel lost, of the packets that reached it.
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

/// A transmission whose fate is known, and how long those around it waited, seconds.
#[derive(Clone, Copy, Debug)]
struct Known {
    number: usize,
    lost: bool,
    wait: f64,
}

/// Sorts the losses; `base` is the round trip without a queue, seconds, `packet` the time that
/// the link takes for a packet.
pub(crate) fn losses(history: &History, base: f64, packet: f64) -> Losses {
    let known = known(history, base, packet);
    let waits = sorted(known.iter().filter(|k| !k.lost).map(|k| k.wait));
    // A single acknowledgement may have been delayed for longer than any queue.
    let longest = quantile(&waits, 0.999).unwrap_or(0.0);
    let full = (NEAR_FULL * longest).min(longest - 2.0 * packet);
    let is_top = |k: &&Known| full > packet && k.wait >= full;
    let (top, rest): (Vec<&Known>, Vec<&Known>) = known.iter().partition(is_top);
    let lost = |of: &[&Known]| of.iter().filter(|k| k.lost).count() as u64;
    let (lost_top, lost_rest) = (lost(&top), lost(&rest));
    // One loss more than there were keeps few packets from saying too much.
    let elsewhere = (lost_rest as f64 + 0.5) / (rest.len() as f64 + 1.0);
    let chance = elsewhere * top.len() as f64;
    let queue_drops = lost_top as f64 > chance + BEYOND_CHANCE * chance.sqrt() + 0.5;
    let (counted, dropped) = match queue_drops {
        true => (rest, lost_top),
        false => (known.iter().collect(), 0),
    };
    let (burst, effect) = bursts(&counted);
    let count = lost(&counted);
    let waits_at_drops = match queue_drops {
        true => sorted(top.iter().filter(|k| k.lost).map(|k| k.wait)),
        false => Vec::new(),
    };
    let lost_by_channel = counted.iter().filter(|k| k.lost).map(|k| k.number);
    Losses {
        lost_by_channel: lost_by_channel.collect(),
        channel: Proportion {
            count,
            of: counted.len() as u64,
            share: wilson(count, counted.len() as u64, effect),
        },
        burst,
        dropped,
        waits_at_drops,
        longest_wait: longest,
    }
}

/// The transmissions whose fate is known.
fn known(history: &History, base: f64, packet: f64) -> Vec<Known> {
    // The wait of the newest packet of each acknowledgement that has one.
    let waits: Vec<Option<f64>> = history
        .acks
        .iter()
        .map(|ack| {
            let wait = (ack.rtt? - base - packet).max(0.0);
            (!may_be_delayed(history, ack, wait)).then_some(wait)
        })
        .collect();
    let mut before = vec![0.0; waits.len() + 1];
    for (index, wait) in waits.iter().enumerate() {
        before[index + 1] = wait.unwrap_or(before[index]);
    }
    let mut after = vec![0.0; waits.len() + 1];
    for (index, wait) in waits.iter().enumerate().rev() {
        after[index] = wait.unwrap_or(after[index + 1]);
    }
    let mut known = Vec::new();
    let mut ack = 0;
    for (number, sent) in history.sent.iter().enumerate() {
        while history.acks.get(ack).is_some_and(|a| a.newest <= number) {
            ack += 1;
        }
        let lost = match sent.fate {
            Fate::Lost => true,
            Fate::Delivered | Fate::Duplicate => false,
            Fate::Unknown => continue,
        };
        let wait = match lost {
            true => before[ack].max(after[ack]),
            false => after[ack],
        };
        if sent.seen {
            known.push(Known { number, lost, wait });
        }
    }
    known
}

/// True for an acknowledgement of a single packet that the receiver may have held back in vain
/// for a second one: the next packet was sent too late to show that this one waited in a queue.
fn may_be_delayed(history: &History, ack: &Acked, wait: f64) -> bool {
    let next = history.sent.get(ack.newest).map_or(f64::INFINITY, |s| s.at);
    let this = history.sent[ack.newest - 1].at;
    ack.covers == 1 && next - this > HELD_BACK * wait
}

/// The mean number of losses in a row where they come in bursts, and by how much their
/// dependence widens the interval of the share.
fn bursts(known: &[&Known]) -> (Option<Estimate>, f64) {
    let lost = known.iter().filter(|k| k.lost).count() as f64;
    let follows =
        |pair: &&[&Known]| pair[0].lost && pair[1].lost && pair[1].number == pair[0].number + 1;
    let pairs = known.windows(2).filter(follows).count() as f64;
    let share = lost / (known.len() as f64).max(1.0);
    let chance = lost * share;
    if lost < 2.0 || pairs < 3.0 || pairs <= chance + BEYOND_CHANCE * chance.sqrt() + 1.0 {
        return (None, 1.0);
    }
    // Each burst ends after a loss with the same probability.
    let runs = lost - pairs;
    let mean = lost / runs.max(1.0);
    let ends = wilson(runs as u64, lost as u64, 1.0);
    let estimate = Estimate {
        value: mean,
        low: 1.0 / ends.high,
        high: 1.0 / ends.low.max(1e-9),
    };
    // The variance of a two-state process against that of independent losses.
    (Some(estimate), 2.0 * mean - 1.0)
}

/// Wilson's interval at 95%, as of so many fewer trials as the `effect` of dependence says.
fn wilson(count: u64, of: u64, effect: f64) -> Estimate {
    const Z: f64 = 1.959_964;
    if of == 0 {
        return Estimate {
            value: 0.0,
            low: 0.0,
            high: 1.0,
        };
    }
    let n = of as f64 / effect.max(1.0);
    let p = count as f64 / of as f64;
    let z2 = Z * Z;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    Estimate {
        value: p,
        low: if count == 0 {
            0.0
        } else {
            (middle - half).max(0.0)
        },
        high: (middle + half).min(1.0),
    }
}

#[cfg(test)]
#[path = "loss_tests.rs"]
mod tests;
