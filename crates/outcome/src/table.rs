//! Tables of results: written row by row, read back whole.

use crate::axes::{self, AxisColumn, AxisPoint, axis_columns};
use crate::columns::{Column, Run, columns, kind_of};
use crate::csv_file::{self, CsvWriter};
use crate::parquet_file::{self, ParquetWriter};
use crate::record::{Fields, Part};
use crate::value::Value;
use crate::{Error, Outcome, Provenance, RunInfo, RunKey, TableKind};
use std::path::{Path, PathBuf};

/// The file formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a line of names; provenance in a `.json`
    /// file beside it.
    Csv,
    /// Parquet, Snappy-compressed; provenance in its metadata.
    Parquet,
}

impl Format {
    /// The format that the name of a file says: `.csv` or `.parquet`.
    ///
    /// # Errors
    /// For any other name.
    pub fn of(path: &Path) -> Result<Format, Error> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => Ok(Format::Csv),
            Some("parquet") => Ok(Format::Parquet),
            _ => Err(Error::UnknownFormat {
                path: path.to_path_buf(),
            }),
        }
    }
}

/// Writes one table as a file that is [whole or absent](crate::WholeFile).
///
/// Each row starts with the points of the study's axes: see [`AxisColumn`].
/// Memory is bounded, however many rows there are.
pub struct TableWriter {
    table: TableKind,
    axes: Vec<AxisColumn>,
    file: RowWriter,
}

impl TableWriter {
    /// Starts the table in the format that the name of the file says.
    ///
    /// # Errors
    /// If the name says no format, two axes have one name, or the folder
    /// cannot be written.
    pub fn create(
        path: &Path,
        table: TableKind,
        axes: &[AxisColumn],
        provenance: &Provenance,
    ) -> Result<TableWriter, Error> {
        let columns = columns(table);
        Ok(TableWriter {
            table,
            axes: axes.to_vec(),
            file: RowWriter::create(path, axes, columns, provenance)?,
        })
    }

    /// Adds the rows of one run: its flows, links, crossings or samples.
    ///
    /// # Errors
    /// If there is not one point per axis, or the file cannot be written.
    pub fn push(
        &mut self,
        key: &RunKey,
        outcome: &Outcome,
        points: &[AxisPoint],
    ) -> Result<(), Error> {
        let head = self.file.axes(&self.axes, points)?;
        let run = &Run::of(outcome);
        each_row(self.table, key, run, &mut |row| {
            self.file.row(&[&head[..], &row].concat())
        })
    }

    /// Rows so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.file.rows()
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the file cannot be written; then it is absent.
    pub fn finish(self) -> Result<(), Error> {
        self.file.finish()
    }
}

/// Writes rows of any columns behind those of a study's axes, as a file that is
/// [whole or absent](crate::WholeFile). Memory is bounded, however many rows
/// there are.
pub struct RowWriter {
    path: PathBuf,
    sink: Sink,
    rows: u64,
}

enum Sink {
    Csv(CsvWriter),
    Parquet(ParquetWriter),
}

impl RowWriter {
    /// Starts the file in the format that its name says.
    ///
    /// # Errors
    /// If the name says no format, two axes have one name, or the folder
    /// cannot be written.
    pub fn create(
        path: &Path,
        axes: &[AxisColumn],
        columns: Vec<Column>,
        provenance: &Provenance,
    ) -> Result<RowWriter, Error> {
        let format = Format::of(path)?;
        let known = |name: &str| kind_of(name).is_some() || columns.iter().any(|c| c.name == name);
        let mut all = axis_columns(path, axes, &known)?;
        all.extend(columns);
        let sink = match format {
            Format::Csv => Sink::Csv(CsvWriter::create(path, &all, provenance)?),
            Format::Parquet => Sink::Parquet(ParquetWriter::create(path, &all, provenance)?),
        };
        Ok(RowWriter {
            path: path.to_path_buf(),
            sink,
            rows: 0,
        })
    }

    /// Rows so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The cells that a row begins with.
    ///
    /// # Errors
    /// If there is not one point per axis.
    pub fn axes(&self, axes: &[AxisColumn], points: &[AxisPoint]) -> Result<Vec<Value>, Error> {
        axes::cells(axes, points).ok_or_else(|| Error::AxisCount {
            path: self.path.clone(),
            expected: axes.len(),
            found: points.len(),
        })
    }

    /// Adds a row: a cell per column, those of the axes first.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn row(&mut self, row: &[Value]) -> Result<(), Error> {
        self.rows += 1;
        match &mut self.sink {
            Sink::Csv(csv) => csv.row(row),
            Sink::Parquet(parquet) => parquet.row(row),
        }
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the file cannot be written; then it is absent.
    pub fn finish(self) -> Result<(), Error> {
        match self.sink {
            Sink::Csv(csv) => csv.finish(),
            Sink::Parquet(parquet) => parquet.finish(),
        }
    }
}

/// The rows of a table for one outcome, in the order of its [`columns`].
#[must_use]
pub fn rows(table: TableKind, outcome: &Outcome) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    // Collecting cannot fail.
    let _ = each_row(table, &RunKey::default(), &Run::of(outcome), &mut |row| {
        all.push(row);
        Ok(())
    });
    all
}

