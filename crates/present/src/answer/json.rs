//! The answer as one JSON document, units in the names.

use super::print;
use super::robust::RobustRecord;
use bentpipe::compare::record::{self, CostRecord, LinkRecord, RowRecord, Runs};
use bentpipe::compare::{
    Against, Answer, Build, ChangeCost, DayRow, GIVEN_UP, Gain, Harm, Hour, Needed, SwitchOn,
};
use bentpipe_outcome::record;
use serde_json::{Value, json};

/// The whole document: an [`AnswerRecord`].
pub fn document(answer: &Answer, build: Build) -> Value {
    json!(AnswerRecord::of(&(answer, build)))
}

/// The verdict alone: a [`VerdictRecord`].
pub fn verdict(answer: &Answer, build: Build) -> Value {
    json!(VerdictRecord::of(&(answer, build)))
}

record! {
    /// The answer of a comparison.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct AnswerRecord of (&Answer, Build) {
        /// The link.
        key link: LinkRecord = |at| LinkRecord::of(&at.0.path);
        /// The hosts: `linux` or `rfc`.
        label hosts: &'static str = |at| at.0.hosts.name();
        /// What the users do.
        label traffic: String = |at| at.0.traffic.to_string();
        /// How many users there are.
        counter users: u32 = |at| at.0.users;
        /// Terminals behind which they are, each with a return link of its own, where there are
        /// several.
        optional terminals: u32 = |at| Some(at.0.terminals).filter(|n| *n > 1);
        /// What half of them run, where that was asked.
        label beside: Option<String> = |at| at.0.beside.clone();
        /// Users of the runs in which half of them run the default.
        counter users_shared: u32 = |at| at.0.users_shared;
        /// Traffic that no transport controls.
        label background: Option<String> = |at| at.0.background.map(|b| b.to_string());
        /// Time over which starts are spread.
        gauge stagger_s: f64 = |at| at.0.stagger.as_secs();
        /// Sizes of downloads, or of pages on average.
        key sizes_bytes: Vec<u64> = |at| at.0.sizes.iter().map(|size| size.get()).collect();
        /// Bitrate of the videos.
        gauge video_bitrate_bps: u64 = |at| at.0.bitrate.bps();
        /// Time at the full rate of the link for each size; null where it would never end.
        key ideal_times_s: Vec<Option<f64>> = |at| {
            let ideal = at.0.ideal.iter();
            ideal.map(|time| (*time <= GIVEN_UP).then(|| time.as_secs())).collect()
        };
        /// Seed of the first run.
        counter seed: u64 = |at| at.0.seed;
        /// Most runs that a row has.
        counter runs: usize = |at| at.0.most_runs();
        /// Packets that all runs took over links.
        counter packets: u64 = |at| at.0.packets();
        /// The queues that were compared; the first is the one that the link has today.
        key queues: Vec<String> = |at| at.0.queues.iter().map(ToString::to_string).collect();
        /// What follows.
        key verdict: VerdictRecord = VerdictRecord::of;
        /// Each proxy with each transport, the fastest of each proxy first.
        key rows: Vec<RowRecord> = |at| record::rows(at.0, at.1, Runs::Listed);
        /// What changes of the link cost.
        key changes_cost: Vec<ChangeRecord> = |at| {
            let costs = at.0.change_costs.iter();
            costs.map(|cost| ChangeRecord::of(&(at.0, cost))).collect()
        };
        /// Whether the advice holds beside the question, where that was asked.
        part robustness: RobustRecord = |at| {
            at.0.robustness.as_ref().map(|robust| RobustRecord::of(&(at.0, robust)))
        };
        /// Times by the time of the beginning, where that was asked.
        part by_time: TimesRecord = TimesRecord::of_answer;
        /// What other numbers must have in common with these.
        key comparable_only_with: Vec<String> = |at| print::points(at.0);
    }
}

record! {
    /// The verdict.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct VerdictRecord of (&Answer, Build) {
        /// The recommended row; null if nothing ended.
        part pick: RowName = |at| at.0.verdict.pick.map(|row| RowName::of(&(at.0, row)));
        /// The row that gains are held against.
        key baseline: RowName = |at| RowName::of(&(at.0, at.0.verdict.baseline));
        /// Nothing is to be changed.
        label keep: bool = |at| at.0.is_kept();
        /// What the pick gains over the baseline.
        part gain: Gain = |at| at.0.verdict.gain;
        /// What users of the default lose beside the pick.
        part others: Harm = |at| at.0.verdict.harm;
        /// Rows that are as fast as the pick and no easier to deploy.
        key as_good: Vec<RowName> = |at| {
            let rows = at.0.verdict.as_good.iter();
            rows.map(|row| RowName::of(&(at.0, *row))).collect()
        };
        /// Rows that are faster than the pick and not recommended.
        key rejected: Vec<RejectedRecord> = |at| {
            let rows = 0..at.0.verdict.rejected.len();
            rows.map(|i| RejectedRecord::of(&(at.0, i))).collect()
        };
        /// What the pick costs.
        key costs: Vec<CostRecord> = |at| {
            at.0.verdict.costs.iter().map(CostRecord::from).collect()
        };
        /// Sizes for which another row is better.
        key by_size: Vec<BySizeRecord> = |at| {
            let sizes = 0..at.0.verdict.by_size.len();
            sizes.map(|i| BySizeRecord::of(&(at.0, i))).collect()
        };
        /// How sure it is: `exact`, `clear`, `borderline` or `open`.
        label certainty: &'static str = |at| at.0.verdict.certainty.name();
        /// What a verdict that is not clear stands against.
        part against: AgainstRecord = |at| {
            at.0.verdict.against.as_ref().map(|against| AgainstRecord::of(&(at.0, against)))
        };
        /// Sentences; the first is the headline.
        key text: Vec<String> = |at| at.0.sentences();
        /// How the pick is switched on.
        key switch_on: SwitchOn = |at| at.0.switch_on(at.1);
        /// How the queue of the pick is switched on; nothing for the one of today.
        key switch_on_queue: SwitchOn = |at| {
            let pick = at.0.recommended();
            pick.map_or_else(SwitchOn::default, |pick| at.0.switch_on_queue(pick))
        };
    }
}

