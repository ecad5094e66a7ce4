//! Which runs are made: of made-up results, and of short questions.

use super::*;
use crate::Comparison;
use bentpipe_orbit::Site;
use bentpipe_units::{Bytes, Duration, Rate};

fn short() -> Comparison {
    Comparison::new()
        .rate(Rate::from_mbps(2))
        .size(Bytes::new(100_000))
        .transports(["cubic", "cubic + IW 32", "bp_hybla", "vegas"])
}

/// What is recommended for sure: a row, or the baseline.
fn sure(question: &Comparison, seed: u64) -> Option<String> {
    let answer = question.clone().seed(seed).run().unwrap();
    let is_clear = answer.verdict.certainty == Certainty::Clear;
    let verdict = &answer.verdict;
    if !is_clear {
        // It says what it stands between, and what would tell.
        assert!(verdict.against.is_some(), "{:?}", answer.sentences());
        return None;
    }
    let name = answer.recommended().map(|row| row.name.clone());
    Some(if answer.is_kept() {
        String::new()
    } else {
        name.unwrap()
    })
}

/// Of sure verdicts with other seeds none keeps where another changes.
fn assert_no_opposites(question: &Comparison, seeds: &[u64]) {
    let found: Vec<String> = seeds
        .iter()
        .filter_map(|seed| sure(question, *seed))
        .collect();
    let kept = found.iter().filter(|name| name.is_empty()).count();
    assert!(kept == 0 || kept == found.len(), "{found:?}");
}

const SEEDS: [u64; 6] = [1, 101, 201, 301, 401, 501];

#[test]
fn sure_verdicts_on_the_default_question_are_never_opposite() {
    let question = Comparison::new().time(Duration::from_secs(1));
    assert_no_opposites(&question, &SEEDS);
}

#[test]
fn sure_verdicts_on_several_users_are_never_opposite() {
    let question = Comparison::new()
        .users(8)
        .size(Bytes::new(2_000_000))
        .transports(["cubic", "bbr", "bp_hybla", "hybla"])
        .time(Duration::from_secs(1));
    assert_no_opposites(&question, &SEEDS);
}

#[test]
fn what_was_hopeless_is_set_aside_until_the_rest_is_known() {
    let question = Comparison::new()
        .users(60)
        .traffic(super::super::Traffic::Web);
    let answer = question.time(Duration::from_millis(1_500)).run().unwrap();
    let runs = |name: &str| answer.result(name).unwrap().runs.len();
    assert!(
        runs("bp_mtsi") <= 1 && runs("cubic") >= FEWEST,
        "{}, {}",
        runs("bp_mtsi"),
        runs("cubic")
    );
    // First runs of a row may cost more than was expected of it.
    assert!(answer.packets() as f64 <= 1.3 * answer.budget);
}

#[test]
fn more_time_is_more_runs_and_the_same_time_the_same() {
    let ask = |ms| short().time(Duration::from_millis(ms)).run().unwrap();
    let (one, again, more) = (ask(50), ask(50), ask(400));
    assert_eq!(one.packets(), again.packets());
    assert_eq!(one.verdict, again.verdict);
    assert!(one.packets() < more.packets() || one.verdict.certainty == Certainty::Clear);
}

/// Rule 3 of what others lose: all users of the baseline are alike.
#[test]
fn who_has_the_default_beside_the_default_is_like_everybody() {
    let answer = short().runs(4).run().unwrap();
    let seeds: Vec<u64> = (1..=400).collect();
    let runs = answer.rerun_shared(answer.baseline(), 0, &seeds).unwrap();
    let of = super::super::Activity::Download;
    let differences: Vec<f64> = runs
        .iter()
        .map(|run| run.time_s(of).unwrap() - run.others_time_s(of).unwrap())
        .collect();
    let mean = bentpipe_study::stats::mean(&differences);
    let ci = bentpipe_study::stats::ci95(&differences).unwrap();
    assert!(mean.abs() < 1.6 * ci, "{mean} ±{ci}");
}

/// Where all users are alike, one run shows what two would.
#[test]
fn a_run_of_users_who_are_alike_shows_both() {
    let question = short().users(3).peps([Pep::None, Pep::Split, Pep::Gateway]);
    let answer = question.transports(["cubic", "bbr"]).runs(2).run().unwrap();
    let mut alike = 0;
    for row in answer.rows.iter().filter(|row| answer.is_alike(row)) {
        alike += 1;
        let [own, mut shared] = answer.one_alike(row, 0, 7).unwrap();
        assert_eq!(own, answer.one(row, 0, false, 7).unwrap());
        let made = answer.one(row, 0, true, 7).unwrap();
        assert_eq!(shared.packets, 0);
        shared.packets = made.packets;
        assert_eq!(shared, made);
        assert_eq!(row.cells[0].shared.len(), 2);
    }
    assert_eq!(alike, 3);
    // One user has nobody beside.
    let alone = short().runs(1).run().unwrap();
    assert!(!alone.is_alike(alone.baseline()));
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
    assert!(
        text.starts_with("Open after one run: keep cubic for now."),
        "{text}"
    );
    assert!(text.contains("4 to 6 runs would probably tell"), "{text}");
}

#[test]
fn where_runs_are_cheap_all_rows_have_as_many() {
    let answer = Comparison::new().size(Bytes::new(1_000_000)).run().unwrap();
    let runs = |row: &super::super::Row| row.cells[0].runs.len();
    let least = answer.rows.iter().map(runs).min();
    assert!(least >= Some(20), "{least:?}");
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
