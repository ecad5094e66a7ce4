//! Which runs are made, and how many.
//!
//! All rows have the same seeds, so that they can be compared run by run. First each row
//! has one run: the baseline, the default behind each proxy, then the others, as far as a
//! part of the budget goes. What is far slower in it is set aside. The rest races: those
//! whose runs do not tell yet have more, until the next look of the
//! [rule](super::sequential), beside users of the default as well where others may lose
//! too much. A row leaves the race when it is known, and pauses while it is shown to be
//! slower than another that is still in it. When nothing else is open, those that were
//! set aside or never ran have their turn. It ends when the verdict is clear or the
//! budget is spent, which is counted in packets: how many runs there are depends on
//! results alone, never on time.

use super::answer::Answer;
use super::cost::{self, cost, count, missing};
use super::decide::decide;
use super::judgement::{Judgement, judge};
use super::pep::Pep;
use super::race::{Kind, Wanted};
use super::result::RunResult;
use super::score::Scores;
use super::sequential::{FEWEST, next_look, runs_at};
use super::standing::Standing;
use super::verdict::{CLOSE, Certainty};
use super::watch::{Ran, Watch};
use crate::Error;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Part of the budget for the first runs of everything.
pub(super) const EXAMINED: f64 = 0.45;

/// Packets for runs that all rows have as many: a table of means is read as if they had.
const EVEN: f64 = 5e5;
const MOST_EVEN: usize = 20;

/// Part of the budget that is kept for them.
const RESERVED: f64 = 0.0125;

/// Leaders that run beside users of the default, of a number of runs that is asked for;
/// where no more rows are compared, all do. And most such runs.
const LEADERS: usize = 6;
const FIXED_SHARED: usize = 20;

/// Most runs of a row.
const MOST_LOOKS: usize = 14;

