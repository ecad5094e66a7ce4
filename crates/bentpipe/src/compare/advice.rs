//! The recommendation: from results to a choice, and what speaks against it.
//! Nothing here knows a transport by name.

use super::lineup::Availability;
use super::measure::{Sharing, TransportResult};
use bentpipe_study::stats::Summary;
use std::cmp::Ordering;

/// A difference smaller than this share is no reason to change a host.
const NEGLIGIBLE: f64 = 0.02;

/// A gentler transport may take this much longer.
const GENTLE: f64 = 1.10;

/// A transport that sends more than this share of its packets again, beyond
/// what the channel loses, is not recommended: it spends satellite capacity that
/// other flows could use.
const WASTEFUL: f64 = 0.10;

/// What the results recommend. Numbers are indices into
/// [`Ranking::results`](super::Ranking::results).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recommendation {
    /// The recommended transport.
    pub pick: usize,
    /// Others that are as fast, by what these runs can tell, nearest to use
    /// first.
    pub as_fast: Vec<usize>,
    /// The usual default.
    pub default: Option<usize>,
    /// How many times as fast as the default, if that is more than noise.
    pub speedup: Option<f64>,
    /// Where the pick is not in stock Linux: the best that is, by the same
    /// rules.
    pub today: Option<usize>,
    /// One that is nearly as fast and makes others wait much less.
    pub gentler: Option<usize>,
    /// At least as fast as the pick, but too wasteful to be recommended.
    pub wasteful: Option<usize>,
}

/// What speaks against a transport, with the numbers that say so.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Risk {
    /// Packets of other flows wait longer at the link, seconds (95th percentile).
    Queueing {
        /// With this transport.
        wait: f64,
        /// With the default.
        default: Option<f64>,
    },
    /// More packets are sent again.
    Resending {
        /// Share of packets with this transport.
        share: f64,
        /// With the default.
        default: Option<f64>,
    },
    /// The queue overflows, packets per download.
    Overflow {
        /// With this transport.
        drops: f64,
        /// With the default.
        default: Option<f64>,
    },
    /// It stalls until a retransmission timer expires.
    Timeouts {
        /// Timeouts per download.
        count: f64,
    },
    /// Equal downloads take very different times, seconds.
    Spread {
        /// The shortest.
        min: f64,
        /// The longest.
        max: f64,
    },
    /// Some downloads did not end.
    Unfinished {
        /// How many did not.
        count: usize,
        /// Of how many.
        of: usize,
    },
    /// A download of the default beside it is slowed down, seconds.
    Unfair {
        /// Beside another download of the default.
        beside_itself: f64,
        /// Beside a download of this transport.
        beside_it: f64,
    },
}

/// The faster of two first: fewer unfinished, then the shorter mean time.
pub(super) fn by_time(a: &TransportResult, b: &TransportResult) -> Ordering {
    let mean = |m: &TransportResult| m.times.map_or(f64::INFINITY, |t| t.mean);
    a.unfinished
        .cmp(&b.unfinished)
        .then(mean(a).total_cmp(&mean(b)))
}

/// Half of the width of the 95% interval of the difference of two means.
fn difference_ci95(a: &Summary, b: &Summary) -> f64 {
    let (a, b) = (a.ci95.unwrap_or(0.0), b.ci95.unwrap_or(0.0));
    (a * a + b * b).sqrt()
}

/// True if `other` is as fast as `best`, by what the runs can tell.
fn ties(best: &TransportResult, other: &TransportResult) -> bool {
    match (&best.times, &other.times) {
        (Some(a), Some(b)) if best.unfinished == other.unfinished => {
            b.mean - a.mean <= difference_ci95(a, b).max(NEGLIGIBLE * a.mean)
        }
        _ => false,
    }
}

/// What `results` recommend against the default called `default`; `None` if
/// nothing that can be recommended ended a download. `loss` is the share of
/// packets that the channel loses whatever the transport does.
pub(super) fn recommend(
    results: &[TransportResult],
    default: &str,
    loss: f64,
) -> Option<Recommendation> {
    let wasteful = |m: &TransportResult| m.resent_share > loss + WASTEFUL;
    let usable = |m: &TransportResult| m.availability != Availability::Reference;
    let (pick, as_fast) =
        choose(results, |m| usable(m) && !wasteful(m)).or_else(|| choose(results, usable))?;
    let default = results.iter().position(|m| m.name == default);
    // A slower transport is not recommended, however few packets it repeats.
    let slower = |i: usize, d: usize| {
        i != d
            && by_time(&results[d], &results[i]) == Ordering::Less
            && !ties(&results[d], &results[i])
    };
    let (pick, as_fast) = match default {
        Some(d) if slower(pick, d) => (d, Vec::new()),
        _ => (pick, as_fast),
    };
    let speedup = default
        .filter(|d| *d != pick && !ties(&results[pick], &results[*d]))
        .and_then(|d| Some(results[d].times?.mean / results[pick].times?.mean));
    let today = (results[pick].availability > Availability::Module)
        .then(|| {
            choose(results, |m| {
                m.availability <= Availability::Module && !wasteful(m)
            })
        })
        .flatten()
        .map(|(today, _)| default.filter(|d| slower(today, *d)).unwrap_or(today));
    let gentler = gentler(results, pick);
    let as_good = |i: &usize| {
        *i != pick
            && !results[*i].times.is_none_or(|t| {
                results[*i].unfinished > results[pick].unfinished
                    || results[pick]
                        .times
                        .is_some_and(|p| p.mean * (1.0 + NEGLIGIBLE) < t.mean)
            })
    };
    let wasteful = (0..results.len())
        .filter(|i| !wasteful(&results[pick]) && usable(&results[*i]) && wasteful(&results[*i]))
        .filter(as_good)
        .min_by(|a, b| by_time(&results[*a], &results[*b]));
    Some(Recommendation {
        pick,
        as_fast,
        default,
        speedup,
        today,
        gentler,
        wasteful,
    })
}

