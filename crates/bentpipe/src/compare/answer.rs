//! What a comparison found: a row for each setting behind each proxy, a cell for
//! each size, a result for each run.

use super::background::Background;
use super::crowd::{Crowd, Runner};
use super::day::Steady;
use super::lineup::{Availability, Candidate, Hosts};
use super::path::NetworkPath;
use super::pep::Pep;
use super::result::RunResult;
use super::traffic::{Activity, Traffic, Work};
use super::verdict::{self, Gain, Harm, Verdict};
use crate::Error;
use bentpipe_outcome::Outcome;
use bentpipe_scenario::Scenario;
use bentpipe_sim::Options;
use bentpipe_study::stats::{Summary, mean};
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

/// The runs of one setting behind one proxy with one size.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Cell {
    /// The size.
    pub size: Bytes,
    /// One for each seed. Every user has the setting, or half of them where
    /// [`Answer::beside`] says what the others run.
    pub runs: Vec<RunResult>,
    /// Runs in which half of the users run the default of Linux: what the
    /// setting does to others. Fewer than those above, and none for what is no
    /// contender.
    pub shared: Vec<RunResult>,
}

/// How rates spread over users, each the mean over the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rates {
    /// The user in the middle, bit/s.
    pub median_bps: f64,
    /// The slowest tenth of the users on the mean, at least one user, bit/s.
    pub worst_tenth_bps: f64,
    /// Jain's index: 1 if all have the same, 1 / users if one has it all.
    pub jain: f64,
}

impl Cell {
    /// Times of the own users, over the runs that ended: the mean of all users
    /// of a run is one sample. `None` if no run ended. Of mixed traffic those of
    /// downloads.
    #[must_use]
    pub fn time(&self) -> Option<Summary> {
        let found = Activity::ALL.iter().find_map(|a| self.time_of(*a));
        found.filter(|_| self.unfinished() < self.runs.len())
    }

    /// The same of those with one activity.
    #[must_use]
    pub fn time_of(&self, activity: Activity) -> Option<Summary> {
        let times: Vec<f64> = self
            .runs
            .iter()
            .filter_map(|r| r.time_s(activity))
            .collect();
        Summary::of(&times)
    }

    /// What one time in ten is longer than, over all own users and runs; `None`
    /// for fewer than ten, or where that one did not end. Of mixed traffic that of
    /// downloads.
    #[must_use]
    pub fn slow_s(&self) -> Option<f64> {
        let first = self.runs.first()?.own.first()?.activity;
        let users = self.runs.iter().flat_map(|run| &run.own);
        let users = users.filter(|user| user.activity == first);
        let mut times: Vec<f64> = users.map(|u| u.time_s.unwrap_or(f64::INFINITY)).collect();
        times.sort_by(f64::total_cmp);
        let place = (times.len() * 9).div_ceil(10).checked_sub(1)?;
        let slow = times.get(place).copied().filter(|_| times.len() >= 10);
        slow.filter(|slow| slow.is_finite())
    }

    /// Runs in which a user's download, pages or video did not end.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.runs.iter().filter(|run| run.unfinished() > 0).count()
    }

    /// The run of median time: one that happened, and no mean of two.
    #[must_use]
    pub fn median_run(&self) -> Option<&RunResult> {
        let time = |run: &RunResult| Activity::ALL.iter().find_map(|a| run.time_s(*a));
        let mut ended: Vec<(f64, &RunResult)> = self
            .runs
            .iter()
            .filter_map(|run| Some((time(run)?, run)))
            .collect();
        ended.sort_by(|a, b| a.0.total_cmp(&b.0));
        let middle = ended.len().checked_sub(1)? / 2;
        ended.get(middle).map(|(_, run)| *run)
    }

    /// How rates spread over the own users.
    #[must_use]
    pub fn rates(&self) -> Option<Rates> {
        let of: Vec<Rates> = self
            .runs
            .iter()
            .filter_map(|run| rates(&run.rates_bps()))
            .collect();
        let over = |f: fn(&Rates) -> f64| mean(&of.iter().map(f).collect::<Vec<_>>());
        (!of.is_empty()).then(|| Rates {
            median_bps: over(|r| r.median_bps),
            worst_tenth_bps: over(|r| r.worst_tenth_bps),
            jain: over(|r| r.jain),
        })
    }

    /// The mean over the runs of what `f` says of each.
    #[must_use]
    pub fn mean(&self, f: impl Fn(&RunResult) -> f64) -> f64 {
        let of: Vec<f64> = self.runs.iter().map(f).collect();
        if of.is_empty() { 0.0 } else { mean(&of) }
    }

    /// Packets sent again / packets sent, on the mean.
    #[must_use]
    pub fn resent_share(&self) -> f64 {
        self.mean(|run| run.resent_share)
    }

    /// 95th percentile of the wait in the queue before the link, seconds, on the
    /// mean.
    #[must_use]
    pub fn p95_queueing_delay_s(&self) -> f64 {
        self.mean(|run| run.p95_queueing_delay_s)
    }

    /// Payload that all users received per second, on the mean.
    #[must_use]
    pub fn goodput_bps(&self) -> f64 {
        self.mean(|run| run.goodput_bps)
    }

    /// The mean of what `f` says of each user of each run, of those of whom it
    /// says something.
    #[must_use]
    pub fn users_mean(&self, f: impl Fn(&super::UserResult) -> Option<f64>) -> Option<f64> {
        let all: Vec<f64> = self
            .runs
            .iter()
            .flat_map(|run| &run.own)
            .filter_map(f)
            .collect();
        (!all.is_empty()).then(|| mean(&all))
    }
}

