//! An answer as records: its rows, the cells of their sizes, their runs and users.
//!
//! A line of a declaration here is a key of the JSON document, a column of the tables
//! and a field of the explorer's types. What is measured is in [`Cell`], [`RunResult`]
//! and [`UserResult`].

use super::answer::{Answer, Row};
use super::candidate::Candidate;
use super::cell::{Cell, Rates};
use super::jitter::Jitter;
use super::path::NetworkPath;
use super::profile::{LinkProfile, ProfileKind};
use super::result::{RunResult, UserResult};
use super::switch::{Build, SwitchOn};
use super::traffic::Activity;
use super::verdict::{Cost, Gain, Harm};
use bentpipe_outcome::{Column, Document, Named, Rows, Value, record};
use bentpipe_study::stats::Summary;

/// Whether records have the runs, or say only how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Each run is a record.
    Listed,
    /// There may be thousands: their number.
    Counted,
}

/// A row of an answer, with what is computed of all rows at once.
#[derive(Clone, Copy, Debug)]
pub struct RowAt<'a> {
    answer: &'a Answer,
    index: usize,
    build: Build,
    runs: Runs,
    gain: Option<Gain>,
    harm: Option<Harm>,
}

impl<'a> RowAt<'a> {
    fn row(&self) -> &'a Row {
        &self.answer.rows[self.index]
    }

    fn candidate(&self) -> &'a Candidate {
        &self.answer.candidates[self.row().candidate]
    }
}

/// A cell of an answer.
#[derive(Clone, Copy, Debug)]
pub struct CellAt<'a> {
    answer: &'a Answer,
    cell: &'a Cell,
    rates: Option<Rates>,
    runs: Runs,
}

impl CellAt<'_> {
    fn of_users(&self, value: fn(&UserResult) -> Option<f64>) -> Option<f64> {
        self.cell.users_mean(value)
    }

    fn listed(&self, runs: &[RunResult]) -> Rows<RunRecord> {
        match self.runs {
            Runs::Listed => Rows::Listed(runs.iter().map(RunRecord::of).collect()),
            Runs::Counted => Rows::Counted(runs.len()),
        }
    }
}

/// A user of a run of an answer.
#[derive(Clone, Copy, Debug)]
pub struct UserAt<'a> {
    row: &'a Row,
    cell: &'a Cell,
    run: &'a RunResult,
    user: &'a UserResult,
    is_other: bool,
}

record! {
    /// A transport behind a proxy.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct RowRecord of RowAt<'_> {
        /// How many users there are.
        column users: u32 = |at| at.answer.users;
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.row().pep.name();
        /// Congestion control and what is changed around it, with the queue unless it is the
        /// first.
        label transport: String = |at| at.row().name.clone();
        /// Queue before the link.
        label queue: String = |at| at.answer.queue(at.row()).to_string();
        /// What it is, in a line.
        key about: String = |at| at.candidate().about.clone();
        /// How far it is from being used.
        label availability: &'static str = |at| at.row().availability.name();
        /// True if all of it can be switched on today.
        label deployable: bool = |at| at.row().is_deployable();
        /// True for the recommended row.
        column recommended: bool = |at| at.answer.verdict.pick == Some(at.index);
        /// How it is switched on.
        key switch_on: SwitchOn = |at| {
            at.candidate().switch_on(at.answer.hosts, at.row().pep, at.build)
        };
        /// How the queue before the link is switched on; nothing for the one of today.
        key switch_on_queue: SwitchOn = |at| at.answer.switch_on_queue(at.row());
        /// Time saved against the default.
        part gain: Gain [
            share "gain_share",
            ci95 "gain_ci95_share" "half of its 95% interval",
        ] = |at| at.gain;
        /// Time that users of the default lose beside it.
        part others: Harm [
            share "others_time_lost_share",
            ci95 "others_time_lost_ci95_share" "half of its 95% interval",
        ] = |at| at.harm;
        /// One for each size.
        key cells: Vec<CellRecord> = |at| {
            let cells = at.row().cells.iter();
            cells.map(|cell| self::cell(at.answer, cell, at.runs)).collect()
        };
        /// Segments that a connection begins with.
        key initial_window_segments: f64 = |at| at.candidate().transport.initial_window;
        /// Largest window that the receiver advertises.
        key receive_buffer_bytes: u64 = |at| at.candidate().transport.receive_buffer.get();
        /// Payload of a full segment.
        key mss_bytes: u32 = |at| at.candidate().transport.mss;
        /// Segments that one acknowledgement is for.
        key ack_count: u32 = |at| at.candidate().transport.delayed_ack.count;
        /// Whose rules the hosts follow.
        key host_profile: &'static str = |at| at.candidate().transport.profile.name();
    }
}

