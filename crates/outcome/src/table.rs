//! Tables of results: written row by row, read back whole.

use crate::columns::{Column, Run, columns, kind_of};
use crate::csv_file::{self, CsvWriter};
use crate::parquet_file::{self, ParquetWriter};
use crate::record::{Fields, Part};
use crate::value::{Kind, Value};
use crate::{Error, FlowSeries, Outcome, Provenance, RunInfo, TableKind};
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
/// Each row starts with the values of the study's axes. An axis that has the
/// name of a column of results, such as `transport`, gets the column
/// `axis_transport`. Memory is bounded, however many rows there are.
pub struct TableWriter {
    path: PathBuf,
    table: TableKind,
    axes: usize,
    sink: Sink,
}

enum Sink {
    Csv(CsvWriter),
    Parquet(ParquetWriter),
}

impl TableWriter {
    /// Starts the table in the format that the name of the file says.
    ///
    /// # Errors
    /// If the name says no format, two axes have one name, or the folder
    /// cannot be written.
    pub fn create<S: AsRef<str>>(
        path: &Path,
        table: TableKind,
        axes: &[S],
        provenance: &Provenance,
    ) -> Result<TableWriter, Error> {
        let format = Format::of(path)?;
        let mut all: Vec<Column> = Vec::new();
        for axis in axes {
            let axis = axis.as_ref();
            let known = kind_of(axis).is_some();
            let name = if known {
                format!("axis_{axis}")
            } else {
                axis.to_owned()
            };
            if all.iter().any(|c| c.name == name) {
                return Err(Error::DuplicateAxis {
                    path: path.to_path_buf(),
                    axis: axis.into(),
                });
            }
            all.push(Column {
                name,
                kind: Kind::Text,
                about: format!("axis {axis}"),
            });
        }
        all.extend(columns(table));
        let sink = match format {
            Format::Csv => Sink::Csv(CsvWriter::create(path, &all, provenance)?),
            Format::Parquet => Sink::Parquet(ParquetWriter::create(path, &all, provenance)?),
        };
        Ok(TableWriter {
            path: path.to_path_buf(),
            table,
            axes: axes.len(),
            sink,
        })
    }

    /// Adds the rows of one outcome: its flows, links, crossings or samples.
    ///
    /// # Errors
    /// If there is not one value per axis, or the file cannot be written.
    pub fn push<S: AsRef<str>>(&mut self, outcome: &Outcome, axes: &[S]) -> Result<(), Error> {
        if axes.len() != self.axes {
            return Err(Error::AxisCount {
                path: self.path.clone(),
                expected: self.axes,
                found: axes.len(),
            });
        }
        let axes: Vec<Value> = axes.iter().map(|value| value.as_ref().into()).collect();
        for row in rows(self.table, outcome) {
            self.row([&axes[..], &row].concat())?;
        }
        Ok(())
    }

    fn row(&mut self, row: Vec<Value>) -> Result<(), Error> {
        match &mut self.sink {
            Sink::Csv(csv) => csv.row(&row),
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
    let run = &Run::of(outcome);
    let mut head = Vec::new();
    run.info().each_value(run, &mut |_, value| head.push(value));
    match table {
        TableKind::Runs => parts(&head, run, &outcome.flows),
        TableKind::Links => parts(&head, run, &outcome.links),
        TableKind::Crossings => parts(&head, run, &outcome.crossings),
        TableKind::Middleboxes => parts(&head, run, &outcome.middleboxes),
        TableKind::Legs => parts(&head, run, &outcome.legs),
        TableKind::Series => {
            let of_flow = |series: &FlowSeries| {
                let head = [&head[..2], &[series.flow.as_str().into()]].concat();
                parts(&head, run, &series.by_time())
            };
            outcome.series.iter().flat_map(of_flow).collect()
        }
    }
}

/// A row for each part, all of which begin with `head`.
fn parts(head: &[Value], run: &Run<'_>, parts: &[impl Part]) -> Vec<Vec<Value>> {
    let row = |part| {
        let mut row = head.to_vec();
        Part::each_value(part, run, &mut |_, value| row.push(value));
        row
    };
    parts.iter().map(row).collect()
}

/// Writes a whole table: [`TableWriter`] in one call.
///
/// # Errors
/// As those of [`TableWriter`].
pub fn write_table<'a, S: AsRef<str>>(
    path: &Path,
    table: TableKind,
    axes: &[S],
    provenance: &Provenance,
    outcomes: impl IntoIterator<Item = (&'a Outcome, Vec<String>)>,
) -> Result<(), Error> {
    let mut writer = TableWriter::create(path, table, axes, provenance)?;
    for (outcome, values) in outcomes {
        writer.push(outcome, &values)?;
    }
    writer.finish()
}

/// A row read back: one part of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<T> {
    /// The study's axes, (name, value).
    pub axes: Vec<(String, String)>,
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
            .position(|c| c == "scenario")
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
