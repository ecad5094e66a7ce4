use super::*;
use crate::collection::Collection;
use crate::reproduce::{ReproduceOptions, Selection, reproduce};
use crate::runner::{Progress, Request};
use crate::study::Setting;
use crate::testing::outcome;
use bentpipe_outcome::Outcome;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const STUDY: &str = r#"
name = "sweep"
title = "A sweep"
scenario = "scenario.toml"
replications = 4
series = "100 ms"

[[axis]]
name = "rate"
path = "link.satellite.rate"
values = ["1 Mbit/s", "2 Mbit/s", "4 Mbit/s"]

[[axis]]
name = "transport"
points = [
  { label = "A", alias = "a", set = { "transport" = "a" } },
  { label = "B", alias = "b", set = { "transport" = "b" } },
]

[[table]]
slug = "times"
rows = ["rate"]
columns = ["transport"]
metrics = [{ label = "time", metric = "time", unit = "ms" }, { label = "gain", metric = "gain(a, b)" }]

[[figure]]
slug = "over-time"
kind = "series"
y = "rate"
series = "transport"
at = { rate = "1 Mbit/s" }

[[claim]]
id = "1"
statement = "A is faster"
check = "for all rate: time(a) < time(b)"
recorded = "holds"
"#;

/// Takes a time that depends on what is set and on the seed; fails in one
/// cell and panics in one run.
#[derive(Default)]
pub(crate) struct Fake {
    pub(crate) runs: AtomicUsize,
    pub(crate) fails: bool,
}

impl Runner for Fake {
    fn identity(&self) -> String {
        "fake".into()
    }

    fn check(&self, settings: &[Setting]) -> Result<String, String> {
        let wrong = settings.iter().any(|s| s.value.contains("wrong"));
        if wrong {
            Err("this is wrong".into())
        } else {
            Ok(format!("{:?}", settings.first().map(|s| &s.value)))
        }
    }

    fn run(&self, request: &Request<'_>) -> Result<Outcome, String> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let is = |value: &str| request.settings.iter().any(|s| s.value.contains(value));
        if self.fails && is("4 Mbit/s") && is("\"a\"") {
            assert!(request.seed != 2, "no luck");
            return Err("more than 5 packets were alive".into());
        }
        let base = if is("\"a\"") { 10.0 } else { 20.0 };
        let rate = if is("1 Mbit/s") { 1.0 } else { 0.5 };
        let mut outcome = outcome(base * rate + request.seed as f64 / 7.0);
        outcome.seed = request.seed;
        Ok(crate::testing::with_series(outcome))
    }
}

pub(crate) fn study_in(folder: &Path) -> Collection {
    fs::write(folder.join("scenario.toml"), "").unwrap();
    fs::write(folder.join("sweep.toml"), STUDY).unwrap();
    Collection::load(&[folder.join("sweep.toml")]).unwrap()
}

