//! What the runs show of each row, and how sure a verdict over all of them is: the rule
//! of docs/verdicts.md.

use super::scheduler::Kind;
use super::score::{RowScore, Scores};
use super::sequential::{FEWEST, Plan, Risk, Statement, runs_at};
use super::verdict::{
    AS_GOOD, Certainty, HARM_LIMIT, LOSS_LIMIT, Objection, PROXY_WORTH, Threshold, WASTE_LIMIT,
    WASTE_NOTED, WORTH,
};

/// Within so much of a threshold a row is near it: of what is gained, of what others
/// lose, and of the packets that are sent again.
const GAIN_ZONE: f64 = 0.05;
const HARM_ZONE: f64 = 0.10;
const WASTE_ZONE: f64 = 0.02;

/// A row whose first runs take so many times as long as what is fastest is set aside.
const HOPELESS: f64 = 1.5;

/// So many more runs without an end than the baseline's rule a row out.
const MORE_UNENDED: usize = 3;

/// What is known of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    /// Gains are held against it.
    Baseline,
    /// It has no runs.
    NotRun,
    /// Its first runs were far slower than what is fastest, and it has no more.
    Aside,
    /// Shown not to be worth a change: it gains too little.
    Slow,
    /// Shown not to be recommended, whatever it gains.
    Out(Objection),
    /// Shown to gain enough and to harm nobody too much.
    Usable,
    /// Neither, but it is shown to lie near the threshold that decides.
    Near(Threshold),
    /// The runs do not tell; the threshold that decides first.
    Open(Threshold),
}

impl Standing {
    /// Nothing else is to be learnt of it.
    pub(super) const fn is_known(&self) -> bool {
        !matches!(
            self,
            Standing::NotRun | Standing::Aside | Standing::Near(_) | Standing::Open(_)
        )
    }
}

/// Where a statement lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It does what it must.
    Good,
    /// It does not.
    Bad,
    /// It is near the threshold.
    Near,
    Unknown,
}

impl Scores {
    /// The least that a row must gain.
    pub(super) fn worth(&self, row: usize) -> f64 {
        match self.rows[row].effort.0 > self.base().effort.0 {
            true => PROXY_WORTH,
            false => WORTH,
        }
    }

    fn statement(&self, values: &[f64], base: f64) -> Statement {
        Statement::of(values, base, self.plan)
    }

    /// That `a` is slower than `b` by more than a share of the baseline's time.
    pub(super) fn lead(&self, a: usize, b: usize, share: f64) -> Statement {
        let (a, b, base) = (
            &self.rows[a].scores,
            &self.rows[b].scores,
            &self.base().scores,
        );
        let all = a.iter().zip(b).zip(base);
        let (values, usual): (Vec<f64>, Vec<f64>) = all
            .filter_map(|((a, b), base)| Some(((*a)? - (*b)? - share * (*base)?, (*base)?)))
            .unzip();
        self.statement(&values, mean_or_zero(&usual))
    }

    /// That a row saves more than a share of the baseline's time.
    pub(super) fn gain(&self, row: usize, share: f64) -> Statement {
        self.lead(self.baseline, row, share)
    }

    /// That others lose more than a share of their time beside it; `None` where that was
    /// not measured.
    pub(super) fn harm(&self, row: usize, share: f64) -> Option<Statement> {
        let (values, base) = more(&self.rows[row].others, &self.base().others, share);
        // Several users start at random times, where one alone shows all in one run.
        let plan = match self.plan {
            Plan::Exact => Plan::Looks,
            plan => plan,
        };
        (!values.is_empty()).then(|| Statement::of(&values, base, plan))
    }

    /// That an activity loses more than a share of its time.
    fn loss(&self, row: usize, activity: usize, share: f64) -> Statement {
        let of = |row: &RowScore| row.by_activity[activity].1.clone();
        let (values, base) = more(&of(&self.rows[row]), &of(self.base()), share);
        self.statement(&values, base)
    }

