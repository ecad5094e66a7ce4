//! What an answer is worth on runs that it was not made of.
//!
//! The best is the fastest setting that may be recommended by those runs: it can
//! be switched on, ends as often as the default, slows others down by no more than
//! the verdict allows and sends no more again. The runs of a setting go on while
//! chance decides: all settings get few, those that may be the best or are
//! recommended get many.

use crate::links::Question;
use crate::truth::{Truth, name};
use bentpipe::compare::{Answer, Effect, HARM_LIMIT, HARM_NOTED, Objection, WASTE_LIMIT};
use bentpipe_study::stats::{ci95, mean};
use std::path::Path;

/// Unseen runs of every setting, of those that may be the best, and of the two
/// that are held against each other.
const RUNS: [usize; 3] = [12, 48, 192];

/// The same of runs that are shared with others.
const SHARED: [usize; 2] = [24, 96];

/// A share and half of the width of its 95% interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Share {
    pub(crate) mean: f64,
    pub(crate) ci: f64,
}

/// How an answer did.
pub(crate) struct Judged {
    pub(crate) number: u64,
    pub(crate) text: String,
    pub(crate) pick: String,
    /// Time of the pick over that of the best setting, less one.
    pub(crate) behind: Share,
    pub(crate) best: String,
    /// What others lose beside the best.
    pub(crate) best_harm: Option<Share>,
    /// What the answer had found of the best.
    pub(crate) why: String,
    /// The fastest that can be switched on, whatever it costs others, and how much
    /// slower the pick is.
    pub(crate) any: String,
    pub(crate) behind_any: f64,
    /// What others lose, as said and as found.
    pub(crate) said: f64,
    pub(crate) found: Option<Share>,
    pub(crate) certainty: &'static str,
    /// Runs of the pick that the answer rests on.
    pub(crate) runs: usize,
}

impl Judged {
    /// True if the pick is slower than the best by more than `share`.
    pub(crate) fn misses(&self, share: f64) -> bool {
        self.behind.mean > share
    }

    /// True if neither the difference nor the best's right to be one are chance.
    pub(crate) fn misses_beyond_chance(&self, share: f64) -> bool {
        let harmless = self.best_harm.is_none_or(|h| h.mean + h.ci <= HARM_LIMIT);
        self.behind.mean - self.behind.ci > share && harmless
    }

    /// True if others lose more than was said, by more than chance and `margin`.
    pub(crate) fn hides_harm(&self, margin: f64) -> bool {
        let said = self.said.max(HARM_NOTED);
        self.found.is_some_and(|f| f.mean - f.ci > said + margin)
    }
}

/// How much more `a` is than `b`, of runs with the same seeds, as a share of `b`.
fn more(a: &[Option<f64>], b: &[Option<f64>]) -> Share {
    let pairs = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
    if a.is_empty() {
        return Share {
            mean: f64::INFINITY,
            ci: 0.0,
        };
    }
    let ratio = mean(&a) / mean(&b);
    // Of a ratio of means: by what each pair differs from it.
    let residuals: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - ratio * b).collect();
    Share {
        mean: ratio - 1.0,
        ci: ci95(&residuals).unwrap_or(0.0) / mean(&b),
    }
}

/// Unseen runs and what follows from them.
struct Judge<'a> {
    answer: &'a Answer,
    truth: Truth<'a>,
    baseline: usize,
}

