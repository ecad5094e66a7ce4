//! The rate of the link, from how far apart packets arrive while it is busy.
//!
//! The link is busy while packets wait before it: while their round trips are longer than the
//! shortest. Then they arrive one after the other, as fast as it transmits, and the
//! acknowledgements of the first and the last of a train are as far apart as the bytes in
//! between take. Trains end where a packet was lost, since one that was dropped by the queue
//! took no time of the link. They are cut into pieces; pieces far from the median, such as those
//! with an acknowledgement that was delayed or that others caught up with, count no more.

use crate::History;
use crate::estimate::{Estimate, quantile, sorted};
use crate::history::Fate;
use bentpipe_random::Stream;

/// Packets of a piece, about.
const PIECE: usize = 64;

/// Packets of the shortest train that counts.
const SHORTEST: usize = 10;

/// Packets in trains that a rate takes.
const NEEDED: usize = 40;

/// Pieces further from the median than this share of it do not count.
const FAR: f64 = 0.1;

/// Times that are shorter are jitter of hosts, seconds.
const JITTER: f64 = 200e-6;

/// Resamples of the bootstrap.
const RESAMPLES: usize = 200;

/// No rate is known better than this share.
const LEAST_ERROR: f64 = 0.002;

/// A part of a train.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    bytes: f64,
    seconds: f64,
    packets: usize,
}

impl Piece {
    fn rate(&self) -> f64 {
        8.0 * self.bytes / self.seconds
    }
}

/// The rate in bit/s at the IP layer; a bound where the link was never busy for long. `None`
/// without any acknowledgement.
pub(crate) fn rate(history: &History) -> Option<Estimate> {
    let rtts = sorted(history.acks.iter().filter_map(|ack| ack.rtt));
    let shortest = *rtts.first()?;
    let long = quantile(&rtts, 0.95)?;
    let sums = sums(history);
    // Twice: the time of a packet, which says what waiting is, comes from the rate.
    let mut waits = (0.05 * (long - shortest)).max(JITTER);
    let mut found = None;
    for _ in 0..2 {
        let pieces = pieces(history, &sums, shortest, waits);
        found = pooled(&pieces);
        let Some(rate) = found else {
            break;
        };
        waits = (0.5 * 8.0 * f64::from(history.packet()) / rate.value).max(JITTER);
    }
    found.or_else(|| fastest(history, &sums, shortest).map(Estimate::at_least))
}

/// Bytes of all transmissions before each.
fn sums(history: &History) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = vec![0.0];
    for sent in &history.sent {
        sum += f64::from(sent.bytes);
        sums.push(sum);
    }
    sums
}

/// The pieces of trains: round trips are longer than the shortest by `waits`, seconds, and each
/// packet was sent before the one before it can have left the link, so that it was never idle.
fn pieces(history: &History, sums: &[f64], shortest: f64, waits: f64) -> Vec<Piece> {
    let busy = shortest + waits;
    let mut before = f64::NEG_INFINITY;
    let mut pieces = Vec::new();
    let mut begin: Option<(usize, f64)> = None;
    let mut last: Option<(usize, f64)> = None;
    let mut known = 0;
    for ack in &history.acks {
        if ack.newest <= known {
            continue;
        }
        let unbroken = history.sent[known..ack.newest]
            .iter()
            .all(|s| s.seen && matches!(s.fate, Fate::Delivered | Fate::Duplicate));
        let unbroken = unbroken && history.sent[known].at + shortest <= before;
        before = ack.at;
        known = ack.newest;
        let waits = ack.rtt.is_some_and(|rtt| rtt > busy);
        let here = (ack.newest, ack.at);
        if waits && unbroken && begin.is_some() {
            last = Some(here);
        } else {
            close(&mut pieces, sums, begin, last);
            begin = None;
            last = None;
        }
        if let (Some(from), Some(to)) = (begin, last)
            && to.0 - from.0 >= PIECE
        {
            close(&mut pieces, sums, begin, last);
            begin = last.take();
        }
        if begin.is_none() && waits {
            begin = Some(here);
        }
    }
    close(&mut pieces, sums, begin, last);
    pieces
}

fn close(
    pieces: &mut Vec<Piece>,
    sums: &[f64],
    begin: Option<(usize, f64)>,
    end: Option<(usize, f64)>,
) {
    if let (Some((first, from)), Some((last, to))) = (begin, end)
        && last - first >= SHORTEST
        && to > from
    {
        pieces.push(Piece {
            bytes: sums[last] - sums[first],
            seconds: to - from,
            packets: last - first,
        });
    }
}

/// The rate of the pieces that agree with their median, and its interval by a bootstrap.
fn pooled(pieces: &[Piece]) -> Option<Estimate> {
    let packets: usize = pieces.iter().map(|p| p.packets).sum();
    if packets < NEEDED {
        return None;
    }
    let mut ordered: Vec<&Piece> = pieces.iter().collect();
    ordered.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
    let mut below = 0;
    let median = ordered.iter().find(|p| {
        below += p.packets;
        2 * below >= packets
    })?;
    let median = median.rate();
    let near: Vec<&Piece> = pieces
        .iter()
        .filter(|p| (p.rate() - median).abs() <= FAR * median)
        .collect();
    let of = |chosen: &mut dyn Iterator<Item = &Piece>| {
        let (bytes, seconds) = chosen.fold((0.0, 0.0), |(b, s), p| (b + p.bytes, s + p.seconds));
        8.0 * bytes / seconds
    };
    let value = of(&mut near.iter().copied());
    let mut stream = Stream::new(1, "fit rate");
    let resampled = sorted((0..RESAMPLES).map(|_| {
        let mut draw = (0..near.len()).map(|_| {
            let at = (stream.uniform() * near.len() as f64) as usize;
            near[at.min(near.len() - 1)]
        });
        of(&mut draw)
    }));
    let end = |share: f64| quantile(&resampled, share).unwrap_or(value);
    Some(Estimate {
        value,
        low: end(0.025).min(value * (1.0 - LEAST_ERROR)),
        high: end(0.975).max(value * (1.0 + LEAST_ERROR)),
    })
}

/// The most that arrived in a round trip, bit/s.
fn fastest(history: &History, sums: &[f64], rtt: f64) -> Option<f64> {
    let acks = &history.acks;
    let mut begin = 0;
    let mut most: Option<f64> = None;
    for ack in acks {
        while acks[begin].at + rtt < ack.at && acks[begin + 1].at + rtt <= ack.at {
            begin += 1;
        }
        let first = &acks[begin];
        let passed = ack.at - first.at;
        if passed >= 0.9 * rtt && passed > 0.0 {
            let rate = 8.0 * (sums[ack.newest] - sums[first.newest]) / passed;
            most = Some(most.map_or(rate, |most| most.max(rate)));
        }
    }
    let all = *sums.last()?;
    let whole = acks.last()?.at - history.sent.first()?.at;
    most.filter(|rate| *rate > 0.0)
        .or_else(|| (whole > 0.0 && all > 0.0).then(|| 8.0 * all / whole))
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