    /// That a row sends more again than it may, and `more` besides.
    fn waste(&self, row: usize, more: f64) -> Statement {
        let both = self.rows[row].resent.iter().zip(&self.base().resent);
        let limit = |base: f64| (self.lost + WASTE_LIMIT).max(base + WASTE_NOTED) + more;
        let values: Vec<f64> = both.map(|(row, base)| row - limit(*base)).collect();
        self.statement(&values, WASTE_LIMIT)
    }

    /// How many more runs of a row did not end than of the baseline.
    fn unended(&self, row: usize) -> usize {
        let unended =
            |row: &RowScore, runs| row.scores.iter().take(runs).filter(|s| s.is_none()).count();
        let (row, base) = (&self.rows[row], self.base());
        let runs = row.scores.len().min(base.scores.len());
        unended(row, runs).saturating_sub(unended(base, runs))
    }

    /// What the runs show of each row.
    pub(super) fn standings(&self) -> Vec<Standing> {
        let mut found: Vec<Standing> = (0..self.rows.len()).map(|row| self.standing(row)).collect();
        let may_win = |row: &usize| {
            let known = found[*row] == Standing::Usable || found[*row] == Standing::Baseline;
            known || !(found[*row].is_known() || found[*row] == Standing::NotRun)
        };
        let levels = (0..found.len())
            .filter(may_win)
            .map(|row| self.rows[row].level);
        let best = levels.fold(f64::INFINITY, f64::min);
        for (row, standing) in self.rows.iter().zip(&mut found) {
            let has_few = self.plan == Plan::Looks && row.scores.len() < FEWEST;
            let is_open = matches!(standing, Standing::Open(_));
            if has_few && is_open && row.level > HOPELESS * best {
                *standing = Standing::Aside;
            }
        }
        found
    }

    fn standing(&self, row: usize) -> Standing {
        let of = &self.rows[row];
        if row == self.baseline {
            return Standing::Baseline;
        }
        if !of.deployable {
            return Standing::Out(Objection::Unavailable);
        }
        if of.scores.is_empty() {
            return Standing::NotRun;
        }
        let unended = self.unended(row);
        let never = of.scores.iter().all(Option::is_none) && of.scores.len() >= FEWEST;
        if unended >= MORE_UNENDED || (unended > 0 && (never || self.plan == Plan::Exact)) {
            return Standing::Out(Objection::DoesNotEnd(of.unfinished()));
        }
        let gain = self.gains_enough(row);
        let others = self.harms_too_much(row);
        let rest = self.fails_otherwise(row);
        let harms = of.harm.map_or(0.0, |harm| harm.share);
        match (gain, others) {
            (Place::Bad, _) => return Standing::Slow,
            (_, Place::Bad) => return Standing::Out(Objection::Harms(harms)),
            _ => {}
        }
        if let Some((_, objection)) = rest.iter().find(|((place, _), _)| *place == Place::Bad) {
            return Standing::Out(*objection);
        }
        let ended = match unended {
            0 => Place::Good,
            _ => Place::Near,
        };
        let mut beside = vec![(others, Threshold::Harm), (ended, Threshold::End)];
        beside.extend(rest.iter().map(|(place, _)| *place));
        let first = |place| {
            let mut all = beside.iter();
            all.find(|(found, _)| *found == place)
                .map(|(_, threshold)| *threshold)
        };
        let gains = self.gain(row, self.worth(row)).is_above(Risk::Rival);
        match (gain, first(Place::Unknown), first(Place::Near)) {
            (Place::Good, None, None) => Standing::Usable,
            // What gains next to nothing beyond the least is near, whatever else it does.
            (Place::Near, ..) => Standing::Near(Threshold::Gain),
            (_, None, near) if gains => Standing::Near(near.unwrap_or(Threshold::Gain)),
            (Place::Good, unknown, _) => Standing::Open(unknown.unwrap_or(Threshold::Harm)),
            _ => Standing::Open(Threshold::Gain),
        }
    }

