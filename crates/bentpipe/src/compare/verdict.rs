//! The decision: from results to one setting behind one proxy. Nothing here knows
//! a transport by name.
//!
//! Each row has one number for each seed, its *score*: the time of its users
//! over that of the baseline's, the mean over sizes and activities. Rows are
//! compared by the differences of their scores with the same seeds.
//!
//! 1. Out is what cannot be switched on today, what ends fewer runs than the
//!    baseline, what slows others down by more than [`HARM_LIMIT`] and what sends
//!    more than [`WASTE_LIMIT`] again beyond what the channel loses.
//! 2. Of the rest the fastest is sought, and what is as fast ([`CLOSE`], with more
//!    room for what costs others less or needs no proxy).
//! 3. Of those, the one that costs others the least is preferred (what they lose,
//!    how long they wait in the queue, what is sent again), then the one that is
//!    nearest to use.
//! 4. The baseline is kept unless that gains [`WORTH`] beyond chance.

use super::answer::{Answer, Row};
use super::standing::{Standing, standings};
use bentpipe_study::stats::mean;
use bentpipe_units::Bytes;

/// A gain below this is no reason to change a server: links vary more than that
/// from hour to hour.
pub const WORTH: f64 = 0.03;

/// Rows whose times are this close are equally fast to a user.
pub const CLOSE: f64 = 0.02;

/// The same where the slower one spares others what the faster one costs them.
pub const CLOSE_AND_GENTLER: f64 = 0.04;

/// A proxy must gain this over what needs none, or a lesser one: a box to buy and to
/// keep must give a little more than a setting.
pub const PROXY_WORTH: f64 = 0.05;

/// A setting that slows others down by more than this is not recommended: a
/// fifth is what RFC 5033 would not call a minor effect, and who shares the link
/// would notice.
pub const HARM_LIMIT: f64 = 0.20;

/// Others that are slowed down by less than this are not mentioned: it is the
/// noise of sharing.
pub const HARM_NOTED: f64 = 0.05;

/// A setting that sends more of its packets again than this, beyond what the
/// channel loses, is not recommended: satellite capacity is paid for by the bit.
pub const WASTE_LIMIT: f64 = 0.10;

/// Waste below this is not mentioned.
pub const WASTE_NOTED: f64 = 0.02;

/// A wait of others in the queue below this is not mentioned, nor one that is
/// not longer by half than with the baseline: it is what a good call tolerates.
pub const WAIT_NOTED_S: f64 = 0.05;
pub(super) const WAIT_RATIO: f64 = 1.5;

/// A slow tenth that is this many times as slow as the baseline's is mentioned,
/// and one that is this many times as slow as the mean.
const SLOW_NOTED: f64 = 1.3;

/// What is decided.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// The recommended row of [`Answer::rows`]; `None` if nothing ended.
    pub pick: Option<usize>,
    /// The row that is there unless something is changed.
    pub baseline: usize,
    /// What the pick gains over the baseline.
    pub gain: Option<Gain>,
    /// Rows that are as fast as the pick and further from use, nearest first.
    pub as_good: Vec<usize>,
    /// Rows that are faster than the pick and not recommended, fastest first.
    pub rejected: Vec<(usize, Objection)>,
    /// What the pick costs, the weightiest first.
    pub costs: Vec<Cost>,
    /// What the pick does to the others that share the link, where that was
    /// measured.
    pub harm: Option<Harm>,
    /// Sizes for which another row is better by more than [`WORTH`].
    pub by_size: Vec<(Bytes, usize, Gain)>,
    /// How sure it is.
    pub certainty: Certainty,
}

/// Time that is saved, as a share of the baseline's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Gain {
    /// Mean; negative if time is lost.
    pub share: f64,
    /// Half of the width of its 95% interval, by differences with the same
    /// seeds; `None` for a single run.
    pub ci95: Option<f64>,
    /// Runs that it rests on.
    pub runs: usize,
}