record! {
    /// What a verdict that is not clear stands against.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct AgainstRecord of (&Answer, &Against) {
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.0.rows[at.1.row].pep.name();
        /// Congestion control and what is changed around it.
        label transport: String = |at| at.0.rows[at.1.row].name.clone();
        /// What it gains over the baseline.
        part gain: Gain = |at| at.1.gain;
        /// What users of the default lose beside it.
        part others: Harm = |at| at.1.harm;
        /// What decides between the two: `gain`, `harm`, `waste`, `loss of an activity`,
        /// `unfinished runs` or `faster`.
        label decides: &'static str = |at| at.1.threshold.name();
        /// Runs that would probably tell; null unless it is open.
        part needed: Needed = |at| at.1.needed;
    }
}

record! {
    /// The name of a row, an index into those of the answer.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct RowName of (&Answer, usize) {
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.0.rows[at.1].pep.name();
        /// Congestion control and what is changed around it.
        label transport: String = |at| at.0.rows[at.1].name.clone();
    }
}

record! {
    /// A row that is faster than the pick and not recommended, an index into those of the
    /// verdict.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct RejectedRecord of (&Answer, usize) {
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.0.rows[at.0.verdict.rejected[at.1].0].pep.name();
        /// Congestion control and what is changed around it.
        label transport: String = |at| at.0.rows[at.0.verdict.rejected[at.1].0].name.clone();
        /// Why it is not.
        label why: &'static str = |at| at.0.verdict.rejected[at.1].1.name();
    }
}

record! {
    /// A size for which another row is better, an index into those of the verdict.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct BySizeRecord of (&Answer, usize) {
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.0.rows[at.0.verdict.by_size[at.1].1].pep.name();
        /// Congestion control and what is changed around it.
        label transport: String = |at| at.0.rows[at.0.verdict.by_size[at.1].1].name.clone();
        /// The size.
        counter size_bytes: u64 = |at| at.0.verdict.by_size[at.1].0.get();
        /// What it gains over the pick.
        key gain: Gain = |at| at.0.verdict.by_size[at.1].2;
    }
}

record! {
    /// What the changes of the link cost a setting.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct ChangeRecord of (&Answer, &ChangeCost) {
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.0.rows[at.1.row].pep.name();
        /// Congestion control and what is changed around it.
        label transport: String = |at| at.0.rows[at.1.row].name.clone();
        /// Mean time on the link as it changes.
        gauge time_s: f64 = |at| at.1.changing_s;
        /// Mean time on a link that keeps its mean.
        gauge time_without_changes_s: f64 = |at| at.1.steady_s;
        /// Retransmission timeouts on the link as it changes.
        gauge timeouts_per_user: f64 = |at| at.1.timeouts[0];
        /// Those on a link that keeps its mean.
        gauge timeouts_per_user_without_changes: f64 = |at| at.1.timeouts[1];
        /// Runs of each.
        counter runs: usize = |at| at.1.runs;
    }
}

record! {
    /// The link and the times by the time of the beginning.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct TimesRecord document {
        /// The link from one beginning to the next.
        key link: Vec<HourRecord>;
        /// Each proxy with each transport.
        key rows: Vec<TimesOfRow>;
    }
}

impl TimesRecord {
    fn of_answer(&(answer, _): &(&Answer, Build)) -> Option<TimesRecord> {
        let day = answer.day()?;
        let rows = day.rows.iter();
        Some(TimesRecord {
            link: day.hours.iter().map(HourRecord::of).collect(),
            rows: rows.map(|row| TimesOfRow::of(&(answer, row))).collect(),
        })
    }
}

record! {
    /// The link from one beginning to the next.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct HourRecord of Hour {
        /// When it begins.
        gauge begins_s: f64 = |hour| hour.at.as_secs();
        /// Mean rate towards the users.
        gauge rate_bps: u64 = |hour| hour.rate.bps();
        /// Mean round-trip propagation time while there is a path.
        gauge rtt_ns: u64 = |hour| hour.rtt.as_nanos();
        /// Changes of path.
        counter path_changes: usize = |hour| hour.changes;
        /// Share of the time with a path.
        gauge availability: f64 = |hour| hour.availability;
    }
}

record! {
    /// How users of a row fare by the time at which they begin.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct TimesOfRow of (&Answer, &DayRow) {
        /// Proxy at the gateway.
        label pep: &'static str = |at| at.0.rows[at.1.row].pep.name();
        /// Congestion control and what is changed around it.
        label transport: String = |at| at.0.rows[at.1.row].name.clone();
        /// The run in the middle; null if it did not end.
        gauge median_s: Option<f64> = |at| at.1.median_s;
        /// Mean of the slowest tenth of the runs; null if one did not end.
        gauge worst_tenth_s: Option<f64> = |at| at.1.worst_tenth_s;
        /// Mean time of a run's users for each beginning; null if one did not end.
        key times_s: Vec<Option<f64>> = |at| at.1.times_s.clone();
        /// Retransmission timeouts for each beginning.
        key timeouts_per_user: Vec<f64> = |at| at.1.timeouts.clone();
    }
}
