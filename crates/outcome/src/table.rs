//! Tables of results: written row by row, read back whole.

use crate::columns::{Column, FLOW, LINK, RUN, Run, SAMPLE, Sample, SampleRow, columns, kind_of};
use crate::crossing_columns::CROSSING;
use crate::csv_file::{self, CsvWriter};
use crate::leg_columns::LEG;
use crate::middlebox_columns::MIDDLEBOX;
use crate::parquet_file::{self, ParquetWriter};
use crate::rows::Fields;
use crate::value::{Kind, Value};
use crate::{
    CrossingRow, Error, FlowSeries, LinkRow, MiddleboxRow, Outcome, Provenance, RunRow, TableKind,
};
use bentpipe_units::Time;
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
        let head: Vec<Value> = axes.iter().map(|value| value.as_ref().into()).collect();
        let context = Run::of(outcome);
        let run: Vec<Value> = RUN.iter().map(|f| f.get(&context, &())).collect();
        let run = || run.iter().cloned();
        match self.table {
            TableKind::Runs => {
                for flow in &outcome.flows {
                    let values = FLOW.iter().map(|f| f.get(&context, flow));
                    self.row(head.iter().cloned().chain(run()).chain(values).collect())?;
                }
            }
            TableKind::Links => {
                for link in &outcome.links {
                    let values = LINK.iter().map(|f| f.get(&context, link));
                    self.row(head.iter().cloned().chain(run()).chain(values).collect())?;
                }
            }
            TableKind::Crossings => {
                for crossing in &outcome.crossings {
                    let values = CROSSING.iter().map(|f| f.get(&context, crossing));
                    self.row(head.iter().cloned().chain(run()).chain(values).collect())?;
                }
            }
            TableKind::Middleboxes => {
                for middlebox in &outcome.middleboxes {
                    let values = MIDDLEBOX.iter().map(|f| f.get(&context, middlebox));
                    self.row(head.iter().cloned().chain(run()).chain(values).collect())?;
                }
            }
            TableKind::Legs => {
                for leg in &outcome.legs {
                    let values = LEG.iter().map(|f| f.get(&context, leg));
                    self.row(head.iter().cloned().chain(run()).chain(values).collect())?;
                }
            }
            TableKind::Series => {
                for series in &outcome.series {
                    let flow = || Value::from(series.flow.as_str());
                    for sample in by_time(series) {
                        let values = SAMPLE.iter().map(|f| f.get(&context, &sample));
                        let head = head.iter().cloned().chain(run().take(2)).chain([flow()]);
                        self.row(head.chain(values).collect())?;
                    }
                }
            }
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

/// The samples of a flow in the order of time; at one time the sender's state
/// first, then what was delivered, then what was sent, then what a relay held.
fn by_time(series: &FlowSeries) -> impl Iterator<Item = SampleRow> + '_ {
    let mut sender = series.sender.iter().peekable();
    let mut delivered = series.delivered.iter().peekable();
    let mut sent = series.sent.iter().peekable();
    let mut held = series.held.iter().peekable();
    std::iter::from_fn(move || {
        let times = (
            sender.peek().map_or(Time::MAX, |s| s.at),
            delivered.peek().map_or(Time::MAX, |s| s.0),
            sent.peek().map_or(Time::MAX, |s| s.0),
            held.peek().map_or(Time::MAX, |s| s.0),
        );
        let first = times.0.min(times.1).min(times.2).min(times.3);
        if times.0 == first
            && let Some(s) = sender.next()
        {
            return Some(SampleRow {
                at: s.at,
                sample: Sample::Sender(*s),
            });
        }
        if times.1 == first
            && let Some(&(at, n)) = delivered.next()
        {
            return Some(SampleRow {
                at,
                sample: Sample::Delivered(n),
            });
        }
        if times.2 == first
            && let Some(&(at, n)) = sent.next()
        {
            return Some(SampleRow {
                at,
                sample: Sample::Sent(n),
            });
        }
        held.next().map(|&(at, n)| SampleRow {
            at,
            sample: Sample::Held(n),
        })
    })
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
            .position(|c| c == RUN[0].name)
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

    /// The rows of a table `runs`.
    ///
    /// # Errors
    /// If a column is missing or a cell is not of its kind.
    pub fn run_rows(&self) -> Result<Vec<RunRow>, Error> {
        self.read_rows(|axes, fields| {
            Ok(RunRow {
                axes,
                scenario: fields.text("scenario")?,
                seed: fields.count("seed")?,
                ended_at: fields.time("ended_at_ns")?,
                events: fields.count("events")?,
                packet_hops: fields.count("packet_hops")?,
                flow: fields.flow()?,
            })
        })
    }

    /// The rows of a table `links`.
    ///
    /// # Errors
    /// If a column is missing or a cell is not of its kind.
    pub fn link_rows(&self) -> Result<Vec<LinkRow>, Error> {
        self.read_rows(|axes, fields| {
            Ok(LinkRow {
                axes,
                scenario: fields.text("scenario")?,
                seed: fields.count("seed")?,
                ended_at: fields.time("ended_at_ns")?,
                link: fields.link()?,
            })
        })
    }

    /// The rows of a table `crossings`.
    ///
    /// # Errors
    /// If a column is missing or a cell is not of its kind.
    pub fn crossing_rows(&self) -> Result<Vec<CrossingRow>, Error> {
        self.read_rows(|axes, fields| {
            Ok(CrossingRow {
                axes,
                scenario: fields.text("scenario")?,
                seed: fields.count("seed")?,
                ended_at: fields.time("ended_at_ns")?,
                flow: fields.text("flow")?,
                link: fields.text("link")?,
                counts: fields.crossing()?,
            })
        })
    }

    /// The rows of a table `middleboxes`.
    ///
    /// # Errors
    /// If a column is missing or a cell is not of its kind.
    pub fn middlebox_rows(&self) -> Result<Vec<MiddleboxRow>, Error> {
        self.read_rows(|axes, fields| {
            Ok(MiddleboxRow {
                axes,
                scenario: fields.text("scenario")?,
                seed: fields.count("seed")?,
                ended_at: fields.time("ended_at_ns")?,
                middlebox: fields.middlebox()?,
            })
        })
    }

    fn read_rows<T>(
        &self,
        read: impl Fn(Vec<(String, String)>, &Fields<'_>) -> Result<T, String>,
    ) -> Result<Vec<T>, Error> {
        let row = |(i, row): (usize, &Vec<Value>)| {
            let axes = self.columns.iter().zip(row).take(self.axes);
            let axes = axes
                .map(|(name, value)| (name.clone(), value.to_text()))
                .collect();
            let get = |name: &str| {
                self.column(name)
                    .and_then(|c| row.get(c))
                    .cloned()
                    .unwrap_or_default()
            };
            read(axes, &Fields(&get)).map_err(|what| {
                Error::malformed(&self.path, None, format!("row {}: {what}", i + 1))
            })
        };
        self.rows.iter().enumerate().map(row).collect()
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