    fn gains_enough(&self, row: usize) -> Place {
        let worth = self.worth(row);
        let gain = self.gain(row, worth);
        if gain.is_above(Risk::Use) {
            Place::Good
        } else if gain.is_below(Risk::Use) {
            Place::Bad
        } else if self.gain(row, worth + GAIN_ZONE).is_below(Risk::Rival) {
            Place::Near
        } else {
            Place::Unknown
        }
    }

    fn harms_too_much(&self, row: usize) -> Place {
        let Some(harm) = self.harm(row, HARM_LIMIT) else {
            return Place::Unknown;
        };
        place(harm, Risk::Use).unwrap_or_else(|| {
            let above = self.harm(row, HARM_LIMIT - HARM_ZONE);
            let below = self.harm(row, HARM_LIMIT + HARM_ZONE);
            let near = above.is_some_and(|s| s.is_above(Risk::Rival))
                && below.is_some_and(|s| s.is_below(Risk::Rival));
            match near || harm.is_below(Risk::Rival) {
                true => Place::Near,
                false => Place::Unknown,
            }
        })
    }

    /// What else speaks against a row: what it sends again, and each activity alone.
    fn fails_otherwise(&self, row: usize) -> Vec<((Place, Threshold), Objection)> {
        let mut found = Vec::new();
        let of = |above: Statement, least: Statement, most: Statement| {
            place(above, Risk::Use).unwrap_or_else(|| {
                let near = least.is_above(Risk::Rival) && most.is_below(Risk::Rival);
                match near || above.is_below(Risk::Rival) {
                    true => Place::Near,
                    false => Place::Unknown,
                }
            })
        };
        let waste = |more| self.waste(row, more);
        let wastes = of(waste(0.0), waste(-WASTE_ZONE), waste(WASTE_ZONE));
        let share = self.rows[row].resent_share;
        found.push(((wastes, Threshold::Waste), Objection::Wastes(share)));
        for (i, (activity, _)) in self.rows[row].by_activity.iter().enumerate() {
            let loss = |more| self.loss(row, i, LOSS_LIMIT + more);
            let loses = of(loss(0.0), loss(-GAIN_ZONE), loss(GAIN_ZONE));
            let objection = Objection::Loses(*activity);
            found.push(((loses, Threshold::Loss(*activity)), objection));
        }
        found
    }

    /// Between which shares what a row gains lies, by the rule: no end of it contradicts a
    /// verdict.
    pub(super) fn gain_between(&self, row: usize) -> Option<[f64; 2]> {
        interval(|share| Some(self.gain(row, share)))
    }

    /// The same of what others lose.
    pub(super) fn harm_between(&self, row: usize) -> Option<[f64; 2]> {
        interval(|share| self.harm(row, share))
    }
}

/// Where the statement that something is too much lies, if it is shown.
fn place(too_much: Statement, risk: Risk) -> Option<Place> {
    match (too_much.is_above(risk), too_much.is_below(risk)) {
        (true, _) => Some(Place::Bad),
        (_, true) => Some(Place::Good),
        _ => None,
    }
}

/// How much more than a share above `base` each is, and the mean of `base`.
fn more(row: &[Option<f64>], base: &[Option<f64>], share: f64) -> (Vec<f64>, f64) {
    let pairs = row.iter().zip(base);
    let (values, usual): (Vec<f64>, Vec<f64>) = pairs
        .filter_map(|(row, base)| Some(((*row)? - (1.0 + share) * (*base)?, (*base)?)))
        .unzip();
    let base = mean_or_zero(&usual);
    (values, base)
}

fn mean_or_zero(values: &[f64]) -> f64 {
    match values.is_empty() {
        true => 0.0,
        false => bentpipe_study::stats::mean(values),
    }
}

