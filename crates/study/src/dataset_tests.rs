//! Tables of many runs are folders with the rows that single files would have.

use super::*;
use crate::study::Study;
use crate::testing::{fake_results, outcome};
use bentpipe_outcome::{Table, Value};
use std::sync::Arc;

const STUDY: &str = r#"
name = "sweep"
scenario = "a.toml"
replications = 3
[[axis]]
name = "speed"
path = "p"
values = ["2 Mbit/s", "500 kbit/s"]
[[axis]]
name = "transport"
path = "q"
values = ["a", "b"]
"#;

const SMALL: Sizes = Sizes {
    many: 1,
    folders: 3,
    runs: 2,
    rows: 4,
};

fn write(root: &Path, sizes: Sizes) {
    let study = Arc::new(Study::parse("sweep.toml", STUDY).unwrap());
    let results = fake_results(&study, |cell, replication| match (cell, replication) {
        (1, 2) => Err("more than 5 packets".into()),
        _ => Ok(outcome((10 * cell + replication) as f64)),
    });
    let tables = StudyTables::new(&results);
    let provenance = Provenance::new("sweep", "0", &[1, 2, 3]);
    let mut dataset = Dataset::new(root, &results, &tables, provenance, sizes);
    tables.each(&mut |row| dataset.row(row)).unwrap();
    dataset.finish().unwrap();
}

fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path.strip_prefix(root).unwrap().display().to_string()),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn many_runs_become_folders_and_few_become_files_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, Sizes::USUAL);
    let single = files(root);
    assert!(single.contains(&"runs.csv".to_owned()), "{single:?}");
    let whole = Table::read(&root.join("results.parquet")).unwrap();

    write(root, SMALL);
    let parts = files(root);
    let results: Vec<&str> = parts
        .iter()
        .filter_map(|f| f.strip_prefix("results/"))
        .collect();
    assert_eq!(
        results,
        [
            "speed=2%20Mbit%2Fs/part-0.parquet",
            "speed=2%20Mbit%2Fs/part-1.parquet",
            "speed=500%20kbit%2Fs/part-0.parquet",
            "speed=500%20kbit%2Fs/part-1.parquet",
        ]
    );
    assert!(parts.iter().all(|f| f.contains('/')), "{parts:?}");
    let mut rows = Vec::new();
    for part in &results {
        let table = Table::read(&root.join("results").join(part)).unwrap();
        assert_eq!(table.columns[..3], ["speed_bps", "axis_transport", "study"]);
        rows.extend(table.rows);
    }
    // The same rows except for the label in the folder's name.
    let expected: Vec<Vec<Value>> = whole.rows.iter().map(|row| row[1..].to_vec()).collect();
    assert_eq!(rows, expected);

    fs::write(root.join("runs/mine.txt"), "kept").unwrap();
    write(root, Sizes::USUAL);
    let mut expected = single;
    expected.push("runs/mine.txt".to_owned());
    expected.sort();
    assert_eq!(files(root), expected);
}

#[test]
fn what_paths_cannot_hold_is_escaped() {
    assert_eq!(escaped("2 Mbit/s"), "2%20Mbit%2Fs");
    assert_eq!(escaped("westwood+"), "westwood+");
    assert_eq!(escaped("50%"), "50%25");
    assert_eq!(escaped("µ="), "%C2%B5%3D");
}
