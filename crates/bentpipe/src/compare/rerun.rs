//! Runs of an answer's rows: again, with other seeds, under the eyes of an observer,
//! or as a scenario of their own.

use super::answer::{Answer, Row};
use super::crowd::Crowd;
use super::path::NetworkPath;
use super::pep::Pep;
use super::result::RunResult;
use super::traffic::Work;
use crate::Error;
use bentpipe_outcome::Outcome;
use bentpipe_scenario::Scenario;
use bentpipe_sim::{Observer, Options};
use bentpipe_units::Time;
use rayon::prelude::*;

impl Answer {
    /// Runs a row again with the seed and what else `options` say, such as to
    /// record series; `size` is an index into [`Answer::sizes`].
    ///
    /// # Errors
    /// If the run hits a bound.
    pub fn replay(&self, row: &Row, size: usize, options: &Options) -> Result<Outcome, Error> {
        let shared = self.beside.is_some();
        self.crowd(row, size, shared)
            .run(&self.path_of(row), options)
    }

    /// The same run, with every event reported to `observer`.
    ///
    /// # Errors
    /// If the run hits a bound.
    pub fn observe(
        &self,
        row: &Row,
        size: usize,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let shared = self.beside.is_some();
        let crowd = self.crowd(row, size, shared);
        crowd.observe(&self.path_of(row), options, observer)
    }

    /// The scenario that [`Answer::replay`] runs with this seed: over a profile each
    /// run begins at another time.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn scenario_of_run(&self, row: &Row, size: usize, seed: u64) -> Result<Scenario, Error> {
        let crowd = self.crowd(row, size, self.beside.is_some());
        let built = crowd.scenario(&self.path_of(row).of_run(seed));
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

    /// As [`rerun`](Answer::rerun), beside as many users of what others run.
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
        self.one_over(&self.path_of(row), row, size, shared, seed)
    }

    /// The path of a row: with its queue.
    #[must_use]
    pub fn path_of(&self, row: &Row) -> NetworkPath {
        self.path.with_queue(self.queue(row))
    }

    /// True if users of a row and those of what others run are alike: then a run of the
    /// row's users also shows what it is to be beside them.
    pub(super) fn is_alike(&self, row: &Row) -> bool {
        let candidate = &self.candidates[row.candidate];
        let is_same = candidate.own.is_none() && candidate.transport == self.other.transport;
        let (alone, shared) = (
            (self.users, self.stagger),
            (self.users_shared, self.stagger_shared),
        );
        // Between two proxies the hosts' transports do not matter.
        (is_same || row.pep == Pep::Gateway)
            && alone == shared
            && self.beside.is_none()
            && self.over.is_none()
    }

    /// One run of a row whose users are [alike](Answer::is_alike): of all of them, and the
    /// same with half of them taken for others.
    pub(super) fn one_alike(
        &self,
        row: &Row,
        size: usize,
        seed: u64,
    ) -> Result<[RunResult; 2], Error> {
        let crowd = self.crowd(row, size, false);
        let options = Options {
            seed,
            stop: self.stop.clone(),
            ..Options::default()
        };
        let outcome = crowd.run(&self.path_of(row), &options)?;
        let users = crowd.users.len() as u32;
        let of =
            |is_other: &dyn Fn(u32) -> bool| RunResult::of(&outcome, &crowd.work, users, is_other);
        let own = of(&|_| false);
        let mut shared = of(&|user| self.is_other(user));
        // It was made once.
        shared.packets = 0;
        Ok([own, shared])
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

    /// Who runs what others run: users of the same activity take turns.
    fn is_other(&self, user: u32) -> bool {
        self.traffic.place_of_user(user) % 2 == 1
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
            terminals: self.terminals,
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
        crowd
            .scenario(&self.path_of(row))
            .map(|(scenario, _)| scenario)
    }

    /// The scenario of [`scenario_of_run`](Answer::scenario_of_run) with the seed of the run
    /// and the starts that it draws for its users: run on its own, it has the same outcome.
    /// With traffic in the background or calls, which have no end, it ends when the run did;
    /// the run is made again to see when.
    ///
    /// # Errors
    /// If it cannot be built, or that run hits a bound.
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
        if self.background.is_some() || self.traffic.has_calls() {
            let stopped = Options {
                seed,
                stop: self.stop.clone(),
                ..Options::default()
            };
            let ended_at = self.replay(row, size, &stopped)?.ended_at;
            scenario.duration = ended_at.since(Time::ZERO);
        }
        Ok(scenario)
    }

    pub(super) fn work(&self, size: usize) -> Work {
        Work {
            traffic: self.traffic,
            size: self.sizes.get(size).copied().unwrap_or_default(),
            bitrate: self.bitrate,
            pages: self.pages,
            page_objects: self.page_objects,
            dns: self.dns,
        }
    }
}
