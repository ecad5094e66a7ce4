//! The papers of this repository: their studies read, their cells make
//! scenarios, and a study runs in the simulator from its files to its report.

use bentpipe_study::{
    CellVerdict, Collection, ItemKind, LoadedStudy, Paper, ReportRow, ReproduceOptions, Selection,
    Simulator, papers, reproduce,
};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers")
}

fn options(results: Option<PathBuf>) -> ReproduceOptions<'static> {
    ReproduceOptions {
        runs: Some(1),
        results,
        ..ReproduceOptions::default()
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
    assert!(
        items
            .iter()
            .any(|i| i.slug == "table-3" && i.kind == ItemKind::Table)
    );
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
    assert_eq!(keys.len(), 7);
    for key in [
        "paper", "id", "claim", "verdict", "recorded", "basis", "evidence",
    ] {
        assert!(keys.contains(&key), "{key}");
    }
    assert_eq!(
        (row["verdict"].as_str(), made.report.regression),
        (Some("holds"), false)
    );
}

#[test]
fn unknown_items_get_the_nearest_name() {
    let paper = Paper::load(&folder().join("marchese-2006")).unwrap();
    let item = Selection::Item("tabel-3".into());
    let made = reproduce(
        &paper.studies,
        &paper.slug,
        &item,
        &Simulator::of,
        &options(None),
    );
    let error = made.unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no table or figure `tabel-3`; did you mean `table-3`?"
    );
}

#[test]
fn a_study_brings_the_studies_that_it_names() {
    let path = folder().join("marchese-2006/table-8.toml");
    let studies = Collection::with_siblings(LoadedStudy::load(&path).unwrap()).unwrap();
    let names: Vec<&str> = studies.iter().map(|s| s.study.name.as_str()).collect();
    assert_eq!(names, ["table-8", "delayed-ack"]);
}

#[test]
fn references_must_fit_their_tables() {
    let study = "name = \"s\"\nscenario = \"s.scenario\"\n[[axis]]\nname = \"rate\"\npath = \"x\"\n\
                 values = [\"1 Mbit/s\"]\n[[table]]\nslug = \"t\"\nrows = [\"rate\"]\n\
                 metrics = [{ label = \"time\", metric = \"time\" }, { label = \"drops\", metric = \"drops\" }]\n\
                 reference = \"t.csv\"\n";
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("s.toml", study);
    file("s.scenario", "");
    let load = || Collection::load(&[folder.path().join("s.toml")]);
    file("t.csv", "row,column,value\n1 Mbit/s,time,3\n");
    assert!(load().is_ok());
    file("t.csv", "row,column,value\n1 Mbit/s,tiem,3\n");
    let error = load().unwrap_err().to_string();
    assert!(
        error.ends_with("t.csv: `t` has no column `tiem`; did you mean `time`?"),
        "{error}"
    );
    std::fs::remove_file(folder.path().join("t.csv")).unwrap();
    assert!(load().unwrap_err().to_string().contains("t.csv`: "));
}
