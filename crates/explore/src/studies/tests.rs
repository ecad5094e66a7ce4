//! Answers about runs against what a slow and simple program counts.

use super::dataset::{Columns, Dataset};
use super::filter::{Filter, Selected};
use super::pivot::{Pivot, Question};
use super::statistic::Statistic;
use super::{facets, runs};
use bentpipe::outcome::{AxisColumn, AxisPoint, AxisUnit, Column, Kind, Provenance, RowWriter};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

/// A run: the points of both axes, and a value where it has one.
type Run = (usize, usize, Option<f64>);

const DELAYS: [(&str, f64); 3] = [("300 ms", 0.3), ("50 ms", 0.05), ("1 s", 1.0)];
const TRANSPORTS: [&str; 3] = ["cubic", "hybla", "bbr"];

fn delay(in_path: bool) -> AxisColumn {
    AxisColumn {
        unit: Some(AxisUnit::Seconds),
        in_path,
        ..AxisColumn::text("delay")
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("run", Kind::Integer, "number"),
        Column::new("seed", Kind::Integer, "seed"),
        Column::new("failure", Kind::Text, "failure"),
        Column::new("transfer_time_s", Kind::Number, "time"),
        Column::new("unfinished", Kind::Integer, "flows that did not finish"),
    ]
}

/// Writes runs as a file, or as folders by delay, as large studies are.
fn written(folder: &Path, all: &[Run], is_folder: bool) -> Dataset {
    let axes = [delay(is_folder), AxisColumn::text("kind")];
    let provenance = Provenance::new("sweep", "0", &[1]);
    let write = |path: &Path, own: &dyn Fn(&Run) -> bool| {
        let mut file = RowWriter::create(path, &axes, columns(), &provenance).unwrap();
        for (number, run) in all.iter().enumerate().filter(|(_, run)| own(run)) {
            let (label, seconds) = DELAYS[run.0];
            let delay = AxisPoint {
                label: label.to_owned(),
                number: Some(seconds),
            };
            let points = [delay, AxisPoint::text(TRANSPORTS[run.1])];
            let mut row = file.axes(&points).unwrap();
            row.extend([
                (number as u64).into(),
                1_u64.into(),
                "".into(),
                run.2.into(),
                u64::from(run.2.is_none()).into(),
            ]);
            file.row(&row).unwrap();
        }
        file.finish().unwrap();
    };
    if is_folder {
        for (i, (label, _)) in DELAYS.iter().enumerate() {
            let below = format!("results/delay={}", label.replace(' ', "%20"));
            let below = folder.join(below);
            std::fs::create_dir_all(&below).unwrap();
            write(&below.join("part-0.parquet"), &|run| run.0 == i);
        }
    } else {
        write(&folder.join("results.parquet"), &|_| true);
    }
    Dataset::open(folder, &Columns::default()).unwrap()
}

fn question(statistic: Statistic, filters: Vec<Filter>) -> Question {
    Question {
        rows: vec!["delay".to_owned()],
        columns: vec!["kind".to_owned()],
        metric: "transfer_time_s".to_owned(),
        statistic,
        filters,
    }
}

fn only(column: &str, names: &[&str]) -> Filter {
    Filter {
        column: column.to_owned(),
        only: Some(names.iter().map(|name| (*name).to_owned()).collect()),
        ..Filter::default()
    }
}

/// The value of a cell, by labels; `None` if the table has no such cell with a value.
fn value(pivot: &Pivot, delay: &str, kind: &str) -> Option<f64> {
    let place = |side: &super::pivot::Side, label: &str| {
        let code = side.groups[0].labels.iter().position(|of| of == label)?;
        side.places.iter().position(|of| of[0] as usize == code)
    };
    let (row, column) = (place(&pivot.rows, delay)?, place(&pivot.columns, kind)?);
    let cell = pivot.cells[row * pivot.columns.places.len() + column];
    cell.estimate.value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tables_are_what_a_simple_program_counts(
        all in prop::collection::vec(
            (0..3_usize, 0..3_usize, prop::option::weighted(0.9, 0.1..100.0_f64)),
            1..200,
        ),
        is_folder: bool,
        least in 0.0..50.0_f64,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let dataset = written(folder.path(), &all, is_folder);
        prop_assert_eq!(dataset.runs(), all.len());
        let range = Filter {
            column: "transfer_time_s".to_owned(),
            from: Some(least),
            ..Filter::default()
        };
        for filters in [vec![], vec![only("kind", &["cubic", "bbr"])], vec![range]] {
            let passes = |run: &Run| filters.iter().all(|filter| match &filter.only {
                Some(only) => only.iter().any(|name| name == TRANSPORTS[run.1]),
                None => run.2.is_some_and(|x| x >= least),
            });
            let ask = |statistic| {
                Pivot::new(&dataset, &question(statistic, filters.clone())).unwrap()
            };
            let (mean, median) = (ask(Statistic::Mean), ask(Statistic::Median));
            let (count, finished) = (ask(Statistic::Count), ask(Statistic::Finished));
            prop_assert_eq!(mean.selected, all.iter().filter(|run| passes(run)).count());
            for (i, (delay, _)) in DELAYS.iter().enumerate() {
                for (j, kind) in TRANSPORTS.iter().enumerate() {
                    let own = all.iter().filter(|run| run.0 == i && run.1 == j && passes(run));
                    let own: Vec<Option<f64>> = own.map(|run| run.2).collect();
                    let mut values: Vec<f64> = own.iter().flatten().copied().collect();
                    values.sort_by(f64::total_cmp);
                    let n = values.len();
                    if own.is_empty() {
                        prop_assert_eq!(value(&count, delay, kind).unwrap_or(0.0), 0.0);
                        continue;
                    }
                    prop_assert_eq!(value(&count, delay, kind), Some(n as f64));
                    let share = n as f64 / own.len() as f64;
                    prop_assert!((value(&finished, delay, kind).unwrap() - share).abs() < 1e-12);
                    if n == 0 {
                        prop_assert_eq!(value(&mean, delay, kind), None);
                        continue;
                    }
                    let expected = values.iter().sum::<f64>() / n as f64;
                    prop_assert!((value(&mean, delay, kind).unwrap() - expected).abs() < 1e-9);
                    let middle = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
                    prop_assert!((value(&median, delay, kind).unwrap() - middle).abs() < 1e-9);
                }
            }
        }
    }
}

