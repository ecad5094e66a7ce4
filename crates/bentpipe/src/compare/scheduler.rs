//! Which runs are made, and how many.
//!
//! All rows have the same seeds, so that they can be compared run by run. Everything
//! runs a few times; what cannot win any more falls out, and the rest runs twice as
//! often, until few are left. These run beside users of the default, which shows what
//! they do to others. Then only runs are made that may change the advice: of the
//! recommended row, of those that may be faster by a gain worth a change, and of what
//! they do to others where that decides. It ends when nothing is open or the budget is
//! spent. How many runs there are depends on results alone, never on time.

use super::answer::Answer;
use super::decide::{self, decide, fastest, objections};
use super::loss::PACKET;
use super::pep::Pep;
use super::result::RunResult;
use super::score::{RowScore, Scores};
use super::verdict::{CLOSE, HARM_LIMIT, HARM_NOTED, Objection, WORTH};
use super::watch::{Ran, Watch};
use crate::Error;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Data packets that all runs together may send over the link, about: a few
/// seconds on two cores where the decision stays open for so long.
pub(super) const BUDGET: f64 = 24e6;

/// Parts of the budget for the runs of everything, with the rounds in which rows fall
/// out, and for the first runs of the leaders beside others.
const SCREENING: f64 = 0.45;
const SHARING: f64 = 0.15;

/// Part of the budget for what others lose beside a row that is recommended late.
const RESERVED: f64 = 0.15;

/// Fewest and most first runs of everything.
const FIRST: [f64; 2] = [1.0, 8.0];

/// Rounds end with so many runs of what is left.
const SCREENED: usize = 16;

/// While there are fewer than four runs, what is slower than the fastest by this
/// share falls out: an interval of so few is too wide to decide by.
const HOPELESS: f64 = 0.5;

/// First runs beside others, and most.
const SHARED: [f64; 2] = [4.0, 10.0];
const MOST_SHARED: usize = 80;

/// Data packets that may be sent so that all rows have as many runs, at most so
/// many: a table of means is read as if they had.
const EVEN: f64 = 2.5e6;
const MOST_EVEN: usize = 64;

/// A gain is known if its interval is no wider than this to either side; otherwise
/// all rows run on as far as that goes.
const GAIN_KNOWN: f64 = 0.05;

/// Most runs where they are asked for by number, beside others.
const FIXED_SHARED: usize = 20;

/// Most runs that decide.
const DECIDING: usize = 400;

/// Most and fewest leaders that run beside users of the default; where no more rows
/// are compared, all do.
const LEADERS: usize = 6;
const FEWEST_LEADERS: usize = 3;

/// Makes the runs of a comparison.
pub(super) struct RunScheduler<'a> {
    /// So many of each row, whatever they show.
    fixed: Option<usize>,
    /// Another seed gives another result.
    is_random: bool,
    watch: &'a dyn Watch,
    done: AtomicUsize,
    total: AtomicUsize,
}

/// Which runs of a row: of the users alone, or beside others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Own,
    Shared,
}

/// Rows whose further runs may change the advice.
#[derive(Debug, Default, PartialEq)]
struct Undecided {
    own: Vec<usize>,
    shared: Vec<usize>,
}

