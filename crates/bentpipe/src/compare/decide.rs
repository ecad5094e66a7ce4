//! The decision: from results to one setting behind one proxy. Nothing here knows
//! a transport by name.
//!
//! Each row has one number for each seed, its *score*: the time of its users
//! over that of the baseline's, the mean over sizes and activities. Rows are
//! compared by the differences of their scores with the same seeds.
//!
//! What is [shown](super::standing) decides. Where that is not enough for a verdict there
//! is a best guess, which is called one:
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
use super::cell::Cell;
use super::judgement::{Judgement, judge};
use super::needed::needed;
use super::queue::QueueDiscipline;
use super::score::{RowScore, Scores};
use super::sequential::{FEWEST, Plan};
use super::standing::Standing;
use super::verdict::{
    Against, BACKGROUND_NOTED, CLOSE, CLOSE_AND_GENTLER, Certainty, Cost, Gain, HARM_LIMIT,
    HARM_NOTED, Harm, Objection, PROXY_WORTH, SLOW_NOTED, Verdict, WAIT_NOTED_S, WAIT_RATIO,
    WASTE_LIMIT, WASTE_NOTED, WORTH,
};

/// Decides over the runs that the rows of `answer` have.
#[must_use]
pub fn decide(answer: &Answer) -> Verdict {
    let scores = Scores::of(answer);
    let mut verdict = over(&scores);
    let Some(pick) = verdict.pick else {
        return verdict;
    };
    let (row, base) = (&answer.rows[pick], &answer.rows[scores.baseline]);
    let is_shared_fairly = answer
        .queues
        .get(row.queue)
        .is_some_and(|queue| queue.discipline == QueueDiscipline::FqCoDel);
    verdict.costs = costs(row, base, verdict.harm, scores.lost);
    // There packets of others wait behind their own flow, not behind the pick's.
    verdict
        .costs
        .retain(|cost| !(is_shared_fairly && matches!(cost, Cost::Waiting { .. })));
    if let (Certainty::Open, Some(against)) = (verdict.certainty, &mut verdict.against) {
        against.needed = needed(answer, &scores);
    }
    if answer.sizes.len() == 1 {
        return verdict;
    }
    for (size, bytes) in answer.sizes.iter().enumerate() {
        let scores = Scores::over(answer, &[size]);
        let Some(other) = over(&scores).pick.filter(|other| *other != pick) else {
            continue;
        };
        let gain = gain(&scores, other, pick);
        let worth = gain.filter(|g| g.share > WORTH.max(g.ci95.unwrap_or(0.0)));
        verdict
            .by_size
            .extend(worth.map(|gain| (*bytes, other, gain)));
    }
    verdict
}

impl Answer {
    /// What each row gains over the baseline; `None` if nothing ended.
    #[must_use]
    pub fn gains(&self) -> Vec<Option<Gain>> {
        self.effects().0
    }

    /// What each row does to others; `None` where that was not measured.
    #[must_use]
    pub fn harms(&self) -> Vec<Option<Harm>> {
        self.effects().1
    }

    /// What each row [gains](Answer::gains) and [does to others](Answer::harms).
    #[must_use]
    pub fn effects(&self) -> (Vec<Option<Gain>>, Vec<Option<Harm>>) {
        let scores = Scores::of(self);
        let rows = 0..scores.rows.len();
        rows.map(|row| (gain(&scores, row, scores.baseline), scores.harm_of(row)))
            .unzip()
    }

    /// Why each row is not recommended, whatever it gains; `None` if it may be.
    #[must_use]
    pub fn objections(&self) -> Vec<Option<Objection>> {
        objections(&Scores::of(self))
    }
}