record! {
    /// How a time spreads over the runs, seconds.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct Spread of Summary {
        /// Arithmetic mean.
        gauge mean: f64 = |times| times.mean;
        /// Half of the width of its 95% interval; null for a single run.
        gauge ci95: Option<f64> = |times| times.ci95;
        /// Of the runs; null for a single one.
        gauge standard_deviation: Option<f64> = |times| times.sd;
        /// The run in the middle.
        gauge median: f64 = |times| times.median;
        /// Smallest.
        gauge min: f64 = |times| times.min;
        /// Largest.
        gauge max: f64 = |times| times.max;
        /// Runs that ended.
        counter runs: usize = |times| times.n;
    }
}

record! {
    /// One size of a row: means over the runs.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct CellRecord of CellAt<'_> {
        /// Size of a download, or of a page on average.
        counter size_bytes: u64 = |at| at.cell.size.get();
        /// Time that a user waits, mean over the runs.
        part time: Spread as "time_s" [
            mean "time_s",
            ci95 "time_ci95_s" "half of its 95% interval",
            median "time_median_s" "median over the runs",
            min "time_min_s" "shortest run",
            max "time_max_s" "longest run",
        ] = |at| at.cell.time().as_ref().map(Spread::of);
        /// That time for each activity of the traffic.
        key times: Named<Option<Spread>> as "times_s" = |at| {
            let time = |of: Activity| at.cell.time_of(of).as_ref().map(Spread::of);
            let activities = at.answer.traffic.activities().into_iter();
            Named(activities.map(|of| (of.name(), time(of))).collect())
        };
        /// Time that one in ten exceeds.
        gauge slow_s: Option<f64> = |at| at.cell.slow_s();
        /// Runs in which a user's traffic did not end.
        counter unfinished_runs: usize = |at| at.cell.unfinished();
        /// Rate of the user in the middle.
        gauge median_user_bps: Option<f64> = |at| at.rates.map(|rates| rates.median_bps);
        /// Rate of the slowest tenth of the users.
        gauge worst_tenth_bps: Option<f64> = |at| at.rates.map(|rates| rates.worst_tenth_bps);
        /// 1 if all users get the same rate.
        gauge jain_index: Option<f64> = |at| at.rates.map(|rates| rates.jain);
        /// Time that 95% of the pages do not exceed.
        gauge p95_page_s: Option<f64> = |at| at.of_users(|user| user.p95_page_s);
        /// Mean time until a browser can draw a page of several objects.
        optional render_s: f64 = |at| at.of_users(|user| user.render_s);
        /// Mean time of the small objects beside the pages.
        gauge object_s: Option<f64> = |at| at.of_users(|user| user.object_s);
        /// Time before the video begins.
        gauge video_startup_s: Option<f64> = |at| at.of_users(|user| user.startup_s);
        /// Times that the video stops.
        gauge video_stalls: Option<f64> = |at| at.of_users(UserResult::video_stalls);
        /// How long it stands still.
        gauge video_stall_s: Option<f64> = |at| at.of_users(UserResult::video_stall_s);
        /// Part of the packets of calls that were lost, or late by more than 100 ms.
        gauge call_missed_share: Option<f64> = |at| at.of_users(|user| user.call_missed_share);
        /// Payload of all users over the time that they were there.
        gauge goodput_bps: f64 = |at| at.cell.goodput_bps();
        /// Packets sent again / packets sent.
        gauge resent_share: f64 = |at| at.cell.resent_share();
        /// 95th percentile of the wait at the link.
        gauge p95_queueing_delay_s: f64 = |at| at.cell.p95_queueing_delay_s();
        /// Retransmission timeouts per user.
        gauge timeouts_per_user: f64 = |at| at.cell.mean(|run| run.timeouts);
        /// Packets dropped by the queue before the link.
        gauge queue_drops: f64 = |at| at.cell.mean(|run| run.queue_drops as f64);
        /// Largest congestion window.
        gauge max_cwnd_segments: f64 = |at| at.cell.mean(|run| run.max_cwnd);
        /// Runs that it rests on.
        counter runs: Rows<RunRecord> = |at| at.listed(&at.cell.runs);
        /// Runs beside as many users of what others run.
        key shared_runs: Rows<RunRecord> = |at| at.listed(&at.cell.shared);
    }
}

