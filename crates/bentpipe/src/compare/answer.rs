//! What a comparison found: a row for each setting behind each proxy, a cell for
//! each size, a result for each run.

use super::background::Background;
use super::cell::Cell;
use super::course::Course;
use super::crowd::{Crowd, Runner};
use super::day::Steady;
use super::lineup::{Availability, Candidate, Hosts};
use super::path::NetworkPath;
use super::pep::Pep;
use super::result::{RunResult, UserResult};
use super::standing;
use super::traffic::{Traffic, Work};
use super::verdict::{self, Gain, Harm, Objection, Verdict};
use crate::Error;
use bentpipe_outcome::Outcome;
use bentpipe_scenario::{Limits, Scenario};
use bentpipe_sim::{Observer, Options, Stop};
use bentpipe_tcp::Transport;
use bentpipe_units::{Bytes, Duration, Rate};
use rayon::prelude::*;
use std::sync::Arc;

/// What a comparison found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The path that the traffic crossed.
    pub path: NetworkPath,
    /// The hosts.
    pub hosts: Hosts,
    /// What the users did.
    pub traffic: Traffic,
    /// How many users there were.
    pub users: u32,
    /// What others run, as it was typed; `None` if all users had the compared
    /// setting.
    pub beside: Option<String>,
    /// Users of [`Cell::shared`]: half of them run what others run.
    pub users_shared: u32,
    /// Traffic that no transport controls.
    pub background: Option<Background>,
    /// The time over which starts were spread.
    pub stagger: Duration,
    /// The same in [`Cell::shared`].
    pub stagger_shared: Duration,
    /// Bitrate of the videos.
    pub bitrate: Rate,
    /// Sizes, ascending: of a download, or of a page on the mean. One without
    /// meaning where all users watch videos.
    pub sizes: Vec<Bytes>,
    /// Time of a download of each size at the full rate of the link, shared by
    /// all users: no transport is faster. Empty for other traffic.
    pub ideal: Vec<Duration>,
    /// Seed of the first run; others count up from it.
    pub seed: u64,
    /// The time over which runs begin at even distances, where that was asked.
    pub over: Option<Duration>,
    /// What changes of the link cost the default and the recommended setting.
    pub steady: Vec<Steady>,
    /// The settings that were compared, in the order of the line-up.
    pub candidates: Vec<Candidate>,
    /// Each proxy with each setting.
    pub rows: Vec<Row>,
    /// What follows from them.
    pub verdict: Verdict,
    /// What others run.
    pub(super) other: Candidate,
    /// What servers run whose connections end at a proxy.
    pub(super) server: Transport,
    /// What runs scenarios in the place of the simulator.
    pub(super) runner: Option<Arc<dyn Runner>>,
    /// What stops the runs.
    pub(super) stop: Stop,
    /// What each run may use.
    pub(super) limits: Limits,
    /// Another seed gives another result.
    pub(super) is_random: bool,
}

/// One setting behind one proxy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The proxy.
    pub pep: Pep,
    /// Index into [`Answer::candidates`].
    pub candidate: usize,
    /// Name of the setting.
    pub name: String,
    /// How far the setting is from being used.
    pub availability: Availability,
    /// One for each size.
    pub cells: Vec<Cell>,
}

impl Row {
    /// True if all of it can be switched on today.
    #[must_use]
    pub const fn is_deployable(&self) -> bool {
        self.availability.is_deployable() && self.pep.exists()
    }
}

impl Answer {
    /// The recommended row; `None` if nothing that can be recommended ended.
    #[must_use]
    pub fn recommended(&self) -> Option<&Row> {
        self.rows.get(self.verdict.pick?)
    }

    /// Decides again, by the runs that the rows have now: for rows to which runs were
    /// added as a [`Watch`](super::Watch) saw them.
    pub fn decide(&mut self) {
        self.verdict = verdict::of(self);
    }

