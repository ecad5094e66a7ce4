//! What an answer is worth on runs that it was not made of.

use crate::links::Question;
use bentpipe::compare::{Answer, Harm, Row, RunResult};
use bentpipe_study::stats::{ci95, mean};

/// Seeds that no answer is made of begin here.
const UNSEEN: u64 = 1_000_000;

/// Others are not said to be hurt below this.
const NOT_MENTIONED: f64 = bentpipe::compare::HARM_NOTED;

/// How an answer did.
pub(crate) struct Judged {
    pub(crate) number: u64,
    pub(crate) text: String,
    pub(crate) pick: String,
    /// Time of the pick over that of the best setting that it might have
    /// recommended, less one, and half of the width of its 95% interval.
    pub(crate) behind: f64,
    pub(crate) behind_ci: f64,
    pub(crate) best: String,
    /// The same over the best that can be switched on at all, whatever it costs
    /// others.
    pub(crate) behind_any: f64,
    /// What others lose, as said and as found, with its interval.
    pub(crate) said: f64,
    pub(crate) found: Option<(f64, f64)>,
    pub(crate) certainty: &'static str,
}

impl Judged {
    /// True if others lose more than was said, by more than chance and `margin`.
    pub(crate) fn hides_harm(&self, margin: f64) -> bool {
        self.found
            .is_some_and(|(found, ci)| found - ci > self.said.max(NOT_MENTIONED) + margin)
    }
}

/// Mean time of the users in each run; infinite where one did not end.
fn times(runs: &[RunResult]) -> Vec<f64> {
    let time = |run: &RunResult| match run.unfinished() {
        0 => {
            let times: Vec<f64> = run.own.iter().filter_map(|u| u.time_s).collect();
            mean(&times)
        }
        _ => f64::INFINITY,
    };
    runs.iter().map(time).collect()
}

/// How much more `a` is than `b`, of runs with the same seeds: a share of `b`,
/// and half of the width of its interval.
fn more(a: &[f64], b: &[f64]) -> (f64, f64) {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let base = mean(b);
    (
        mean(&differences) / base,
        ci95(&differences).unwrap_or(0.0) / base,
    )
}

/// Asks, and runs everything again with `runs` other seeds.
pub(crate) fn judge(question: &Question, runs: u64) -> Result<Judged, bentpipe::Error> {
    let answer = question.comparison.clone().threads(1).run()?;
    let seeds: Vec<u64> = (UNSEEN..UNSEEN + runs).collect();
    let pick = answer.verdict.pick.unwrap_or(answer.verdict.baseline);
    let mut found = Vec::new();
    for row in &answer.rows {
        found.push(match row.availability.is_deployable() {
            true => times(&answer.rerun(row, 0, &seeds)?),
            false => vec![f64::INFINITY],
        });
    }
    let rejected = |i: usize| answer.objection(i).is_some();
    let fastest = |allowed: &dyn Fn(usize) -> bool| {
        let rows = (0..found.len()).filter(|i| allowed(*i));
        rows.min_by(|a, b| mean(&found[*a]).total_cmp(&mean(&found[*b])))
            .unwrap_or(pick)
    };
    let best = fastest(&|i| !rejected(i));
    let any = fastest(&|_| true);
    let (behind, behind_ci) = more(&found[pick], &found[best]);
    let said = answer
        .verdict
        .harm
        .as_ref()
        .map_or(0.0, Harm::beyond_chance);
    Ok(Judged {
        number: question.number,
        text: question.text.clone(),
        pick: name(&answer.rows[pick]),
        behind,
        behind_ci,
        best: name(&answer.rows[best]),
        behind_any: more(&found[pick], &found[any]).0,
        said,
        found: harm(&answer, pick, &seeds)?,
        certainty: answer.verdict.certainty.name(),
    })
}

/// What users of the default lose beside the pick.
fn harm(
    answer: &Answer,
    pick: usize,
    seeds: &[u64],
) -> Result<Option<(f64, f64)>, bentpipe::Error> {
    if pick == answer.verdict.baseline {
        return Ok(None);
    }
    let (row, base) = (&answer.rows[pick], answer.baseline());
    let others = |row: &Row| -> Result<Vec<f64>, bentpipe::Error> {
        let runs = answer.rerun_shared(row, 0, seeds)?;
        let time = |run: &RunResult| {
            let times: Vec<f64> = run.others.iter().filter_map(|u| u.time_s).collect();
            mean(&times)
        };
        Ok(runs.iter().map(time).collect())
    };
    Ok(Some(more(&others(row)?, &others(base)?)))
}

fn name(row: &Row) -> String {
    match row.pep {
        bentpipe::compare::Pep::None => row.name.clone(),
        pep => format!("{} behind {}", row.name, pep.name()),
    }
}