/// Of one run; `sorted` ascends.
fn rates(sorted: &[f64]) -> Option<Rates> {
    let n = sorted.len();
    if n == 0 {
        return None;
    }
    let sum: f64 = sorted.iter().sum();
    let squares: f64 = sorted.iter().map(|x| x * x).sum();
    let slowest = &sorted[..n.div_ceil(10)];
    Some(Rates {
        median_bps: f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]),
        worst_tenth_bps: mean(slowest),
        jain: match squares > 0.0 {
            true => sum * sum / (n as f64 * squares),
            false => 1.0,
        },
    })
}

impl Answer {
    /// The recommended row; `None` if nothing that can be recommended ended.
    #[must_use]
    pub fn recommended(&self) -> Option<&Row> {
        self.rows.get(self.verdict.pick?)
    }

    /// The row of the default of Linux that gains are held against.
    #[must_use]
    pub fn baseline(&self) -> &Row {
        &self.rows[self.verdict.baseline]
    }

    /// What a row, an index into [`Answer::rows`], gains over the baseline.
    #[must_use]
    pub fn gain(&self, row: usize) -> Option<Gain> {
        let (rows, baseline) = verdict::standings(self, None);
        verdict::gain(rows.get(row)?, &rows[baseline])
    }

    /// What a row does to others, where that was measured.
    #[must_use]
    pub fn harm(&self, row: usize) -> Option<Harm> {
        let (rows, _) = verdict::standings(self, None);
        rows.get(row)?.harm
    }

    /// The rows of each proxy, the fastest first.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        let (rows, _) = verdict::standings(self, None);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let place = |i: usize| self.peps().iter().position(|pep| *pep == self.rows[i].pep);
        order.sort_by(|a, b| {
            let pep = place(*a).cmp(&place(*b));
            pep.then(rows[*a].mean().total_cmp(&rows[*b].mean()))
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
        let run = options.seed.wrapping_sub(self.seed);
        let shared = self.beside.is_some();
        self.crowd(row, size, shared, run).run(&self.path, options)
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
        let crowd = self.crowd(row, size, shared, seed.wrapping_sub(self.seed));
        let options = Options {
            seed,
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
    fn crowd(&self, row: &Row, size: usize, shared: bool, run: u64) -> Crowd<'_> {
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
            begins: self.path.begins(run),
            stagger,
            runner: self.runner.as_deref(),
        }
    }

    /// The scenario of a row; `shared` with users of what others run beside
    /// them.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn scenario(&self, row: &Row, size: usize, shared: bool) -> Result<Scenario, Error> {
        let crowd = self.crowd(row, size, shared || self.beside.is_some(), 0);
        crowd.scenario(&self.path).map(|(scenario, _)| scenario)
    }

    pub(super) fn work(&self, size: usize) -> Work {
        Work {
            traffic: self.traffic,
            size: self.sizes.get(size).copied().unwrap_or_default(),
            bitrate: self.bitrate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_time_in_ten_is_longer() {
        let run = |seed: u64| {
            let work = Work {
                traffic: Traffic::Download,
                size: Bytes::new(1),
                bitrate: Rate::from_mbps(1),
            };
            let mut run = RunResult::of(&Outcome::default(), &work, 0, |_| false);
            run.own = vec![super::super::UserResult {
                user: 0,
                activity: Activity::Download,
                time_s: Some(seed as f64),
                rate_bps: 0.0,
                p95_page_s: None,
                object_s: None,
                startup_s: None,
                stalls: 0,
                stall_s: 0.0,
            }];
            run
        };
        let cell = |runs: u64| Cell {
            runs: (1..=runs).map(run).collect(),
            ..Cell::default()
        };
        assert_eq!(cell(20).slow_s(), Some(18.0));
        assert_eq!(cell(9).slow_s(), None);
        assert_eq!(
            cell(3)
                .median_run()
                .and_then(|run| run.time_s(Activity::Download)),
            Some(2.0)
        );
    }

    #[test]
    fn rates_spread_over_users() {
        let even = rates(&[5.0; 20]).unwrap();
        assert_eq!(
            (even.median_bps, even.worst_tenth_bps, even.jain),
            (5.0, 5.0, 1.0)
        );
        let mut uneven = vec![0.0, 2.0];
        uneven.extend([10.0; 18]);
        let uneven = rates(&uneven).unwrap();
        assert_eq!((uneven.median_bps, uneven.worst_tenth_bps), (10.0, 1.0));
        assert!(uneven.jain < 0.95);
        assert!(rates(&[]).is_none());
    }
}