/// Every final file of a results folder, in order.
pub(crate) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|e| e != "journal")
                && path.file_name().is_some_and(|n| n != "journal")
            {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Reproduces into a folder; stops after so many runs.
pub(crate) fn run(
    studies: &Collection,
    results: &Path,
    threads: usize,
    stop_after: usize,
) -> Result<crate::Reproduction, crate::ReproduceError> {
    let done = AtomicUsize::new(0);
    let watch = |_: &Progress| {
        if done.fetch_add(1, Ordering::Relaxed) + 1 >= stop_after {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let options = ReproduceOptions {
        threads,
        runs: None,
        results: Some(results.to_path_buf()),
        watch: &watch,
        ..ReproduceOptions::default()
    };
    let make = |_: &crate::LoadedStudy| -> Result<Box<dyn Runner>, String> {
        Ok(Box::new(Fake {
            fails: true,
            ..Fake::default()
        }))
    };
    reproduce(studies, "none", &Selection::All, &make, &options)
}

#[test]
fn interrupted_and_parallel_studies_end_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let studies = study_in(folder.path());
    let reference = folder.path().join("reference");
    let made = run(&studies, &reference, 1, usize::MAX).unwrap();
    let expected = files(&reference);
    let names: Vec<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "sweep/claims.csv",
            "sweep/crossings.csv",
            "sweep/crossings.csv.json",
            "sweep/crossings.parquet",
            "sweep/failures.csv",
            "sweep/figures/over-time.csv",
            "sweep/links.csv",
            "sweep/links.csv.json",
            "sweep/links.parquet",
            "sweep/provenance.json",
            "sweep/results.parquet",
            "sweep/runs.csv",
            "sweep/runs.csv.json",
            "sweep/runs.parquet",
            "sweep/series.parquet",
            "sweep/tables/times.csv",
        ]
    );
    assert_eq!(
        made.claims[0].verdict,
        crate::Verdict::Open,
        "a cell failed"
    );
    assert!(
        made.claims[0].evidence.contains("5 packets"),
        "{}",
        made.claims[0].evidence
    );

    let parallel = folder.path().join("parallel");
    run(&studies, &parallel, 2, usize::MAX).unwrap();
    assert_eq!(files(&parallel), expected);

    let killed = folder.path().join("killed");
    let journal = killed.join("sweep/journal");
    for kill in 0..4 {
        let stopped = run(&studies, &killed, 2, 5);
        if kill < 3 {
            assert!(matches!(
                stopped,
                Err(crate::ReproduceError::Execute(ExecuteError::Stopped { .. }))
            ));
            // The last record is cut short, as by a loss of power.
            let length = fs::metadata(&journal).unwrap().len();
            let file = fs::OpenOptions::new().write(true).open(&journal).unwrap();
            file.set_len(length - 3).unwrap();
        }
    }
    run(&studies, &killed, 1, usize::MAX).unwrap();
    assert_eq!(files(&killed), expected);
}

#[test]
fn a_resumed_study_runs_only_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let study = Arc::new(Study::parse("sweep.toml", STUDY).unwrap());
    let fake = Fake::default();
    let options = |replications| ExecuteOptions {
        replications,
        threads: 1,
        journal: Some(folder.path().join("journal")),
        ..ExecuteOptions::default()
    };
    let first = execute(&study, &fake, &options(Some(2))).unwrap();
    assert_eq!(
        (fake.runs.load(Ordering::Relaxed), first.replications()),
        (12, 2)
    );
    let all = execute(&study, &fake, &options(None)).unwrap();
    assert_eq!(fake.runs.load(Ordering::Relaxed), 24);
    let seeds: Vec<u64> = all
        .runs_of(3)
        .filter_map(|run| run.data().map(|d| d.outcome.seed))
        .collect();
    assert_eq!(seeds, [1, 2, 3, 4], "the same in every cell");
    execute(
        &study,
        &fake,
        &ExecuteOptions {
            fresh: true,
            ..options(Some(1))
        },
    )
    .unwrap();
    assert_eq!(fake.runs.load(Ordering::Relaxed), 30);
}

#[test]
fn a_journal_of_something_else_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Some(folder.path().join("journal"));
    let study = Study::parse("sweep.toml", STUDY).unwrap();
    let fake = Fake::default();
    let options = ExecuteOptions {
        journal,
        ..ExecuteOptions::default()
    };
    execute(&Arc::new(study.clone()), &fake, &options).unwrap();
    let mut other = study;
    other.series = None;
    let error = execute(&Arc::new(other), &fake, &options).unwrap_err();
    assert!(
        error.to_string().contains("changed since these results"),
        "{error}"
    );
}

#[test]
fn a_journal_of_another_build_of_this_version_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let study = Arc::new(Study::parse("sweep.toml", STUDY).unwrap());
    let fake = Fake::default();
    let options = ExecuteOptions {
        journal: Some(path.clone()),
        ..ExecuteOptions::default()
    };
    execute(&study, &fake, &options).unwrap();
    let header = bentpipe_outcome::JournalReader::header(&path).unwrap();
    let build = header.lines().find(|line| line.starts_with("build "));
    let other = header.replace(build.expect("the build"), "build 0123456789abcdef");
    bentpipe_outcome::Journal::restart(&path, &other).unwrap();
    let error = execute(&study, &fake, &options).unwrap_err().to_string();
    assert!(error.contains("the build of bentpipe"), "{error}");
    assert!(error.contains("changed since these results"), "{error}");
    // Afresh it is begun again, and is this build's from then on.
    let fresh = ExecuteOptions {
        journal: Some(path),
        fresh: true,
        ..ExecuteOptions::default()
    };
    execute(&study, &fake, &fresh).unwrap();
    let runs = fake.runs.load(Ordering::Relaxed);
    execute(&study, &fake, &options).unwrap();
    assert_eq!(fake.runs.load(Ordering::Relaxed), runs);
}

