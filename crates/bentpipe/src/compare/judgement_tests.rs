//! Verdicts on made-up runs whose truth is known.

use super::super::candidate::Availability;
use super::super::score::RowScore;
use super::super::sequential::tests::Noise;
use super::super::sequential::{Plan, runs_at};
use super::super::verdict::{Objection, WORTH};
use super::*;

/// Rows with these gains and harms and this scatter, so many runs.
pub(in super::super) fn scores(
    noise: &mut Noise,
    truth: &[(f64, f64)],
    scatter: f64,
    runs: usize,
) -> Scores {
    let same: Vec<f64> = (0..runs)
        .map(|_| bentpipe_units::math::exp(0.2 * noise.normal()))
        .collect();
    let mut draw = |mean: f64| -> Vec<Option<f64>> {
        let one =
            |same: &f64| Some(mean * same * bentpipe_units::math::exp(scatter * noise.normal()));
        same.iter().map(one).collect()
    };
    let row = |(gain, harm): &(f64, f64)| {
        let (scores, others) = (draw(1.0 - gain), draw(1.0 + harm));
        let known: Vec<f64> = scores.iter().flatten().copied().collect();
        RowScore {
            effort: (0, Availability::Module),
            deployable: true,
            level: bentpipe_study::stats::mean(&known),
            scores,
            by_activity: Vec::new(),
            others,
            resent: vec![0.0; runs],
            harm: None,
            resent_share: 0.0,
            wait_s: 0.0,
            is_random: true,
        }
    };
    Scores {
        rows: [(0.0, 0.0)].iter().chain(truth).map(row).collect(),
        baseline: 0,
        lost: 0.0,
        plan: Plan::Looks,
    }
}

/// The first `runs` runs.
fn first(scores: &Scores, runs: usize) -> Scores {
    let mut scores = scores.clone();
    for row in &mut scores.rows {
        row.scores.truncate(runs);
        row.others.truncate(runs);
        row.resent.truncate(runs);
        let known: Vec<f64> = row.scores.iter().flatten().copied().collect();
        row.level = bentpipe_study::stats::mean(&known);
    }
    scores
}

/// Stops at the first clear verdict: how many were clear, how many of those wrong, and
/// how many of the rest borderline.
fn judged(truth: &[(f64, f64)], repetitions: u64, right: impl Fn(usize) -> bool) -> [usize; 3] {
    let mut found = [0; 3];
    for seed in 1..=repetitions {
        let all = scores(&mut Noise::new(seed), truth, 0.1, runs_at(8));
        let mut last = Certainty::Open;
        for look in 0..=8 {
            let seen = first(&all, runs_at(look));
            let judgement = judge(&seen, &seen.standings(), true);
            last = judgement.certainty;
            if last == Certainty::Clear {
                found[0] += 1;
                found[1] += usize::from(!judgement.pick.is_some_and(&right));
                break;
            }
        }
        found[2] += usize::from(last == Certainty::Borderline);
    }
    found
}

/// At most one in twenty may be wrong, of all questions.
const REPETITIONS: u64 = 200;
const MOST: usize = 10;

#[test]
fn what_gains_clearly_is_recommended() {
    let [clear, wrong, _] = judged(
        &[(0.1, 0.05), (-0.1, 0.05), (-0.05, 0.05)],
        REPETITIONS,
        |pick| pick == 1,
    );
    assert!(wrong <= 2 && clear > 180, "{clear} {wrong}");
}

/// All rows at once just below a threshold: the error is not one for each row.
#[test]
fn what_gains_just_too_little_is_not_recommended() {
    let truth = [(0.0299, 0.05); 3];
    let [_, wrong, near] = judged(&truth, REPETITIONS, |pick| pick == 0);
    assert!(wrong <= MOST && near > 0, "{wrong} {near}");
}

#[test]
fn what_harms_just_too_much_is_not_recommended() {
    let truth = [(0.2, 0.2001); 3];
    let [_, wrong, near] = judged(&truth, REPETITIONS, |pick| pick == 0);
    assert!(wrong <= MOST && near > 100, "{wrong} {near}");
}

#[test]
fn of_equals_one_is_recommended_and_the_others_are_as_good() {
    let all = scores(
        &mut Noise::new(3),
        &[(0.3, 0.0), (0.3, 0.0), (0.29, 0.0)],
        0.1,
        103,
    );
    let judgement = judge(&all, &all.standings(), true);
    assert_eq!(
        (judgement.certainty, judgement.pick),
        (Certainty::Clear, Some(1))
    );
    assert_eq!(judgement.as_good, [2, 3]);
}

#[test]
fn what_never_ran_keeps_the_default_from_being_clear() {
    let mut all = scores(&mut Noise::new(5), &[(-0.3, 0.0), (0.4, 0.0)], 0.1, 46);
    all.rows[2].scores.clear();
    let standings = all.standings();
    assert_eq!(standings[1..], [Standing::Slow, Standing::NotRun]);
    assert_eq!(judge(&all, &standings, false).certainty, Certainty::Open);
    // What is shown to be worth it is so whatever else there is.
    let mut all = scores(&mut Noise::new(5), &[(0.4, 0.0), (0.3, 0.0)], 0.1, 46);
    all.rows[2].scores.clear();
    let judgement = judge(&all, &all.standings(), false);
    assert_eq!(
        (judgement.certainty, judgement.pick),
        (Certainty::Clear, Some(1))
    );
}

#[test]
fn no_end_of_an_interval_contradicts_a_verdict() {
    let all = scores(&mut Noise::new(9), &[(0.1, 0.05)], 0.1, 46);
    assert_eq!(all.standings()[1], Standing::Usable);
    let [least, most] = all.gain_between(1).unwrap();
    assert!(WORTH < least && least < 0.1 && 0.1 < most, "{least} {most}");
    let [least, most] = all.harm_between(1).unwrap();
    assert!(least < 0.05 && most < HARM_LIMIT, "{least} {most}");
    assert!(first(&all, 3).gain_between(1).is_none());
}

#[test]
fn runs_without_an_end_are_no_verdict_until_there_are_several() {
    let mut all = scores(&mut Noise::new(9), &[(0.4, 0.0)], 0.1, 46);
    all.rows[1].scores[7] = None;
    assert_eq!(all.standings()[1], Standing::Near(Threshold::End));
    for run in [8, 20] {
        all.rows[1].scores[run] = None;
    }
    assert_eq!(all.standings()[1], Standing::Out(Objection::DoesNotEnd(3)));
}

#[test]
fn an_activity_that_loses_rules_a_row_out() {
    use super::super::traffic::Activity::{Download, Web};
    let mut all = scores(&mut Noise::new(9), &[(0.2, 0.0)], 0.1, 46);
    let with = |factor: f64, row: &RowScore| -> Vec<Option<f64>> {
        row.scores.iter().map(|s| s.map(|s| factor * s)).collect()
    };
    for (row, web) in [(0, 1.0), (1, 1.9)] {
        let of = all.rows[row].clone();
        all.rows[row].by_activity = vec![(Download, with(1.0, &of)), (Web, with(web, &of))];
    }
    assert_eq!(all.standings()[1], Standing::Out(Objection::Loses(Web)));
}
