//! How many runs an open verdict needs.

use super::answer::Answer;
use super::scheduler::{self, Kind};
use super::score::Scores;
use super::sequential::{FEWEST, next_look, runs_at};
use super::standing::{Standing, judge};
use super::verdict::{Needed, Threshold};

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
                packets += scheduler::missing(answer, &[row], runs, kind);
            }
        }
    }
    let shared = match answer.beside {
        None => scheduler::missing(answer, &[scores.baseline], most, Kind::Shared),
        Some(_) => 0.0,
    };
    packets += shared + scheduler::missing(answer, &[scores.baseline], most, Kind::Own);
    has_open.then(|| Needed {
        least_runs: least.min(most),
        runs: most,
        packets: packets as u64,
        time_s: (answer.packets() as f64 + packets) / scheduler::PACE,
    })
}
