//! Decisions on made-up results.

use super::super::lineup::Availability;
use super::*;

fn standing(availability: Availability, times: &[f64]) -> Standing {
    Standing {
        effort: (0, availability),
        deployable: availability.is_deployable(),
        scores: times.iter().map(|t| Some(*t)).collect(),
        harm: None,
        resent_share: 0.0,
        wait_s: 0.0,
    }
}

fn usual() -> Standing {
    standing(Availability::Default, &[1.0, 1.05, 0.95])
}

fn harm(share: f64, ci95: f64) -> Option<Harm> {
    Some(Harm {
        share,
        ci95: Some(ci95),
        ..Harm::default()
    })
}

#[test]
fn the_fastest_that_can_be_switched_on_is_recommended() {
    let rows = [
        usual(),
        standing(Availability::Absent, &[0.2, 0.21, 0.19]),
        standing(Availability::Module, &[0.5, 0.51, 0.49]),
        standing(Availability::Kernel, &[0.7, 0.72, 0.68]),
    ];
    let verdict = decide(&rows, 0, 0.0);
    assert_eq!((verdict.pick, verdict.baseline), (Some(2), 0));
    assert!((verdict.gain.unwrap().share - 0.5).abs() < 1e-9);
    assert_eq!(verdict.rejected, [(1, Objection::NotThere)]);
    assert_eq!(verdict.certainty, Certainty::Clear);
}

#[test]
fn what_gains_little_is_not_worth_a_change() {
    let rows = [
        usual(),
        standing(Availability::Setting, &[0.985, 1.035, 0.935]),
    ];
    let verdict = decide(&rows, 0, 0.0);
    assert_eq!(verdict.pick, Some(0));
    assert!(verdict.gain.is_none());
    assert_eq!(verdict.as_good, [1]);
}

#[test]
fn differences_are_those_of_runs_with_the_same_seeds() {
    // The times spread far more than the differences.
    let wide = [10.0, 2.0, 30.0, 5.0, 1.0, 20.0];
    let faster = wide.map(|t| t * 0.9 - 0.1);
    let rows = [
        standing(Availability::Default, &wide),
        standing(Availability::Module, &faster),
    ];
    assert_eq!(decide(&rows, 0, 0.0).pick, Some(1));
}

#[test]
fn among_ties_the_one_nearest_to_use_is_preferred() {
    let rows = [
        usual(),
        standing(Availability::Kernel, &[0.500, 0.51, 0.49]),
        standing(Availability::Module, &[0.505, 0.515, 0.495]),
    ];
    let verdict = decide(&rows, 0, 0.0);
    assert_eq!((verdict.pick, verdict.as_good), (Some(2), vec![1]));
    // A proxy is further than any setting.
    let mut behind = standing(Availability::Default, &[0.5, 0.51, 0.49]);
    behind.effort.0 = 1;
    let rows = [usual(), behind, rows[1].clone()];
    assert_eq!(decide(&rows, 0, 0.0).pick, Some(2));
}

#[test]
fn what_hurts_others_is_not_recommended_and_less_is_preferred() {
    let mut harmful = standing(Availability::Module, &[0.4, 0.41, 0.39]);
    harmful.harm = harm(0.3, 0.05);
    let mut uneasy = standing(Availability::Module, &[0.6, 0.61, 0.59]);
    uneasy.harm = harm(0.1, 0.02);
    let gentle = standing(Availability::Kernel, &[0.605, 0.615, 0.595]);
    let rows = [usual(), harmful, uneasy, gentle];
    let verdict = decide(&rows, 0, 0.0);
    assert_eq!(verdict.pick, Some(3));
    assert_eq!(verdict.rejected, [(1, Objection::Harms(0.3))]);
    // What chance explains is no harm.
    let mut lucky = standing(Availability::Module, &[0.4, 0.41, 0.39]);
    lucky.harm = harm(0.3, 0.35);
    assert_eq!(decide(&[usual(), lucky], 0, 0.0).pick, Some(1));
}

#[test]
fn waste_counts_beyond_what_the_channel_loses() {
    let mut wasteful = standing(Availability::Module, &[0.5, 0.51, 0.49]);
    wasteful.resent_share = 0.15;
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
    let mut failing = standing(Availability::Module, &[0.5, 0.51, 0.49]);
    failing.scores[1] = None;
    let verdict = decide(&[usual(), failing.clone()], 0, 0.0);
    assert_eq!(verdict.pick, Some(0));
    // Where the baseline does not end either, something is better than nothing.
    let mut dead = usual();
    dead.scores = vec![None, None, None];
    assert_eq!(decide(&[dead.clone(), failing], 0, 0.0).pick, Some(1));
    assert_eq!(decide(&[dead], 0, 0.0).pick, None);
}

#[test]
fn an_open_race_says_so() {
    let rows = [
        usual(),
        standing(Availability::Module, &[0.9, 0.2, 1.0, 0.3]),
    ];
    let verdict = decide(&rows, 0, 0.0);
    assert_eq!(verdict.certainty, Certainty::Open, "{verdict:?}");
    let one = [
        standing(Availability::Default, &[1.0]),
        standing(Availability::Module, &[0.5]),
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
