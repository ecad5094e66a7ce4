//! How many users a link carries with each setting until what they are given falls short of a
//! [`Target`].
//!
//! All users have the setting. Runs with the same seed have the same users at any number of them:
//! one more changes nothing about those that are there, but what they share.

mod measured;
mod search;
mod seeker;
mod target;
mod words;

use self::search::{Found, Limits, Search};
use self::seeker::Seeker;
use super::answer::{Answer, Row};
use super::candidate::Availability;
use super::comparison::Comparison;
use super::cost::PACE;
use super::decide::decide;
use super::engine::prepared;
use super::pep::Pep;
use super::question::MOST_USERS;
use super::score::Scores;
use super::traffic::{self, Traffic};
use super::verdict::{PROXY_WORTH, WORTH};
use crate::Error;
use bentpipe_units::math::sqrt;
use bentpipe_units::{Duration, Rate};
use std::collections::BTreeMap;

pub use target::{Measure, Statistic, Target, TargetError};

/// How long an answer is looked for, unless it is set.
const TIME: Duration = Duration::from_secs(20);

/// Bitrate of videos, where one user alone could have more: it does not fall as users come.
const BITRATE: Rate = Rate::from_bps(1_500_000);

/// Users by which the settings are chosen that are compared unless they are named.
const USUAL: u32 = 12;

/// How many users a link carries.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Capacity {
    /// What the users must be given.
    pub target: Target,
    /// The link, the traffic and the settings, without runs; its verdict names the pick and the
    /// baseline.
    pub answer: Answer,
    /// What was found of each row, the largest number of users first.
    pub rows: Vec<CapacityRow>,
    /// What follows.
    pub advice: Advice,
    /// Packets that all runs took over links.
    pub packets: u64,
}

/// How many users a link carries with one setting behind one proxy.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct CapacityRow {
    /// Index into [`Answer::rows`].
    pub row: usize,
    /// The most users that are given what they must be; `None` if that was not found.
    pub users: Option<u32>,
    /// The fewest that are tried: as many as the traffic needs, and one at each terminal.
    pub fewest: u32,
    /// The 95% interval of that.
    pub interval: Option<[u32; 2]>,
    /// What is known, in a word.
    pub known: Known,
    /// Users over those of the baseline, less one; `None` where either is not known.
    pub more: Option<f64>,
    /// Half of the 95% interval of that, which takes the two for independent: equal seeds make it
    /// smaller.
    pub more_ci95: Option<f64>,
    /// Most runs with one number of users.
    pub runs: usize,
}

/// What is known of the users that a link carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Known {
    /// Their number.
    Users,
    /// As many as are tried, and maybe more.
    All,
    /// At least [`CapacityRow::users`]: there was no time for more.
    AtLeast,
    /// Not even the fewest that are tried.
    None,
    /// Nothing: there was no time.
    Nothing,
}

impl Known {
    /// A word for JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Known::Users => "users",
            Known::All => "all",
            Known::AtLeast => "at least",
            Known::None => "none",
            Known::Nothing => "nothing",
        }
    }
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Advice {
    /// The pick is shown to carry more users than the baseline.
    Use,
    /// Nothing is shown to carry more, and nothing may by much.
    Keep,
    /// Nothing is shown to carry more, and something may.
    Open,
}

impl Advice {
    /// A word for JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Advice::Use => "use",
            Advice::Keep => "keep",
            Advice::Open => "open",
        }
    }
}

impl Comparison {
    /// How many users the link carries with each setting until they are given less than
    /// `target`.
    ///
    /// ```
    /// use bentpipe::prelude::*;
    ///
    /// let question = Comparison::new()
    ///     .rate(Rate::from_mbps(5))
    ///     .size(Bytes::new(500_000))
    ///     .loss(Ratio::ZERO)
    ///     .transports(["cubic", "cubic + IW 32"])
    ///     .time(Duration::from_secs(1));
    /// let found = question.capacity("mean download < 6 s".parse()?)?;
    /// assert_eq!(found.rows.len(), 2);
    /// assert!(found.rows[0].users >= found.rows[1].users);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Comparison::run), and if the question is one of a number of users or of
    /// another traffic.
    pub fn capacity(&self, target: Target) -> Result<Capacity, Error> {
        self.capacity_with(target, &|_, _| {})
    }

