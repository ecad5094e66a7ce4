use super::super::result::RunResult;
use super::super::traffic::{OBJECTS, PAGES};
use super::measured::values;
use super::*;
use bentpipe_sim::Options;
use bentpipe_units::{Bytes, Ratio};

fn target(text: &str) -> Target {
    text.parse().unwrap()
}

fn question() -> Comparison {
    Comparison::new()
        .rate(Rate::from_mbps(5))
        .size(Bytes::new(500_000))
        .loss(Ratio::ZERO)
        .transports(["cubic", "cubic + IW 32"])
}

#[test]
fn the_link_is_full_where_a_scan_says_so() {
    let asked = target("mean download < 6 s");
    let found = question()
        .time(Duration::from_secs(2))
        .capacity(asked)
        .unwrap();
    for row in &found.rows {
        let name = &found.answer.rows[row.row].name;
        // 20 runs with seeds of their own, for each number of users from one on.
        let mean = |users: u32| {
            let question = question().users(users).seed(1000).runs(20);
            let answer = question.transports([name.as_str()]).run().unwrap();
            answer.result(name).unwrap().time().unwrap().mean
        };
        let full = (1..).find(|users| mean(*users) >= 6.0).unwrap() - 1;
        let users = row.users.unwrap();
        let off = f64::from(users.abs_diff(full)) / f64::from(full);
        assert!(
            off <= 0.10 || users.abs_diff(full) <= 1,
            "{name}: {users}, {full}"
        );
        assert_eq!(row.known, Known::Users);
    }
}

#[test]
fn seeds_and_not_threads_decide() {
    let asked = target("p90 download < 8 s");
    let question = || question().time(Duration::from_secs(1));
    let one = question().threads(1).capacity(asked).unwrap();
    let many = question().threads(4).capacity(asked).unwrap();
    assert_eq!((&one.rows, one.packets), (&many.rows, many.packets));
    assert_eq!(one.advice, many.advice);
}

#[test]
fn a_target_says_what_users_do() {
    let traffic = |text: &str| {
        let asked = Comparison::new().of_target(target(text)).unwrap();
        asked.question.traffic
    };
    assert_eq!(traffic("p95 page < 5 s"), Traffic::Web);
    assert_eq!(traffic("mean object < 1 s"), Traffic::Web);
    assert_eq!(traffic("p95 startup < 5 s"), Traffic::Video);
    assert_eq!(traffic("p5 rate > 1 Mbit/s"), Traffic::Download);
    let mixed = Comparison::new().traffic(Traffic::Mixed);
    assert!(mixed.of_target(target("p95 page < 5 s")).is_ok());
}

#[test]
fn what_is_sought_cannot_be_set() {
    let refused =
        |question: Comparison, text: &str| question.capacity(target(text)).unwrap_err().to_string();
    let users = question().users(3);
    assert_eq!(
        refused(users, "mean download < 6 s"),
        "`users` is what is sought"
    );
    let sizes = question().sizes([Bytes::new(1), Bytes::new(2)]);
    assert_eq!(
        refused(sizes, "mean download < 6 s"),
        "`size` must be a single one"
    );
    let video = Comparison::new().traffic(Traffic::Video);
    assert_eq!(
        refused(video, "p95 page < 5 s"),
        "`traffic` is video, which has no page: `p95 page < 5 s` needs another"
    );
}

#[test]
fn not_even_one_user_is_said() {
    let found = question()
        .capacity(target("mean download < 100 ms"))
        .unwrap();
    assert!(
        found
            .rows
            .iter()
            .all(|row| row.known == Known::None && row.users == Some(0))
    );
    assert_eq!(found.advice, Advice::Keep);
    assert!(
        found.sentences()[1].contains("does not hold for even one user"),
        "{:?}",
        found.sentences()
    );
}

#[test]
fn whoever_carries_somebody_is_better_than_nobody() {
    let answer = question().time(Duration::from_secs(1)).users(2);
    let answer = prepared(&answer, answer.path().unwrap()).unwrap();
    let row = |row: usize, known, users| CapacityRow {
        row,
        fewest: 1,
        users: Some(users),
        interval: None,
        known,
        more: None,
        more_ci95: None,
        runs: 4,
    };
    let rows = [row(0, Known::None, 0), row(1, Known::Users, 3)];
    assert_eq!(advise(&answer, &rows, 0), (1, Advice::Use));
    let rows = [row(0, Known::None, 0), row(1, Known::None, 0)];
    assert_eq!(advise(&answer, &rows, 0), (0, Advice::Keep));
    // Without a difference that is known nothing is shown.
    let rows = [row(0, Known::Users, 2), row(1, Known::Users, 3)];
    assert_eq!(advise(&answer, &rows, 0), (0, Advice::Open));
}

#[test]
fn every_page_counts() {
    let question = Comparison::new()
        .traffic(Traffic::Web)
        .users(3)
        .loss(Ratio::ZERO);
    let path = question.path().unwrap();
    let answer = prepared(&question, path).unwrap();
    let options = Options {
        seed: 7,
        ..Options::default()
    };
    let outcome = answer.replay(&answer.rows[0], 0, &options).unwrap();
    assert_eq!(
        values(&answer, &outcome, Measure::Page).len(),
        3 * PAGES as usize
    );
    assert_eq!(
        values(&answer, &outcome, Measure::Object).len(),
        3 * OBJECTS as usize
    );
    let users = values(&answer, &outcome, Measure::Rate);
    assert_eq!(users.len(), 3);
    // Their means are those that the runs have.
    let run = RunResult::of(&outcome, &answer.work(0), 3, |_| false);
    let pages = values(&answer, &outcome, Measure::Page);
    let mean = pages.iter().sum::<f64>() / pages.len() as f64;
    let known = run.time_s(super::super::Activity::Web).unwrap();
    assert!((mean / known - 1.0).abs() < 1e-6, "{mean} {known}");
}

/// A run has one wait, its 95th percentile, and all of them together count, not the worst.
#[test]
fn a_wait_is_missed_by_its_mean_over_the_runs() {
    let asked = target("p95 wait < 300 ms");
    let missed: f64 = [0.2, 0.2, 0.2, 0.45]
        .iter()
        .map(|wait| asked.missed_by(&[*wait]))
        .sum();
    assert!(missed < 0.0, "{missed}");
}
