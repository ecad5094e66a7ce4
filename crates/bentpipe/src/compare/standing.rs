//! What the runs show of each row: the part of the rule of docs/verdicts.md that says what
//! is out, usable or near a threshold.

use super::score::{RowScore, Scores};
use super::sequential::{Contrast, FEWEST, Plan, Risk};
use super::verdict::{
    CLOSE, HARM_LIMIT, LOSS_LIMIT, Objection, PROXY_WORTH, Threshold, WASTE_LIMIT, WASTE_NOTED,
    WORTH,
};

/// Within so much of a threshold a row is near it: of what is gained, of what others
/// lose, and of the packets that are sent again.
pub(super) const GAIN_ZONE: f64 = 0.05;
pub(super) const HARM_ZONE: f64 = 0.10;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
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

    /// How much slower `a` is than `b`, beside the baseline's time.
    pub(super) fn lead(&self, a: usize, b: usize) -> Contrast {
        let (a, b, base) = (
            &self.rows[a].scores,
            &self.rows[b].scores,
            &self.base().scores,
        );
        let all = a.iter().zip(b).zip(base);
        let pairs = all.filter_map(|((a, b), base)| Some(((*a)? - (*b)?, (*base)?)));
        Contrast::of(&pairs.collect::<Vec<_>>(), self.plan)
    }

    /// True if it is shown that `row` is faster than `than` by what one would notice.
    pub(super) fn is_faster(&self, row: usize, than: usize) -> bool {
        self.lead(than, row).beyond(CLOSE).is_above(Risk::Rival)
    }

    /// What a row saves, beside the baseline's time.
    pub(super) fn gain(&self, row: usize) -> Contrast {
        self.lead(self.baseline, row)
    }

    /// What others lose beside a row, and their time beside the baseline; `None` where that
    /// was not measured.
    pub(super) fn harm(&self, row: usize) -> Option<Contrast> {
        let pairs = more(&self.rows[row].others, &self.base().others);
        // Several users start at random times, where one alone shows all in one run.
        let plan = match self.plan {
            Plan::Exact => Plan::Looks,
            plan => plan,
        };
        (!pairs.is_empty()).then(|| Contrast::of(&pairs, plan))
    }

    /// What an activity loses.
    pub(super) fn loss(&self, row: usize, activity: usize) -> Contrast {
        let of = |row: &RowScore| row.by_activity[activity].1.clone();
        let pairs = more(&of(&self.rows[row]), &of(self.base()));
        Contrast::of(&pairs, self.plan)
    }

    /// What a row sends again beyond what it may, beside [`WASTE_LIMIT`].
    pub(super) fn waste(&self, row: usize) -> Contrast {
        let both = self.rows[row].resent.iter().zip(&self.base().resent);
        let limit = |base: f64| (self.lost + WASTE_LIMIT).max(base + WASTE_NOTED);
        let pairs = both.map(|(row, base)| (row - limit(*base), WASTE_LIMIT));
        Contrast::of(&pairs.collect::<Vec<_>>(), self.plan)
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
        let gains = self.gain(row).beyond(self.worth(row)).is_above(Risk::Rival);
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
        let (worth, gain) = (self.worth(row), self.gain(row));
        if gain.beyond(worth).is_above(Risk::Use) {
            Place::Good
        } else if gain.beyond(worth).is_below(Risk::Use) {
            Place::Bad
        } else if gain.beyond(worth + GAIN_ZONE).is_below(Risk::Rival) {
            Place::Near
        } else {
            Place::Unknown
        }
    }

    pub(super) fn harms_too_much(&self, row: usize) -> Place {
        let harm = self.harm(row);
        harm.map_or(Place::Unknown, |harm| limited(&harm, HARM_LIMIT, HARM_ZONE))
    }

    /// What else speaks against a row: what it sends again, and each activity alone.
    pub(super) fn fails_otherwise(&self, row: usize) -> Vec<((Place, Threshold), Objection)> {
        let share = self.rows[row].resent_share;
        let wastes = limited(&self.waste(row), 0.0, WASTE_ZONE / WASTE_LIMIT);
        let mut found = vec![((wastes, Threshold::Waste), Objection::Wastes(share))];
        for (i, (activity, _)) in self.rows[row].by_activity.iter().enumerate() {
            let loses = limited(&self.loss(row, i), LOSS_LIMIT, GAIN_ZONE);
            let objection = Objection::Loses(*activity);
            found.push(((loses, Threshold::Loss(*activity)), objection));
        }
        found
    }

    /// Between which shares what a row gains lies, by the rule: no end of it contradicts a
    /// verdict.
    pub(super) fn gain_between(&self, row: usize) -> Option<[f64; 2]> {
        self.gain(row).between()
    }

    /// The same of what others lose.
    pub(super) fn harm_between(&self, row: usize) -> Option<[f64; 2]> {
        self.harm(row)?.between()
    }
}

/// Where what must not be above a limit lies: near it if it is less than `zone` away, or
/// probably below it.
fn limited(what: &Contrast, limit: f64, zone: f64) -> Place {
    let too_much = what.beyond(limit);
    let is_near = || {
        what.beyond(limit - zone).is_above(Risk::Rival)
            && what.beyond(limit + zone).is_below(Risk::Rival)
    };
    if too_much.is_above(Risk::Use) {
        Place::Bad
    } else if too_much.is_below(Risk::Use) {
        Place::Good
    } else if is_near() || too_much.is_below(Risk::Rival) {
        Place::Near
    } else {
        Place::Unknown
    }
}

/// How much more each is than `base`, and that.
fn more(row: &[Option<f64>], base: &[Option<f64>]) -> Vec<(f64, f64)> {
    let pairs = row.iter().zip(base);
    pairs
        .filter_map(|(row, base)| Some(((*row)? - (*base)?, (*base)?)))
        .collect()
}