/// The shares that `above` does not show to be wrong; its statement falls with the share.
/// `None` if the runs are too few for an end.
fn interval(above: impl Fn(f64) -> Option<Statement>) -> Option<[f64; 2]> {
    const FURTHEST: f64 = 64.0;
    let shown = |share: f64, is: fn(&Statement, Risk) -> bool| {
        above(share).is_some_and(|statement| is(&statement, Risk::Use))
    };
    let end = |from: f64, is: fn(&Statement, Risk) -> bool| {
        // `shown` holds at `out` and not at `inside`.
        let (mut inside, mut out) = (centre(&above)?, from);
        if !shown(out, is) {
            return None;
        }
        for _ in 0..40 {
            let middle = f64::midpoint(inside, out);
            match shown(middle, is) {
                true => out = middle,
                false => inside = middle,
            }
        }
        Some(out)
    };
    let least = end(-FURTHEST, Statement::is_above)?;
    let most = end(FURTHEST, Statement::is_below)?;
    Some([least, most])
}

/// The share at which the mean is zero: it is linear in the share.
fn centre(above: &impl Fn(f64) -> Option<Statement>) -> Option<f64> {
    let (at_0, at_1) = (above(0.0)?.mean, above(1.0)?.mean);
    Some(at_0 / (at_0 - at_1)).filter(|share| share.is_finite())
}

/// How sure a verdict is, and what follows where it is sure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    pub(super) certainty: Certainty,
    /// What is recommended: of what is shown, or `None` where the best guess is.
    pub(super) pick: Option<usize>,
    /// Rows that could be recommended as well.
    pub(super) as_good: Vec<usize>,
    /// What it stands against where it is not clear, and what decides between the two.
    pub(super) against: Option<(usize, Threshold)>,
}

/// Judges. With `is_strict` rows that have too few runs to be known keep a verdict open;
/// else it is one on the others.
pub(super) fn judge(scores: &Scores, standings: &[Standing], is_strict: bool) -> Judgement {
    let rows = 0..scores.rows.len();
    let counts = |row: &usize| match standings[*row] {
        Standing::NotRun | Standing::Aside => is_strict,
        _ => true,
    };
    let fastest_of = |rows: &[usize]| {
        let of = |row: &usize| scores.rows[*row].level;
        rows.iter().copied().min_by(|a, b| of(a).total_cmp(&of(b)))
    };
    let usable: Vec<usize> = rows
        .clone()
        .filter(|row| standings[*row] == Standing::Usable)
        .collect();
    let unknown: Vec<usize> = rows
        .filter(|row| !standings[*row].is_known() && counts(row))
        .collect();
    let near = |row: &usize| matches!(standings[*row], Standing::Near(_));
    if usable.is_empty() {
        let is_unrun = |row: &Standing| *row == Standing::NotRun;
        let certainty = match unknown.is_empty() {
            // What never ran may be better.
            true if standings.iter().any(is_unrun) => Certainty::Open,
            true => Certainty::Clear,
            false if unknown.iter().all(near) => Certainty::Borderline,
            false => Certainty::Open,
        };
        let run: Vec<usize> = unknown
            .iter()
            .copied()
            .filter(|row| !scores.rows[*row].scores.is_empty())
            .collect();
        let against = fastest_of(&run).map(|row| (row, threshold(standings[row])));
        let is_clear = certainty == Certainty::Clear;
        return Judgement {
            certainty,
            pick: is_clear.then_some(scores.baseline),
            as_good: Vec::new(),
            against,
        };
    }
    let rivals = |pick: usize| -> Vec<usize> {
        let all = (0..scores.rows.len()).filter(|row| *row != pick && counts(row));
        all.filter(|row| is_rival(scores, standings, pick, *row, AS_GOOD))
            .collect()
    };
    let good: Vec<usize> = usable
        .iter()
        .copied()
        .filter(|row| rivals(*row).is_empty())
        .collect();
    let base = scores.base();
    let preferred = good.iter().copied().min_by(|a, b| {
        let (a, b) = (&scores.rows[*a], &scores.rows[*b]);
        let burdens = a.burdens(base).cmp(&b.burdens(base));
        burdens.then(a.effort.cmp(&b.effort))
    });
    if let Some(pick) = preferred {
        return Judgement {
            certainty: Certainty::Clear,
            pick: Some(pick),
            as_good: good.into_iter().filter(|row| *row != pick).collect(),
            against: None,
        };
    }
    let pick = fastest_of(&usable).unwrap_or(scores.baseline);
    let left = rivals(pick);
    let is_close = |row: &usize| {
        near(row)
            || scores
                .lead(pick, *row, AS_GOOD + GAIN_ZONE)
                .is_below(Risk::Rival)
    };
    let certainty = match left.iter().all(is_close) {
        true => Certainty::Borderline,
        false => Certainty::Open,
    };
    let open: Vec<usize> = left.iter().copied().filter(|row| !is_close(row)).collect();
    let against = fastest_of(if open.is_empty() { &left } else { &open });
    Judgement {
        certainty,
        pick: Some(pick),
        as_good: Vec::new(),
        against: against.map(|row| {
            let decides = match standings[row] {
                Standing::Near(threshold) | Standing::Open(threshold) => threshold,
                _ => Threshold::Faster,
            };
            (row, decides)
        }),
    }
}