    /// The same with another switch that stops further runs, such as
    /// [`rerun`](Answer::rerun); that of the comparison holds for them unless it is
    /// replaced.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Answer {
        self.stop = stop;
        self
    }

    /// Memory that it takes, about: that of its runs, and of how its link changes.
    #[must_use]
    pub fn memory(&self) -> Bytes {
        let users = |run: &RunResult| (run.own.len() + run.others.len()) * size_of::<UserResult>();
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let runs = cells.flat_map(|cell| cell.runs.iter().chain(&cell.shared));
        let runs: usize = runs.map(|run| size_of::<RunResult>() + users(run)).sum();
        let course = self.path.course.as_ref().map_or(0, Course::memory);
        Bytes::new((size_of::<Answer>() + runs + course) as u64)
    }

    /// True if the simulator ran it, and no other [`Runner`].
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.runner.is_none()
    }

    /// The row of the default of Linux that gains are held against.
    #[must_use]
    pub fn baseline(&self) -> &Row {
        &self.rows[self.verdict.baseline]
    }

    /// What a row, an index into [`Answer::rows`], gains over the baseline.
    #[must_use]
    pub fn gain(&self, row: usize) -> Option<Gain> {
        let (rows, baseline) = standing::standings(self, None);
        verdict::gain(rows.get(row)?, &rows[baseline])
    }

    /// Why a row, an index into [`Answer::rows`], is not recommended whatever it gains.
    #[must_use]
    pub fn objection(&self, row: usize) -> Option<Objection> {
        let (rows, baseline) = standing::standings(self, None);
        verdict::objection(rows.get(row)?, &rows[baseline], self.path.lost())
    }

    /// What a row does to others, where that was measured.
    #[must_use]
    pub fn harm(&self, row: usize) -> Option<Harm> {
        let (rows, _) = standing::standings(self, None);
        rows.get(row)?.harm
    }

    /// What each row does to others, where that was measured.
    #[must_use]
    pub fn harms(&self) -> Vec<Option<Harm>> {
        let (rows, _) = standing::standings(self, None);
        rows.into_iter().map(|row| row.harm).collect()
    }

    /// What each row gains over the baseline.
    #[must_use]
    pub fn gains(&self) -> Vec<Option<Gain>> {
        let (rows, baseline) = standing::standings(self, None);
        let gain = |row| verdict::gain(row, &rows[baseline]);
        rows.iter().map(gain).collect()
    }

    /// The rows of each proxy, the fastest first.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        let (rows, _) = standing::standings(self, None);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        // By the times that a table shows.
        let shown = |i: usize| rows[i].shown();
        let place = |i: usize| self.peps().iter().position(|pep| *pep == self.rows[i].pep);
        order.sort_by(|a, b| {
            let pep = place(*a).cmp(&place(*b));
            pep.then(shown(*a).total_cmp(&shown(*b)))
        });
        order
    }

    /// The proxies, in the order in which they were asked about.
    #[must_use]
    pub fn peps(&self) -> Vec<Pep> {
        let mut peps: Vec<Pep> = self.rows.iter().map(|row| row.pep).collect();
        peps.dedup();
        peps
    }

    /// The row of a setting behind a proxy.
    #[must_use]
    pub fn row(&self, pep: Pep, name: &str) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.pep == pep && row.name == name)
    }

    /// The smallest size of the first row with a setting of that name.
    #[must_use]
    pub fn result(&self, name: &str) -> Option<&Cell> {
        self.rows.iter().find(|row| row.name == name)?.cells.first()
    }

    /// The candidate of that name.
    #[must_use]
    pub fn candidate(&self, name: &str) -> Option<&Candidate> {
        self.candidates.iter().find(|c| c.name == name)
    }

    /// Most runs that a row has.
    #[must_use]
    pub fn most_runs(&self) -> usize {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.map(|cell| cell.runs.len()).max().unwrap_or(0)
    }

    /// Runs a row again with the seed and what else `options` say, such as to
    /// record series; `size` is an index into [`Answer::sizes`].
    ///
    /// # Errors
    /// If the run hits a bound.
    pub fn replay(&self, row: &Row, size: usize, options: &Options) -> Result<Outcome, Error> {
        let shared = self.beside.is_some();
        self.crowd(row, size, shared).run(&self.path, options)
    }

    /// The same under the eyes of `observer`.
    ///
    /// # Errors
    /// If the run hits a bound.
    pub fn observe<O: Observer>(
        &self,
        row: &Row,
        size: usize,
        options: &Options,
        observer: &mut O,
    ) -> Result<Outcome, Error> {
        let shared = self.beside.is_some();
        let crowd = self.crowd(row, size, shared);
        crowd.observe(&self.path, options, observer)
    }

    /// The scenario that [`Answer::replay`] runs with this seed: over a course each
    /// run begins at another time.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn scenario_of_run(&self, row: &Row, size: usize, seed: u64) -> Result<Scenario, Error> {
        let crowd = self.crowd(row, size, self.beside.is_some());
        let built = crowd.scenario(&self.path.of_run(seed));
        built.map(|(scenario, _)| scenario)
    }

    /// Runs a row again with these seeds: what its users experience.
    ///
    /// # Errors
    /// If a run hits a bound.
    pub fn rerun(&self, row: &Row, size: usize, seeds: &[u64]) -> Result<Vec<RunResult>, Error> {
        let beside = self.beside.is_some();
        seeds
            .par_iter()
            .map(|seed| self.one(row, size, beside, *seed))
            .collect()
    }

    /// The same beside as many users with what others run.
    ///
    /// # Errors
    /// If a run hits a bound.
    pub fn rerun_shared(
        &self,
        row: &Row,
        size: usize,
        seeds: &[u64],
    ) -> Result<Vec<RunResult>, Error> {
        seeds
            .par_iter()
            .map(|seed| self.one(row, size, true, *seed))
            .collect()
    }

    /// One run of a row.
    pub(super) fn one(
        &self,
        row: &Row,
        size: usize,
        shared: bool,
        seed: u64,
    ) -> Result<RunResult, Error> {
        self.one_over(&self.path, row, size, shared, seed)
    }

    /// One run of a row over another path.
    pub(super) fn one_over(
        &self,
        path: &NetworkPath,
        row: &Row,
        size: usize,
        shared: bool,
        seed: u64,
    ) -> Result<RunResult, Error> {
        let crowd = self.crowd(row, size, shared);
        let options = Options {
            seed,
            stop: self.stop.clone(),
            ..Options::default()
        };
        let outcome = crowd.run(path, &options)?;
        let users = crowd.users.len() as u32;
        let is_other = |user| shared && self.is_other(user);
        Ok(RunResult::of(&outcome, &crowd.work, users, is_other))
    }

    /// Who runs what others run: users take turns, whole groups of mixed
    /// traffic together.
    const fn is_other(&self, user: u32) -> bool {
        (user / self.traffic.least_users()) % 2 == 1
    }

    /// The users of a row.
    fn crowd(&self, row: &Row, size: usize, shared: bool) -> Crowd<'_> {
        let candidate = &self.candidates[row.candidate];
        let runs = |user| match shared && self.is_other(user) {
            true => &self.other,
            false => candidate,
        };
        let (users, stagger) = match shared {
            true => (self.users_shared, self.stagger_shared),
            false => (self.users, self.stagger),
        };
        Crowd {
            work: self.work(size),
            pep: row.pep,
            users: (0..users).map(runs).collect(),
            default: &self.server,
            background: self.background,
            stagger,
            runner: self.runner.as_deref(),
            limits: self.limits,
        }
    }

    /// The scenario of a row; `shared` with users of what others run beside
    /// them.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn scenario(&self, row: &Row, size: usize, shared: bool) -> Result<Scenario, Error> {
        let crowd = self.crowd(row, size, shared || self.beside.is_some());
        crowd.scenario(&self.path).map(|(scenario, _)| scenario)
    }

    /// The scenario of [`scenario_of_run`](Answer::scenario_of_run) with the seed of the run
    /// and the starts that it draws for its users: run
    /// on its own, it has the same outcome. Its background, where it has some, does not
    /// end with the users.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn standalone(&self, row: &Row, size: usize, seed: u64) -> Result<Scenario, Error> {
        let mut scenario = self.scenario_of_run(row, size, seed)?;
        let options = Options {
            seed,
            start_jitter: self.crowd(row, size, self.beside.is_some()).stagger,
            ..Options::default()
        };
        for flow in &mut scenario.flows {
            flow.start = options.start_of(flow);
        }
        scenario.seed = seed;
        Ok(scenario)
    }

    pub(super) fn work(&self, size: usize) -> Work {
        Work {
            traffic: self.traffic,
            size: self.sizes.get(size).copied().unwrap_or_default(),
            bitrate: self.bitrate,
        }
    }
}