impl Judge<'_> {
    /// How much slower a row is than another, over at least so many runs.
    fn slower(&mut self, row: usize, than: usize, runs: usize) -> Result<Share, String> {
        let mut times = |row| -> Result<Vec<Option<f64>>, String> {
            let runs = self.truth.own(row, runs)?;
            Ok(runs.iter().map(|run| run.time_s).collect())
        };
        Ok(more(&times(row)?, &times(than)?))
    }

    /// What others lose beside a row, of which `said` was said; more runs where they
    /// decide.
    fn harm(&mut self, row: usize, said: f64) -> Result<Share, String> {
        let mut found = Share::default();
        for runs in SHARED {
            let with = self.truth.others(row, runs)?.to_vec();
            found = more(&with, self.truth.others(self.baseline, runs)?);
            let is_hidden = found.mean - said.max(HARM_NOTED) > HARM_NOTED;
            if (found.mean - HARM_LIMIT).abs() >= found.ci && !is_hidden {
                break;
            }
        }
        Ok(found)
    }

    /// True if a row must not be recommended by what it is known to do to its own
    /// users: it ends less often than the default, or sends too much again.
    fn is_out(&mut self, row: usize) -> Result<bool, String> {
        let mut of = |row| -> Result<(f64, f64), String> {
            let runs = self.truth.own(row, RUNS[0])?;
            let ended = runs.iter().filter(|run| run.time_s.is_some()).count();
            let resent: Vec<f64> = runs.iter().map(|run| run.resent).collect();
            Ok((ended as f64 / runs.len() as f64, mean(&resent)))
        };
        let ((ends, resent), (usual, usually_resent)) = (of(row)?, of(self.baseline)?);
        let lost = self.answer.path.loss.share.get();
        let wastes = resent > lost + WASTE_LIMIT && resent > usually_resent + 0.02;
        Ok(ends < usual || wastes)
    }

    /// The rows that may be faster than `pick`, and how much slower than each the pick
    /// is: the worst first.
    fn faster(&mut self, pick: usize) -> Result<Vec<(usize, Share)>, String> {
        let mut found = Vec::new();
        for row in (0..self.answer.rows.len()).filter(|row| *row != pick) {
            if !self.answer.rows[row].is_deployable() {
                continue;
            }
            let mut behind = self.slower(pick, row, RUNS[0])?;
            if behind.mean + behind.ci > 0.0 {
                behind = self.slower(pick, row, RUNS[1])?;
            }
            // Far from 5%, more runs would say the same.
            if behind.mean + behind.ci > 0.05 && behind.mean - behind.ci < 0.1 {
                behind = self.slower(pick, row, RUNS[2])?;
            }
            if behind.mean > 0.0 {
                found.push((row, behind));
            }
        }
        found.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
        Ok(found)
    }

    /// The best row that may be recommended, how much slower than it the pick is, and
    /// what others lose beside it.
    fn best(
        &mut self,
        pick: usize,
        faster: &[(usize, Share)],
    ) -> Result<(usize, Share, Option<Share>), String> {
        for (row, behind) in faster {
            if self.is_out(*row)? {
                continue;
            }
            if *row == self.baseline {
                return Ok((*row, *behind, None));
            }
            let harm = self.harm(*row, f64::INFINITY)?;
            if harm.mean <= HARM_LIMIT {
                return Ok((*row, *behind, Some(harm)));
            }
        }
        Ok((pick, Share::default(), None))
    }
}

/// Asks, and runs the settings again with other seeds; `file` keeps those runs.
pub(crate) fn judge(question: &Question, file: Option<&Path>) -> Result<Judged, String> {
    let asked = question.comparison.clone().threads(1).run();
    let answer = asked.map_err(|e| e.to_string())?;
    let baseline = answer.verdict.baseline;
    let pick = answer.verdict.pick.unwrap_or(baseline);
    let mut judge = Judge {
        truth: Truth::of(&answer, file)?,
        answer: &answer,
        baseline,
    };
    let faster = judge.faster(pick)?;
    let (best, behind, best_harm) = judge.best(pick, &faster)?;
    let found = match pick == baseline {
        true => None,
        false => Some(judge.harm(pick, said(&answer))?),
    };
    let (any, behind_any) = faster.first().copied().unwrap_or((pick, Share::default()));
    judge.truth.keep()?;
    Ok(Judged {
        number: question.number,
        text: question.text.clone(),
        pick: name(&answer.rows[pick]),
        behind,
        best: name(&answer.rows[best]),
        best_harm,
        why: why(&answer, pick, best),
        any: name(&answer.rows[any]),
        behind_any: behind_any.mean,
        said: said(&answer),
        found,
        certainty: answer.verdict.certainty.name(),
        runs: answer.rows[pick].cells[0].runs.len(),
    })
}

/// What others lose by the words of the answer: up to the end of the interval that
/// they print.
fn said(answer: &Answer) -> f64 {
    let harm = answer.verdict.harm.as_ref();
    let said = harm.filter(|h| matches!(h.effect(), Effect::Hurts | Effect::MayHurt));
    said.map_or(0.0, |harm| {
        let ci = harm.ci95.unwrap_or(0.0);
        harm.most.unwrap_or(harm.share + ci)
    })
}

/// What the answer had found of a row beside its pick.
fn why(answer: &Answer, pick: usize, row: usize) -> String {
    if row == pick {
        return String::new();
    }
    let gains = answer.gains();
    let gain = |row: usize| match gains[row] {
        Some(g) => format!(
            "gains {:+.1}% ±{:.1}% in {} runs",
            100.0 * g.share,
            100.0 * g.ci95.unwrap_or(0.0),
            g.runs
        ),
        None => "has no result".to_owned(),
    };
    let mut text = format!("pick {}, best {}", gain(pick), gain(row));
    if let Some(harm) = answer.harms()[row] {
        let ci = harm.ci95.unwrap_or(0.0);
        text += &format!(
            ", others lose {:.0}% ±{:.0}% in {}",
            100.0 * harm.share,
            100.0 * ci,
            harm.runs
        );
    }
    match answer.objections()[row] {
        Some(Objection::Harms(_)) => text += ": objected, harms",
        Some(Objection::Wastes(_)) => text += ": objected, wastes",
        Some(Objection::DoesNotEnd(_)) => text += ": objected, does not end",
        Some(_) => text += ": objected",
        None if answer.verdict.as_good.contains(&row) => text += ": called as good",
        None => {}
    }
    text
}
