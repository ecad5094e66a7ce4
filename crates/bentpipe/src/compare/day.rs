//! A link that changes: what users see by the time at which they begin, and
//! what the changes cost.

use super::answer::{Answer, ChangeCost};
use super::cost;
use super::profile::{Hour, LinkProfile, ProfileKind};
use super::race::Kind;
use super::result::RunResult;
use super::traffic::Activity;
use crate::Error;
use bentpipe_report::text::{percent, seconds};
use bentpipe_study::stats::mean;
use bentpipe_units::Duration;
use rayon::prelude::*;

/// Runs begin so far apart, where the budget allows.
const APART: Duration = Duration::from_secs(1_800);

/// Fewest and most runs of each setting over the time, unless they are set.
const FEWEST: usize = 12;
const MOST: usize = 96;
const USUAL: usize = 48;

/// Data packets that all runs together may send.
const BUDGET: f64 = 40e6;

/// Runs on a link that does not change, to compare with.
const STEADY_RUNS: usize = 10;

/// Costs of the changes below this are not worth a sentence.
const NOTED: f64 = 0.02;

/// The profile of a day, or of another time, and how users fare who begin at
/// different times of it.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Day {
    /// The link from one beginning to the next.
    pub hours: Vec<Hour>,
    /// The settings, in the order of [`Answer::order`].
    pub rows: Vec<DayRow>,
}

/// How users of one setting fare.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct DayRow {
    /// Index into [`Answer::rows`].
    pub row: usize,
    /// The mean time of a run's users in seconds, for each beginning; `None` if
    /// one did not end.
    pub times_s: Vec<Option<f64>>,
    /// Retransmission timeouts per user, for each beginning.
    pub timeouts: Vec<f64>,
    /// The run in the middle; `None` if that did not end.
    pub median_s: Option<f64>,
    /// The slowest tenth of the runs on average, at least one; `None` if one of
    /// them did not end.
    pub worst_tenth_s: Option<f64>,
}

/// How many times of `over` runs begin at.
pub(super) fn steps(answer: &Answer, over: Duration, runs: Option<u32>) -> usize {
    if let Some(runs) = runs {
        return runs as usize;
    }
    let price: f64 = (0..answer.rows.len())
        .map(|row| cost::volume(answer, row, Kind::Own))
        .sum();
    let natural = (over.as_secs() / APART.as_secs()) as usize;
    let afforded = (BUDGET / price.max(1.0)) as usize;
    natural.clamp(USUAL, MOST).min(afforded.max(FEWEST))
}

/// The recommended setting and the default on a link that does not change.
pub(super) fn change_costs(answer: &Answer) -> Result<Vec<ChangeCost>, Error> {
    let profile = answer.path.profile.as_ref();
    // Without its losses the link would differ in more than its changes.
    let changes = profile.is_some_and(|c| c.changes() && !c.has_losses);
    if !changes {
        return Ok(Vec::new());
    }
    let mut rows = vec![answer.verdict.baseline];
    rows.extend(answer.verdict.pick.filter(|p| *p != rows[0]));
    let (activity, size) = (activity(answer), answer.sizes.len() - 1);
    let mut found = Vec::new();
    for index in rows {
        let row = &answer.rows[index];
        let path = answer.path_of(row).steady();
        let Some(runs) = row.cells.get(size).map(|cell| &cell.runs) else {
            continue;
        };
        // All over the time, not its beginning alone.
        let apart = (runs.len() / STEADY_RUNS).max(1);
        let some = runs.iter().step_by(apart).take(STEADY_RUNS);
        let runs: Vec<_> = some.cloned().collect();
        let steady = runs
            .par_iter()
            .map(|run| answer.one_over(&path, row, size, answer.beside.is_some(), run.seed))
            .collect::<Result<Vec<_>, _>>()?;
        let times = |runs: &[RunResult]| -> Option<Vec<f64>> {
            runs.iter().map(|run| run.time_s(activity)).collect()
        };
        if let (Some(before), Some(after)) = (times(&runs), times(&steady))
            && !before.is_empty()
        {
            let timeouts = |runs: &[RunResult]| {
                runs.iter().map(|run| run.timeouts).sum::<f64>() / runs.len() as f64
            };
            found.push(ChangeCost {
                row: index,
                changing_s: mean(&before),
                steady_s: mean(&after),
                timeouts: [timeouts(&runs), timeouts(&steady)],
                runs: runs.len(),
            });
        }
    }
    Ok(found)
}

