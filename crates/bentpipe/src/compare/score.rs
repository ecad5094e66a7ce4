//! What is known of each row, as the decision needs it: a score for each seed, what
//! others lose, what is wasted.

use super::answer::{Answer, Row};
use super::candidate::{Availability, DEFAULT, Hosts};
use super::cell::Cell;
use super::pep::Pep;
use super::result::RunResult;
use super::sequential::Plan;
use super::traffic::Activity;
use super::verdict::{HARM_NOTED, Harm, WAIT_NOTED_S, WAIT_RATIO, WASTE_NOTED};
use bentpipe_study::stats::{Summary, ci95, mean};

/// The rows of an answer as the decision compares them.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    /// One for each row of the answer.
    pub(super) rows: Vec<RowScore>,
    /// The row that gains are held against: the default, without a proxy if that was
    /// compared.
    pub(super) baseline: usize,
    /// Share of the packets that the link loses, whatever is sent.
    pub(super) lost: f64,
    /// How often they are looked at.
    pub(super) plan: Plan,
}

/// How two rows differ, by runs with the same seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    /// Mean difference of the scores.
    pub(super) mean: f64,
    /// Half of the width of its 95% interval.
    pub(super) ci95: f64,
}

/// What is known of a row, as the decision needs it.
#[derive(Clone, Debug)]
pub(super) struct RowScore {
    /// Effort to use it: the proxy weighs more than the setting.
    pub(super) effort: (u8, Availability),
    pub(super) deployable: bool,
    /// A score for each seed; `None` where a user did not end.
    pub(super) scores: Vec<Option<f64>>,
    /// The same of each activity alone, where there are several.
    pub(super) by_activity: Vec<(Activity, Vec<Option<f64>>)>,
    /// A score of users of the default beside it for each seed; of the baseline that of
    /// all users, who are alike.
    pub(super) others: Vec<Option<f64>>,
    /// Packets sent again / packets sent, for each seed.
    pub(super) resent: Vec<f64>,
    pub(super) harm: Option<Harm>,
    pub(super) resent_share: f64,
    pub(super) wait_s: f64,
    /// Mean score, infinite if nothing ended. A row with fewer runs than the baseline
    /// is held against it by the seeds that both have: those may be easy ones.
    pub(super) level: f64,
    /// Another seed gives another score.
    pub(super) is_random: bool,
}

impl RowScore {
    pub(super) fn unfinished(&self) -> usize {
        self.scores.iter().filter(|s| s.is_none()).count()
    }

    /// Mean score of its own runs; infinite if nothing ended.
    fn shown(&self) -> f64 {
        level(&self.scores, &[])
    }

    /// What others lose, beyond chance.
    pub(super) fn harm(&self) -> f64 {
        self.harm.map_or(0.0, |harm| harm.beyond_chance())
    }

    /// What it costs others and `base` does not, in units that are worth a word each: a
    /// twentieth of their time or of the packets, a wait in the queue.
    pub(super) fn burdens(&self, base: &RowScore) -> usize {
        let units = |share: f64| (share / HARM_NOTED) as usize;
        let waits = self.wait_s > WAIT_NOTED_S && self.wait_s > WAIT_RATIO * base.wait_s;
        let waste = self.resent_share - base.resent_share;
        let wastes = waste > WASTE_NOTED;
        units(self.harm()) + usize::from(waits) + usize::from(wastes) + units(waste)
    }

    /// How much slower it is than `other`, by runs with the same seeds; infinitely so
    /// where no seed ended for both.
    pub(super) fn slower_than(&self, other: &RowScore) -> Difference {
        let pairs = self.scores.iter().zip(&other.scores);
        let pairs = pairs.filter_map(|(a, b)| Some((*a)? - (*b)?));
        let differences: Vec<f64> = pairs.collect();
        // One run says nothing of what another seed gives.
        let of_one = if self.is_random { f64::INFINITY } else { 0.0 };
        match differences.is_empty() {
            true => Difference {
                mean: f64::INFINITY,
                ci95: 0.0,
            },
            false => Difference {
                mean: mean(&differences),
                ci95: ci95(&differences).unwrap_or(of_one),
            },
        }
    }
}

impl Scores {
    /// Over all sizes.
    pub(super) fn of(answer: &Answer) -> Scores {
        let sizes: Vec<usize> = (0..answer.sizes.len()).collect();
        Scores::over(answer, &sizes)
    }

