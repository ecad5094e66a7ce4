//! How sure a verdict over all rows is: the part of the rule of docs/verdicts.md that weighs
//! rows against each other.

use super::score::Scores;
use super::sequential::Risk;
use super::standing::{GAIN_ZONE, Standing};
use super::verdict::{AS_GOOD, Certainty, HARM_LIMIT, Threshold};

/// How sure a verdict is, and what follows where it is sure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    pub(super) certainty: Certainty,
    /// What is recommended: of what is shown, or `None` where the best guess is.
    pub(super) pick: Option<usize>,
    /// Rows that could be recommended as well.
    pub(super) as_good: Vec<usize>,
    /// What it stands against where it is not clear, and what decides between the two.
    pub(super) against: Option<(usize, Threshold)>,
}

/// Judges. With `is_strict` rows that have too few runs to be known keep a verdict open;
/// else it is one on the others.
pub(super) fn judge(scores: &Scores, standings: &[Standing], is_strict: bool) -> Judgement {
    let rows = 0..scores.rows.len();
    let counts = |row: &usize| match standings[*row] {
        Standing::NotRun | Standing::Aside => is_strict,
        _ => true,
    };
    let fastest_of = |rows: &[usize]| {
        let of = |row: &usize| scores.rows[*row].level;
        rows.iter().copied().min_by(|a, b| of(a).total_cmp(&of(b)))
    };
    let usable: Vec<usize> = rows
        .clone()
        .filter(|row| standings[*row] == Standing::Usable)
        .collect();
    let unknown: Vec<usize> = rows
        .filter(|row| !standings[*row].is_known() && counts(row))
        .collect();
    let near = |row: &usize| matches!(standings[*row], Standing::Near(_));
    if usable.is_empty() {
        let is_unrun = |row: &Standing| *row == Standing::NotRun;
        let certainty = match unknown.is_empty() {
            // What never ran may be better.
            true if standings.iter().any(is_unrun) => Certainty::Open,
            true => Certainty::Clear,
            false if unknown.iter().all(near) => Certainty::Borderline,
            false => Certainty::Open,
        };
        let run: Vec<usize> = unknown
            .iter()
            .copied()
            .filter(|row| !scores.rows[*row].scores.is_empty())
            .collect();
        let against = fastest_of(&run).map(|row| (row, threshold(standings[row])));
        let is_clear = certainty == Certainty::Clear;
        return Judgement {
            certainty,
            pick: is_clear.then_some(scores.baseline),
            as_good: Vec::new(),
            against,
        };
    }
    let rivals = |pick: usize| -> Vec<usize> {
        let all = (0..scores.rows.len()).filter(|row| *row != pick && counts(row));
        all.filter(|row| is_rival(scores, standings, pick, *row))
            .collect()
    };
    let good: Vec<usize> = usable
        .iter()
        .copied()
        .filter(|row| rivals(*row).is_empty())
        .collect();
    let base = scores.base();
    let preferred = good.iter().copied().min_by(|a, b| {
        let (a, b) = (&scores.rows[*a], &scores.rows[*b]);
        let burdens = a.burdens(base).cmp(&b.burdens(base));
        burdens.then(a.effort.cmp(&b.effort))
    });
    if let Some(pick) = preferred {
        return Judgement {
            certainty: Certainty::Clear,
            pick: Some(pick),
            as_good: good.into_iter().filter(|row| *row != pick).collect(),
            against: None,
        };
    }
    let pick = fastest_of(&usable).unwrap_or(scores.baseline);
    let left = rivals(pick);
    let is_close = |row: &usize| {
        near(row)
            || scores
                .lead(pick, *row)
                .beyond(AS_GOOD + GAIN_ZONE)
                .is_below(Risk::Rival)
    };
    let certainty = match left.iter().all(is_close) {
        true => Certainty::Borderline,
        false => Certainty::Open,
    };
    let open: Vec<usize> = left.iter().copied().filter(|row| !is_close(row)).collect();
    let against = fastest_of(if open.is_empty() { &left } else { &open });
    Judgement {
        certainty,
        pick: Some(pick),
        as_good: Vec::new(),
        against: against.map(|row| {
            let decides = match standings[row] {
                Standing::Near(threshold) => threshold,
                // Where it is close behind a setting that may be used, its lead decides.
                Standing::Open(_) if is_close(&row) && pick != scores.baseline => Threshold::Faster,
                Standing::Open(threshold) => threshold,
                _ => Threshold::Faster,
            };
            (row, decides)
        }),
    }
}

/// True unless it is shown that `row` could not replace `pick`: that it gains too little,
/// harms too much, or is at most [`AS_GOOD`] faster.
pub(super) fn is_rival(scores: &Scores, standings: &[Standing], pick: usize, row: usize) -> bool {
    match standings[row] {
        Standing::Baseline | Standing::Slow | Standing::Out(_) => return false,
        Standing::NotRun | Standing::Aside => return true,
        Standing::Usable | Standing::Near(_) | Standing::Open(_) => {}
    }
    let gain = scores.gain(row).beyond(scores.worth(row));
    let harm = scores.harm(row).map(|harm| harm.beyond(HARM_LIMIT));
    let harms = harm.is_some_and(|harm| harm.is_above(Risk::Rival));
    let lead = scores.lead(pick, row).beyond(AS_GOOD);
    !gain.is_below(Risk::Rival) && !harms && !lead.is_below(Risk::Rival)
}

fn threshold(standing: Standing) -> Threshold {
    match standing {
        Standing::Near(threshold) | Standing::Open(threshold) => threshold,
        _ => Threshold::Gain,
    }
}

#[cfg(test)]
#[path = "judgement_tests.rs"]
pub(super) mod tests;