/// A row, and which of its runs.
pub(super) type Wanted = Vec<(usize, Kind)>;

impl Scores {
    /// Which runs may change a verdict that is not clear: what is open, what pauses while
    /// another is faster, what was set aside or never ran, and what lies near a threshold.
    pub(super) fn tiers(&self, standings: &[Standing], judged: &Judgement) -> [Wanted; 4] {
        let could_win = |row: &usize| {
            let is_seen = self.rows[*row].scores.len() >= FEWEST || self.plan == Plan::Exact;
            let in_race = matches!(
                standings[*row],
                Standing::Usable | Standing::Near(_) | Standing::Open(_)
            );
            is_seen && in_race
        };
        let level = |row: &usize| self.rows[*row].level;
        // What others seem to lose too much beside stops nobody.
        let is_gentle = |row: &usize| {
            let harm = self.rows[*row].harm;
            standings[*row] == Standing::Usable || harm.is_some_and(|h| h.share < HARM_LIMIT)
        };
        let fastest = (0..standings.len())
            .filter(|row| could_win(row) && is_gentle(row))
            .min_by(|a, b| level(a).total_cmp(&level(b)));
        let is_paused = |row: usize| {
            fastest
                .is_some_and(|best| best != row && self.lead(row, best, 0.0).is_above(Risk::Rival))
        };
        let pick = judged.pick.filter(|pick| *pick != self.baseline);
        let mut tiers: [Wanted; 4] = Default::default();
        for (row, standing) in standings.iter().enumerate() {
            let is_close = |pick| {
                self.lead(pick, row, AS_GOOD + GAIN_ZONE)
                    .is_below(Risk::Rival)
            };
            let tier = match (standing, pick) {
                (Standing::Baseline | Standing::Slow | Standing::Out(_), _) => continue,
                (Standing::NotRun | Standing::Aside, _) => 2,
                (_, Some(pick)) if pick == row => continue,
                (_, Some(pick)) if !is_rival(self, standings, pick, row, AS_GOOD) => continue,
                (Standing::Near(_), _) => 3,
                (_, Some(pick)) if is_close(pick) => 3,
                _ if is_paused(row) => 1,
                (Standing::Open(_) | Standing::Usable, _) => 0,
            };
            tiers[tier].extend(self.wants(row, pick).into_iter().map(|kind| (row, kind)));
            if let (Some(pick), 0 | 1 | 3) = (pick, tier) {
                tiers[tier].push((pick, Kind::Own));
            }
        }
        for tier in &mut tiers {
            tier.sort_unstable_by_key(|(row, kind)| (*row, *kind == Kind::Shared));
            tier.dedup();
        }
        tiers
    }