/// Makes the runs of a comparison.
pub(super) struct RunScheduler<'a> {
    /// So many of each row, whatever they show.
    fixed: Option<usize>,
    watch: &'a dyn Watch,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl<'a> RunScheduler<'a> {
    pub(super) fn new(fixed: Option<usize>, watch: &'a dyn Watch) -> RunScheduler<'a> {
        RunScheduler {
            fixed,
            watch,
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
        }
    }

    pub(super) fn run(&self, answer: &mut Answer) -> Result<(), Error> {
        let every: Vec<usize> = (0..answer.rows.len()).collect();
        if let Some(runs) = self.fixed {
            self.extend(answer, &all_of(&every, Kind::Own), runs)?;
            if answer.beside.is_none() {
                let rows = leaders(answer, LEADERS);
                let wanted = all_of(&rows, Kind::Shared);
                self.extend(answer, &wanted, runs.min(FIXED_SHARED))?;
            }
            return Ok(());
        }
        self.examine(answer)?;
        self.race(answer, RESERVED)?;
        if answer.is_random {
            self.even_out(answer)?;
            self.race(answer, 0.0)?;
        }
        self.finish(answer)
    }

    /// A first run of each row, as far as a part of the budget goes.
    fn examine(&self, answer: &mut Answer) -> Result<(), Error> {
        let baseline = answer.verdict.baseline;
        self.extend(answer, &[(baseline, Kind::Own)], 1)?;
        let name = answer.rows[baseline].name.clone();
        let rest = (0..answer.rows.len()).filter(|row| *row != baseline);
        // The default behind each proxy, and what has no other: a proxy of its own.
        let is_first = |row: &usize| {
            let row = &answer.rows[*row];
            row.name == name || row.pep == Pep::Gateway
        };
        let (mut first, others): (Vec<usize>, Vec<usize>) = rest.partition(is_first);
        first.extend(others);
        let mut left = EXAMINED * answer.budget - answer.spent();
        let fits = first.into_iter().take_while(|row| {
            left -= cost(answer, *row, Kind::Own);
            left >= 0.0
        });
        let rows: Vec<usize> = fits.collect();
        self.extend(answer, &all_of(&rows, Kind::Own), 1)
    }

    /// Makes runs that may change the verdict as long as the budget lasts, less a part of
    /// it, and it is not clear.
    fn race(&self, answer: &mut Answer, reserved: f64) -> Result<(), Error> {
        loop {
            let scores = Scores::of(answer);
            if scores.base().level.is_infinite() {
                return self.seek_an_end(answer);
            }
            let standings = scores.standings();
            let judged = judge(&scores, &standings, true);
            if judged.certainty == Certainty::Clear {
                return Ok(());
            }
            let left = answer.left() - reserved * answer.budget;
            let Some(round) = next_round(answer, &scores, &standings, &judged, left) else {
                return Ok(());
            };
            self.extend(answer, &round.wanted, round.runs)?;
        }
    }

    /// Where the baseline did not end: a few runs of everything.
    fn seek_an_end(&self, answer: &mut Answer) -> Result<(), Error> {
        let every: Vec<usize> = (0..answer.rows.len()).collect();
        let every = all_of(&every, Kind::Own);
        let runs = if answer.is_random { FEWEST } else { 1 };
        match missing(answer, &every, runs) <= answer.left() {
            true => self.extend(answer, &every, runs),
            false => Ok(()),
        }
    }

    /// Gives all rows as many runs as far as that is cheap.
    fn even_out(&self, answer: &mut Answer) -> Result<(), Error> {
        let every: Vec<usize> = (0..answer.rows.len()).collect();
        let every = all_of(&every, Kind::Own);
        let budget = EVEN.min(answer.left());
        let affordable =
            |runs: &usize| *runs <= MOST_EVEN && missing(answer, &every, *runs) <= budget;
        let looks: Vec<usize> = (0..MOST_LOOKS).map(runs_at).collect();
        match looks.into_iter().rev().find(affordable) {
            Some(runs) => self.extend(answer, &every, runs),
            None => Ok(()),
        }
    }

    /// What is recommended in the end has run beside others a few times, whatever that
    /// costs.
    fn finish(&self, answer: &mut Answer) -> Result<(), Error> {
        for _ in 0..answer.rows.len() {
            let verdict = decide(answer);
            let is_measured =
                |row: usize| answer.beside.is_some() || count(answer, row, Kind::Shared) >= FEWEST;
            let pick = verdict.pick.filter(|row| *row != verdict.baseline);
            let Some(pick) = pick.filter(|row| !is_measured(*row)) else {
                return Ok(());
            };
            let wanted = all_of(&[pick, verdict.baseline], Kind::Shared);
            self.extend(answer, &wanted, FEWEST)?;
        }
        Ok(())
    }

    /// Makes runs until these rows have so many of each kind.
    fn extend(
        &self,
        answer: &mut Answer,
        wanted: &[(usize, Kind)],
        runs: usize,
    ) -> Result<(), Error> {
        let jobs = jobs(answer, wanted, runs);
        if jobs.is_empty() {
            return Ok(());
        }
        // Fewer runs than there are beginnings are spread over all of these.
        let apart = |kind| match (kind, self.fixed) {
            (Kind::Shared, Some(own)) if answer.over.is_some() => (own / runs.max(1)).max(1),
            _ => 1,
        };
        self.total.fetch_add(jobs.len(), Ordering::Relaxed);
        // One after the other, so that what comes first ends first.
        let results = jobs.iter().enumerate().par_bridge();
        let results = results.map(|(place, job)| {
            let seed = (job.index * apart(job.kind)) as u64;
            let found = answer.results(job, answer.seed.wrapping_add(seed))?;
            for (kind, result) in &found {
                self.watch.ran(Ran {
                    row: job.row,
                    size: job.size,
                    shared: *kind == Kind::Shared,
                    index: job.index,
                    result,
                });
            }
            let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
            self.watch
                .progress(done, self.total.load(Ordering::Relaxed));
            Ok((place, found))
        });
        let mut results: Vec<(usize, Vec<(Kind, RunResult)>)> =
            results.collect::<Result<_, Error>>()?;
        results.sort_unstable_by_key(|(place, _)| *place);
        for (job, (_, found)) in jobs.iter().zip(results) {
            let cell = &mut answer.rows[job.row].cells[job.size];
            for (kind, result) in found {
                match kind {
                    Kind::Shared => cell.shared.push(result),
                    Kind::Own => cell.runs.push(result),
                }
            }
        }
        self.watch.round(answer);
        Ok(())
    }
}

/// A run to make: of which row and size, and its index among the runs of these.
struct Job {
    row: usize,
    size: usize,
    kind: Kind,
    index: usize,
}

/// The runs that these rows lack: the first of every row before the second of any, so
/// that who watches sees something of each row early.
fn jobs(answer: &Answer, wanted: &[(usize, Kind)], runs: usize) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (row, kind) in answer.told_by(wanted) {
        for (size, cell) in answer.rows[row].cells.iter().enumerate() {
            let has = cost::runs_of(cell, kind).len();
            jobs.extend((has..runs).map(|index| Job {
                row,
                size,
                kind,
                index,
            }));
        }
    }
    jobs.sort_by_key(|job| job.index);
    jobs
}

/// These rows, and a kind of run of each.
fn all_of(rows: &[usize], kind: Kind) -> Wanted {
    rows.iter().map(|row| (*row, kind)).collect()
}