/// What every row says of its run, in the order of [`run_columns`].
///
/// [`run_columns`]: crate::run_columns
#[must_use]
pub fn run_cells(key: &RunKey, outcome: &Outcome) -> Vec<Value> {
    head(key, &Run::of(outcome))
}

fn head(key: &RunKey, run: &Run<'_>) -> Vec<Value> {
    let mut head = Vec::new();
    key.each_value(run, &mut |_, value| head.push(value));
    run.info().each_value(run, &mut |_, value| head.push(value));
    head
}

/// The columns that name a run, in every table: `study`, `run`, `scenario` and
/// `seed`.
const NAMING: usize = 4;

type Put<'a> = dyn FnMut(Vec<Value>) -> Result<(), Error> + 'a;

fn each_row(table: TableKind, key: &RunKey, run: &Run<'_>, put: &mut Put<'_>) -> Result<(), Error> {
    let head = head(key, run);
    match table {
        TableKind::Runs => parts(&head, run, &run.flows, put),
        TableKind::Links => parts(&head, run, &run.links, put),
        TableKind::Crossings => parts(&head, run, &run.crossings, put),
        TableKind::Middleboxes => parts(&head, run, &run.middleboxes, put),
        TableKind::Legs => parts(&head, run, &run.legs, put),
        TableKind::Series => {
            for series in &run.series {
                let head = [&head[..NAMING], &[series.flow.as_str().into()]].concat();
                parts(&head, run, &series.by_time(), put)?;
            }
            Ok(())
        }
    }
}

/// A row for each part, all of which begin with `head`.
fn parts(
    head: &[Value],
    run: &Run<'_>,
    parts: &[impl Part],
    put: &mut Put<'_>,
) -> Result<(), Error> {
    for part in parts {
        let mut row = head.to_vec();
        part.each_value(run, &mut |_, value| row.push(value));
        put(row)?;
    }
    Ok(())
}

/// A row read back: one part of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<T> {
    /// The columns of the study's axes, (name, value).
    pub axes: Vec<(String, String)>,
    /// Which run it is.
    pub key: RunKey,
    /// The run.
    pub run: RunInfo,
    /// Name of the flow; empty in a table without.
    pub flow: String,
    /// Name of the link; empty in a table without.
    pub link: String,
    /// What the flow, the link or both of them did.
    pub part: T,
}

/// A table read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The file that it came from.
    pub path: PathBuf,
    /// Names of all columns; the first [`axes`](Table::axes) are axes.
    pub columns: Vec<String>,
    /// How many of the columns are axes.
    pub axes: usize,
    /// The rows, one value per column.
    pub rows: Vec<Vec<Value>>,
    /// Where the results come from, if the file says so.
    pub provenance: Option<Provenance>,
}

impl Table {
    /// Reads a table in the format that the name of the file says.
    ///
    /// # Errors
    /// If the file cannot be read or is not such a table.
    pub fn read(path: &Path) -> Result<Table, Error> {
        match Format::of(path)? {
            Format::Csv => csv_file::read(path),
            Format::Parquet => parquet_file::read(path),
        }
    }

    pub(crate) fn new(
        path: &Path,
        columns: Vec<String>,
        rows: Vec<Vec<Value>>,
        provenance: Option<Provenance>,
    ) -> Table {
        let axes = columns
            .iter()
            .position(|c| c == "study")
            // Files of earlier versions have no `study`.
            .or_else(|| columns.iter().position(|c| c == "scenario"))
            .unwrap_or(columns.len());
        Table {
            path: path.to_path_buf(),
            columns,
            axes,
            rows,
            provenance,
        }
    }

    /// The position of the column of that name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c == name)
    }

    /// The rows of a table: as `FlowOutcome` those of `runs`, as `LinkOutcome`
    /// those of `links`, as `FlowLinkCounts` those of `crossings`, and so on.
    ///
    /// # Errors
    /// If a column is missing or a cell is not of its kind.
    pub fn rows_of<T: Part>(&self) -> Result<Vec<Row<T>>, Error> {
        let row = |(i, row): (usize, &Vec<Value>)| {
            let axes = self.columns.iter().zip(row).take(self.axes);
            let get = |name: &str| {
                let cell = self.column(name).and_then(|c| row.get(c));
                cell.cloned().unwrap_or_default()
            };
            let fields = Fields::new(&get);
            let read = || -> Result<Row<T>, String> {
                Ok(Row {
                    axes: axes
                        .map(|(name, value)| (name.clone(), value.to_text()))
                        .collect(),
                    key: RunKey::read(&fields)?,
                    run: RunInfo::read(&fields)?,
                    flow: fields.get("flow")?,
                    link: fields.get("link")?,
                    part: T::read(&fields)?,
                })
            };
            read().map_err(|what| {
                Error::malformed(&self.path, None, format!("row {}: {what}", i + 1))
            })
        };
        self.rows.iter().enumerate().map(row).collect()
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