impl<'a> RunScheduler<'a> {
    pub(super) fn new(
        fixed: Option<usize>,
        is_random: bool,
        watch: &'a dyn Watch,
    ) -> RunScheduler<'a> {
        RunScheduler {
            fixed,
            is_random,
            watch,
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
        }
    }

    pub(super) fn run(&self, answer: &mut Answer) -> Result<(), Error> {
        let every: Vec<usize> = (0..answer.rows.len()).collect();
        if let Some(runs) = self.fixed {
            self.extend(answer, &every, runs, Kind::Own)?;
            if answer.beside.is_none() {
                let rows = leaders(answer, LEADERS);
                self.extend(answer, &rows, runs.min(FIXED_SHARED), Kind::Shared)?;
            }
            return Ok(());
        }
        let mut left = (1.0 - RESERVED) * BUDGET;
        match self.is_random {
            true => left -= self.screen(answer, &every)?,
            false => self.extend(answer, &every, 1, Kind::Own)?,
        }
        if answer.beside.is_none() {
            let budget = SHARING * BUDGET;
            let mut rows = leaders(answer, LEADERS);
            let mut cost = price(answer, &rows, Kind::Shared);
            if SHARED[0] * cost > budget {
                rows = leaders(answer, FEWEST_LEADERS);
                cost = price(answer, &rows, Kind::Shared);
            }
            let runs = within(SHARED, budget / cost);
            self.extend(answer, &rows, runs, Kind::Shared)?;
            left -= cost * runs as f64;
        }
        left = self.refine(answer, left)?;
        if self.is_random {
            left -= self.even_out(answer, EVEN.min(left))?;
            self.refine(answer, left)?;
        }
        self.finish(answer, left + RESERVED * BUDGET)
    }

    /// Runs everything, and what may win twice as often again and again. Returns
    /// what was spent.
    fn screen(&self, answer: &mut Answer, every: &[usize]) -> Result<f64, Error> {
        let budget = SCREENING * BUDGET;
        let first = price(answer, every, Kind::Own);
        let mut runs = within(FIRST, 0.3 * budget / first);
        self.extend(answer, every, runs, Kind::Own)?;
        let mut spent = first * runs as f64;
        while runs < SCREENED {
            let rows = contenders(answer);
            let round = price(answer, &rows, Kind::Own);
            let more = (((budget - spent) / round) as usize).min(runs);
            if rows.len() < 2 || more < 1 {
                break;
            }
            runs += more;
            spent += round * more as f64;
            self.extend(answer, &rows, runs, Kind::Own)?;
        }
        Ok(spent)
    }

    /// Makes runs that may change the advice as long as the budget lasts. Returns what
    /// is left of it.
    fn refine(&self, answer: &mut Answer, mut left: f64) -> Result<f64, Error> {
        loop {
            let open = undecided(&Scores::of(answer), answer.beside.is_some());
            let mut kinds = vec![(Kind::Shared, open.shared, MOST_SHARED)];
            if self.is_random {
                kinds.push((Kind::Own, open.own, DECIDING));
            }
            let open = kinds.iter().filter(|(_, rows, _)| !rows.is_empty()).count();
            let budget = left / open.max(1) as f64;
            let mut grew = false;
            for (kind, rows, most) in kinds {
                let has = rows.iter().map(|row| count(answer, *row, kind)).max();
                let Some(has) = has.filter(|has| has < &most) else {
                    continue;
                };
                // Rows that have fewer runs than others catch up first, as far as the
                // budget goes.
                let least = rows.iter().map(|row| count(answer, *row, kind)).min();
                let most = has + has.max(2).min(most - has);
                let affordable = |runs: &usize| missing(answer, &rows, *runs, kind) <= budget;
                let runs = (least.unwrap_or(has)..=most).rev().find(affordable);
                let runs = runs.unwrap_or(0);
                let price = missing(answer, &rows, runs, kind);
                if price == 0.0 {
                    continue;
                }
                left -= price;
                self.extend(answer, &rows, runs, kind)?;
                grew = true;
            }
            if !grew {
                return Ok(left);
            }
        }
    }

    /// Gives all rows as many runs as far as the budget goes. Returns what that cost.
    fn even_out(&self, answer: &mut Answer, budget: f64) -> Result<f64, Error> {
        let every: Vec<usize> = (0..answer.rows.len()).collect();
        let price = |runs: usize| missing(answer, &every, runs, Kind::Own);
        let scores = Scores::of(answer);
        let base = scores.base();
        let is_known = decide::over(&scores).pick.is_none_or(|pick| {
            let gained = base.slower_than(&scores.rows[pick]);
            gained.ci95 <= GAIN_KNOWN * base.level
        });
        let most = every.iter().map(|row| count(answer, *row, Kind::Own)).max();
        let most = most
            .filter(|_| is_known)
            .unwrap_or(MOST_EVEN)
            .min(MOST_EVEN);
        let Some(runs) = (1..=most).rev().find(|runs| price(*runs) <= budget) else {
            return Ok(0.0);
        };
        let spent = price(runs);
        self.extend(answer, &every, runs, Kind::Own)?;
        Ok(spent)
    }

    /// What is recommended in the end has run beside others as often as what was before
    /// it, as far as the budget goes, and a few times whatever that costs.
    fn finish(&self, answer: &mut Answer, mut left: f64) -> Result<(), Error> {
        let kind = Kind::Shared;
        for _ in 0..answer.rows.len() {
            let scores = Scores::of(answer);
            let (pick, baseline) = (decide::over(&scores).pick, scores.baseline);
            let is_unknown = |row: &usize| *row != baseline && harm_is_unknown(&scores.rows[*row]);
            let Some(pick) = pick.filter(|row| answer.beside.is_none() && is_unknown(row)) else {
                return Ok(());
            };
            let both = [pick, baseline];
            let least = SHARED[0] as usize;
            let affordable = |runs: &usize| missing(answer, &both, *runs, kind) <= left;
            let runs = (least..=count(answer, baseline, kind))
                .rev()
                .find(affordable);
            let runs = runs.unwrap_or(least);
            let price = missing(answer, &both, runs, kind);
            if price == 0.0 {
                return Ok(());
            }
            left -= price;
            self.extend(answer, &both, runs, kind)?;
        }
        Ok(())
    }

    /// Runs these rows until they have so many runs.
    fn extend(
        &self,
        answer: &mut Answer,
        rows: &[usize],
        runs: usize,
        kind: Kind,
    ) -> Result<(), Error> {
        // Fewer runs than there are beginnings are spread over all of these.
        let apart = match (kind, self.fixed) {
            (Kind::Shared, Some(own)) if answer.over.is_some() => (own / runs.max(1)).max(1),
            _ => 1,
        };
        let jobs = jobs(answer, rows, runs, kind);
        self.total.fetch_add(jobs.len(), Ordering::Relaxed);
        let shared = kind == Kind::Shared || answer.beside.is_some();
        // One after the other, so that what comes first ends first.
        let results = jobs.iter().enumerate().par_bridge();
        let results = results.map(|(place, job)| {
            let seed = answer.seed.wrapping_add((job.index * apart) as u64);
            let result = answer.one(&answer.rows[job.row], job.size, shared, seed)?;
            self.watch.ran(Ran {
                row: job.row,
                size: job.size,
                shared: kind == Kind::Shared,
                index: job.index,
                result: &result,
            });
            let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
            self.watch
                .progress(done, self.total.load(Ordering::Relaxed));
            Ok((place, result))
        });
        let mut results: Vec<(usize, RunResult)> = results.collect::<Result<_, Error>>()?;
        results.sort_unstable_by_key(|(place, _)| *place);
        for (job, (_, result)) in jobs.iter().zip(results) {
            let cell = &mut answer.rows[job.row].cells[job.size];
            match kind {
                Kind::Shared => cell.shared.push(result),
                Kind::Own => cell.runs.push(result),
            }
        }
        if !jobs.is_empty() {
            answer.verdict = decide(answer);
            self.watch.round(answer);
        }
        Ok(())
    }
}

