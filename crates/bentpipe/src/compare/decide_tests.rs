//! Decisions on made-up results.

use super::super::candidate::Availability;
use super::super::verdict::{Effect, Threshold};
use super::*;

/// Every number is taken for exact but what others lose.
fn decide(rows: &[RowScore], baseline: usize, lost: f64) -> Verdict {
    by_plan(rows, baseline, lost, Plan::Exact)
}

fn by_plan(rows: &[RowScore], baseline: usize, lost: f64, plan: Plan) -> Verdict {
    over(&Scores {
        rows: rows.to_vec(),
        baseline,
        lost,
        plan,
    })
}

fn score(availability: Availability, times: &[f64]) -> RowScore {
    RowScore {
        effort: (0, availability),
        deployable: availability.is_deployable(),
        scores: times.iter().map(|t| Some(*t)).collect(),
        by_activity: Vec::new(),
        others: vec![Some(1.0); SHARED],
        resent: vec![0.0; times.len()],
        harm: None,
        resent_share: 0.0,
        wait_s: 0.0,
        level: bentpipe_study::stats::mean(times),
        is_random: times.len() > 1,
    }
}

/// Runs beside others.
const SHARED: usize = 30;

fn usual() -> RowScore {
    score(Availability::Default, &[1.0, 1.05, 0.95])
}

fn harm(share: f64, ci95: f64) -> Option<Harm> {
    Some(Harm {
        share,
        ci95: Some(ci95),
        ..Harm::default()
    })
}

/// Others lose so much beside it.
fn harming(mut row: RowScore, share: f64, ci95: f64) -> RowScore {
    row.harm = harm(share, ci95);
    // Two values by turns have this interval.
    let apart = ci95 * (SHARED as f64).sqrt() / 2.05;
    let value = |run: usize| 1.0 + share + if run.is_multiple_of(2) { apart } else { -apart };
    row.others = (0..SHARED).map(|run| Some(value(run))).collect();
    row
}

fn wasting(mut row: RowScore, share: f64) -> RowScore {
    row.resent_share = share;
    row.resent.fill(share);
    row
}

#[test]
fn the_fastest_that_can_be_switched_on_is_recommended() {
    let rows = [
        usual(),
        score(Availability::Absent, &[0.2, 0.21, 0.19]),
        score(Availability::Module, &[0.5, 0.51, 0.49]),
        score(Availability::Kernel, &[0.7, 0.72, 0.68]),
    ];
    let verdict = decide(&rows, 0, 0.0);
    assert_eq!((verdict.pick, verdict.baseline), (Some(2), 0));
    assert!((verdict.gain.unwrap().share - 0.5).abs() < 1e-9);
    assert_eq!(verdict.rejected, [(1, Objection::Unavailable)]);
    assert_eq!(verdict.certainty, Certainty::Exact);
}

#[test]
fn what_gains_little_is_not_worth_a_change() {
    let rows = [
        usual(),
        score(Availability::Setting, &[0.985, 1.035, 0.935]),
    ];
    let verdict = decide(&rows, 0, 0.0);
    assert_eq!(verdict.pick, Some(0));
    assert!(verdict.gain.is_none() && verdict.as_good.is_empty());
}

#[test]
fn differences_are_those_of_runs_with_the_same_seeds() {
    // The times spread far more than the differences.
    let wide = [10.0, 2.0, 30.0, 5.0, 1.0, 20.0];
    let faster = wide.map(|t| t * 0.9 - 0.1);
    let rows = [
        score(Availability::Default, &wide),
        score(Availability::Module, &faster),
    ];
    assert_eq!(decide(&rows, 0, 0.0).pick, Some(1));
}

#[test]
fn among_ties_the_one_nearest_to_use_is_preferred() {
    let rows = [
        usual(),
        score(Availability::Kernel, &[0.500, 0.51, 0.49]),
        score(Availability::Module, &[0.505, 0.515, 0.495]),
    ];
    let verdict = decide(&rows, 0, 0.0);
    assert_eq!((verdict.pick, verdict.as_good), (Some(2), vec![1]));
    // A proxy is further than any setting.
    let mut behind = score(Availability::Default, &[0.5, 0.51, 0.49]);
    behind.effort.0 = 1;
    let rows = [usual(), behind, rows[1].clone()];
    assert_eq!(decide(&rows, 0, 0.0).pick, Some(2));
}

#[test]
fn what_hurts_others_is_not_recommended_and_less_is_preferred() {
    let harmful = harming(score(Availability::Module, &[0.4, 0.41, 0.39]), 0.3, 0.05);
    let uneasy = harming(score(Availability::Module, &[0.6, 0.61, 0.59]), 0.1, 0.02);
    let gentle = score(Availability::Kernel, &[0.605, 0.615, 0.595]);
    let rows = [usual(), harmful, uneasy, gentle];
    let verdict = decide(&rows, 0, 0.0);
    assert_eq!(verdict.pick, Some(3));
    assert_eq!(verdict.rejected, [(1, Objection::Harms(0.3))]);
    // What chance explains is no harm, and no proof of none.
    let lucky = harming(score(Availability::Module, &[0.4, 0.41, 0.39]), 0.3, 0.35);
    let verdict = decide(&[usual(), lucky], 0, 0.0);
    assert_eq!(
        (verdict.pick, verdict.certainty),
        (Some(1), Certainty::Open)
    );
    let against = verdict.against.unwrap();
    assert_eq!((against.row, against.threshold), (1, Threshold::Harm));
}

