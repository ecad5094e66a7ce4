//! The folder of a study's results.
//!
//! ```text
//! results/table-3/
//!   journal            results of runs as they come
//!   shards/            the same of shards that other processes ran
//!   results.parquet    a row for each run
//!   runs, links, crossings, and where there are any middleboxes, legs and
//!                      series: .parquet, and .csv but for the last two
//!   replications.csv   runs of each cell, where they follow from the results
//!   failures.csv       runs that failed, where there are any
//!   tables/*.csv, figures/*.csv, claims.csv
//!   provenance.json
//! ```
//!
//! A study of many runs has folders instead of the files of tables:
//! `results/rate=2%20Mbit%2Fs/part-0.parquet`; see [`crate::dataset`].
//!
//! Every file except the journals is complete or absent and contains no wall-clock time.

use crate::claim::ClaimResult;
use crate::data::{StudyTables, TableRow};
use crate::dataset::{Dataset, Sizes};
use crate::error::StoreError;
use crate::figure::FigureData;
use crate::folder::{make, remove};
use crate::plan::hash;
use crate::reproduce::Reproduction;
use crate::results::StudyResults;
use crate::table::TableData;
use crate::verdict::Verdict;
use bentpipe_outcome::{Provenance, WholeFile, write_whole};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the journal.
pub(crate) const JOURNAL: &str = "journal";

/// Writes the runs of a study.
///
/// # Errors
/// If the folder cannot be written.
pub fn write_runs(folder: &Path, results: &StudyResults, identity: &str) -> Result<(), StoreError> {
    make(folder)?;
    let study = results.study();
    let seeds: Vec<u64> = (0..results.replications() as u64)
        .map(|r| study.seed.wrapping_add(r))
        .collect();
    let provenance = Provenance::new(&study.name, &hash(&study.origin.source.text), &seeds)
        .with("scenario file", study.scenario.as_deref().unwrap_or(""))
        .with("scenario file hash", &hash(identity));
    let mut json = serde_json::to_vec_pretty(&provenance).map_err(|e| StoreError::Csv {
        path: folder.join("provenance.json"),
        why: e.to_string(),
    })?;
    json.push(b'\n');
    write_whole(&folder.join("provenance.json"), &json)?;
    write_replications(&folder.join("replications.csv"), results)?;
    let tables = StudyTables::new(results);
    let mut dataset = Dataset::new(folder, results, &tables, provenance, Sizes::USUAL);
    let mut failures = Failures::new(folder.join("failures.csv"), results);
    tables.each(&mut |row| {
        failures.row(row)?;
        dataset.row(row)
    })?;
    dataset.finish()?;
    failures.finish()
}

/// How many runs each cell took, where that follows from the results.
fn write_replications(path: &Path, results: &StudyResults) -> Result<(), StoreError> {
    let study = results.study();
    let Some(precision) = &study.precision else {
        return remove(path);
    };
    let head = study.axes.iter().map(|a| a.name.clone()).chain(
        [
            "replications",
            "of",
            "mean",
            "half_width_share",
            "until",
            "enough",
        ]
        .map(str::to_owned),
    );
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    for cell in 0..results.cells() {
        let Some(reached) = results.reached(cell) else {
            continue;
        };
        let labels = results.labels(cell).into_iter().map(str::to_owned);
        rows.push(
            labels
                .chain([
                    reached.runs.to_string(),
                    precision.of.text.clone(),
                    number(reached.mean),
                    number(reached.share),
                    precision.until.to_string(),
                    reached.enough.to_string(),
                ])
                .collect(),
        );
    }
    csv_file(path, &rows)
}

/// The file of the runs that failed, which is begun with the first of them.
struct Failures {
    path: PathBuf,
    head: Vec<String>,
    file: Option<csv::Writer<WholeFile>>,
}

impl Failures {
    fn new(path: PathBuf, results: &StudyResults) -> Failures {
        let axes = results.study().axes.iter().map(|a| a.name.clone());
        Failures {
            path,
            head: axes.chain(["seed".into(), "failure".into()]).collect(),
            file: None,
        }
    }