#[test]
fn a_wrong_cell_is_found_before_anything_runs() {
    let text = STUDY
        .replace("\"4 Mbit/s\"", "\"wrong\"")
        .replace("at = { rate = \"1 Mbit/s\" }", "at = { rate = \"wrong\" }");
    let study = Arc::new(Study::parse("sweep.toml", &text).unwrap());
    let fake = Fake::default();
    let error = execute(&study, &fake, &ExecuteOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sweep at rate wrong, transport A makes no valid scenario:\nthis is wrong"
    );
    assert_eq!(fake.runs.load(Ordering::Relaxed), 0);
}

#[test]
fn tables_and_figures_hold_what_the_runs_gave() {
    let folder = tempfile::tempdir().unwrap();
    let studies = study_in(folder.path());
    let made = run(&studies, &folder.path().join("r"), 2, usize::MAX).unwrap();
    let table = &made.tables[0].1;
    assert_eq!(
        table.columns,
        [["A", "time"], ["A", "gain"], ["B", "time"], ["B", "gain"]]
    );
    let cell = &table.cells[0][0];
    let mean = 10.0 + 2.5 / 7.0;
    assert!(
        (cell.ours.unwrap() - 1000.0 * mean).abs() < 1e-3,
        "{cell:?}"
    );
    assert_eq!(
        (cell.n, cell.unit.as_str(), cell.column.as_str()),
        (4, "ms", "A | time")
    );
    assert!(cell.ci95.is_some());
    let failed = &table.cells[2][0];
    assert_eq!(failed.verdict, crate::CellVerdict::Missing);
    assert_eq!(
        failed.note,
        "sweep at rate 4 Mbit/s, transport A: more than 5 packets were alive in 4 of 4 runs"
    );
    let figure = &made.figures[0].1;
    assert_eq!(figure.curves.len(), 2);
    assert_eq!(figure.curves[0].label, "A");
    assert!((figure.curves[0].points[1].y - 100.0).abs() < 1e-9);
    let failures = fs::read_to_string(folder.path().join("r/sweep/failures.csv")).unwrap();
    assert!(
        failures.contains("4 Mbit/s,A,2,the run panicked: no luck"),
        "{failures}"
    );
}

#[test]
fn boxes_distributions_maps_and_panels_are_of_the_runs() {
    const FIGURES: &str = r#"
[[figure]]
slug = "boxes"
kind = "box"
groups = ["rate"]
facets = "transport"
y = "time"
only = { rate = ["1 Mbit/s", "2 Mbit/s"] }
[[figure]]
slug = "shares"
kind = "cdf"
series = "transport"
y = "time"
unit = "ms"
at = { rate = "1 Mbit/s" }
x_scale = "log"
[[figure]]
slug = "map"
kind = "heat"
x = "rate"
series = "transport"
y = "time"
only = { rate = ["1 Mbit/s", "2 Mbit/s"] }
[[figure]]
slug = "line"
kind = "line"
x = "rate"
series = "transport"
y = "time"
only = { rate = ["1 Mbit/s", "2 Mbit/s"] }
published = [{ x = "2 Mbit/s", y = 9, series = "b", text = "p. 3" }, { y = 4, text = "p. 4" }]
"#;
    let folder = tempfile::tempdir().unwrap();
    let study = STUDY.replace("[[claim]]", &format!("{FIGURES}\n[[claim]]"));
    fs::write(folder.path().join("scenario.toml"), "").unwrap();
    fs::write(folder.path().join("sweep.toml"), study).unwrap();
    let studies = Collection::load(&[folder.path().join("sweep.toml")]).unwrap();
    let made = run(&studies, &folder.path().join("r"), 2, usize::MAX).unwrap();
    let figure = |slug: &str| &made.figures.iter().find(|(_, f)| f.slug == slug).unwrap().1;

    let boxes = figure("boxes");
    assert_eq!(boxes.panels, ["A", "B"]);
    assert_eq!(
        (boxes.x_label.as_str(), boxes.y_label.as_str()),
        ("Rate", "Time (s)")
    );
    assert_eq!(boxes.curves[1].panel, "B");
    assert_eq!(boxes.curves[0].points[0].samples.len(), 4);

    let shares = figure("shares");
    assert_eq!(
        (shares.x_label.as_str(), shares.x_axis.log),
        ("Time (ms)", true)
    );
    let ends: Vec<f64> = shares.curves[0].points.iter().map(|p| p.y).collect();
    assert_eq!(ends, [0.0, 0.25, 0.5, 0.75, 1.0]);

    let map = figure("map");
    assert_eq!(map.categories, ["1 Mbit/s", "2 Mbit/s"]);
    assert_eq!(map.row_label, "Transport");

    let line = figure("line");
    assert_eq!(line.x_label, "Rate (Mbit/s)");
    assert_eq!(line.curves[0].points[1].x, 2.0);
    let mark = &line.published[0];
    assert_eq!(
        (mark.x, mark.y, mark.series.as_deref()),
        (Some(2.0), 9.0, Some("B"))
    );
    assert_eq!(line.published[1].x, None);
}