impl Answer {
    /// What a run shows: where all users are alike also what it is to be beside others.
    fn results(&self, job: &Job, seed: u64) -> Result<Vec<(Kind, RunResult)>, Error> {
        let row = &self.rows[job.row];
        if job.kind == Kind::Own && self.is_alike(row) {
            let [own, shared] = self.one_alike(row, job.size, seed)?;
            return Ok(vec![(Kind::Own, own), (Kind::Shared, shared)]);
        }
        let shared = job.kind == Kind::Shared || self.beside.is_some();
        let result = self.one(row, job.size, shared, seed)?;
        Ok(vec![(job.kind, result)])
    }

    /// The runs that tell what these would: where all users are alike, or half of them run
    /// what others do anyway, runs of the users alone show both.
    fn told_by(&self, wanted: &[(usize, Kind)]) -> Wanted {
        let mut told: Wanted = Vec::new();
        for (row, kind) in wanted {
            let both = self.beside.is_some() || self.is_alike(&self.rows[*row]);
            let kind = if both { Kind::Own } else { *kind };
            if !told.contains(&(*row, kind)) {
                told.push((*row, kind));
            }
        }
        told
    }
}

/// The runs that are made next: until these rows have so many.
#[derive(Debug, Default, PartialEq)]
struct Round {
    wanted: Wanted,
    runs: usize,
}

/// The next round; `None` if the budget is spent, or nothing more is to be learnt.
fn next_round(
    answer: &Answer,
    scores: &Scores,
    standings: &[Standing],
    judged: &Judgement,
    left: f64,
) -> Option<Round> {
    let fits = |row: usize, runs: usize| {
        let wanted = answer.told_by(&[
            (row, Kind::Own),
            (row, Kind::Shared),
            (answer.verdict.baseline, Kind::Shared),
        ]);
        runs <= runs_at(MOST_LOOKS) && missing(answer, &wanted, runs) <= left
    };
    for wanted in scores.tiers(standings, judged, &fits) {
        let mut wanted = answer.told_by(&wanted);
        wanted.retain(|(row, kind)| {
            let is_of_use = answer.is_random || *kind == Kind::Shared;
            is_of_use && count(answer, *row, *kind) < runs_at(MOST_LOOKS)
        });
        // The fastest first, and all of them as far as the budget goes.
        wanted.sort_by(|a, b| scores.rows[a.0].level.total_cmp(&scores.rows[b.0].level));
        while let Some((last, _)) = wanted.last().copied() {
            let round = round_of(answer, &wanted);
            if missing(answer, &round.wanted, round.runs) <= left {
                return Some(round);
            }
            wanted.retain(|(row, _)| *row != last);
        }
    }
    None
}

/// The next look of those that have had the fewest runs.
fn round_of(answer: &Answer, wanted: &[(usize, Kind)]) -> Round {
    let counts = wanted.iter().map(|(row, kind)| count(answer, *row, *kind));
    // What never ran has one run first.
    let runs = match counts.min() {
        None | Some(0) => 1,
        Some(least) => next_look(least),
    };
    let lacks = |(row, kind): &(usize, Kind)| count(answer, *row, *kind) < runs;
    let mut all: Wanted = wanted.iter().filter(|of| lacks(of)).copied().collect();
    // What is compared with has the same seeds.
    let baseline = answer.verdict.baseline;
    for kind in [Kind::Own, Kind::Shared] {
        if all.iter().any(|(_, of)| *of == kind) {
            all.extend(
                answer
                    .told_by(&[(baseline, kind)])
                    .into_iter()
                    .filter(lacks),
            );
        }
    }
    all.sort_unstable_by_key(|(row, kind)| (*kind, *row));
    all.dedup();
    Round { wanted: all, runs }
}

/// The rows that could be recommended, at most so many, and the baseline.
fn leaders(answer: &Answer, most: usize) -> Vec<usize> {
    let scores = Scores::of(answer);
    let (rows, standings) = (&scores.rows, scores.standings());
    if rows.len() <= most {
        return (0..rows.len()).collect();
    }
    // What is slower than the baseline is not recommended.
    let usual = scores.base().level * (1.0 + 2.0 * CLOSE);
    let is_out = |row: usize| matches!(standings[row], Standing::Out(_) | Standing::Baseline);
    let mut order: Vec<usize> = (0..rows.len())
        .filter(|i| !is_out(*i) && rows[*i].level <= usual)
        .collect();
    order.sort_by(|a, b| rows[*a].level.total_cmp(&rows[*b].level));
    order.truncate(most - 1);
    order.push(scores.baseline);
    order.sort_unstable();
    order
}

#[cfg(test)]
#[path = "scheduler_tests.rs"]
mod tests;