/// What a setting does to users of what others run: their time beside it over
/// their time beside the baseline, less one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Harm {
    /// Mean; negative if others are faster.
    pub share: f64,
    /// Half of the width of its 95% interval.
    pub ci95: Option<f64>,
    /// Mean time of an other user beside the baseline, seconds, of the smallest
    /// size and first activity.
    pub before_s: f64,
    /// The same beside the setting.
    pub after_s: f64,
    /// Runs that it rests on.
    pub runs: usize,
}

impl Harm {
    /// What the runs say.
    #[must_use]
    pub fn effect(&self) -> Effect {
        // One run proves nothing.
        let ci = self.ci95.unwrap_or(f64::INFINITY);
        if self.beyond_chance() > HARM_NOTED {
            Effect::Hurts
        } else if self.share > HARM_NOTED || self.share + ci > HARM_LIMIT {
            Effect::MayHurt
        } else if self.share + ci < -HARM_NOTED {
            Effect::Helps
        } else {
            Effect::None
        }
    }

    /// What is certain of it: what chance alone could explain is taken off.
    #[must_use]
    pub fn beyond_chance(&self) -> f64 {
        match self.share > self.ci95.unwrap_or(f64::INFINITY) {
            true => self.share,
            false => 0.0,
        }
    }
}

/// What the runs say of what a setting does to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// They are slowed down, beyond chance.
    Hurts,
    /// They seem to be slowed down, or may be by more than [`HARM_LIMIT`]: the
    /// runs do not tell.
    MayHurt,
    /// They are faster.
    Helps,
    /// Nothing worth a word.
    None,
}

/// Why a row is not recommended although it is fast.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Objection {
    /// It cannot be switched on today.
    NotThere,
    /// It slows others down by this share.
    Harms(f64),
    /// It sends this share of its packets again.
    Wastes(f64),
    /// So many of its runs did not end.
    DoesNotEnd(usize),
}

/// What the recommended setting costs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cost {
    /// Some runs did not end.
    Unfinished {
        /// How many.
        count: usize,
        /// Of how many.
        of: usize,
    },
    /// Others are slowed down by this share.
    Harm(f64),
    /// Traffic that no transport controls loses more packets.
    Background {
        /// Lost share with the setting.
        lost: f64,
        /// With the baseline.
        before: f64,
    },
    /// Packets of others wait longer at the link, seconds (95th percentile).
    Waiting {
        /// With the setting.
        wait_s: f64,
        /// With the baseline.
        before_s: f64,
    },
    /// Packets are sent again.
    Waste {
        /// Share of the packets.
        share: f64,
        /// With the baseline.
        before: f64,
    },
    /// Equal users wait for very different times, seconds.
    Slow {
        /// One time in ten is longer than this.
        slow_s: f64,
        /// With the baseline.
        before_s: Option<f64>,
    },
}

/// How sure a decision is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Certainty {
    /// Nothing is random: another run would be the same.
    Exact,
    /// Other losses would hardly change the decision.
    #[default]
    Clear,
    /// Another row may be faster by more than a few percent.
    Open,
}

impl Certainty {
    /// A word for JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Certainty::Exact => "exact",
            Certainty::Clear => "clear",
            Certainty::Open => "open",
        }
    }
}