#[test]
fn adapted_studies_have_fewer_points_and_medians() {
    let folder = tempfile::tempdir().unwrap();
    let mut studies = study_in(folder.path());
    let kept = studies.adapt(|study| {
        study.central = crate::Central::Median;
        study.replications = 5;
        study.claims.clear();
        study.keep("rate", &["4 Mbit/s", "1 Mbit/s"])?;
        study.keep("transport", &["b"])
    });
    assert_eq!(kept, Ok(()));
    // What is left out may be shown: then nothing is.
    let study = studies.iter().next().unwrap().study.clone();
    assert_eq!(study.cells(), 2);
    let labels: Vec<&str> = study.axes[0]
        .points
        .iter()
        .map(|p| p.label.as_str())
        .collect();
    assert_eq!(labels, ["1 Mbit/s", "4 Mbit/s"], "in the order of the axis");
    let made = run(&studies, &folder.path().join("r"), 1, usize::MAX).unwrap();
    let cell = &made.tables[0].1.cells[0][0];
    // Seeds 1 to 5 of a run that takes 20 s and a seventh of the seed.
    assert!((cell.ours.unwrap() - 1000.0 * (20.0 + 3.0 / 7.0)).abs() < 1e-3);
    assert_eq!(cell.n, 5);
    let wrong = studies.adapt(|study| study.keep("rate", &["3 Mbit/s"]));
    assert!(wrong.unwrap_err().contains("has no point `3 Mbit/s`"));
    let wrong = studies.adapt(|study| study.keep("colour", &["red"]));
    assert!(wrong.unwrap_err().contains("has no axis `colour`"));
}

/// Is stopped while its third run is under way.
#[derive(Default)]
struct Stopped(Fake);

impl Runner for Stopped {
    fn identity(&self) -> String {
        self.0.identity()
    }

    fn check(&self, settings: &[Setting]) -> Result<String, String> {
        self.0.check(settings)
    }

    fn is_stopped(&self) -> bool {
        self.0.runs.load(Ordering::Relaxed) >= 3
    }

    fn run(&self, request: &Request<'_>) -> Result<Outcome, String> {
        let outcome = self.0.run(request);
        if self.is_stopped() {
            return Err("stopped".into());
        }
        outcome
    }
}

#[test]
fn a_run_that_is_stopped_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let study = Arc::new(Study::parse("sweep.toml", STUDY).unwrap());
    let options = ExecuteOptions {
        threads: 1,
        journal: Some(folder.path().join("journal")),
        ..ExecuteOptions::default()
    };
    let stopped = execute(&study, &Stopped::default(), &options);
    assert!(matches!(
        stopped,
        Err(ExecuteError::Stopped { done: 2, .. })
    ));
    let fake = Fake::default();
    let all = execute(&study, &fake, &options).unwrap();
    assert_eq!(fake.runs.load(Ordering::Relaxed), 22);
    assert_eq!(all.failures(), 0);
}