/// The verdict by the scores alone: without costs and sizes.
pub(super) fn over(scores: &Scores) -> Verdict {
    let baseline = scores.baseline;
    let Some(guessed) = guess(scores) else {
        return Verdict {
            baseline,
            ..Verdict::default()
        };
    };
    let standings = scores.standings();
    let mut judged = match scores.base().level.is_finite() {
        true => judge(scores, &standings, false),
        false => without_baseline(scores, guessed),
    };
    if scores.plan == Plan::Exact && judged.certainty == Certainty::Clear {
        judged.certainty = Certainty::Exact;
    }
    let is_allowed = objections(scores)[baseline].is_none();
    let pick = judged.pick.filter(|pick| *pick != baseline || is_allowed);
    let pick = pick.unwrap_or(guessed);
    let guess_of = judged.pick.is_none() && pick != baseline;
    let against = judged.against.map(|(row, threshold)| {
        let row = if guess_of { pick } else { row };
        let threshold = match standings[row] {
            Standing::Near(threshold) | Standing::Open(threshold) => threshold,
            _ => threshold,
        };
        Against {
            row,
            gain: gain(scores, row, baseline),
            harm: scores.harm_of(row),
            threshold,
            needed: None,
        }
    });
    Verdict {
        pick: Some(pick),
        baseline,
        gain: gain(scores, pick, baseline).filter(|_| pick != baseline),
        as_good: judged.as_good,
        rejected: rejected(scores, pick, &standings),
        harm: scores.harm_of(pick).filter(|_| pick != baseline),
        certainty: judged.certainty,
        against,
        ..Verdict::default()
    }
}

/// Where the baseline does not end, what ends most is better than nothing.
fn without_baseline(scores: &Scores, guessed: usize) -> Judgement {
    let enough = scores.plan == Plan::Exact || scores.rows[guessed].scores.len() >= FEWEST;
    Judgement {
        certainty: match enough {
            true => Certainty::Clear,
            false => Certainty::Open,
        },
        pick: Some(guessed),
        as_good: Vec::new(),
        against: None,
    }
}

/// What seems best by the means of the runs, whether it is shown or not. `None` if nothing
/// ended that may be recommended.
fn guess(scores: &Scores) -> Option<usize> {
    let (rows, baseline, base) = (&scores.rows, scores.baseline, scores.base());
    let objections = objections(scores);
    let seen = base.scores.len().min(FEWEST);
    let allowed = |i: &usize| {
        let is_seen = rows[*i].scores.len() >= seen;
        objections[*i].is_none() && is_seen && rows[*i].level.is_finite()
    };
    let fastest = (0..rows.len())
        .filter(allowed)
        .min_by(|a, b| rows[*a].level.total_cmp(&rows[*b].level))?;
    let mut tied: Vec<usize> = (0..rows.len())
        .filter(allowed)
        .filter(|i| ties(&rows[*i], &rows[fastest], base))
        .collect();
    tied.sort_by(|a, b| {
        let (a, b) = (&rows[*a], &rows[*b]);
        let burdens = a.burdens(base).cmp(&b.burdens(base));
        burdens
            .then(a.effort.cmp(&b.effort))
            .then(a.level.total_cmp(&b.level))
    });
    // Each candidate is checked: a runner-up may miss the threshold that the fastest
    // meets.
    let worthy = tied.iter().copied().find(|i| is_worth(&rows[*i], base));
    Some(match allowed(&baseline) {
        true => worthy.unwrap_or(baseline),
        false => tied[0],
    })
}

/// What [`Answer::objections`] says.
pub(super) fn objections(scores: &Scores) -> Vec<Option<Objection>> {
    let rows = scores.rows.iter();
    rows.map(|row| objection(row, scores.base(), scores.lost))
        .collect()
}

/// True if a row gains enough over the baseline, beyond chance.
fn is_worth(row: &RowScore, base: &RowScore) -> bool {
    let gained = base.slower_than(row);
    let worth = match row.effort.0 > base.effort.0 {
        true => PROXY_WORTH,
        false => WORTH,
    };
    gained.mean > worth * base.level && gained.mean > gained.ci95
}

/// True if a row is as fast as the fastest, by what these runs can say.
fn ties(row: &RowScore, fastest: &RowScore, base: &RowScore) -> bool {
    let slower = row.slower_than(fastest);
    let best = fastest.level;
    let gentler = row.burdens(base) < fastest.burdens(base);
    let close = match (row.effort.0 < fastest.effort.0, gentler) {
        (true, _) => PROXY_WORTH,
        (false, true) => CLOSE_AND_GENTLER,
        (false, false) => CLOSE,
    };
    slower.mean <= close * best || (slower.mean <= slower.ci95 && slower.mean <= 2.0 * CLOSE * best)
}

