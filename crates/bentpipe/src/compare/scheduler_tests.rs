//! Which runs are made: of made-up results, and of short questions.

use super::super::candidate::Availability;
use super::super::verdict::Harm;
use super::*;
use crate::Comparison;
use bentpipe_orbit::Site;
use bentpipe_units::{Bytes, Duration, Rate};

fn score(scores: &[f64], harm: Option<(f64, f64)>) -> RowScore {
    RowScore {
        effort: (0, Availability::Module),
        deployable: true,
        scores: scores.iter().map(|s| Some(*s)).collect(),
        harm: harm.map(|(share, ci95)| Harm {
            share,
            ci95: Some(ci95),
            ..Harm::default()
        }),
        resent_share: 0.0,
        wait_s: 0.0,
        level: bentpipe_study::stats::mean(scores),
        is_random: true,
    }
}

fn scores(rows: &[RowScore]) -> Scores {
    Scores {
        rows: rows.to_vec(),
        baseline: 0,
        lost: 0.0,
    }
}

const USUAL: [f64; 4] = [1.0, 1.01, 0.99, 1.0];

#[test]
fn what_is_known_runs_no_more() {
    let harmless = Some((0.0, 0.01));
    let rows = [
        score(&USUAL, None),
        score(&[0.5, 0.505, 0.495, 0.5], harmless),
        score(&[0.7, 0.71, 0.69, 0.7], harmless),
    ];
    assert_eq!(undecided(&scores(&rows), false), Undecided::default());
}

#[test]
fn what_may_be_better_by_a_gain_worth_it_runs_on() {
    let harmless = Some((0.0, 0.01));
    let rows = [
        score(&USUAL, None),
        score(&[0.5, 0.505, 0.495, 0.5], harmless),
        score(&[0.4, 0.65, 0.45, 0.52], harmless),
        // As fast within what anybody would notice: which of the two is no question.
        score(&[0.502, 0.507, 0.497, 0.502], harmless),
    ];
    let wanted = undecided(&scores(&rows), false);
    assert_eq!((wanted.own, wanted.shared), (vec![0, 1, 2], vec![]));
}

#[test]
fn what_others_lose_is_asked_until_it_is_known() {
    let wanted = |harm| {
        let rows = [
            score(&USUAL, None),
            score(&[0.5, 0.505, 0.495, 0.5], harm),
            score(&[0.7, 0.71, 0.69, 0.7], None),
        ];
        undecided(&scores(&rows), false).shared
    };
    assert_eq!(wanted(None), [0, 1]);
    assert_eq!(wanted(Some((0.02, 0.15))), [0, 1]);
    assert!(wanted(Some((0.02, 0.03))).is_empty());
    // Out by what may be chance; out for sure.
    assert_eq!(wanted(Some((0.25, 0.1))), [0, 1, 2]);
    assert_eq!(wanted(Some((0.5, 0.1))), [0, 2]);
}

/// The day of a link that changes, of which others lose more in the second half.
#[test]
fn runs_beside_others_are_spread_over_the_day() {
    let orbit = super::super::Orbit::new(
        "iridium",
        "Anchorage".parse::<Site>().unwrap(),
        "Oslo".parse::<Site>().unwrap(),
    );
    let question = Comparison::new()
        .orbit(orbit)
        .over(Duration::from_secs(24 * 3600))
        .runs(60)
        .size(Bytes::new(3_000))
        .transports(["cubic", "reno"]);
    let answer = question.run().unwrap();
    let profile = answer.path.profile.as_ref().unwrap();
    let cell = &answer.rows[0].cells[0];
    assert_eq!((cell.runs.len(), cell.shared.len()), (60, FIXED_SHARED));
    let mut begins: Vec<u64> = cell
        .shared
        .iter()
        .map(|run| profile.step(run.seed))
        .collect();
    begins.sort_unstable();
    let even: Vec<u64> = (0..20).map(|i| 3 * i + begins[0]).collect();
    assert_eq!(begins, even);
}

#[test]
fn one_run_of_what_is_random_changes_nothing() {
    let answer = Comparison::new()
        .rate(Rate::from_mbps(10))
        .size(Bytes::new(300_000))
        .transports(["cubic", "bbr"])
        .runs(1)
        .run()
        .unwrap();
    assert!(answer.is_kept());
    let text = answer.sentences().join(" ");
    assert!(text.contains("for now"), "{text}");
    assert!(text.contains("Uncertain"), "{text}");
}

#[test]
fn where_runs_are_cheap_all_rows_have_as_many() {
    let answer = Comparison::new().size(Bytes::new(1_000_000)).run().unwrap();
    let runs = |row: &super::super::Row| row.cells[0].runs.len();
    let least = answer.rows.iter().map(runs).min();
    assert!(least >= Some(16), "{least:?}");
    assert!(
        answer
            .rows
            .iter()
            .all(|row| Some(runs(row)) <= least || runs(row) > MOST_EVEN)
    );
}

/// Seconds of one size beside a share of all would be read as one.
#[test]
fn what_others_lose_is_said_of_all_sizes() {
    let answer = Comparison::new()
        .sizes([Bytes::new(30_000), Bytes::new(300_000)])
        .transports(["cubic", "bbr"])
        .loss("3%".parse::<super::super::Loss>().unwrap())
        .runs(4)
        .run()
        .unwrap();
    let text = answer.sentences().join(" ");
    let about = text.split(". ").find(|s| s.contains("others")).unwrap();
    assert!(
        about.contains("over all sizes") || about.contains("is unclear"),
        "{about}"
    );
    assert!(!about.contains("instead of"), "{about}");
}
