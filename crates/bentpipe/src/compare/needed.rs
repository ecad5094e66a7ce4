//! How many runs an open verdict needs.

use super::answer::Answer;
use super::cost::{self, missing};
use super::judgement::judge;
use super::race::Kind;
use super::score::Scores;
use super::sequential::{Contrast, FEWEST, Risk, Statement, next_look, runs_at};
use super::standing::{GAIN_ZONE, HARM_ZONE, Standing};
use super::verdict::{AS_GOOD, HARM_LIMIT, LOSS_LIMIT, Needed, Threshold};

/// What probably tells, by the means and scatters of the runs so far: more runs of every
/// row that is open. `None` if that is more than anybody would wait for.
pub(super) fn needed(answer: &Answer, scores: &Scores) -> Option<Needed> {
    let standings = scores.standings();
    let judged = judge(scores, &standings, false);
    let pick = judged.pick.unwrap_or(scores.baseline);
    let rivals = (judged.pick.is_some(), Threshold::Faster);
    let (mut least, mut most, mut packets, mut has_open) = (usize::MAX, 0, 0.0, false);
    for (row, standing) in standings.iter().enumerate() {
        let threshold = match (standing, rivals) {
            (Standing::Open(_) | Standing::Usable, (true, faster)) if row != pick => faster,
            (Standing::Open(threshold), (false, _)) => *threshold,
            _ => continue,
        };
        has_open = true;
        let has = scores.rows[row].scores.len();
        let runs = match has {
            ..FEWEST => runs_at(1),
            _ => scores.runs_to_tell(row, threshold, pick),
        };
        if runs == usize::MAX {
            return None;
        }
        most = most.max(runs);
        least = least.min(next_look(has).max(runs / 2));
        for kind in [Kind::Own, Kind::Shared] {
            let of_kind = answer.beside.is_none() || kind == Kind::Own;
            if of_kind {
                packets += missing(answer, &[(row, kind)], runs);
            }
        }
    }
    let shared = match answer.beside {
        None => missing(answer, &[(scores.baseline, Kind::Shared)], most),
        Some(_) => 0.0,
    };
    packets += shared + missing(answer, &[(scores.baseline, Kind::Own)], most);
    has_open.then(|| Needed {
        least_runs: least.min(most),
        runs: most,
        packets: packets as u64,
        time_s: (answer.packets() as f64 + packets) / cost::PACE,
    })
}

impl Scores {
    /// Runs that probably show on which side of a threshold a row lies, or that it is near
    /// it; the largest number if that takes too many.
    fn runs_to_tell(&self, row: usize, threshold: Threshold, pick: usize) -> usize {
        let beyond = |of: &Contrast, share: f64, risk: Risk| {
            let statement = of.beyond(share);
            statement.runs_to_show(statement.mean.abs(), risk)
        };
        let harm = self.harm(row);
        let all = match (threshold, &harm) {
            (Threshold::Gain, _) => {
                let (gain, worth) = (self.gain(row), self.worth(row));
                let small = gain.beyond(worth + GAIN_ZONE);
                let near = match small.mean < 0.0 {
                    true => small.runs_to_show(-small.mean, Risk::Rival),
                    false => usize::MAX,
                };
                near.min(beyond(&gain, worth, Risk::Use))
            }
            (Threshold::Harm, None) => runs_at(1),
            (Threshold::Harm, Some(harm)) => {
                let ends = [-HARM_ZONE, HARM_ZONE].map(|zone| harm.beyond(HARM_LIMIT + zone));
                let near = match ends {
                    [least, most] if least.mean > 0.0 && most.mean < 0.0 => {
                        let runs = |s: &Statement| s.runs_to_show(s.mean.abs(), Risk::Rival);
                        runs(&least).max(runs(&most))
                    }
                    _ => usize::MAX,
                };
                near.min(beyond(harm, HARM_LIMIT, Risk::Use))
            }
            (Threshold::Faster, _) => beyond(&self.lead(pick, row), AS_GOOD, Risk::Rival),
            (Threshold::Waste, _) => beyond(&self.waste(row), 0.0, Risk::Use),
            (Threshold::Loss(activity), _) => {
                let activities = &self.rows[row].by_activity;
                let place = activities.iter().position(|(of, _)| *of == activity);
                let runs = place.map(|i| beyond(&self.loss(row, i), LOSS_LIMIT, Risk::Use));
                runs.unwrap_or(runs_at(1))
            }
            (Threshold::End, _) => usize::MAX,
        };
        all.max(runs_at(0))
    }

    /// Runs that probably show a row to be usable; `None` if it does not seem to be.
    pub(super) fn runs_to_use(&self, row: usize) -> Option<usize> {
        let gain = self.gain(row).beyond(self.worth(row));
        let activities = 0..self.rows[row].by_activity.len();
        let losses = activities.map(|i| self.loss(row, i).beyond(LOSS_LIMIT));
        let mut limits = vec![
            self.harm(row)?.beyond(HARM_LIMIT),
            self.waste(row).beyond(0.0),
        ];
        limits.extend(losses);
        let seems_usable = gain.mean > 0.0 && limits.iter().all(|s| s.mean < 0.0);
        let open = limits.iter().filter(|s| !s.is_below(Risk::Use));
        let open = open.chain((!gain.is_above(Risk::Use)).then_some(&gain));
        let runs = open.map(|s| s.runs_to_show(s.mean.abs(), Risk::Use));
        seems_usable.then(|| runs.max().unwrap_or(0))
    }
}
