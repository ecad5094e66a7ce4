//! Makes the runs that the searches for the rows' capacities want, as far as the budget goes.

use super::super::answer::Answer;
use super::super::comparison::Comparison;
use super::super::engine::prepared;
use super::super::path::NetworkPath;
use super::super::question::MOST_USERS;
use super::measured::values;
use super::search::{Found, Limits, Search, Wanted};
use super::{Target, value};
use crate::Error;
use bentpipe_sim::Options;
use bentpipe_units::Rate;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes runs.
pub(super) struct Seeker<'a> {
    pub(super) comparison: &'a Comparison,
    pub(super) target: Target,
    pub(super) path: NetworkPath,
    pub(super) bitrate: Rate,
    /// The users of the link, by their number.
    pub(super) answers: BTreeMap<u32, Answer>,
    pub(super) limits: Limits,
    /// Packets that a user takes in a run of each row.
    pub(super) costs: Vec<Option<f64>>,
    pub(super) spent: u64,
    pub(super) budget: f64,
    pub(super) done: usize,
    pub(super) progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// A run: of which row, with how many users, and its index.
#[derive(Clone, Copy)]
struct Job {
    row: usize,
    users: u32,
    index: usize,
}

impl Seeker<'_> {
    /// The link with so many users.
    pub(super) fn answer(&mut self, users: u32) -> Result<&Answer, Error> {
        if !self.answers.contains_key(&users) {
            let mut asked = self.comparison.clone();
            asked.question.users = vec![users];
            let mut answer = prepared(&asked, self.path.clone())?;
            answer.bitrate = self.bitrate;
            self.answers.insert(users, answer);
        }
        Ok(&self.answers[&users])
    }

    /// The search for each row, as far as the budget goes. The baseline is sought whatever that
    /// costs, and the others begin where it ends.
    pub(super) fn seek(&mut self, baseline: usize) -> Result<Vec<Search>, Error> {
        let runs = self.comparison.question.runs.map(|runs| runs as usize);
        let new = |start| Search::new(self.limits, start, runs);
        let count = self.costs.len();
        let mut searches = vec![new(self.limits.fewest); count];
        loop {
            let wanted = self.jobs(&searches, &[baseline]);
            if wanted.is_empty() {
                break;
            }
            self.make(&mut searches, &wanted)?;
        }
        let start = match searches[baseline].found() {
            Found::Full { users, .. } => users as u32,
            Found::All => MOST_USERS as u32,
            _ => self.limits.fewest,
        };
        for (row, search) in searches.iter_mut().enumerate() {
            if row != baseline {
                *search = Search::new(self.limits, start, runs);
            }
        }
        loop {
            let mut rows: Vec<usize> = (0..count)
                .filter(|i| !searches[*i].wants().is_empty())
                .collect();
            if rows.is_empty() {
                rows = (0..count).filter(|i| searches[*i].is_vague()).collect();
                let best = best(&searches);
                rows.retain(|i| *i == baseline || reaches(&searches[*i], best));
                rows.iter().for_each(|i| searches[*i].refine());
            }
            let left = self.budget - self.spent as f64;
            // What carries the most users first, as far as the budget goes.
            rows.sort_by(|a, b| {
                let users =
                    |i: usize| value(&searches[i]).map_or(f64::INFINITY, |(users, _)| users);
                users(*b).total_cmp(&users(*a))
            });
            let mut jobs = Vec::new();
            let mut price = 0.0;
            for row in rows {
                let wanted = self.jobs(&searches, &[row]);
                let more: f64 = wanted.iter().map(|job| self.cost(job, baseline)).sum();
                if price + more <= left {
                    price += more;
                    jobs.extend(wanted);
                }
            }
            if jobs.is_empty() {
                return Ok(searches);
            }
            self.make(&mut searches, &jobs)?;
        }
    }

    /// The runs that the searches of these rows want.
    fn jobs(&self, searches: &[Search], rows: &[usize]) -> Vec<Job> {
        let mut jobs = Vec::new();
        for row in rows {
            let search = &searches[*row];
            for Wanted { users, runs } in search.wants() {
                let missing = search.has(users)..runs;
                jobs.extend(missing.map(|index| Job {
                    row: *row,
                    users,
                    index,
                }));
            }
        }
        jobs
    }

    fn cost(&self, job: &Job, baseline: usize) -> f64 {
        let of = |row: usize| self.costs[row];
        let a_user = of(job.row).or_else(|| of(baseline)).unwrap_or(0.0);
        a_user * f64::from(job.users)
    }

    /// Makes runs and notes what they show, in their order.
    fn make(&mut self, searches: &mut [Search], jobs: &[Job]) -> Result<(), Error> {
        for job in jobs {
            self.answer(job.users)?;
        }
        let (done, total) = (self.done, self.done + jobs.len());
        let counter = AtomicUsize::new(done);
        let results: Vec<(f64, u64)> = jobs
            .par_iter()
            .map(|job| {
                let answer = &self.answers[&job.users];
                let options = Options {
                    seed: answer.seed.wrapping_add(job.index as u64),
                    stop: answer.stop.clone(),
                    ..Options::default()
                };
                let row = &answer.rows[job.row];
                let outcome = answer.replay(row, 0, &options)?;
                let values = values(answer, &outcome, self.target.measure);
                let done = 1 + counter.fetch_add(1, Ordering::Relaxed);
                (self.progress)(done, total);
                Ok((self.target.missed_by(&values), outcome.packet_hops))
            })
            .collect::<Result<_, Error>>()?;
        self.done = total;
        for (job, (missed, packets)) in jobs.iter().zip(results) {
            searches[job.row].note(job.users, [missed]);
            self.spent += packets;
            self.costs[job.row] = Some(packets as f64 / f64::from(job.users));
        }
        Ok(())
    }
}

/// The least that the best row is shown to carry.
fn best(searches: &[Search]) -> f64 {
    let least = searches
        .iter()
        .filter_map(value)
        .map(|(users, half)| users - half);
    least.fold(0.0, f64::max)
}

/// True if a row may carry as much.
fn reaches(search: &Search, best: f64) -> bool {
    value(search).is_none_or(|(users, half)| users + half >= best)
}