record! {
    /// One run.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct RunRecord of RunResult {
        /// Seed of the run.
        counter seed: u64 = |run| run.seed;
        /// Mean time of its users by what they do; without those who did not end.
        key times: Named<f64> as "times_s" = |run| named(|of| run.time_s(of));
        /// The times of the users of what others run.
        optional others_times: Named<f64> as "others_times_s" = |run| {
            (!run.others.is_empty()).then(|| named(|of| run.others_time_s(of)))
        };
        /// Lost part of the background traffic.
        optional background_lost_share: f64 = |run| run.background_lost;
    }
}

record! {
    /// One user of a run.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct UserRecord of UserAt<'_> {
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.row.pep.name();
        /// Congestion control and what is changed around it.
        label transport: String = |at| at.row.name.clone();
        /// Size of a download, or of a page on average.
        counter size_bytes: u64 = |at| at.cell.size.get();
        /// Seed of the run.
        counter seed: u64 = |at| at.run.seed;
        /// Number of the user, from zero on.
        counter user: u32 = |at| at.user.user;
        /// True for users of what others run.
        label other: bool = |at| at.is_other;
        /// What the user did.
        label activity: &'static str = |at| at.user.activity.name();
        /// What the user waited for; missing if it did not end.
        gauge time_s: Option<f64> = |at| at.user.time_s;
        /// Payload over that time.
        gauge rate_bps: f64 = |at| at.user.rate_bps;
        /// Time that 95% of the pages did not exceed.
        gauge p95_page_s: Option<f64> = |at| at.user.p95_page_s;
        /// Mean time until a browser can draw a page of several objects.
        gauge render_s: Option<f64> = |at| at.user.render_s;
        /// Mean time of the small objects beside the pages.
        gauge object_s: Option<f64> = |at| at.user.object_s;
        /// Time before the video began.
        gauge video_startup_s: Option<f64> = |at| at.user.startup_s;
        /// Times that the video stopped.
        gauge video_stalls: Option<f64> = |at| at.user.video_stalls();
        /// How long it stood still.
        gauge video_stall_s: Option<f64> = |at| at.user.video_stall_s();
        /// Part of the packets of a call that were lost, or late by more than 100 ms.
        gauge call_missed_share: Option<f64> = |at| at.user.call_missed_share;
        /// Payload of all users of the run.
        gauge run_goodput_bps: f64 = |at| at.run.goodput_bps;
        /// Packets sent again / packets sent in the run.
        gauge run_resent_share: f64 = |at| at.run.resent_share;
        /// 95th percentile of the wait at the link.
        gauge run_p95_queueing_delay_s: f64 = |at| at.run.p95_queueing_delay_s;
    }
}

