//! The tables of a study's runs as files, written in one pass over the runs.
//!
//! A table is one file, as CSV and as Parquet. In a study of many runs it is a folder of Parquet
//! files in the layout of Hive instead, which polars, DuckDB, pyarrow and Spark read as one table:
//! the points of the first axes are folders, `rate=2%20Mbit%2Fs`, and their labels are not columns
//! of the files. Rows are in the order of the runs in both, so the files do not depend on the order
//! in which runs arrived.

use crate::data::{RESULTS, StudyTables, TableRow};
use crate::error::StoreError;
use crate::folder::{make, remove};
use crate::results::StudyResults;
use bentpipe_outcome::{
    AxisColumn, AxisPoint, Column, Outcome, Provenance, RowWriter, TableKind, columns,
    remove_leftovers,
};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How large files and folders are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// From so many runs on, tables are folders.
    pub(crate) many: usize,
    /// Folders of a table, at most.
    pub(crate) folders: usize,
    /// Minimum mean number of runs per folder: small files are slow to read.
    pub(crate) runs: usize,
    /// Rows after which a file ends and the next begins.
    pub(crate) rows: u64,
}

impl Sizes {
    pub(crate) const USUAL: Sizes = Sizes {
        many: 50_000,
        folders: 1000,
        runs: 1000,
        rows: 1 << 18,
    };
}

/// A table of a study.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TableId {
    /// A row per run.
    Results,
    /// Rows of an outcome's parts.
    Of(TableKind),
}

impl TableId {
    const ALL: [TableId; 7] = [
        TableId::Results,
        TableId::Of(TableKind::Runs),
        TableId::Of(TableKind::Links),
        TableId::Of(TableKind::Crossings),
        TableId::Of(TableKind::Middleboxes),
        TableId::Of(TableKind::Legs),
        TableId::Of(TableKind::Series),
    ];

    fn name(self) -> &'static str {
        match self {
            TableId::Results => RESULTS,
            TableId::Of(table) => table.name(),
        }
    }

    /// Its columns, without the axes.
    fn columns(self, tables: &StudyTables<'_>) -> Vec<Column> {
        match self {
            TableId::Results => tables.results_columns(),
            TableId::Of(table) => columns(table),
        }
    }

    /// Whether it is written as CSV, too: not what is long and of a few columns at a
    /// time, and `results` is one table of many columns.
    fn has_csv(self) -> bool {
        !matches!(
            self,
            TableId::Results | TableId::Of(TableKind::Legs | TableKind::Series)
        )
    }

    /// Whether it is there without rows.
    fn is_always(self) -> bool {
        match self {
            TableId::Results => true,
            TableId::Of(table) => table.is_of(&Outcome::default()),
        }
    }
}

/// The files of one table, one after the other.
struct Files {
    which: TableId,
    /// `csv` or `parquet`.
    format: &'static str,
    axes: Vec<AxisColumn>,
    /// The columns of the axes whose points are folders.
    in_path: Vec<String>,
    sink: Option<RowWriter>,
    /// True for a table that is a folder.
    is_folder: bool,
    /// Rows of a file of a folder.
    rows: u64,
    /// Where the last file is, and the number of the next one there.
    folder: PathBuf,
    part: usize,
    /// Every file that was written.
    written: BTreeSet<PathBuf>,
}

/// Writes the tables of a study.
pub(crate) struct Dataset<'a> {
    root: &'a Path,
    tables: &'a StudyTables<'a>,
    provenance: Provenance,
    /// Of how many axes the points are folders; `None` for single files.
    folders: Option<usize>,
    files: Vec<Files>,
}

impl<'a> Dataset<'a> {
    pub(crate) fn new(
        root: &'a Path,
        results: &StudyResults,
        tables: &'a StudyTables<'a>,
        provenance: Provenance,
        sizes: Sizes,
    ) -> Dataset<'a> {
        let many = results.total() >= sizes.many;
        let folders = many.then(|| folder_axes(results, sizes));
        let axes = tables.axes(folders.unwrap_or(0));
        let formats = |which: TableId| match (folders, which.has_csv()) {
            (None, true) => &["csv", "parquet"][..],
            _ => &["parquet"],
        };
        let files = TableId::ALL.into_iter().flat_map(|which| {
            let files = |format: &&'static str| Files {
                which,
                format,
                axes: axes.clone(),
                in_path: in_path(which, &axes, tables),
                sink: None,
                is_folder: folders.is_some(),
                rows: sizes.rows,
                folder: PathBuf::new(),
                part: 0,
                written: BTreeSet::new(),
            };
            formats(which).iter().map(files).collect::<Vec<_>>()
        });
        let files = files.collect();
        // Each file would repeat the seeds of all runs.
        let provenance = match folders {
            None => provenance,
            Some(_) => Provenance {
                seeds: provenance.seeds.iter().take(1).copied().collect(),
                ..provenance
            }
            .with("replications", &results.replications().to_string()),
        };
        Dataset {
            root,
            tables,
            provenance,
            folders,
            files,
        }
    }

    /// Adds a run to every table that has rows of it.
    pub(crate) fn row(&mut self, row: &TableRow<'_>) -> Result<(), StoreError> {
        // Series are stored next to the outcome.
        let with_series = row.result.data().filter(|d| !d.series.is_empty());
        let with_series = with_series.map(crate::record::RunData::with_series);
        let none = Outcome::default();
        let outcome = row.result.data().map(|data| &data.outcome);
        for i in 0..self.files.len() {
            let which = self.files[i].which;
            let of = match which {
                TableId::Results => &none,
                TableId::Of(TableKind::Series) => match &with_series {
                    Some(outcome) => outcome,
                    None => continue,
                },
                TableId::Of(table) => match outcome {
                    Some(outcome) if table.is_of(outcome) => outcome,
                    _ => continue,
                },
            };
            let (tables, provenance) = (self.tables, &self.provenance);
            self.files[i].row(self.root, row, of, tables, provenance)?;
        }
        Ok(())
    }

    /// Completes the files, and removes those of an earlier version of the study.
    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        let mut written = BTreeSet::new();
        for files in &mut self.files {
            if files.sink.is_none() && files.written.is_empty() && files.which.is_always() {
                let folder = match self.folders {
                    None => self.root.to_path_buf(),
                    Some(_) => self.root.join(files.which.name()),
                };
                files.begin(folder, self.tables, &self.provenance)?;
            }
            files.end()?;
            written.append(&mut files.written);
        }
        for which in TableId::ALL {
            for format in ["csv", "parquet"] {
                let path = self.root.join(format!("{}.{format}", which.name()));
                if !written.contains(&path) {
                    remove(&path)?;
                    remove(&self.root.join(format!("{}.{format}.json", which.name())))?;
                }
            }
            clear(&self.root.join(which.name()), &written)?;
        }
        Ok(())
    }
}