    /// The same; `progress` is called after each run with the number of runs done and of all runs
    /// as far as they are known by then.
    ///
    /// # Errors
    /// As [`capacity`](Comparison::capacity).
    pub fn capacity_with(
        &self,
        target: Target,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Capacity, Error> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .map_err(|e| Error::Threads(e.to_string()))?;
        pool.install(|| capacity(self, target, progress))
    }

    /// The question that `target` asks: of the traffic that it is of, with the settings named.
    fn of_target(&self, target: Target) -> Result<Comparison, Error> {
        let mut asked = self.clone();
        let question = &mut asked.question;
        let set = [
            ("users", !question.users.is_empty(), "is what is sought"),
            (
                "beside",
                question.beside.is_some(),
                "does not go with it: all users are alike",
            ),
            ("over", question.over.is_some(), "does not go with it"),
            ("robust", question.robust, "does not go with it"),
            ("size", question.size.len() > 1, "must be a single one"),
        ];
        if let Some((option, _, why)) = set.into_iter().find(|(_, is_set, _)| *is_set) {
            return Err(Error::setting(option, why));
        }
        if self.runner.is_some() {
            let why = "needs the simulator: real hosts are too few";
            return Err(Error::Runner(why.to_owned()));
        }
        if question.traffic == Traffic::Download {
            question.traffic = target.measure.usual_traffic();
        }
        let traffic = question.traffic;
        if let Some(activity) = target.measure.activity()
            && !traffic.activities().contains(&activity)
        {
            let why = format!(
                "is {}, which has no {}: `{target}` needs another",
                traffic,
                target.measure.name()
            );
            return Err(Error::setting("traffic", why));
        }
        Ok(asked)
    }
}