fn few() -> Vec<Run> {
    let value = |i: usize| (!i.is_multiple_of(5)).then_some(i as f64);
    (0..60).map(|i| (i / 20, i % 3, value(i))).collect()
}

#[test]
fn points_are_in_the_order_of_the_study_and_have_their_numbers() {
    for is_folder in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let dataset = written(folder.path(), &few(), is_folder);
        let axes = dataset.axes();
        assert_eq!(axes[0].name, "delay");
        // Folders by name would begin with `1 s`.
        assert_eq!(axes[0].points, ["300 ms", "50 ms", "1 s"]);
        assert_eq!(axes[0].numbers, Some(vec![0.3, 0.05, 1.0]));
        assert_eq!(axes[1].points, ["cubic", "hybla", "bbr"]);
        assert_eq!(axes[1].numbers, None);
        let metrics: Vec<&str> = dataset.metrics().map(|of| of.name.as_str()).collect();
        assert_eq!(metrics, ["transfer_time_s", "unfinished"]);
    }
}

#[test]
fn a_filter_does_not_count_for_its_own_column() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = written(folder.path(), &few(), true);
    let question = facets::Question {
        columns: vec!["delay".into(), "kind".into(), "transfer_time_s".into()],
        filters: vec![only("delay", &["50 ms"]), only("kind", &["bbr"])],
    };
    let answer = facets::facets(&dataset, &question).unwrap();
    assert_eq!(answer["selected"], 7);
    // Of the runs with `bbr`, by delay; of those with 50 ms, by kind.
    let counts = |i: usize| {
        let values = answer["facets"][i]["values"].as_array().unwrap().iter();
        values
            .map(|of| of[1].as_u64().unwrap())
            .collect::<Vec<u64>>()
    };
    assert_eq!(counts(0), [6, 7, 7]);
    assert_eq!(counts(1), [7, 6, 7]);
    let bars = answer["facets"][2]["counts"].as_array().unwrap();
    let inside: u64 = bars.iter().map(|of| of.as_u64().unwrap()).sum();
    assert_eq!(inside + answer["facets"][2]["missing"].as_u64().unwrap(), 7);
}

#[test]
fn runs_come_in_pages_in_an_order_with_the_missing_last() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = written(folder.path(), &few(), false);
    let page = |descending, offset| {
        let question = runs::Question {
            columns: vec!["kind".into(), "transfer_time_s".into()],
            filters: vec![only("delay", &["50 ms"])],
            sort: Some("transfer_time_s".into()),
            descending,
            offset,
            limit: 3,
        };
        let answer = runs::page(&dataset, &question).unwrap();
        assert_eq!(answer["total"], 20);
        let rows = answer["rows"].as_array().unwrap().iter();
        rows.map(|row| row[3].clone()).collect::<Vec<_>>()
    };
    assert_eq!(page(false, 0), [json!(21), json!(22), json!(23)]);
    assert_eq!(page(true, 0), [json!(39), json!(38), json!(37)]);
    assert_eq!(page(true, 18), [json!(null), json!(null)]);
    assert_eq!(page(true, 100), Vec::<serde_json::Value>::new());
}

#[test]
fn mistakes_are_answered_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = written(folder.path(), &few(), false);
    let mut wrong = question(Statistic::Mean, vec![]);
    wrong.metric = "transfer_tim_s".into();
    let problem = Pivot::new(&dataset, &wrong).unwrap_err().to_string();
    assert!(
        problem.contains("did you mean `transfer_time_s`?"),
        "{problem}"
    );
    wrong.metric = "kind".into();
    assert!(Pivot::new(&dataset, &wrong).is_err());
    let twice = [only("kind", &["bbr"]), only("kind", &["cubic"])];
    assert!(Selected::new(&dataset, &twice).is_err());
    assert!(Dataset::open(&folder.path().join("none"), &Columns::default()).is_err());
    std::fs::write(folder.path().join("results.parquet"), b"PAR1 no PAR1").unwrap();
    assert!(Dataset::open(folder.path(), &Columns::default()).is_err());
}

#[test]
fn numbers_are_cut_into_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = written(folder.path(), &few(), false);
    let mut by_time = question(Statistic::Count, vec![]);
    by_time.rows = vec!["transfer_time_s".into()];
    by_time.columns = vec![];
    let pivot = Pivot::new(&dataset, &by_time).unwrap();
    let counted: usize = pivot.cells.iter().map(|cell| cell.n).sum();
    assert_eq!(counted, 48);
    let bounds = pivot.rows.groups[0].bounds.as_ref().unwrap();
    assert!(bounds.windows(2).all(|pair| pair[0].1 <= pair[1].0));
}
