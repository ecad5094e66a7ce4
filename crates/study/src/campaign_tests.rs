//! Tasks in any order, of any size and some of them run twice, give the same files as a study in a
//! single process.

use super::*;
use crate::execute::tests::{Fake, files, run, study_in};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

fn make() -> SharedMakeRunner {
    Arc::new(|_| {
        Ok(Box::new(Fake {
            fails: true,
            ..Fake::default()
        }))
    })
}

fn campaign(studies: &Collection) -> Campaign {
    Campaign::new(studies.clone(), "none", "sweep", make(), None).unwrap()
}

fn go(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A watch that stops after so many runs.
fn after(runs: usize) -> impl Fn(&Progress) -> ControlFlow<()> + Sync {
    let done = AtomicUsize::new(0);
    move |_| match done.fetch_add(1, Ordering::Relaxed) + 1 >= runs {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn tasks_in_any_order_end_with_the_same_bytes(
        n in 1usize..30,
        order in Just((0..30).collect::<Vec<usize>>()).prop_shuffle(),
        twice in 0usize..30,
        killed in 0usize..30,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let studies = study_in(folder.path());
        let reference = folder.path().join("reference");
        run(&studies, &reference, 1, usize::MAX).unwrap();
        let out = folder.path().join("out");
        let campaign = campaign(&studies);
        let tasks = campaign.tasks(n);
        let mut collector = campaign.collector(&out, false).unwrap();
        for (i, task) in order.iter().filter(|i| **i < n).enumerate() {
            let task = &tasks[*task];
            let result = campaign.run_task(task, 2, &go).unwrap();
            let bytes = result.to_bytes();
            let result = TaskResult::from_bytes(&bytes).unwrap();
            prop_assert_eq!(collector.is_done(task), task.runs.is_empty());
            for _ in 0..=usize::from(i == twice) {
                collector.add(&result).unwrap();
            }
            prop_assert!(collector.is_done(task));
            if i == killed {
                drop(collector);
                collector = campaign.collector(&out, false).unwrap();
            }
        }
        prop_assert!((collector.progress().share - 1.0).abs() < 1e-9);
        collector.finish().unwrap();
        prop_assert_eq!(files(&out), files(&reference));
    }
}

#[test]
fn shards_that_were_killed_go_on_and_merge_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let studies = study_in(folder.path());
    let reference = folder.path().join("reference");
    run(&studies, &reference, 1, usize::MAX).unwrap();
    let out = folder.path().join("out");
    let campaign = campaign(&studies);
    let tasks = campaign.tasks(3);
    let stopped = campaign.run_shard(&tasks[1], &out, 2, &after(3));
    assert!(matches!(
        stopped,
        Err(ReproduceError::Execute(ExecuteError::Stopped { .. }))
    ));
    // The last record is cut short, as by a loss of power.
    let journal = out.join("sweep/shards/2-of-3.journal");
    let length = std::fs::metadata(&journal).unwrap().len();
    let file = std::fs::OpenOptions::new().write(true).open(&journal);
    file.unwrap().set_len(length - 3).unwrap();
    campaign.run_shard(&tasks[2], &out, 1, &go).unwrap();
    let collector = campaign.collector(&out, false).unwrap();
    let missing = tasks.iter().filter(|t| !collector.is_done(t));
    let missing: Vec<String> = missing.map(ToString::to_string).collect();
    assert_eq!(missing, ["1/3", "2/3"]);
    let stopped = collector.finish();
    assert!(matches!(
        stopped,
        Err(ReproduceError::Execute(ExecuteError::Stopped { .. }))
    ));
    campaign.run_shard(&tasks[1], &out, 1, &go).unwrap();
    campaign.run_shard(&tasks[0], &out, 2, &go).unwrap();
    campaign.collector(&out, false).unwrap().finish().unwrap();
    assert_eq!(files(&out), files(&reference));
    // A plain run takes what shards have, and runs nothing again.
    let stopped = run(&studies, &out, 1, 1);
    assert!(stopped.is_ok(), "nothing was left to run");
    assert_eq!(files(&out), files(&reference));
}

#[test]
fn results_of_another_study_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let studies = study_in(folder.path());
    let first = campaign(&studies);
    let mut other = studies.clone();
    other.keep("transport", &["a"]).unwrap();
    let second = campaign(&other);
    assert_ne!(first.fingerprint(), second.fingerprint());
    let task = &first.tasks(1)[0];
    let result = first.run_task(task, 1, &go).unwrap();
    let out = folder.path().join("out");
    let refused = second.collector(&out, false).unwrap().add(&result);
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("another version of the study"), "{why}");
    first.run_shard(task, &out, 1, &go).unwrap();
    let refused = second.collector(&out, false).err().unwrap().to_string();
    assert!(
        refused.contains("shard 1/1 was run of another"),
        "{refused}"
    );
}