impl Files {
    fn row(
        &mut self,
        root: &Path,
        row: &TableRow<'_>,
        outcome: &Outcome,
        tables: &StudyTables<'_>,
        provenance: &Provenance,
    ) -> Result<(), StoreError> {
        let rows = self.sink.as_ref().map_or(0, RowWriter::rows);
        let is_full = self.is_folder && rows >= self.rows;
        let folder = self.of(root, row.points);
        if self.sink.is_none() || self.folder != folder || is_full {
            self.begin(folder, tables, provenance)?;
        }
        match (&mut self.sink, self.which) {
            (Some(file), TableId::Results) => {
                let mut cells = file.axes(row.points)?;
                cells.extend(tables.results_row(row));
                file.row(&cells)?;
            }
            (Some(file), TableId::Of(table)) => file.run(table, row.key, outcome, row.points)?,
            (None, _) => {}
        }
        Ok(())
    }

    /// Where the rows of a run go.
    fn of(&self, root: &Path, points: &[AxisPoint]) -> PathBuf {
        if !self.is_folder {
            return root.to_path_buf();
        }
        let mut folder = root.join(self.which.name());
        for (column, point) in self.in_path.iter().zip(points) {
            folder.push(format!("{column}={}", escaped(&point.label)));
        }
        folder
    }

    /// Begins the next file.
    fn begin(
        &mut self,
        folder: PathBuf,
        tables: &StudyTables<'_>,
        provenance: &Provenance,
    ) -> Result<(), StoreError> {
        self.end()?;
        if self.folder != folder {
            self.part = 0;
        }
        make(&folder)?;
        let path = self.path(&folder);
        let columns = self.which.columns(tables);
        self.sink = Some(RowWriter::create(&path, &self.axes, columns, provenance)?);
        self.folder = folder;
        self.written.insert(path);
        self.part += 1;
        Ok(())
    }

    fn path(&self, folder: &Path) -> PathBuf {
        match self.is_folder {
            true => folder.join(format!("part-{}.{}", self.part, self.format)),
            false => folder.join(format!("{}.{}", self.which.name(), self.format)),
        }
    }

    fn end(&mut self) -> Result<(), StoreError> {
        match self.sink.take() {
            Some(file) => Ok(file.finish()?),
            None => Ok(()),
        }
    }
}

/// The columns of a table whose values its folders say, as their names have them.
fn in_path(which: TableId, axes: &[AxisColumn], tables: &StudyTables<'_>) -> Vec<String> {
    let columns = which.columns(tables);
    let axes = axes.iter().filter(|axis| axis.in_path);
    axes.map(|axis| escaped(&axis.column(&columns))).collect()
}

/// Of how many axes the points are folders: as many as make neither too many folders
/// nor too small ones.
fn folder_axes(results: &StudyResults, sizes: Sizes) -> usize {
    let runs = results.total();
    let mut folders = 1;
    let mut axes = 0;
    for axis in &results.study().axes {
        folders *= axis.points.len();
        if folders > sizes.folders || runs / folders.max(1) < sizes.runs {
            break;
        }
        axes += 1;
    }
    axes
}

/// As paths in the layout of Hive write names and values.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'+' => {
                escaped.push(char::from(byte));
            }
            other => escaped.push_str(&format!("%{other:02X}")),
        }
    }
    escaped
}

fn is_part(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    name.starts_with("part-") && name.ends_with(".parquet")
}

/// Removes the parts in a folder that are not among `written`, and folders that are
/// left empty. Anything else stays.
fn clear(folder: &Path, written: &BTreeSet<PathBuf>) -> Result<(), StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(error(folder, source)),
    };
    remove_leftovers(folder)?;
    for entry in entries {
        let path = entry.map_err(|e| error(folder, e))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        if path.is_dir() && name.contains('=') {
            clear(&path, written)?;
        } else if is_part(&path) && !written.contains(&path) {
            remove(&path)?;
        }
    }
    // Only if it is empty.
    let _ = fs::remove_dir(folder);
    Ok(())
}

fn error(path: &Path, source: io::Error) -> StoreError {
    StoreError::Folder {
        path: path.to_path_buf(),
        action: "read",
        source,
    }
}

#[cfg(test)]
#[path = "dataset_tests.rs"]
mod tests;