#[test]
fn waste_counts_beyond_what_the_channel_loses() {
    let wasteful = wasting(score(Availability::Module, &[0.5, 0.51, 0.49]), 0.15);
    let rows = [usual(), wasteful];
    assert_eq!(decide(&rows, 0, 0.0).pick, Some(0));
    assert_eq!(
        decide(&rows, 0, 0.0).rejected,
        [(1, Objection::Wastes(0.15))]
    );
    assert_eq!(decide(&rows, 0, 0.1).pick, Some(1));
}

#[test]
fn what_ends_less_often_is_not_recommended() {
    let mut failing = score(Availability::Module, &[0.5, 0.51, 0.49]);
    failing.scores[1] = None;
    let verdict = decide(&[usual(), failing.clone()], 0, 0.0);
    assert_eq!(verdict.pick, Some(0));
    // Where the baseline does not end either, something is better than nothing.
    let mut dead = usual();
    dead.scores = vec![None, None, None];
    dead.level = f64::INFINITY;
    assert_eq!(decide(&[dead.clone(), failing], 0, 0.0).pick, Some(1));
    assert_eq!(decide(&[dead], 0, 0.0).pick, None);
}

#[test]
fn an_open_race_says_so() {
    let rows = [usual(), score(Availability::Module, &[0.9, 0.2, 1.0, 0.3])];
    let verdict = by_plan(&rows, 0, 0.0, Plan::Looks);
    assert_eq!(verdict.certainty, Certainty::Open, "{verdict:?}");
    let one = [
        score(Availability::Default, &[1.0]),
        score(Availability::Module, &[0.5]),
    ];
    let verdict = decide(&one, 0, 0.0);
    assert_eq!(
        (verdict.pick, verdict.certainty),
        (Some(1), Certainty::Exact)
    );
    assert_eq!(verdict.gain.unwrap().ci95, None);
}

#[test]
fn no_proof_of_harm_is_no_proof_of_none() {
    let effect = |share, ci| harm(share, ci).unwrap().effect();
    assert_eq!(effect(0.3, 0.1), Effect::Hurts);
    assert_eq!(effect(0.3, 0.4), Effect::MayHurt);
    assert_eq!(effect(0.01, 0.3), Effect::MayHurt);
    assert_eq!(effect(0.01, 0.05), Effect::None);
    assert_eq!(effect(-0.1, 0.02), Effect::Helps);
    assert_eq!(effect(-0.1, 0.2), Effect::None);
}

/// What is 4% slower than the fastest gains too little, and the fastest enough.
#[test]
fn near_the_fastest_is_not_near_enough_to_keep_the_default() {
    let rows = [
        score(Availability::Default, &[1.0, 1.0, 1.0]),
        score(Availability::Kernel, &[0.94, 0.94, 0.94]),
        score(Availability::Module, &[0.98, 0.98, 0.98]),
    ];
    let verdict = decide(&rows, 0, 0.0);
    assert_eq!(verdict.pick, Some(1), "{verdict:?}");
    // A proxy that gains 6%, and what gains 2% without one.
    let mut behind = rows[1].clone();
    behind.effort.0 = 1;
    let without = score(Availability::Module, &[0.98, 0.98, 0.98]);
    let rows = [rows[0].clone(), behind, without];
    assert_eq!(decide(&rows, 0, 0.0).pick, Some(1));
}

/// A user does not notice 3%; those beside him notice 15%.
#[test]
fn a_little_slower_and_gentler_is_preferred() {
    let alone = score(Availability::Module, &[0.5, 0.505, 0.495]);
    let harmful = harming(alone.clone(), 0.15, 0.02);
    let gentle = score(Availability::Kernel, &[0.515, 0.52, 0.51]);
    let rows = [usual(), harmful, gentle.clone()];
    assert_eq!(decide(&rows, 0, 0.0).pick, Some(2));
    let harmless = harming(alone, 0.01, 0.02);
    assert_eq!(decide(&[usual(), harmless, gentle], 0, 0.0).pick, Some(1));
}

/// Both hurt, wait and waste; one of them far more.
#[test]
fn of_what_is_as_fast_the_one_that_costs_less_is_preferred() {
    let heavy = score(Availability::Module, &[0.5, 0.505, 0.495]);
    let mut heavy = wasting(harming(heavy, 0.15, 0.02), 0.096);
    let light = score(Availability::Module, &[0.503, 0.508, 0.498]);
    let mut light = wasting(harming(light, 0.07, 0.02), 0.028);
    (heavy.wait_s, light.wait_s) = (0.58, 0.58);
    let verdict = decide(&[usual(), heavy, light], 0, 0.0);
    assert_eq!((verdict.pick, verdict.as_good), (Some(2), vec![1]));
}

#[test]
fn one_random_run_proves_neither_a_gain_nor_harm() {
    let mut rows = [
        score(Availability::Default, &[1.0]),
        score(Availability::Module, &[0.5]),
    ];
    for row in &mut rows {
        row.is_random = true;
    }
    let verdict = by_plan(&rows, 0, 0.0, Plan::Looks);
    assert_eq!(
        (verdict.pick, verdict.certainty),
        (Some(0), Certainty::Open)
    );
    let one = Harm {
        share: 0.5,
        ci95: None,
        ..Harm::default()
    };
    assert_eq!((one.effect(), one.beyond_chance()), (Effect::MayHurt, 0.0));
}