    /// Over these sizes, which are indices into [`Answer::sizes`].
    pub(super) fn over(answer: &Answer, sizes: &[usize]) -> Scores {
        let current = answer.current.as_deref().unwrap_or(DEFAULT);
        let is_default = |row: &Row| row.name == current;
        let mut rows = answer.rows.iter();
        let without = rows.position(|row| is_default(row) && row.pep == Pep::None);
        let baseline = without.or_else(|| answer.rows.iter().position(is_default));
        let baseline = baseline.unwrap_or(0);
        let activities = answer.traffic.activities();
        let base = &answer.rows[baseline];
        let plan = match (answer.is_random, answer.is_fixed) {
            (false, _) => Plan::Exact,
            (true, true) => Plan::Once,
            (true, false) => Plan::Looks,
        };
        // On idealised hosts the best idea is sought.
        let is_idea = |row: &Row| {
            let ideas = answer.hosts == Hosts::Rfc && row.availability == Availability::Absent;
            ideas && row.pep.exists()
        };
        let base_scores = scores(base, base, sizes, &activities);
        let score = |row: &Row| {
            let scores = scores(row, base, sizes, &activities);
            let cells = || sizes.iter().map(|size| &row.cells[*size]);
            let over = |f: fn(&Cell) -> f64| mean(&cells().map(f).collect::<Vec<_>>());
            let alone = |of: &Activity| (*of, self::scores(row, base, sizes, &[*of]));
            let by_activity = match activities.len() {
                1 => Vec::new(),
                _ => activities.iter().map(alone).collect(),
            };
            let others = others(answer, row, base, sizes, &activities);
            RowScore {
                effort: (effort(row.pep), row.availability),
                deployable: row.is_deployable() || is_idea(row),
                level: level(&scores, &base_scores),
                scores,
                by_activity,
                resent: resent(row, sizes),
                is_random: answer.is_random,
                harm: others.as_ref().and_then(|(_, harm)| *harm),
                others: others.map_or_else(Vec::new, |(others, _)| others),
                resent_share: over(Cell::resent_share),
                wait_s: over(Cell::p95_queueing_delay_s),
            }
        };
        Scores {
            rows: answer.rows.iter().map(score).collect(),
            baseline,
            lost: answer.path.lost(),
            plan,
        }
    }

    /// What a row does to others, with what is shown of it.
    pub(super) fn harm_of(&self, row: usize) -> Option<Harm> {
        let between = self.harm_between(row);
        self.rows[row].harm.map(|harm| Harm {
            least: between.map(|between| between[0]),
            most: between.map(|between| between[1]),
            ..harm
        })
    }

    /// The baseline's.
    pub(super) fn base(&self) -> &RowScore {
        &self.rows[self.baseline]
    }
}

impl Answer {
    /// The rows of each proxy, the fastest first.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        // By the times that a table shows.
        let shown: Vec<f64> = Scores::of(self).rows.iter().map(RowScore::shown).collect();
        let peps = self.peps();
        let place = |i: usize| peps.iter().position(|pep| *pep == self.rows[i].pep);
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by(|a, b| {
            let pep = place(*a).cmp(&place(*b));
            pep.then(shown[*a].total_cmp(&shown[*b]))
        });
        order
    }
}

/// The mean score of a row. A row with fewer runs than the baseline is corrected for
/// what the baseline's other runs show of its seeds: as far as the two went up and down
/// together, which of few runs is taken for granted.
fn level(scores: &[Option<f64>], base: &[Option<f64>]) -> f64 {
    let of = |scores: &[Option<f64>]| -> Vec<f64> { scores.iter().copied().flatten().collect() };
    let own = of(scores);
    if own.is_empty() {
        return f64::INFINITY;
    }
    let pairs = scores.iter().zip(base);
    let (with, without): (Vec<f64>, Vec<f64>) =
        pairs.filter_map(|(a, b)| Some(((*a)?, (*b)?))).unzip();
    if without.is_empty() || scores.len() >= base.len() {
        return mean(&own);
    }
    let (here, there) = (mean(&with), mean(&without));
    let slope = match with.len() {
        ..4 => here / there,
        _ => slope(&with, &without, here, there),
    };
    here + slope * (mean(&of(base)) - there)
}

/// How much `a` goes up where `b` does, not less than none.
fn slope(a: &[f64], b: &[f64], mean_a: f64, mean_b: f64) -> f64 {
    let pairs = a.iter().zip(b);
    let both: f64 = pairs.map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
    let one: f64 = b.iter().map(|b| (b - mean_b) * (b - mean_b)).sum();
    match one > 0.0 {
        true => (both / one).clamp(0.0, mean_a / mean_b),
        false => 0.0,
    }
}

const fn effort(pep: Pep) -> u8 {
    match pep {
        Pep::None => 0,
        Pep::Split => 1,
        Pep::Snoop => 2,
        Pep::Gateway => 3,
    }
}

fn scores(row: &Row, base: &Row, sizes: &[usize], activities: &[Activity]) -> Vec<Option<f64>> {
    let runs = row.cells.first().map_or(0, |cell| cell.runs.len());
    let usual = usual(
        base,
        sizes,
        activities,
        |cell| &cell.runs,
        RunResult::time_s,
    );
    (0..runs)
        .map(|i| score(row, i, &usual, |cell| &cell.runs, RunResult::time_s))
        .collect()
}

type RunsOf = fn(&Cell) -> &Vec<RunResult>;
type TimeOf = fn(&RunResult, Activity) -> Option<f64>;