/// Decides over these rows. `lost` is the share of packets that the channel
/// loses.
pub(super) fn decide(rows: &[Standing], baseline: usize, lost: f64) -> Verdict {
    let objections: Vec<Option<Objection>> = rows
        .iter()
        .map(|row| objection(row, &rows[baseline], lost))
        .collect();
    let Some(fastest) = fastest(rows, &objections) else {
        return Verdict {
            baseline,
            ..Verdict::default()
        };
    };
    let allowed = |i: &usize| objections[*i].is_none() && rows[*i].level.is_finite();
    let mut tied: Vec<usize> = (0..rows.len())
        .filter(allowed)
        .filter(|i| ties(&rows[*i], &rows[fastest], &rows[baseline]))
        .collect();
    let base = &rows[baseline];
    tied.sort_by(|a, b| {
        let (a, b) = (&rows[*a], &rows[*b]);
        let burdens = a.burdens(base).cmp(&b.burdens(base));
        burdens
            .then(a.effort.cmp(&b.effort))
            .then(a.level.total_cmp(&b.level))
    });
    // Each for itself: what is nearly as fast as the fastest may gain too little where
    // the fastest gains enough.
    let worthy = tied.iter().copied().find(|i| is_worth(&rows[*i], base));
    let pick = match allowed(&baseline) {
        true => worthy.unwrap_or(baseline),
        false => tied[0],
    };
    let as_good = tied.into_iter().filter(|i| *i != pick);
    let alike =
        |i: &usize| ties(&rows[*i], &rows[pick], base) && ties(&rows[pick], &rows[*i], base);
    let as_good = as_good.filter(alike).collect();
    Verdict {
        pick: Some(pick),
        baseline,
        gain: gain(&rows[pick], base).filter(|_| pick != baseline),
        as_good,
        rejected: rejected(rows, pick, &objections),
        harm: rows[pick].harm.filter(|_| pick != baseline),
        certainty: certainty(rows, pick, baseline, &objections),
        ..Verdict::default()
    }
}

/// The fastest row without an objection.
pub(super) fn fastest(rows: &[Standing], objections: &[Option<Objection>]) -> Option<usize> {
    (0..rows.len())
        .filter(|i| objections[*i].is_none() && rows[*i].level.is_finite())
        .min_by(|a, b| rows[*a].level.total_cmp(&rows[*b].level))
}

/// True if a row gains enough over the baseline, beyond chance.
fn is_worth(row: &Standing, base: &Standing) -> bool {
    let (gained, ci) = base.slower_than(row);
    let worth = match row.effort.0 > base.effort.0 {
        true => PROXY_WORTH,
        false => WORTH,
    };
    gained > worth * base.level && gained > ci
}

/// True if a row is as fast as the fastest, by what these runs can say.
fn ties(row: &Standing, fastest: &Standing, base: &Standing) -> bool {
    let (slower, ci) = row.slower_than(fastest);
    let best = fastest.level;
    let gentler = row.burdens(base) < fastest.burdens(base);
    let close = match (row.effort.0 < fastest.effort.0, gentler) {
        (true, _) => PROXY_WORTH,
        (false, true) => CLOSE_AND_GENTLER,
        (false, false) => CLOSE,
    };
    slower <= close * best || (slower <= ci && slower <= 2.0 * CLOSE * best)
}

pub(super) fn gain(row: &Standing, base: &Standing) -> Option<Gain> {
    let (_, ci) = base.slower_than(row);
    let runs = row.scores.len().min(base.scores.len());
    let (share, base) = (base.level - row.level, base.level);
    (share.is_finite() && base > 0.0).then(|| Gain {
        // Of the means, which tables show; by pairs it is known how exactly.
        share: share / base,
        ci95: (runs > 1).then_some(ci / base),
        runs,
    })
}

pub(super) fn objection(row: &Standing, base: &Standing, lost: f64) -> Option<Objection> {
    let ends = |row: &Standing| 1.0 - row.unfinished() as f64 / row.scores.len().max(1) as f64;
    if !row.deployable {
        Some(Objection::NotThere)
    } else if ends(row) < ends(base) {
        Some(Objection::DoesNotEnd(row.unfinished()))
    } else if row.harm() > HARM_LIMIT {
        Some(Objection::Harms(row.harm()))
    } else if row.resent_share > lost + WASTE_LIMIT && row.resent_share > base.resent_share + 0.02 {
        Some(Objection::Wastes(row.resent_share))
    } else {
        None
    }
}

/// What is faster than the pick, but not to be recommended.
fn rejected(
    rows: &[Standing],
    pick: usize,
    objections: &[Option<Objection>],
) -> Vec<(usize, Objection)> {
    let faster = |i: &usize| {
        let (slower, ci) = rows[*i].slower_than(&rows[pick]);
        slower < -ci.max(CLOSE * rows[pick].level)
    };
    let against = |i: usize| objections[i].map(|objection| (i, objection));
    let mut found: Vec<(usize, Objection)> =
        (0..rows.len()).filter(faster).filter_map(against).collect();
    found.sort_by(|a, b| rows[a.0].level.total_cmp(&rows[b.0].level));
    found
}

