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
use super::cell::Cell;
use super::decide::decide;
use super::loss::PACKET;
use super::pep::Pep;
use super::result::RunResult;
use super::score::Scores;
use super::sequential::{FEWEST, next_look, runs_at};
use super::standing::{Judgement, Standing, judge};
use super::verdict::{CLOSE, Certainty};
use super::watch::{Ran, Watch};
use crate::Error;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Packets that cross a link in a second of the simulator on two cores, about: what
/// `--time` is counted in.
pub(super) const PACE: f64 = 8e6;

/// Part of the budget for the first runs of everything.
pub(super) const EXAMINED: f64 = 0.45;

/// Packets for runs that all rows have as many: a table of means is read as if they had.
const EVEN: f64 = 4e6;
const MOST_EVEN: usize = 46;

/// Part of the budget that is kept for them.
const RESERVED: f64 = 0.1;

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

/// Which runs of a row: of the users alone, or beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Own,
    Shared,
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
            self.extend(answer, &every, runs, Kind::Own)?;
            if answer.beside.is_none() {
                let rows = leaders(answer, LEADERS);
                self.extend(answer, &rows, runs.min(FIXED_SHARED), Kind::Shared)?;
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
        self.extend(answer, &[baseline], 1, Kind::Own)?;
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
        self.extend(answer, &rows, 1, Kind::Own)
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
            for (kind, rows) in [(Kind::Own, &round.own), (Kind::Shared, &round.shared)] {
                self.extend(answer, rows, round.runs, kind)?;
            }
        }
    }

    /// Where the baseline did not end: a few runs of everything.
    fn seek_an_end(&self, answer: &mut Answer) -> Result<(), Error> {
        let every: Vec<usize> = (0..answer.rows.len()).collect();
        let runs = if answer.is_random { FEWEST } else { 1 };
        let price = missing(answer, &every, runs, Kind::Own);
        match price <= answer.left() {
            true => self.extend(answer, &every, runs, Kind::Own),
            false => Ok(()),
        }
    }

    /// Gives all rows as many runs as far as that is cheap.
    fn even_out(&self, answer: &mut Answer) -> Result<(), Error> {
        let every: Vec<usize> = (0..answer.rows.len()).collect();
        let budget = EVEN.min(answer.left());
        let affordable = |runs: &usize| {
            *runs <= MOST_EVEN && missing(answer, &every, *runs, Kind::Own) <= budget
        };
        let looks: Vec<usize> = (0..MOST_LOOKS).map(runs_at).collect();
        match looks.into_iter().rev().find(affordable) {
            Some(runs) => self.extend(answer, &every, runs, Kind::Own),
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
            self.extend(answer, &[pick, verdict.baseline], FEWEST, Kind::Shared)?;
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
    runs_of(&answer.rows[row].cells[0], kind).len()
}

fn runs_of(cell: &Cell, kind: Kind) -> &[RunResult] {
    match kind {
        Kind::Own => &cell.runs,
        Kind::Shared => &cell.shared,
    }
}

/// What it costs until all of these rows have so many runs.
pub(super) fn missing(answer: &Answer, rows: &[usize], runs: usize, kind: Kind) -> f64 {
    let one = |row: &usize| {
        let lacks = runs.saturating_sub(count(answer, *row, kind));
        lacks as f64 * cost(answer, *row, kind)
    };
    rows.iter().map(one).sum()
}

impl Answer {
    /// Packets that all runs so far took over links.
    #[must_use]
    pub fn packets(&self) -> u64 {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let runs = cells.flat_map(|cell| cell.runs.iter().chain(&cell.shared));
        runs.map(|run| run.packets).sum()
    }

    /// The same; of what else than the simulator runs, an estimate.
    fn spent(&self) -> f64 {
        if self.is_simulated() {
            return self.packets() as f64;
        }
        let of = |kind| {
            (0..self.rows.len())
                .map(move |row| count(self, row, kind) as f64 * cost(self, row, kind))
        };
        of(Kind::Own).chain(of(Kind::Shared)).sum()
    }

    fn left(&self) -> f64 {
        self.budget - self.spent()
    }
}

/// What one run more of a row costs: packets, of all sizes. Of the runs that it has, or
/// else by what the baseline's come to.
pub(super) fn cost(answer: &Answer, row: usize, kind: Kind) -> f64 {
    let measured = |row: usize, kind: Kind| {
        let of = |cell: &Cell| {
            let runs = runs_of(cell, kind);
            let packets: u64 = runs.iter().map(|run| run.packets).sum();
            packets as f64 / runs.len() as f64
        };
        let sum: f64 = answer.rows[row].cells.iter().map(of).sum();
        Some(sum).filter(|sum| *sum > 0.0)
    };
    measured(row, kind).unwrap_or_else(|| {
        let other = match kind {
            Kind::Own => Kind::Shared,
            Kind::Shared => Kind::Own,
        };
        let (base, of) = (answer.verdict.baseline, |row, kind| {
            volume(answer, row, kind)
        });
        let scaled = |from, kind_from| Some(measured(from, kind_from)? / of(from, kind_from));
        let scale = scaled(row, other).or_else(|| scaled(base, Kind::Own));
        // Each packet and every second acknowledgement.
        scale.unwrap_or(1.5) * of(row, kind)
    })
}

/// Data packets of a run of each size, about, each leg counted.
pub(super) fn volume(answer: &Answer, row: usize, kind: Kind) -> f64 {
    let users = match kind {
        Kind::Shared => answer.users_shared,
        Kind::Own => answer.users,
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

/// The runs that are made next: until these rows have so many.
#[derive(Debug, Default, PartialEq)]
struct Round {
    own: Vec<usize>,
    shared: Vec<usize>,
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
    let tiers = scores.tiers(standings, judged);
    let is_beside = answer.beside.is_some();
    for wanted in tiers {
        let mut wanted: Vec<(usize, Kind)> = wanted
            .into_iter()
            // Runs beside others show both.
            .map(|(row, kind)| (row, if is_beside { Kind::Own } else { kind }))
            .filter(|(_, kind)| answer.is_random || *kind == Kind::Shared)
            .filter(|(row, kind)| count(answer, *row, *kind) < runs_at(MOST_LOOKS))
            .collect();
        // The fastest first, and all of them as far as the budget goes.
        wanted.sort_by(|a, b| scores.rows[a.0].level.total_cmp(&scores.rows[b.0].level));
        while !wanted.is_empty() {
            let round = round_of(answer, &wanted);
            let price = missing(answer, &round.own, round.runs, Kind::Own)
                + missing(answer, &round.shared, round.runs, Kind::Shared);
            if price <= left {
                return Some(round);
            }
            let last = wanted[wanted.len() - 1].0;
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
    let of = |kind: Kind| {
        let rows = wanted.iter().filter(|(_, of)| *of == kind);
        let mut rows: Vec<usize> = rows
            .map(|(row, _)| *row)
            .filter(|row| count(answer, *row, kind) < runs)
            .collect();
        if !rows.is_empty() {
            rows.push(answer.verdict.baseline);
        }
        rows.sort_unstable();
        rows.dedup();
        rows
    };
    Round {
        own: of(Kind::Own),
        shared: of(Kind::Shared),
        runs,
    }
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