/// What a row gains over `base`; `None` if one of them did not end.
fn gain(scores: &Scores, row: usize, base: usize) -> Option<Gain> {
    let between = match base == scores.baseline {
        true => scores.gain_between(row),
        false => None,
    };
    let (row, base) = (&scores.rows[row], &scores.rows[base]);
    let ci = base.slower_than(row).ci95;
    let runs = row.scores.len().min(base.scores.len());
    let (share, base) = (base.level - row.level, base.level);
    (share.is_finite() && base > 0.0).then(|| Gain {
        // Of the means, which tables show; by pairs it is known how exactly.
        share: share / base,
        ci95: (runs > 1).then_some(ci / base),
        least: between.map(|between| between[0]),
        most: between.map(|between| between[1]),
        runs,
    })
}

fn objection(row: &RowScore, base: &RowScore, lost: f64) -> Option<Objection> {
    let ends = |row: &RowScore| 1.0 - row.unfinished() as f64 / row.scores.len().max(1) as f64;
    if !row.deployable {
        Some(Objection::Unavailable)
    } else if ends(row) < ends(base) {
        Some(Objection::DoesNotEnd(row.unfinished()))
    } else if row.harm() > HARM_LIMIT {
        Some(Objection::Harms(row.harm()))
    } else if row.resent_share > lost + WASTE_LIMIT
        && row.resent_share > base.resent_share + WASTE_NOTED
    {
        Some(Objection::Wastes(row.resent_share))
    } else {
        None
    }
}

/// What is faster than the pick, shown or by the means of the runs, but not to be recommended.
fn rejected(scores: &Scores, pick: usize, standings: &[Standing]) -> Vec<(usize, Objection)> {
    let is_faster = |row: usize| {
        let of = |row: usize| scores.rows[row].level;
        scores.is_faster(row, pick) || of(row) < (1.0 - CLOSE) * of(pick)
    };
    let rows = standings.iter().enumerate();
    let mut found: Vec<(usize, Objection)> = rows
        .filter_map(|(row, standing)| match standing {
            Standing::Out(objection) if is_faster(row) => Some((row, *objection)),
            _ => None,
        })
        .collect();
    let level = |row: usize| scores.rows[row].level;
    found.sort_by(|a, b| level(a.0).total_cmp(&level(b.0)));
    found
}

/// What the pick costs beside the baseline.
fn costs(pick: &Row, base: &Row, harm: Option<Harm>, lost: f64) -> Vec<Cost> {
    let mut found = Vec::new();
    // Of the largest size, as tables have it.
    let over = |row: &Row, f: fn(&Cell) -> f64| row.cells.last().map_or(0.0, f);
    let both = |f: fn(&Cell) -> f64| (over(pick, f), over(base, f));
    let runs = pick.cells.iter().map(|cell| cell.runs.len()).sum();
    let count = pick.cells.iter().map(Cell::unfinished).sum();
    if count > 0 {
        found.push(Cost::Unfinished { count, of: runs });
    }
    if let Some(harm) = harm.filter(|harm| harm.beyond_chance() > HARM_NOTED) {
        found.push(Cost::Harm(harm.share));
    }
    let (with, before) = both(|cell| cell.mean(|run| run.background_lost.unwrap_or(0.0)));
    if with > before + BACKGROUND_NOTED {
        found.push(Cost::Background { lost: with, before });
    }
    let (wait_s, before_s) = both(Cell::p95_queueing_delay_s);
    if wait_s > WAIT_NOTED_S && wait_s > WAIT_RATIO * before_s {
        found.push(Cost::Waiting { wait_s, before_s });
    }
    let (share, before) = both(Cell::resent_share);
    if share > lost + WASTE_NOTED && share > before + WASTE_NOTED {
        found.push(Cost::Waste { share, before });
    }
    let cell = pick.cells.last();
    let before_s = base.cells.last().and_then(Cell::slow_s);
    if let (Some(slow_s), Some(time)) = (cell.and_then(Cell::slow_s), cell.and_then(Cell::time)) {
        let worse = before_s.is_some_and(|before| slow_s > SLOW_NOTED * before);
        if worse || slow_s > SLOW_NOTED * time.mean {
            found.push(Cost::Slow { slow_s, before_s });
        }
    }
    found
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