/// What a question finds.
fn capacity(
    comparison: &Comparison,
    target: Target,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Capacity, Error> {
    let mut asked = comparison.of_target(target)?;
    asked.check()?;
    // Neither the link nor the settings change with the number of users.
    asked.question.users = vec![USUAL.max(asked.question.least_users())];
    let path = asked.path()?;
    asked.check_path(&path)?;
    let named = prepared(&asked, path.clone())?;
    let is_own = |name: &str| asked.own.iter().any(|own| own.name == name);
    let names = named
        .candidates
        .iter()
        .filter(|c| c.availability != Availability::Gateway);
    let names = names.map(|c| c.name.clone()).filter(|name| !is_own(name));
    asked.question.transport = names.collect();
    let fewest = asked.question.least_users();
    let limits = Limits {
        fewest,
        most: MOST_USERS as u32,
    };
    let mut seeker = Seeker {
        comparison: &asked,
        target,
        bitrate: traffic::bitrate(path.rate, 1).min(BITRATE),
        path,
        answers: BTreeMap::new(),
        limits,
        costs: vec![None; named.rows.len()],
        spent: 0,
        budget: asked.question.time.unwrap_or(TIME).as_secs() * PACE,
        done: 0,
        progress,
    };
    let mut answer = seeker.answer(fewest)?.clone();
    answer.verdict = decide(&answer);
    let baseline = answer.verdict.baseline;
    let searches = seeker.seek(baseline)?;
    let found = (0..).zip(&searches);
    let mut rows: Vec<CapacityRow> = found.map(|(i, s)| row(i, s, fewest)).collect();
    let base = value(&searches[baseline]);
    for (row, search) in rows.iter_mut().zip(&searches) {
        if let (Some((users, half)), Some((b, half_b))) = (value(search), base)
            && b > 0.0
        {
            row.more = Some(users / b - 1.0);
            let part = |x: f64, of: f64| if of > 0.0 { x / of } else { 0.0 };
            let relative = together(part(half, users), part(half_b, b));
            row.more_ci95 = Some(users / b * relative);
        }
    }
    let (pick, advice) = advise(&answer, &rows, baseline);
    answer.verdict.pick = Some(pick);
    let order = |row: &CapacityRow| value(&searches[row.row]).map_or(-1.0, |(users, _)| users);
    rows.sort_by(|a, b| order(b).total_cmp(&order(a)));
    Ok(Capacity {
        target,
        answer,
        rows,
        advice,
        packets: seeker.spent,
    })
}

/// Users, a number that need not be whole, and half of their interval.
fn value(search: &Search) -> Option<(f64, f64)> {
    match search.found() {
        Found::Full { users, half } => Some((users, half)),
        Found::All => Some((MOST_USERS as f64, 0.0)),
        Found::None => Some((0.0, 0.0)),
        Found::Unknown | Found::AtLeast(_) | Found::Below(_) => None,
    }
}

fn row(index: usize, search: &Search, fewest: u32) -> CapacityRow {
    let (known, users, interval) = match search.found() {
        Found::Full { users, half } => {
            let whole = |x: f64| x.clamp(0.0, MOST_USERS as f64) as u32;
            let interval = [whole(users - half), whole(users + half)];
            (
                Known::Users,
                Some(whole(users)),
                Some(interval).filter(|_| half.is_finite()),
            )
        }
        Found::All => (Known::All, Some(MOST_USERS as u32), None),
        Found::None => (Known::None, Some(0), None),
        Found::AtLeast(users) => (Known::AtLeast, Some(users), None),
        Found::Unknown | Found::Below(_) => (Known::Nothing, None, None),
    };
    CapacityRow {
        row: index,
        users,
        fewest,
        interval,
        known,
        more: None,
        more_ci95: None,
        runs: search.most_runs(),
    }
}

/// What is recommended: of what is shown to carry more users than the baseline the most, or what
/// may carry as many and is easier to switch on.
fn advise(answer: &Answer, rows: &[CapacityRow], baseline: usize) -> (usize, Advice) {
    let worth = |row: &CapacityRow| match answer.rows[row.row].pep {
        Pep::None => WORTH,
        _ => PROXY_WORTH,
    };
    let others = || {
        let others = rows.iter().filter(|row| row.row != baseline);
        others.filter(|row| answer.rows[row.row].is_deployable())
    };
    // Where the default carries nobody, whoever carries somebody carries more.
    let carries_nobody = rows
        .iter()
        .any(|row| row.row == baseline && row.known == Known::None);
    let shown = |row: &&CapacityRow| match (row.more, row.more_ci95) {
        (Some(more), Some(ci)) => more - ci > worth(row),
        _ => carries_nobody && row.users.is_some_and(|users| users > 0),
    };
    let more = |row: &CapacityRow| match carries_nobody {
        true => row.users.map_or(-1.0, f64::from),
        false => row.more.unwrap_or(-1.0),
    };
    let Some(best) = others()
        .filter(shown)
        .max_by(|a, b| more(a).total_cmp(&more(b)))
    else {
        let may = |row: &CapacityRow| match (row.more, row.more_ci95) {
            (Some(more), Some(ci)) => more + ci > worth(row),
            _ => row.known != Known::None,
        };
        return match others().any(may) {
            true => (baseline, Advice::Open),
            false => (baseline, Advice::Keep),
        };
    };
    let is_as_good = |row: &&CapacityRow| {
        let ci = |row: &CapacityRow| row.more_ci95.unwrap_or(0.0);
        more(row) >= more(best) - together(ci(row), ci(best)).min(WORTH)
    };
    let scores = Scores::of(answer);
    let effort = |row: &&CapacityRow| scores.rows[row.row].effort;
    let easiest = others().filter(shown).filter(is_as_good).min_by_key(effort);
    (easiest.unwrap_or(best).row, Advice::Use)
}

/// Half of the interval of a difference of two that are independent.
fn together(a: f64, b: f64) -> f64 {
    sqrt(a * a + b * b)
}

impl Capacity {
    /// The row that is recommended, which may be the baseline.
    #[must_use]
    pub fn recommended(&self) -> &Row {
        &self.answer.rows[self
            .answer
            .verdict
            .pick
            .unwrap_or(self.answer.verdict.baseline)]
    }

    /// What was found of a row of [`Capacity::answer`].
    #[must_use]
    pub fn of_row(&self, row: usize) -> Option<&CapacityRow> {
        self.rows.iter().find(|found| found.row == row)
    }
}

#[cfg(test)]
mod tests;