fn certainty(
    rows: &[Standing],
    pick: usize,
    baseline: usize,
    objections: &[Option<Objection>],
) -> Certainty {
    let runs = rows[pick].scores.len();
    let is_exact = runs == 1 && rows[baseline].scores.len() == 1 && !rows[pick].is_random;
    let may_be_better = (0..rows.len())
        .filter(|i| *i != pick && objections[*i].is_none())
        .any(|i| {
            let (slower, ci) = rows[i].slower_than(&rows[pick]);
            // Its interval reaches to where it would have been recommended.
            slower.is_finite() && slower - ci < -(CLOSE + WORTH) * rows[pick].level
        });
    match (is_exact, may_be_better) {
        (true, _) => Certainty::Exact,
        (false, false) => Certainty::Clear,
        (false, true) => Certainty::Open,
    }
}

/// The verdict over all results.
pub(super) fn of(answer: &Answer) -> Verdict {
    let (rows, baseline) = standings(answer, None);
    let lost = answer.path.lost();
    let mut verdict = decide(&rows, baseline, lost);
    let Some(pick) = verdict.pick else {
        return verdict;
    };
    verdict.costs = costs(
        &answer.rows[pick],
        &answer.rows[baseline],
        verdict.harm,
        lost,
    );
    if answer.sizes.len() > 1 {
        for (size, bytes) in answer.sizes.iter().enumerate() {
            let (rows, _) = standings(answer, Some(size));
            let there = decide(&rows, baseline, lost);
            let Some(other) = there.pick.filter(|other| *other != pick) else {
                continue;
            };
            let gain = gain(&rows[other], &rows[pick]);
            let worth = gain.filter(|g| g.share > WORTH.max(g.ci95.unwrap_or(0.0)));
            if let Some(gain) = worth {
                verdict.by_size.push((*bytes, other, gain));
            }
        }
    }
    verdict
}

/// What the pick costs beside the baseline.
fn costs(pick: &Row, base: &Row, harm: Option<Harm>, lost: f64) -> Vec<Cost> {
    let mut found = Vec::new();
    let over = |row: &Row, f: &dyn Fn(&super::Cell) -> f64| {
        mean(&row.cells.iter().map(f).collect::<Vec<_>>())
    };
    let both = |f: &dyn Fn(&super::Cell) -> f64| (over(pick, f), over(base, f));
    let runs = pick.cells.iter().map(|cell| cell.runs.len()).sum();
    let count = pick.cells.iter().map(super::Cell::unfinished).sum();
    if count > 0 {
        found.push(Cost::Unfinished { count, of: runs });
    }
    if let Some(harm) = harm.filter(|harm| harm.beyond_chance() > HARM_NOTED) {
        found.push(Cost::Harm(harm.share));
    }
    let (with, before) = both(&|cell| cell.mean(|run| run.background_lost.unwrap_or(0.0)));
    if with > before + 0.005 {
        found.push(Cost::Background { lost: with, before });
    }
    let (wait_s, before_s) = both(&super::Cell::p95_queueing_delay_s);
    if wait_s > WAIT_NOTED_S && wait_s > WAIT_RATIO * before_s {
        found.push(Cost::Waiting { wait_s, before_s });
    }
    let (share, before) = both(&super::Cell::resent_share);
    if share > lost + WASTE_NOTED && share > before + WASTE_NOTED {
        found.push(Cost::Waste { share, before });
    }
    // Of the largest size.
    let cell = pick.cells.last();
    let before_s = base.cells.last().and_then(super::Cell::slow_s);
    if let (Some(slow_s), Some(time)) = (
        cell.and_then(super::Cell::slow_s),
        cell.and_then(super::Cell::time),
    ) {
        let worse = before_s.is_some_and(|before| slow_s > SLOW_NOTED * before);
        if worse || slow_s > SLOW_NOTED * time.mean {
            found.push(Cost::Slow { slow_s, before_s });
        }
    }
    found
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