record! {
    /// The link.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct LinkRecord of NetworkPath {
        /// Rate towards the users.
        gauge rate_bps: u64 = |path| path.rate.bps();
        /// Rate back to the sender.
        gauge return_rate_bps: u64 = |path| path.return_rate.bps();
        /// Round-trip propagation time; over satellites its mean.
        gauge rtt_ns: u64 = |path| path.rtt.as_nanos();
        /// Share of the packets that the channel loses.
        gauge packet_error_rate: f64 = |path| path.loss.share.get();
        /// That share was not given: it is what such a link usually loses.
        label loss_is_assumed: bool = |path| path.is_loss_assumed;
        /// Packets that it loses in a row, on average; null where losses are independent.
        gauge mean_burst_packets: Option<f64> = |path| path.loss.burst;
        /// How the one-way delay varies, each way; null where it does not.
        label jitter: Option<String> = |path| path.jitter.as_ref().map(Jitter::to_string);
        /// The queue that the link has today, as given.
        label queue: String = |path| path.queue.to_string();
        /// What it holds at most.
        gauge queue_bytes: u64 = |path| path.queue_bytes().get();
        /// Bandwidth-delay product.
        gauge bdp_bytes: u64 = |path| path.bdp().get();
        /// Round trip between the server and the gateway, where they are two nodes.
        gauge server_rtt_ns: Option<u64> = |path| path.server_rtt.map(|rtt| rtt.as_nanos());
        /// How the link changes with time, if it does.
        part course: ProfileRecord = |path| path.profile.as_ref().map(ProfileRecord::of);
    }
}

record! {
    /// How a link changes with time.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct ProfileRecord of LinkProfile {
        /// `orbit`, `trace` or `fade`.
        label kind: &'static str = |profile| match profile.kind {
            ProfileKind::Orbit => "orbit",
            ProfileKind::Trace => "trace",
            ProfileKind::Fade => "fade",
        };
        /// The orbit, file or fade that was named.
        label name: String = |profile| profile.name.clone();
        /// What it is, in words.
        label text: String = |profile| profile.text.clone();
        /// What one should know about it, a sentence each.
        key notes: Vec<String> = |profile| profile.notes.clone();
        /// Mean rate towards the users.
        gauge mean_rate_bps: u64 = |profile| profile.rate.bps();
        /// Smallest round-trip propagation time while there is a path.
        gauge min_rtt_ns: u64 = |profile| profile.rtt[0].as_nanos();
        /// Its mean.
        gauge mean_rtt_ns: u64 = |profile| profile.rtt[1].as_nanos();
        /// Its maximum.
        gauge max_rtt_ns: u64 = |profile| profile.rtt[2].as_nanos();
        /// Share of the full packets that the trace loses.
        gauge lost_share: f64 = |profile| profile.lost;
        /// How often the path changes.
        gauge path_changes_per_hour: f64 = LinkProfile::changes_per_hour;
        /// Share of the time with a path.
        gauge availability: f64 = |profile| profile.availability;
        /// The longest time without a path.
        gauge longest_outage_s: f64 = |profile| profile.longest_outage.as_secs();
        /// Runs begin within this time.
        gauge span_s: f64 = |profile| profile.span.as_secs();
    }
}

record! {
    /// What a recommended setting costs: the numbers of its kind.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct CostRecord document {
        /// `unfinished`, `harm`, `background`, `waiting`, `waste` or `slow`.
        label kind: &'static str;
        /// Runs that did not end.
        optional count: usize;
        /// Of so many.
        optional of: usize;
        /// Share by which others are slowed down.
        optional time_lost_share: f64;
        /// Share of the background traffic that is lost.
        optional lost_share: f64;
        /// Wait of packets of others at the link, 95th percentile.
        optional p95_wait_s: f64;
        /// Share of its packets that are sent again.
        optional resent_share: f64;
        /// Time that one in ten exceeds.
        optional slow_s: f64;
        /// That share with the baseline.
        optional before: f64;
        /// That time with the baseline.
        optional before_s: Option<f64>;
    }
}

impl From<&Cost> for CostRecord {
    fn from(cost: &Cost) -> CostRecord {
        let mut record = CostRecord::default();
        record.kind = match *cost {
            Cost::Unfinished { count, of } => {
                (record.count, record.of) = (Some(count), Some(of));
                "unfinished"
            }
            Cost::Harm(share) => {
                record.time_lost_share = Some(share);
                "harm"
            }
            Cost::Background { lost, before } => {
                (record.lost_share, record.before) = (Some(lost), Some(before));
                "background"
            }
            Cost::Waiting { wait_s, before_s } => {
                (record.p95_wait_s, record.before_s) = (Some(wait_s), Some(Some(before_s)));
                "waiting"
            }
            Cost::Waste { share, before } => {
                (record.resent_share, record.before) = (Some(share), Some(before));
                "waste"
            }
            Cost::Slow { slow_s, before_s } => {
                (record.slow_s, record.before_s) = (Some(slow_s), Some(before_s));
                "slow"
            }
        };
        record
    }
}