/// A run to make: of which row and size, and its index among the runs of these.
struct Job {
    row: usize,
    size: usize,
    index: usize,
}

/// The runs that these rows lack: the first of every row before the second of any, so
/// that who watches sees something of each row early.
fn jobs(answer: &Answer, rows: &[usize], runs: usize, kind: Kind) -> Vec<Job> {
    let mut jobs = Vec::new();
    for row in rows {
        for (size, cell) in answer.rows[*row].cells.iter().enumerate() {
            let has = match kind {
                Kind::Shared => cell.shared.len(),
                Kind::Own => cell.runs.len(),
            };
            let row = *row;
            jobs.extend((has..runs).map(|index| Job { row, size, index }));
        }
    }
    jobs.sort_by_key(|job| job.index);
    jobs
}

fn count(answer: &Answer, row: usize, kind: Kind) -> usize {
    let cell = &answer.rows[row].cells[0];
    match kind {
        Kind::Own => cell.runs.len(),
        Kind::Shared => cell.shared.len(),
    }
}

/// What one run more of each of these rows costs.
fn price(answer: &Answer, rows: &[usize], kind: Kind) -> f64 {
    let costs = rows
        .iter()
        .map(|row| cost(answer, *row, kind == Kind::Shared));
    costs.sum::<f64>().max(1.0)
}

/// What it costs until all of these rows have so many runs.
fn missing(answer: &Answer, rows: &[usize], runs: usize, kind: Kind) -> f64 {
    let one = |row: &usize| {
        let lacks = runs.saturating_sub(count(answer, *row, kind));
        lacks as f64 * cost(answer, *row, kind == Kind::Shared)
    };
    rows.iter().map(one).sum()
}

/// Data packets of a run of each size, about, each leg counted.
pub(super) fn cost(answer: &Answer, row: usize, shared: bool) -> f64 {
    let users = if shared {
        answer.users_shared
    } else {
        answer.users
    };
    let legs = match answer.rows[row].pep {
        Pep::None | Pep::Snoop => 1.0,
        Pep::Split => 2.0,
        Pep::Gateway => 3.0,
    };
    let bytes = |size: usize| {
        let work = answer.work(size);
        (0..users)
            .map(|user| work.volume(user).as_f64())
            .sum::<f64>()
    };
    let all: f64 = (0..answer.sizes.len()).map(bytes).sum();
    let background = answer.background.map_or(0.0, |b| {
        let rate = b.rate(answer.path.rate).bps_f64();
        all * rate / (answer.path.rate.bps_f64() - rate).max(1.0)
    });
    // A short run has its fixed costs.
    (legs * (all + background) / PACKET as f64).max(200.0)
}

