//! What a comparison found: a row for each setting behind each proxy, a cell for
//! each size, a result for each run.

use super::background::Background;
use super::candidate::{Availability, Candidate, Hosts};
use super::cell::Cell;
use super::crowd::Runner;
use super::path::NetworkPath;
use super::pep::Pep;
use super::profile::LinkProfile;
use super::queue::Queue;
use super::result::{RunResult, UserResult};
use super::robust::Robustness;
use super::traffic::Traffic;
use super::verdict::Verdict;
use bentpipe_scenario::Limits;
use bentpipe_sim::Stop;
use bentpipe_tcp::Transport;
use bentpipe_units::{Bytes, Duration, Rate};
use std::sync::Arc;

/// What a comparison found.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Answer {
    /// The path that the traffic crossed.
    pub path: NetworkPath,
    /// The hosts.
    pub hosts: Hosts,
    /// What the users did.
    pub traffic: Traffic,
    /// How many users there were.
    pub users: u32,
    /// Terminals behind which they are, each with a return link of its own.
    pub terminals: u32,
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
    /// Sizes, ascending: of a download, or of a page on average. One without
    /// meaning where all users watch videos.
    pub sizes: Vec<Bytes>,
    /// Time of a download of each size at the full rate of the link, shared by
    /// all users: no transport is faster. Empty for other traffic.
    pub ideal: Vec<Duration>,
    /// Seed of the first run; others count up from it.
    pub seed: u64,
    /// What the sender of the question's capture runs, with which the rest is compared; `None`
    /// without a capture, or where it is unknown.
    pub current: Option<String>,
    /// The time over which runs begin at even distances, where that was asked.
    pub over: Option<Duration>,
    /// What changes of the link cost the default and the recommended setting; empty
    /// for a link that does not change.
    pub change_costs: Vec<ChangeCost>,
    /// Whether the advice holds beside the question, where that was asked.
    pub robustness: Option<Robustness>,
    /// The settings that were compared, in the order of the line-up.
    pub candidates: Vec<Candidate>,
    /// The queues before the link that were compared; the first is the one that the link
    /// has today, and that of [`path`](Answer::path).
    pub queues: Vec<Queue>,
    /// Each proxy with each setting, before each queue.
    pub rows: Vec<Row>,
    /// What follows from them: [`decide`](super::decide).
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
    /// Pages that each reader reads: fewer than [`PAGES`](super::PAGES) where runs would be
    /// too long for the time.
    pub(super) pages: u32,
    /// Objects that a page divides into.
    pub(super) page_objects: u32,
    /// A name is looked up before each connection.
    pub(super) dns: bool,
    /// What the channel loses was not said.
    pub(super) is_loss_assumed: bool,
    /// Another seed gives another result.
    pub(super) is_random: bool,
    /// The number of runs was asked for.
    pub(super) is_fixed: bool,
    /// Packets that the runs may take over links in all, about; infinite where their
    /// number was asked for.
    pub(super) budget: f64,
}

/// One setting behind one proxy.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Row {
    /// The proxy.
    pub pep: Pep,
    /// Index into [`Answer::candidates`].
    pub candidate: usize,
    /// Index into [`Answer::queues`].
    pub queue: usize,
    /// Name of the setting, with the queue unless it is the first: `bbr with codel`.
    pub name: String,
    /// How far the setting is from being used.
    pub availability: Availability,
    /// One for each size.
    pub cells: Vec<Cell>,
}

/// What changes of the link cost one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct ChangeCost {
    /// Index into [`Answer::rows`].
    pub row: usize,
    /// Mean time over the runs on the link as it changes, seconds.
    pub changing_s: f64,
    /// Mean time over the same runs on a link that keeps its mean, seconds.
    pub steady_s: f64,
    /// Retransmission timeouts per user, on the link as it changes and on the
    /// steady one.
    pub timeouts: [f64; 2],
    /// Runs of each.
    pub runs: usize,
}

impl ChangeCost {
    /// The part of the time that the changes cost; negative if they save some.
    #[must_use]
    pub fn cost(&self) -> f64 {
        1.0 - self.steady_s / self.changing_s
    }
}

impl Row {
    /// True if all of it can be switched on today.
    #[must_use]
    pub const fn is_deployable(&self) -> bool {
        self.availability.is_deployable() && self.pep.exists()
    }
}

impl Answer {
    /// Objects that a page divides into.
    #[must_use]
    pub const fn page_objects(&self) -> u32 {
        self.page_objects
    }

    /// True where a name is looked up before each connection.
    #[must_use]
    pub const fn has_dns(&self) -> bool {
        self.dns
    }

    /// True if something that is compared, or that others run, goes over QUIC.
    #[must_use]
    pub fn has_quic(&self) -> bool {
        let mut all = self.candidates.iter().chain([&self.other]);
        all.any(|candidate| candidate.setting.quic)
    }

    /// The recommended row; `None` if nothing that can be recommended ended.
    #[must_use]
    pub fn recommended(&self) -> Option<&Row> {
        self.rows.get(self.verdict.pick?)
    }

    /// The same with another switch that stops further runs, such as
    /// [`rerun`](Answer::rerun); that of the comparison holds for them unless it is
    /// replaced.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Answer {
        self.stop = stop;
        self
    }

    /// What stops further runs.
    pub(crate) fn stop_of_runs(&self) -> Stop {
        self.stop.clone()
    }

    /// Memory that it takes, about: that of its runs, and of how its link changes.
    #[must_use]
    pub fn memory(&self) -> Bytes {
        let users = |run: &RunResult| (run.own.len() + run.others.len()) * size_of::<UserResult>();
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let runs = cells.flat_map(|cell| cell.runs.iter().chain(&cell.shared));
        let runs: usize = runs.map(|run| size_of::<RunResult>() + users(run)).sum();
        let profile = self.path.profile.as_ref().map_or(0, LinkProfile::memory);
        Bytes::new((size_of::<Answer>() + runs + profile) as u64)
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

    /// The setting of a row, as it is typed.
    #[must_use]
    pub fn transport(&self, row: &Row) -> &str {
        &self.candidates[row.candidate].name
    }

    /// The queue of a row.
    #[must_use]
    pub fn queue(&self, row: &Row) -> Queue {
        self.queues.get(row.queue).copied().unwrap_or_default()
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
}
