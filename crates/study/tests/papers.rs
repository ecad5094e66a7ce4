//! The papers of this repository: their studies read, their cells make
//! scenarios, and a study runs in the simulator from its files to its report.

use bentpipe_study::{
    CellVerdict, ItemKind, Paper, ReportRow, ReproduceOptions, Selection, Simulator, papers,
    reproduce,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers")
}

fn options(results: Option<PathBuf>) -> ReproduceOptions<'static> {
    ReproduceOptions {
        threads: 0,
        runs: Some(1),
        results,
        fresh: false,
        watch: &|_| ControlFlow::Continue(()),
    }
}

#[test]
fn every_paper_loads_and_every_cell_is_a_scenario() {
    for (slug, paper) in papers(&folder()).unwrap() {
        let paper = paper.unwrap_or_else(|e| panic!("{slug}: {}", e.render(false)));
        for loaded in paper.studies.iter().filter(|s| s.scenario.is_some()) {
            let runner = Simulator::of(loaded).unwrap();
            if let Err(error) = bentpipe_study::check_cells(&loaded.study, &*runner) {
                panic!("{slug}: {error}");
            }
        }
    }
}

#[test]
fn ideal_is_the_papers_to_the_last_digit() {
    let paper = Paper::load(&folder().join("marchese-2006")).unwrap();
    let items = paper.items();
    assert!(items.iter().any(|i| i.slug == "table-3" && i.kind == ItemKind::Table));
    let results = tempfile::tempdir().unwrap();
    let made = reproduce(
        &paper.studies,
        &paper.slug,
        &Selection::Item("table-3".into()),
        &Simulator::of,
        &options(Some(results.path().to_path_buf())),
    )
    .unwrap();
    let ideal: Vec<_> = made
        .report
        .rows
        .iter()
        .filter_map(|row| match row {
            ReportRow::Cell(cell) if cell.column == "Ideal" => Some(cell),
            _ => None,
        })
        .collect();
    assert_eq!(ideal.len(), 15);
    for cell in ideal {
        assert_eq!(cell.verdict, CellVerdict::Ok, "{cell:?}");
    }
    assert!(results.path().join("table-3/tables/table-3.csv").is_file());
    if std::env::var_os("SHOW").is_some() {
        let table = results.path().join("table-3/tables/table-3.csv");
        panic!("{}\n{:#?}", std::fs::read_to_string(table).unwrap(), made.tables[0].1.errors);
    }
}

#[test]
fn a_report_is_an_array_of_rows() {
    let paper = Paper::load(&folder().join("marchese-2006")).unwrap();
    let made = reproduce(
        &paper.studies,
        &paper.slug,
        &Selection::Claim("000-27".into()),
        &Simulator::of,
        &options(None),
    )
    .unwrap();
    let json = serde_json::to_value(&made.report).unwrap();
    let row = json.as_array().unwrap()[0].as_object().unwrap();
    let keys: Vec<&str> = row.keys().map(String::as_str).collect();
    assert_eq!(keys.len(), 6);
    for key in ["paper", "id", "claim", "verdict", "recorded", "evidence"] {
        assert!(keys.contains(&key), "{key}");
    }
    assert_eq!((row["verdict"].as_str(), made.report.regression), (Some("holds"), false));
}

#[test]
fn unknown_items_get_the_nearest_name() {
    let paper = Paper::load(&folder().join("marchese-2006")).unwrap();
    let item = Selection::Item("tabel-3".into());
    let made = reproduce(&paper.studies, &paper.slug, &item, &Simulator::of, &options(None));
    let error = made.unwrap_err().to_string();
    assert_eq!(error, "there is no table or figure `tabel-3`; did you mean `table-3`?");
}