fn within([least, most]: [f64; 2], x: f64) -> usize {
    x.clamp(least, most) as usize
}

/// The rows that may still be the fastest, and the baseline.
fn contenders(answer: &Answer) -> Vec<usize> {
    let scores = Scores::of(answer);
    let (rows, objections) = (&scores.rows, objections(&scores));
    let Some(best) = fastest(rows, &objections) else {
        return (0..rows.len()).collect();
    };
    let most = rows.iter().map(|row| row.scores.len()).max().unwrap_or(0);
    let may_win = |i: usize| {
        let slower = rows[i].slower_than(&rows[best]);
        let margin = match most {
            ..4 => HOPELESS * rows[best].level,
            _ => slower.ci95,
        };
        let is_seen = rows[i].scores.len() == most;
        is_seen && objections[i].is_none() && slower.mean - margin < CLOSE * rows[best].level
    };
    (0..rows.len())
        .filter(|i| *i == scores.baseline || may_win(*i))
        .collect()
}

/// The rows that could be recommended, at most so many, and the baseline.
fn leaders(answer: &Answer, most: usize) -> Vec<usize> {
    let scores = Scores::of(answer);
    let (rows, objections) = (&scores.rows, objections(&scores));
    if rows.len() <= most {
        return (0..rows.len()).collect();
    }
    // What is slower than the baseline is not recommended.
    let usual = scores.base().level * (1.0 + 2.0 * CLOSE);
    let mut order: Vec<usize> = (0..rows.len())
        .filter(|i| *i != scores.baseline && objections[*i].is_none() && rows[*i].level <= usual)
        .collect();
    order.sort_by(|a, b| rows[*a].level.total_cmp(&rows[*b].level));
    order.truncate(most - 1);
    // A proxy of its own: what others lose is held against its default.
    order.push(scores.baseline);
    order.sort_unstable();
    order
}

/// The rows whose further runs may change the advice; `is_beside` if all runs are
/// shared with others.
fn undecided(scores: &Scores, is_beside: bool) -> Undecided {
    let mut found = Undecided::default();
    let (rows, baseline) = (&scores.rows, scores.baseline);
    let Some(pick) = decide::over(scores).pick else {
        return found;
    };
    let best = &rows[pick];
    let is_open = |row: &RowScore| {
        let slower = row.slower_than(best);
        // It may be faster by more than is worth a change.
        let lead = slower.mean - slower.ci95;
        let may_be_better = slower.mean.is_finite() && lead < -WORTH * best.level;
        may_be_better && slower.ci95 > 0.5 * CLOSE * best.level
    };
    for (i, objection) in objections(scores).into_iter().enumerate() {
        let row = &rows[i];
        match objection {
            _ if i == pick => {}
            None if is_open(row) => found.own.push(i),
            // It would be recommended if others lost a little less.
            Some(Objection::Harms(_)) if row.level < best.level && harm_may_do(row) => {
                found.shared.push(i);
            }
            _ => {}
        }
    }
    if !found.own.is_empty() {
        found.own.push(pick);
    }
    if pick != baseline && harm_is_unknown(best) {
        found.shared.push(pick);
    }
    if is_beside {
        // The same runs show both.
        found.own.append(&mut found.shared);
    }
    for rows in [&mut found.own, &mut found.shared] {
        if !rows.is_empty() {
            rows.push(baseline);
        }
        rows.sort_unstable();
        rows.dedup();
    }
    found
}

/// True if more runs may show that it does no more to others than it may.
fn harm_may_do(row: &RowScore) -> bool {
    row.harm.is_some_and(|harm| {
        let ci = harm.ci95.unwrap_or(f64::INFINITY);
        harm.share - ci < HARM_LIMIT
    })
}

/// True if what is said of what others lose may be wrong by more than is noted.
fn harm_is_unknown(row: &RowScore) -> bool {
    row.harm.is_none_or(|harm| {
        let ci = harm.ci95.unwrap_or(f64::INFINITY);
        ci > HARM_NOTED && harm.share + ci > HARM_NOTED
    })
}

#[cfg(test)]
#[path = "scheduler_tests.rs"]
mod tests;