const ADAPTIVE: &str =
    "replications = { until = \"3%\", of = \"transfer_time\", at_least = 3, at_most = 12 }";

/// As above, with as many runs of each cell as it needs.
fn adaptive_in(folder: &Path) -> Collection {
    study_in(folder);
    let path = folder.join("sweep.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("replications = 4", ADAPTIVE)).unwrap();
    Collection::load(&[path]).unwrap()
}

#[test]
fn cells_get_as_many_runs_as_they_need_however_they_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let studies = adaptive_in(folder.path());
    let reference = folder.path().join("reference");
    let made = run(&studies, &reference, 1, usize::MAX).unwrap();
    let results = &made.results["sweep"];
    let runs: Vec<usize> = (0..6).map(|cell| results.replications_of(cell)).collect();
    // 10, 20, 5, 10, (a cell that fails) and 10 seconds, and a seventh of the seed more.
    let cell = &made.tables[0].1.cells[0][0];
    assert_eq!(cell.n, runs[0]);
    let reached = results.reached(0).unwrap();
    assert_eq!(runs, [4, 3, 12, 4, 3, 4]);
    assert!(reached.enough && reached.share.unwrap() <= 0.03);
    assert!(!results.reached(4).unwrap().enough, "its runs fail");

    let parallel = folder.path().join("parallel");
    run(&studies, &parallel, 16, usize::MAX).unwrap();
    assert_eq!(files(&parallel), files(&reference));

    let killed = folder.path().join("killed");
    for _ in 0..3 {
        let _ = run(&studies, &killed, 2, 7);
    }
    run(&studies, &killed, 1, usize::MAX).unwrap();
    assert_eq!(files(&killed), files(&reference));

    let tasks = folder.path().join("tasks");
    let campaign = campaign(&studies);
    let mut collector = campaign.collector(&tasks, false).unwrap();
    for task in campaign.tasks(4).iter().rev() {
        collector
            .add(&campaign.run_task(task, 2, &go).unwrap())
            .unwrap();
        assert!(collector.is_done(task));
    }
    collector.finish().unwrap();
    assert_eq!(files(&tasks), files(&reference));
}

#[test]
fn a_gauge_that_is_no_metric_of_one_run_is_pointed_at() {
    let folder = tempfile::tempdir().unwrap();
    study_in(folder.path());
    let path = folder.path().join("sweep.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    for (of, expected) in [
        ("time(a) / time(b)", "look at other cells"),
        ("rate", "name an axis"),
        ("tyme", "did you mean"),
    ] {
        let adaptive = ADAPTIVE.replace("transfer_time", of);
        std::fs::write(&path, text.replace("replications = 4", &adaptive)).unwrap();
        let error = Collection::load(&[&path]).unwrap_err().render(false);
        assert!(error.contains(expected), "{error}");
    }
    let wrong = ADAPTIVE
        .replace("3%", "100%")
        .replace("at_least = 3", "at_least = 13");
    std::fs::write(&path, text.replace("replications = 4", &wrong)).unwrap();
    let error = Collection::load(&[&path]).unwrap_err().render(false);
    assert!(error.contains("`until` is out of range"), "{error}");
    assert!(
        error.contains("`at_least` is more than `at_most`"),
        "{error}"
    );
}

#[test]
fn a_collector_goes_wherever_it_is_needed_and_an_index_names_a_task() {
    fn moves<T: Send + 'static>(_: &T) {}
    let folder = tempfile::tempdir().unwrap();
    let studies = study_in(folder.path());
    let campaign = campaign(&studies);
    let collector = campaign.clone().collector(&folder.path().join("o"), true);
    moves(&collector.unwrap());
    moves(&campaign);
    for seconds in [0.5, 3.0, 1000.0] {
        let tasks = campaign.tasks_of(seconds);
        assert_eq!(tasks, campaign.tasks(tasks.len()));
    }
}

#[test]
fn tasks_are_described_by_their_runs() {
    let folder = tempfile::tempdir().unwrap();
    let studies = study_in(folder.path());
    let campaign = campaign(&studies);
    let runs = campaign.runs();
    let task = |runs| Task {
        index: 1,
        of: 2,
        runs,
        seconds: 1.0,
    };
    let first = campaign.describe(&task(0..1));
    assert!(
        first.starts_with(&format!("run 1 of {runs}, sweep at ")),
        "{first}"
    );
    assert!(first.contains(", seed "), "{first}");
    let all = campaign.describe(&task(0..runs));
    assert!(
        all.starts_with(&format!("runs 1 to {runs} of {runs}, from ")),
        "{all}"
    );
    assert_eq!(campaign.describe(&task(3..3)), "no runs");
}