/// What the time of a row is of.
fn activity(answer: &Answer) -> Activity {
    let all = answer.traffic.activities();
    all.first().copied().unwrap_or(Activity::Download)
}

impl Answer {
    /// How users fare by the time at which they begin; `None` unless
    /// [`Comparison::over`](super::Comparison::over) asked. It is of the largest
    /// size.
    #[must_use]
    pub fn day(&self) -> Option<Day> {
        self.over?;
        let profile = self.path.profile.as_ref()?;
        let steps = profile.steps? as usize;
        let rows = self.order().into_iter();
        Some(Day {
            hours: profile.hours(steps),
            rows: rows.map(|row| self.day_row(row, profile, steps)).collect(),
        })
    }

    fn day_row(&self, index: usize, profile: &LinkProfile, steps: usize) -> DayRow {
        let activity = activity(self);
        let runs = self.rows[index].cells.last().map(|cell| &cell.runs);
        let mut times_s = vec![None; steps];
        let mut timeouts = vec![0.0; steps];
        for run in runs.into_iter().flatten() {
            let step = profile.step(run.seed) as usize;
            times_s[step] = run.time_s(activity);
            timeouts[step] = run.timeouts;
        }
        // Those without an end come last.
        let mut sorted: Vec<f64> = times_s.iter().map(|t| t.unwrap_or(f64::INFINITY)).collect();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let worst = &sorted[count - count.div_ceil(10)..];
        let finite = |x: f64| Some(x).filter(|x| x.is_finite());
        DayRow {
            row: index,
            median_s: finite(f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2])),
            worst_tenth_s: finite(mean(worst)),
            times_s,
            timeouts,
        }
    }

    /// What the changes of the link come to, and what they cost, in sentences;
    /// empty for a link that does not change.
    #[must_use]
    pub fn changes(&self) -> Vec<String> {
        let Some(profile) = self.path.profile.as_ref().filter(|c| c.changes()) else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        if profile.kind == ProfileKind::Orbit {
            let often = match profile.path_changes {
                0 => "The path does not change".to_owned(),
                n => format!(
                    "The path changes every {} on average",
                    seconds(profile.span.as_secs() / (n + 1) as f64)
                ),
            };
            lines.push(match profile.availability < 1.0 {
                false => format!("{often}; it is never interrupted."),
                true => format!(
                    "{often}; there is none for {} of the time, for at most {} at a stretch.",
                    percent(1.0 - profile.availability),
                    seconds(profile.longest_outage.as_secs())
                ),
            });
        }
        lines.extend(self.what_changes_cost());
        lines
    }

    fn what_changes_cost(&self) -> Option<String> {
        if self.change_costs.is_empty() {
            return None;
        }
        let part = |steady: &ChangeCost| {
            let name = &self.rows[steady.row].name;
            let (cost, more) = (steady.cost(), steady.timeouts[0] - steady.timeouts[1]);
            let timeouts = match more {
                x if x >= 0.05 => format!(" ({x:.1} more timeouts)"),
                _ => String::new(),
            };
            match cost {
                c if c >= NOTED => format!("cost {name} {:.0}% of its time{timeouts}", 100.0 * c),
                c if c <= -NOTED => format!("save {name} {:.0}% of its time", -100.0 * c),
                _ => format!("cost {name} next to nothing{timeouts}"),
            }
        };
        let parts: Vec<String> = self.change_costs.iter().map(part).collect();
        let is_fade = |profile: &LinkProfile| profile.kind == ProfileKind::Fade;
        let with = match self.path.profile.as_ref().is_some_and(is_fade) {
            true => "a clear sky",
            false => "a steady link of the same mean",
        };
        Some(format!(
            "Compared with {with}, the changes {}.",
            parts.join(" and ")
        ))
    }
}
