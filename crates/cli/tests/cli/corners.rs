//! The host profile `linux` in corners where stacks differ, beside this machine's kernel.
//! `make held` has all of them beside what kernels did.

use crate::common::{bentpipe_in, may};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fidelity/linux")
}

/// The rows of a CSV file without quotes, by the names of their columns.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).expect("it was written");
    let mut lines = text.lines().map(|line| line.split(','));
    let names: Vec<&str> = lines.next().expect("a header").collect();
    let row = |line: std::str::Split<'_, char>| {
        let pairs = names.iter().zip(line);
        pairs
            .map(|(n, v)| ((*n).to_owned(), v.to_owned()))
            .collect()
    };
    lines.map(row).collect()
}

/// The median time of each cell's runs, each of one flow, by the study of cells without
/// losses at random, run with `options`.
fn times(cells: &[&str], options: &[&str]) -> BTreeMap<String, f64> {
    let out = tempfile::tempdir().unwrap();
    let only = format!("cell={}", cells.join(","));
    let to = out.path().to_str().unwrap();
    let arguments = [
        &["study", "hard/certain.toml", "--out", to, "--only", &only],
        options,
    ]
    .concat();
    bentpipe_in(&folder(), &arguments).ok();
    let mut runs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in rows(&out.path().join("certain/runs.csv")) {
        let time = row["transfer_time_s"].parse().unwrap_or(f64::INFINITY);
        runs.entry(row["cell"].clone()).or_default().push(time);
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        f64::midpoint(times[(times.len() - 1) / 2], times[times.len() / 2])
    };
    let each = runs.into_iter();
    each.map(|(cell, times)| (cell, median(times))).collect()
}

/// The median of three starts each, the same ones on both sides, four at the same time.
#[test]
fn this_kernel_does_as_the_profile_linux() {
    if !may("this_kernel_does_as_the_profile_linux") {
        return;
    }
    let cells = [
        "spurious: the way forth waits 1 s",
        "outage: 0.5 s",
        "asymmetry: the way back has 1/20",
        // Not 0.2 s: that is as long as the timeout after which Linux takes a window
        // for stale, and runs differ by a second.
        "application: 300 kB five times with 1 s between",
    ];
    let ours = times(&cells, &["--runs", "3"]);
    let theirs = times(&cells, &["--on", "linux", "--runs", "3", "--jobs", "4"]);
    for cell in cells {
        let error = (ours[cell] / theirs[cell] - 1.0).abs();
        assert!(error < 0.10, "{cell}: {ours:?}, Linux {theirs:?}");
    }
}
