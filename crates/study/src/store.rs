//! The folder of a study's results.
//!
//! ```text
//! results/table-3/
//!   journal            results of runs as they come
//!   results.parquet    a row for each run
//!   runs, links, crossings, and where there are any middleboxes, legs and
//!                      series: .parquet, and .csv but for the last two
//!   failures.csv       runs that failed, where there are any
//!   tables/*.csv, figures/*.csv, claims.csv
//!   provenance.json
//! ```
//!
//! Every file but the journal is whole or absent and holds no time of day.

use crate::claim::{ClaimResult, Verdict};
use crate::data::{RESULTS, Runs};
use crate::figure::FigureData;
use crate::plan::hash;
use crate::reproduce::Reproduction;
use crate::results::StudyResults;
use crate::table::TableData;
use bentpipe_outcome::{Provenance, TableKind, remove_leftovers, write_whole};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the journal.
pub(crate) const JOURNAL: &str = "journal";

/// Why results could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A folder cannot be made, or an old file not removed.
    #[error("{}: cannot {action}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What the system answered.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] bentpipe_outcome::Error),
    /// A table cannot be written as CSV.
    #[error("{}: {why}", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// Makes the folder of a study, and clears what killed writers left in it.
pub(crate) fn create(folder: &Path) -> Result<PathBuf, StoreError> {
    make(folder)?;
    remove_leftovers(folder)?;
    Ok(folder.to_path_buf())
}

fn make(folder: &Path) -> Result<(), StoreError> {
    std::fs::create_dir_all(folder).map_err(|source| StoreError::Folder {
        path: folder.to_path_buf(),
        action: "make the folder",
        source,
    })
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::Folder {
            path: path.to_path_buf(),
            action: "remove",
            source: e,
        }),
        _ => Ok(()),
    }
}

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
    let runs = Runs::new(results);
    for table in TableKind::ALL {
        let name = table.name();
        let csv = match table {
            TableKind::Runs | TableKind::Links | TableKind::Crossings | TableKind::Middleboxes => {
                Some(format!("{name}.csv"))
            }
            // Long, and of a few columns at a time.
            TableKind::Legs | TableKind::Series => None,
        };
        let parquet = Some(format!("{name}.parquet"));
        for file in [csv, parquet].into_iter().flatten() {
            let path = folder.join(file);
            match runs.have(table) {
                true => runs.write(&path, table, &provenance)?,
                false => remove(&path)?,
            }
        }
    }
    let path = folder.join(format!("{RESULTS}.parquet"));
    runs.write_results(&path, &provenance)?;
    write_failures(&folder.join("failures.csv"), results)
}

fn write_failures(path: &Path, results: &StudyResults) -> Result<(), StoreError> {
    if results.failures() == 0 {
        return remove(path);
    }
    let study = results.study();
    let head = study
        .axes
        .iter()
        .map(|a| a.name.clone())
        .chain(["seed".into(), "failure".into()]);
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    for cell in 0..results.cells() {
        for (replication, run) in results.runs_of(cell).enumerate() {
            let Some(why) = run.failure() else { continue };
            let seed = study.seed.wrapping_add(replication as u64).to_string();
            let labels = results.labels(cell).into_iter().map(str::to_owned);
            rows.push(labels.chain([seed, why.to_owned()]).collect());
        }
    }
    csv_file(path, &rows)
}

/// Writes tables, figures and, if they are all there, claims beside the runs
/// of their studies.
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
    let head = ["id", "claim", "verdict", "recorded", "evidence", "reason"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for claim in claims {
        rows.push(vec![
            claim.id.clone(),
            claim.claim.clone(),
            claim.verdict.name().to_owned(),
            claim.recorded.map_or("", Verdict::name).to_owned(),
            claim.evidence.clone(),
            claim.reason.clone(),
        ]);
        for (i, part) in claim.parts.iter().enumerate() {
            rows.push(vec![
                format!("{} ({})", claim.id, i + 1),
                part.claim.clone(),
                part.verdict.name().to_owned(),
                part.recorded.map_or("", Verdict::name).to_owned(),
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