/// The mean times of the baseline: by size and activity. Where none ended it
/// is a second.
fn usual(
    base: &Row,
    sizes: &[usize],
    activities: &[Activity],
    runs: RunsOf,
    time: TimeOf,
) -> Vec<(usize, Activity, f64)> {
    let mut found = Vec::new();
    for size in sizes {
        for activity in activities {
            let runs = runs(&base.cells[*size]).iter();
            let times: Vec<f64> = runs.filter_map(|run| time(run, *activity)).collect();
            let summary = Summary::of(&times);
            found.push((*size, *activity, summary.map_or(1.0, |s| s.mean.max(1e-9))));
        }
    }
    found
}

/// The score of one run: times over the baseline's means, on average.
fn score(
    row: &Row,
    run: usize,
    usual: &[(usize, Activity, f64)],
    runs: RunsOf,
    time: TimeOf,
) -> Option<f64> {
    let mut sum = 0.0;
    for (size, activity, usual) in usual {
        let run = runs(&row.cells[*size]).get(run)?;
        sum += time(run, *activity)? / usual;
    }
    Some(sum / usual.len() as f64)
}

/// Packets sent again / packets sent in each run, the mean over the sizes.
fn resent(row: &Row, sizes: &[usize]) -> Vec<f64> {
    let runs = row.cells.first().map_or(0, |cell| cell.runs.len());
    let of = |run: usize| {
        let cells = sizes
            .iter()
            .filter_map(|size| row.cells[*size].runs.get(run));
        mean(&cells.map(|run| run.resent_share).collect::<Vec<_>>())
    };
    (0..runs).map(of).collect()
}

/// What others experience beside a row, for each seed, and what that comes to against
/// the baseline; `None` where it was not measured.
#[allow(clippy::type_complexity, reason = "two results of one measurement")]
fn others(
    answer: &Answer,
    row: &Row,
    base: &Row,
    sizes: &[usize],
    activities: &[Activity],
) -> Option<(Vec<Option<f64>>, Option<Harm>)> {
    let runs: RunsOf = match row.cells.first()?.shared.is_empty() {
        true => |cell| &cell.runs,
        false => |cell| &cell.shared,
    };
    // Beside users of the default all who have the default are alike: the mean of all
    // of them varies less than that of half.
    let usual_time: TimeOf = match answer.beside {
        None => RunResult::everyones_time_s,
        Some(_) => RunResult::others_time_s,
    };
    let is_base = std::ptr::eq(row, base);
    let time = if is_base {
        usual_time
    } else {
        RunResult::others_time_s
    };
    // Of the seeds that both have: the baseline may have more.
    let n = runs(&row.cells[0]).len().min(runs(&base.cells[0]).len());
    let first = |row: &Row, time: TimeOf| {
        let times = runs(&row.cells[sizes[0]]).iter().take(n);
        let times = times.filter_map(|run| time(run, activities[0]));
        let times: Vec<f64> = times.collect();
        (!times.is_empty()).then(|| mean(&times))
    };
    RunResult::others_time_s(runs(&row.cells[0]).first()?, activities[0])?;
    let usual = usual(base, sizes, activities, runs, usual_time);
    let with: Vec<_> = (0..n).map(|i| score(row, i, &usual, runs, time)).collect();
    let before: Vec<_> = (0..n)
        .map(|i| score(base, i, &usual, runs, usual_time))
        .collect();
    let times = first(base, usual_time).zip(first(row, time));
    let found = times.and_then(|times| harm(&with, &before, times));
    Some((with, found))
}

/// By the scores of others beside a row and beside the baseline; the times are means.
fn harm(
    with: &[Option<f64>],
    before: &[Option<f64>],
    (before_s, after_s): (f64, f64),
) -> Option<Harm> {
    let pairs = with
        .iter()
        .zip(before)
        .filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    let (with, before): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let differences: Vec<f64> = with.iter().zip(&before).map(|(a, b)| a - b).collect();
    if differences.is_empty() {
        return None;
    }
    let usual = mean(&before);
    Some(Harm {
        share: mean(&differences) / usual,
        ci95: ci95(&differences).map(|ci| ci / usual),
        before_s,
        after_s,
        runs: differences.len(),
        ..Harm::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(scores: &[f64]) -> Vec<Option<f64>> {
        scores.iter().map(|s| Some(*s)).collect()
    }

    #[test]
    fn fewer_runs_are_corrected_as_far_as_the_seeds_explain_them() {
        let base = some(&[1.0, 2.0, 1.0, 2.0, 3.0, 3.0]);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        // Half of the baseline's time with each seed; a time of its own.
        close(level(&some(&[0.5, 1.0, 0.5, 1.0]), &base), 1.0);
        close(level(&some(&[0.7, 0.7, 0.7, 0.7]), &base), 0.7);
        // Of one run nobody knows.
        close(level(&some(&[0.5]), &base), 1.0);
        // As many runs need no correction.
        close(level(&some(&[1.0; 6]), &base), 1.0);
        assert_eq!(level(&[None], &base), f64::INFINITY);
    }
}
