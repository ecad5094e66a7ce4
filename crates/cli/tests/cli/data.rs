//! The queries of docs/data.md on a small study.

use crate::common::{bentpipe_in, skip};
use std::path::Path;
use std::process::Command;

#[test]
fn the_queries_of_the_page_about_data_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/venv/bin/python");
    let mut has = Command::new(&python);
    has.args(["-c", "import duckdb, polars"]);
    if !has.output().is_ok_and(|ended| ended.status.success()) {
        return skip(
            "the_queries_of_the_page_about_data_run",
            "duckdb and polars in target/venv (`make tools`)",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let data = root.join("docs/data");
    let study = data.join("sweep.toml");
    bentpipe_in(folder.path(), &["study", study.to_str().unwrap()]).ok();
    let scenario = data.join("link.toml");
    let run = [
        "run",
        scenario.to_str().unwrap(),
        "--series",
        "--out",
        "one",
    ];
    bentpipe_in(folder.path(), &run).ok();
    let ended = Command::new(&python)
        .arg(root.join("crates/cli/tests/data.py"))
        .arg(root.join("docs/data.md"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
}
