//! Tables as comma-separated values.

use crate::axes;
use crate::columns::Column;
use crate::provenance::sidecar;
use crate::value::{Kind, Value};
use crate::{Error, Provenance, Table, WholeFile, write_whole};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) struct CsvWriter {
    path: PathBuf,
    writer: csv::Writer<WholeFile>,
    provenance: Vec<u8>,
}

impl CsvWriter {
    pub(crate) fn create(
        path: &Path,
        columns: &[Column],
        provenance: &Provenance,
    ) -> Result<CsvWriter, Error> {
        let mut json = serde_json::to_vec_pretty(provenance)
            .map_err(|e| Error::io(path, "describe")(e.into()))?;
        json.push(b'\n');
        let mut writer = csv::Writer::from_writer(WholeFile::create(path)?);
        writer
            .write_record(columns.iter().map(|c| c.name.as_str()))
            .map_err(|e| error(path, "write", e))?;
        Ok(CsvWriter {
            path: path.to_path_buf(),
            writer,
            provenance: json,
        })
    }

    pub(crate) fn row(&mut self, row: &[Value]) -> Result<(), Error> {
        self.writer
            .write_record(row.iter().map(Value::to_text))
            .map_err(|e| error(&self.path, "write", e))
    }

    /// The provenance is written first, so that a table never exists without it.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let path = &self.path;
        let file = self
            .writer
            .into_inner()
            .map_err(|e| Error::io(path, "write")(io::Error::from(e.error().kind())))?;
        write_whole(&sidecar(path), &self.provenance)?;
        file.commit()
    }
}

/// A table as the text of a file: its columns, and the cells of its rows.
///
/// # Errors
/// If a row does not have a cell for each column.
pub fn csv_text(columns: &[Column], rows: &[Vec<Value>]) -> Result<String, io::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|column| column.name.as_str()))?;
    for row in rows {
        writer.write_record(row.iter().map(Value::to_text))?;
    }
    let bytes = writer.into_inner().map_err(|e| e.into_error())?;
    // Cells are text.
    String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

pub(crate) fn read(path: &Path) -> Result<Table, Error> {
    let file = fs::File::open(path).map_err(Error::io(path, "open"))?;
    let mut reader = csv::Reader::from_reader(file);
    let header = reader
        .headers()
        .map_err(|e| error(path, "read", e))?
        .clone();
    let columns: Vec<String> = header.iter().map(str::to_owned).collect();
    let kinds: Vec<Kind> = (0..columns.len())
        .map(|i| axes::kind(i.checked_sub(1).map(|b| columns[b].as_str()), &columns[i]))
        .collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| error(path, "read", e))?;
        let line = record.position().map(csv::Position::line);
        let mut row = Vec::with_capacity(columns.len());
        for ((text, &kind), name) in record.iter().zip(&kinds).zip(&columns) {
            row.push(Value::parse(text, kind).ok_or_else(|| {
                let what = match kind {
                    Kind::Integer => "a whole number",
                    Kind::Flag => "true or false",
                    Kind::Number | Kind::Text => "a number",
                };
                Error::malformed(path, line, format!("`{name}` is `{text}`, not {what}"))
            })?);
        }
        rows.push(row);
    }
    let provenance = read_sidecar(&sidecar(path))?;
    Ok(Table::new(path, columns, rows, provenance))
}

fn read_sidecar(path: &Path) -> Result<Option<Provenance>, Error> {
    match fs::read(path) {
        Ok(json) => serde_json::from_slice(&json)
            .map(Some)
            .map_err(|e| Error::malformed(path, Some(e.line() as u64), e.to_string())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io(path, "read")(e)),
    }
}

fn error(path: &Path, action: &'static str, e: csv::Error) -> Error {
    let line = e.position().map(csv::Position::line);
    let text = e.to_string();
    match e.into_kind() {
        csv::ErrorKind::Io(source) => Error::io(path, action)(source),
        _ => Error::malformed(path, line, text),
    }
}