/// The times of the activities of which there are any.
fn named(time: impl Fn(Activity) -> Option<f64>) -> Named<f64> {
    let times = Activity::ALL.into_iter();
    Named(
        times
            .filter_map(|of| Some((of.name(), time(of)?)))
            .collect(),
    )
}

/// The rows of an answer in [`Answer::order`]: of each proxy the fastest first.
#[must_use]
pub fn rows(answer: &Answer, build: Build, runs: Runs) -> Vec<RowRecord> {
    let (gains, harms) = answer.effects();
    let row = |index: usize| {
        RowRecord::of(&RowAt {
            answer,
            index,
            build,
            runs,
            gain: gains[index],
            harm: harms[index],
        })
    };
    answer.order().into_iter().map(row).collect()
}

/// A cell of an answer.
#[must_use]
pub fn cell(answer: &Answer, cell: &Cell, runs: Runs) -> CellRecord {
    CellRecord::of(&CellAt {
        answer,
        cell,
        rates: cell.rates(),
        runs,
    })
}

/// A table: its columns, and the cells of its rows.
pub type Table = (Vec<Column>, Vec<Vec<Value>>);

/// A table with a row for each transport, proxy and size.
#[must_use]
pub fn rows_table(answer: &Answer) -> Table {
    let columns = [RowRecord::columns(), CellRecord::columns()].concat();
    let rows = rows(answer, Build::default(), Runs::Counted);
    let of_row = |row: &RowRecord| -> Vec<Vec<Value>> {
        let (head, cells) = (row.cells(), row.cells.iter());
        cells
            .map(|cell| [head.clone(), cell.cells()].concat())
            .collect()
    };
    (columns, rows.iter().flat_map(of_row).collect())
}

/// The rows of several answers as one table, such as those for several numbers of users.
#[must_use]
pub fn answers_table(answers: &[Answer]) -> Table {
    let mut rows = Vec::new();
    for answer in answers {
        rows.extend(rows_table(answer).1);
    }
    let columns = [RowRecord::columns(), CellRecord::columns()].concat();
    (columns, rows)
}

/// A table with a row for each user of each run.
#[must_use]
pub fn users_table(answer: &Answer) -> Table {
    let mut rows = Vec::new();
    for row in answer.order().into_iter().map(|index| &answer.rows[index]) {
        for cell in &row.cells {
            for run in &cell.runs {
                let own = run.own.iter().map(|user| (user, false));
                let all = own.chain(run.others.iter().map(|user| (user, true)));
                rows.extend(all.map(|(user, is_other)| {
                    UserRecord::of(&UserAt {
                        row,
                        cell,
                        run,
                        user,
                        is_other,
                    })
                    .cells()
                }));
            }
        }
    }
    (UserRecord::columns(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Comparison;
    use bentpipe_units::{Bytes, Rate};

    #[test]
    fn tables_have_a_cell_for_each_column_and_name_each_once() {
        let answer = Comparison::new()
            .rate(Rate::from_mbps(2))
            .sizes([Bytes::new(30_000), Bytes::new(60_000)])
            .transports(["cubic", "bbr"])
            .runs(2)
            .run()
            .unwrap();
        for (columns, rows) in [rows_table(&answer), users_table(&answer)] {
            assert!(rows.len() >= 4);
            assert!(rows.iter().all(|row| row.len() == columns.len()));
            let mut names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), columns.len());
        }
        let [listed, counted] =
            [Runs::Listed, Runs::Counted].map(|runs| cell(&answer, &answer.rows[0].cells[0], runs));
        assert_eq!(listed.cells(), counted.cells());
        assert!(matches!(listed.runs, Rows::Listed(runs) if runs.len() == 2));
    }
}