    fn row(&mut self, row: &TableRow<'_>) -> Result<(), StoreError> {
        let Some(why) = row.result.failure() else {
            return Ok(());
        };
        let error = |e: csv::Error| StoreError::Csv {
            path: self.path.clone(),
            why: e.to_string(),
        };
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut file = csv::Writer::from_writer(WholeFile::create(&self.path)?);
                file.write_record(&self.head).map_err(error)?;
                self.file.insert(file)
            }
        };
        let seed = row.seed.to_string();
        let labels = row.points.iter().map(|point| point.label.as_str());
        file.write_record(labels.chain([seed.as_str(), why]))
            .map_err(error)
    }

    fn finish(self) -> Result<(), StoreError> {
        match self.file {
            None => remove(&self.path),
            Some(file) => {
                let file = file.into_inner().map_err(|e| StoreError::Csv {
                    path: self.path.clone(),
                    why: e.to_string(),
                })?;
                Ok(file.commit()?)
            }
        }
    }
}

/// Writes tables, figures and, if they are complete, claims next to the runs of their studies.
pub(crate) fn write_items(
    results: &Path,
    made: &Reproduction,
    claims: bool,
) -> Result<(), StoreError> {
    if claims {
        let mut by_study: BTreeMap<&str, Vec<&ClaimResult>> = BTreeMap::new();
        for claim in &made.claims {
            by_study.entry(&claim.study).or_default().push(claim);
        }
        for (study, claims) in by_study {
            let folder = results.join(study);
            make(&folder)?;
            write_claims_file(&folder.join("claims.csv"), claims)?;
        }
    }
    for (study, table) in &made.tables {
        let folder = results.join(study).join("tables");
        make(&folder)?;
        write_table_file(&folder.join(format!("{}.csv", table.slug)), table)?;
    }
    for (study, figure) in &made.figures {
        let folder = results.join(study).join("figures");
        make(&folder)?;
        write_figure_file(&folder.join(format!("{}.csv", figure.slug)), figure)?;
    }
    Ok(())
}

fn number(x: Option<f64>) -> String {
    x.map_or(String::new(), |x| x.to_string())
}

/// Writes a computed table, one line per cell.
///
/// # Errors
/// If the file cannot be written.
pub fn write_table_file(path: &Path, table: &TableData) -> Result<(), StoreError> {
    let head = [
        "row",
        "column",
        "ours",
        "ci95",
        "n",
        "unit",
        "published",
        "relative_error",
        "verdict",
        "note",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for cell in table.cells.iter().flatten() {
        rows.push(vec![
            cell.row.clone(),
            cell.column.clone(),
            number(cell.ours),
            number(cell.ci95),
            cell.n.to_string(),
            cell.unit.clone(),
            number(cell.published),
            number(cell.relative_error),
            cell.verdict.name().to_owned(),
            cell.note.clone(),
        ]);
    }
    csv_file(path, &rows)
}

/// Writes a computed figure, one line per point.
///
/// # Errors
/// If the file cannot be written.
pub fn write_figure_file(path: &Path, figure: &FigureData) -> Result<(), StoreError> {
    let head = ["panel", "curve", "x", "category", "y", "ci95", "published"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for curve in &figure.curves {
        for point in &curve.points {
            let category = figure
                .categories
                .get(point.x as usize)
                .cloned()
                .unwrap_or_default();
            rows.push(vec![
                curve.panel.clone(),
                curve.label.clone(),
                point.x.to_string(),
                category,
                point.y.to_string(),
                number(point.ci95),
                number(point.published),
            ]);
        }
    }
    csv_file(path, &rows)
}

/// Writes judged claims, one line each and one for each part: `000-2 (1)`.
///
/// # Errors
/// If the file cannot be written.
pub fn write_claims_file<'a>(
    path: &Path,
    claims: impl IntoIterator<Item = &'a ClaimResult>,
) -> Result<(), StoreError> {
    let head = [
        "id", "claim", "verdict", "recorded", "basis", "evidence", "reason",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for claim in claims {
        rows.push(vec![
            claim.id.clone(),
            claim.claim.clone(),
            claim.verdict.name().to_owned(),
            claim.recorded.map_or("", Verdict::name).to_owned(),
            claim.basis.clone(),
            claim.evidence.clone(),
            claim.reason.clone(),
        ]);
        for (i, part) in claim.parts.iter().enumerate() {
            rows.push(vec![
                format!("{} ({})", claim.id, i + 1),
                part.claim.clone(),
                part.verdict.name().to_owned(),
                part.recorded.map_or("", Verdict::name).to_owned(),
                String::new(),
                part.evidence.clone(),
                String::new(),
            ]);
        }
    }
    csv_file(path, &rows)
}

fn csv_file(path: &Path, rows: &[Vec<String>]) -> Result<(), StoreError> {
    let error = |why: String| StoreError::Csv {
        path: path.to_path_buf(),
        why,
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).map_err(|e| error(e.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|e| error(e.to_string()))?;
    write_whole(path, &bytes)?;
    Ok(())
}
