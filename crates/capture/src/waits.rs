//! How long packets waited in the queue, and those around what was lost.

use crate::estimate::{quantile, sorted};
use crate::gaps::{Gap, Link, gaps};
use crate::history::Fate;
use crate::{Acked, History};

/// The queue is near full where packets wait this share of the longest wait, or as long but for
/// two packets; at half of it it is not full, however short it is.
const NEAR_FULL: f64 = 0.85;
const NOT_FULL: f64 = 0.5;

/// A packet that is followed by the next within this share of its wait is no lone one.
const HELD_BACK: f64 = 0.5;

/// A transmission whose fate is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Known {
    pub(crate) number: usize,
    pub(crate) lost: bool,
    /// How long it waited; one that was lost as long as any around it, or as it would have if
    /// there had been room for it. Seconds.
    pub(crate) wait: f64,
    /// How long those around it waited, if it was lost, seconds.
    pub(crate) around: f64,
    /// Whether it took time of the link, if it was lost and that can be told.
    pub(crate) took_time: Option<bool>,
}

/// How long the packets of a connection waited.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Waits {
    /// The transmissions whose fate is known, in order.
    pub(crate) known: Vec<Known>,
    /// The longest wait, seconds.
    pub(crate) longest: f64,
    /// The queue may be full if a packet waits as long, seconds; infinite if it never is.
    pub(crate) full: f64,
}

/// The waits of a connection; `base` is the round trip without a queue, seconds,
/// `packet` the time that the link takes for a packet.
pub(crate) fn waits(history: &History, base: f64, packet: f64) -> Waits {
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
    let mut arrived = Vec::new();
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
        let around = before[ack].max(after[ack]);
        if sent.seen {
            arrived.extend((!lost).then_some(after[ack]));
            known.push(Known {
                number,
                lost,
                wait: around,
                around,
                took_time: None,
            });
        }
    }
    // A single acknowledgement may have been delayed for longer than any queue.
    let longest = quantile(&sorted(arrived), 0.999).unwrap_or(0.0);
    let full = (NEAR_FULL * longest).min(longest - 2.0 * packet);
    let full = match longest > packet {
        true => full.max(NOT_FULL * longest),
        false => f64::INFINITY,
    };
    let link = Link {
        history,
        base,
        packet,
        full,
    };
    let exact: Vec<bool> = waits.iter().map(Option::is_some).collect();
    tell(&mut known, &gaps(link, &exact));
    Waits {
        known,
        longest,
        full,
    }
}

/// Gives what was lost the waits that it would have had, and says what took time of the link.
fn tell(known: &mut [Known], gaps: &[Gap]) {
    let mut gaps = gaps.iter().peekable();
    let mut before = None;
    for known in known.iter_mut().filter(|k| k.lost) {
        while gaps.next_if(|gap| gap.number < known.number).is_some() {}
        if let Some(gap) = gaps.next_if(|gap| gap.number == known.number) {
            // What others sent may have filled the queue before the first of a row.
            let follows = before.is_some_and(|before| before + 1 == known.number);
            known.wait = match follows {
                true => gap.wait,
                false => gap.wait.max(known.around),
            };
            known.took_time = gap.took_time;
        }
        before = Some(known.number);
    }
}

/// True for an acknowledgement of a single packet that the receiver may have held back in vain
/// for a second one: the next packet was sent too late to show that this one waited in a queue.
fn may_be_delayed(history: &History, ack: &Acked, wait: f64) -> bool {
    let next = history.sent.get(ack.newest).map_or(f64::INFINITY, |s| s.at);
    let this = history.sent[ack.newest - 1].at;
    ack.covers == 1 && next - this > HELD_BACK * wait
}
