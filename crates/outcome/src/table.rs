//! Tables of results: written row by row, read back whole.

use crate::axes::{self, AxisColumn, AxisPoint, axis_columns};
use crate::columns::{Column, kind_of};
use crate::csv_file::{self, CsvWriter};
use crate::parquet_file::{self, ParquetWriter};
use crate::record::Part;
use crate::run::Run;
use crate::value::Value;
use crate::{Error, Outcome, Provenance, RunKey, TableKind};
use std::path::{Path, PathBuf};

/// The file formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a line of names; provenance in a separate `.json` file.
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

/// Writes a table as a file that is [whole or absent](crate::WholeFile): rows of any
/// columns behind those of a study's axes. Memory is bounded, however many rows there are.
pub struct RowWriter {
    path: PathBuf,
    axes: Vec<AxisColumn>,
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
            axes: axes.to_vec(),
            sink,
            rows: 0,
        })
    }

    /// Number of rows written so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The cells that a row begins with.
    ///
    /// # Errors
    /// If there is not one point per axis.
    pub fn axes(&self, points: &[AxisPoint]) -> Result<Vec<Value>, Error> {
        axes::cells(&self.axes, points).ok_or_else(|| Error::AxisCount {
            path: self.path.clone(),
            expected: self.axes.len(),
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

    /// Adds the rows of a run to a table of outcomes, whose columns are [`columns()`](crate::columns()): those of
    /// its flows, links, crossings or samples.
    ///
    /// # Errors
    /// If there is not one point per axis, or the file cannot be written.
    pub fn run(
        &mut self,
        table: TableKind,
        key: &RunKey,
        outcome: &Outcome,
        points: &[AxisPoint],
    ) -> Result<(), Error> {
        let head = self.axes(points)?;
        each_row(table, key, &Run::of(outcome), &mut |row| {
            self.row(&[&head[..], &row].concat())
        })
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

/// The rows of a table for one outcome, in the order of its [`columns()`](crate::columns()).
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
    /// The provenance of the results, if the file has it.
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
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