    /// Which runs of a row may tell more: of its users alone, or beside others.
    fn wants(&self, row: usize, pick: Option<usize>) -> Vec<Kind> {
        let mut found = Vec::new();
        let is_known = |s: Statement| place(s, Risk::Use).is_some();
        let gain = self.gain(row, self.worth(row));
        let rest = self.fails_otherwise(row);
        let rest_is_known = rest.iter().all(|((place, _), _)| *place == Place::Good);
        if !is_known(gain) || !rest_is_known || pick.is_some() {
            found.push(Kind::Own);
        }
        let is_seen = self.rows[row].scores.len() >= FEWEST || self.plan == Plan::Exact;
        // What others lose does not matter of a row that would not be chosen.
        let would_win = match pick {
            Some(pick) => self.lead(pick, row, AS_GOOD).mean > 0.0,
            None => gain.mean > 0.0,
        };
        if is_seen && would_win && !self.harm(row, HARM_LIMIT).is_some_and(is_known) {
            found.push(Kind::Shared);
        }
        found
    }

    /// Runs that probably show on which side of a threshold a row lies, or that it is near
    /// it; the largest number if that takes too many.
    pub(super) fn runs_to_tell(&self, row: usize, threshold: Threshold, pick: usize) -> usize {
        let beyond = |s: Option<Statement>, risk| {
            s.map_or(runs_at(1), |s| s.runs_to_show(s.mean.abs(), risk))
        };
        let all = match threshold {
            Threshold::Gain => {
                let worth = self.worth(row);
                let small = self.gain(row, worth + GAIN_ZONE);
                let near = match small.mean < 0.0 {
                    true => small.runs_to_show(-small.mean, Risk::Rival),
                    false => usize::MAX,
                };
                near.min(beyond(Some(self.gain(row, worth)), Risk::Use))
            }
            Threshold::Harm => {
                let at = |share| self.harm(row, HARM_LIMIT + share);
                let near = match (at(-HARM_ZONE), at(HARM_ZONE)) {
                    (Some(above), Some(below)) if above.mean > 0.0 && below.mean < 0.0 => {
                        let above = above.runs_to_show(above.mean, Risk::Rival);
                        above.max(below.runs_to_show(-below.mean, Risk::Rival))
                    }
                    _ => usize::MAX,
                };
                near.min(beyond(at(0.0), Risk::Use))
            }
            Threshold::Faster => beyond(Some(self.lead(pick, row, AS_GOOD)), Risk::Rival),
            Threshold::Waste => beyond(Some(self.waste(row, 0.0)), Risk::Use),
            Threshold::Loss(activity) => {
                let activities = &self.rows[row].by_activity;
                let place = activities.iter().position(|(of, _)| *of == activity);
                let loss = place.map(|place| self.loss(row, place, LOSS_LIMIT));
                beyond(loss, Risk::Use)
            }
            Threshold::End => usize::MAX,
        };
        all.max(runs_at(0))
    }
}

/// True unless it is shown that `row` could not replace `pick`: that it gains too little,
/// harms too much, or is at most `share` of the baseline's time faster.
fn is_rival(scores: &Scores, standings: &[Standing], pick: usize, row: usize, share: f64) -> bool {
    match standings[row] {
        Standing::Baseline | Standing::Slow | Standing::Out(_) => return false,
        Standing::NotRun | Standing::Aside => return true,
        Standing::Usable | Standing::Near(_) | Standing::Open(_) => {}
    }
    let gains = !scores.gain(row, scores.worth(row)).is_below(Risk::Rival);
    let harms = scores
        .harm(row, HARM_LIMIT)
        .is_some_and(|s| s.is_above(Risk::Rival));
    gains && !harms && !scores.lead(pick, row, share).is_below(Risk::Rival)
}

fn threshold(standing: Standing) -> Threshold {
    match standing {
        Standing::Near(threshold) | Standing::Open(threshold) => threshold,
        _ => Threshold::Gain,
    }
}

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;