/// The best of those that are `allowed`, and those that tie with it. Among
/// ties the one nearest to use is the best.
fn choose(
    results: &[TransportResult],
    allowed: impl Fn(&TransportResult) -> bool,
) -> Option<(usize, Vec<usize>)> {
    let ended = |i: &usize| allowed(&results[*i]) && results[*i].times.is_some();
    let candidates: Vec<usize> = (0..results.len()).filter(ended).collect();
    let fastest = candidates
        .iter()
        .copied()
        .min_by(|a, b| by_time(&results[*a], &results[*b]))?;
    let mut tied: Vec<usize> = candidates
        .into_iter()
        .filter(|i| ties(&results[fastest], &results[*i]))
        .collect();
    tied.sort_by(|a, b| {
        let (a, b) = (&results[*a], &results[*b]);
        a.availability.cmp(&b.availability).then(by_time(a, b))
    });
    let pick = tied.remove(0);
    Some((pick, tied))
}

fn gentler(results: &[TransportResult], pick: usize) -> Option<usize> {
    let chosen = &results[pick];
    let limit = chosen.times?.mean * GENTLE;
    let is_gentler = |m: &TransportResult| {
        m.availability != Availability::Reference
            && m.unfinished <= chosen.unfinished
            && m.times.is_some_and(|t| t.mean <= limit)
            && m.p95_queueing_delay_s < chosen.p95_queueing_delay_s / 2.0
            && m.p95_queueing_delay_s + 0.05 < chosen.p95_queueing_delay_s
    };
    (0..results.len())
        .filter(|i| is_gentler(&results[*i]))
        .min_by(|a, b| {
            let (a, b) = (&results[*a], &results[*b]);
            // As near to use as the pick, then the one with the shortest wait.
            let far = |m: &TransportResult| m.availability > chosen.availability;
            far(a)
                .cmp(&far(b))
                .then(a.p95_queueing_delay_s.total_cmp(&b.p95_queueing_delay_s))
        })
}

/// What speaks against `chosen`, the weightiest first; `loss` is the share of
/// packets that the channel loses whatever the transport does.
pub(super) fn risks(
    chosen: &TransportResult,
    default: Option<&TransportResult>,
    sharing: Option<&Sharing>,
    loss: f64,
) -> Vec<Risk> {
    let of_default = |f: fn(&TransportResult) -> f64| default.map(f);
    let mut found = Vec::new();
    let runs = chosen.times.map_or(0, |t| t.n) + chosen.unfinished;
    if chosen.unfinished > 0 {
        found.push(Risk::Unfinished {
            count: chosen.unfinished,
            of: runs,
        });
    }
    let wait = chosen.p95_queueing_delay_s;
    let usual = of_default(|m| m.p95_queueing_delay_s);
    if wait > 0.05 && wait > 1.2 * usual.unwrap_or(0.0) {
        found.push(Risk::Queueing {
            wait,
            default: usual,
        });
    }
    if let Some(sharing) = sharing {
        let (itself, other) = (&sharing.beside_default, &sharing.beside_other);
        if other.mean - itself.mean > difference_ci95(itself, other).max(0.05 * itself.mean) {
            found.push(Risk::Unfair {
                beside_itself: itself.mean,
                beside_it: other.mean,
            });
        }
    }
    let share = chosen.resent_share;
    let usual = of_default(|m| m.resent_share);
    if share > loss + 0.005 && share > 1.2 * usual.unwrap_or(0.0) {
        found.push(Risk::Resending {
            share,
            default: usual,
        });
    }
    let drops = chosen.queue_drops_per_transfer;
    let usual = of_default(|m| m.queue_drops_per_transfer);
    if drops >= 1.0 && drops > 1.2 * usual.unwrap_or(0.0) {
        found.push(Risk::Overflow {
            drops,
            default: usual,
        });
    }
    if chosen.timeouts_per_transfer >= 0.2 {
        found.push(Risk::Timeouts {
            count: chosen.timeouts_per_transfer,
        });
    }
    if let Some(times) = chosen.times
        && times.n > 1
        && times.max > 1.3 * times.min
    {
        found.push(Risk::Spread {
            min: times.min,
            max: times.max,
        });
    }
    found
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;
