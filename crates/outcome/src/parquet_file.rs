//! Tables as Parquet.

use crate::columns::Column;
use crate::value::{Kind, Value};
use crate::{Error, Provenance, Table, WholeFile};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::types::{Type, TypePtr};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a row group: what is held in memory at once.
const GROUP: usize = 1 << 14;

/// The cells of a column that wait to be written.
enum Cells {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Flag(Vec<bool>),
}

/// A column of the row group at hand.
struct Buffer {
    cells: Cells,
    /// 1 where there is a value, 0 where it is missing.
    levels: Vec<i16>,
}

impl Buffer {
    fn new(kind: Kind) -> Buffer {
        Buffer {
            cells: match kind {
                Kind::Text => Cells::Text(Vec::new()),
                Kind::Integer => Cells::Integer(Vec::new()),
                Kind::Number => Cells::Number(Vec::new()),
                Kind::Flag => Cells::Flag(Vec::new()),
            },
            levels: Vec::new(),
        }
    }

    /// Adds a cell; what does not fit the column is missing.
    fn push(&mut self, value: &Value) {
        let is_there = match &mut self.cells {
            Cells::Text(cells) => match value.as_text().filter(|text| !text.is_empty()) {
                Some(text) => {
                    // Names repeat from row to row: they share their bytes.
                    let last = cells.last().filter(|last| last.data() == text.as_bytes());
                    let cell = last.cloned().unwrap_or_else(|| text.into());
                    cells.push(cell);
                    true
                }
                None => false,
            },
            Cells::Integer(cells) => {
                cells.extend(value.as_integer().map(u64::cast_signed));
                value.as_integer().is_some()
            }
            Cells::Number(cells) => {
                cells.extend(value.as_number());
                value.as_number().is_some()
            }
            Cells::Flag(cells) => {
                cells.extend(value.as_flag());
                value.as_flag().is_some()
            }
        };
        self.levels.push(i16::from(is_there));
    }

    fn clear(&mut self) {
        self.levels.clear();
        match &mut self.cells {
            Cells::Text(cells) => cells.clear(),
            Cells::Integer(cells) => cells.clear(),
            Cells::Number(cells) => cells.clear(),
            Cells::Flag(cells) => cells.clear(),
        }
    }

    fn write(&self, column: &mut ColumnWriter<'_>) -> Result<usize, ParquetError> {
        let levels = Some(self.levels.as_slice());
        match (&self.cells, column) {
            (Cells::Text(cells), ColumnWriter::ByteArrayColumnWriter(to)) => {
                to.write_batch(cells, levels, None)
            }
            (Cells::Integer(cells), ColumnWriter::Int64ColumnWriter(to)) => {
                to.write_batch(cells, levels, None)
            }
            (Cells::Number(cells), ColumnWriter::DoubleColumnWriter(to)) => {
                to.write_batch(cells, levels, None)
            }
            (Cells::Flag(cells), ColumnWriter::BoolColumnWriter(to)) => {
                to.write_batch(cells, levels, None)
            }
            _ => Err(ParquetError::General(
                "a column of no known kind".to_owned(),
            )),
        }
    }
}

pub(crate) struct ParquetWriter {
    path: PathBuf,
    writer: SerializedFileWriter<WholeFile>,
    columns: Vec<Buffer>,
    rows: usize,
}

impl ParquetWriter {
    pub(crate) fn create(
        path: &Path,
        columns: &[Column],
        provenance: &Provenance,
    ) -> Result<ParquetWriter, Error> {
        let mut entries = provenance.to_entries();
        entries.push((COLUMNS.to_owned(), described(columns)));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!(
                "{} version {}",
                provenance.program, provenance.version
            ))
            .set_key_value_metadata(Some(
                entries
                    .into_iter()
                    .map(|(name, value)| KeyValue::new(name, value))
                    .collect(),
            ))
            .build();
        let schema = schema(columns).map_err(|e| error(path, "write", e))?;
        let file = WholeFile::create(path)?;
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties))
            .map_err(|e| error(path, "write", e))?;
        Ok(ParquetWriter {
            path: path.to_path_buf(),
            writer,
            columns: columns.iter().map(|c| Buffer::new(c.kind)).collect(),
            rows: 0,
        })
    }

    pub(crate) fn row(&mut self, row: &[Value]) -> Result<(), Error> {
        for (i, column) in self.columns.iter_mut().enumerate() {
            column.push(row.get(i).unwrap_or(&Value::Missing));
        }
        self.rows += 1;
        if self.rows >= GROUP {
            self.flush()
        } else {
            Ok(())
        }
    }

    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        let file = self
            .writer
            .into_inner()
            .map_err(|e| error(&self.path, "write", e))?;
        file.commit()
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.rows == 0 {
            return Ok(());
        }
        write_group(&mut self.writer, &self.columns).map_err(|e| error(&self.path, "write", e))?;
        self.columns.iter_mut().for_each(Buffer::clear);
        self.rows = 0;
        Ok(())
    }
}

/// The entry of the metadata that describes each column, as JSON.
pub(crate) const COLUMNS: &str = "bentpipe.columns";

/// `{"rtt_s": {"unit": "s", "about": "axis rtt: seconds"}, ...}`
fn described(columns: &[Column]) -> String {
    let mut all = serde_json::Map::new();
    for column in columns {
        let entry = serde_json::json!({ "unit": column.unit, "about": column.about });
        all.insert(column.name.clone(), entry);
    }
    serde_json::Value::Object(all).to_string()
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let mut fields = Vec::with_capacity(columns.len());
    for column in columns {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Integer => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Flag => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        fields.push(Arc::new(field));
    }
    Type::group_type_builder("results")
        .with_fields(fields)
        .build()
        .map(Arc::new)
}

fn write_group(
    writer: &mut SerializedFileWriter<WholeFile>,
    columns: &[Buffer],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for buffer in columns {
        let Some(mut column) = group.next_column()? else {
            break;
        };
        buffer.write(column.untyped())?;
        column.close()?;
    }
    group.close().map(|_| ())
}

pub(crate) fn read(path: &Path) -> Result<Table, Error> {
    let file = fs::File::open(path).map_err(Error::io(path, "open"))?;
    // The decoders of the library assert where they should report damage.
    // Nothing outlives the closure, so nothing can be left half done.
    catch_unwind(AssertUnwindSafe(|| read_file(path, file)))
        .map_err(|_| Error::malformed(path, None, "the file is damaged"))?
        .map_err(|e| error(path, "read", e))
}

fn read_file(path: &Path, file: fs::File) -> Result<Table, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata().file_metadata();
    let fields = metadata.schema().get_fields();
    let columns: Vec<String> = fields.iter().map(|f| f.name().to_owned()).collect();
    let entries: Vec<(String, String)> = metadata
        .key_value_metadata()
        .into_iter()
        .flatten()
        .map(|entry| (entry.key.clone(), entry.value.clone().unwrap_or_default()))
        .collect();
    let mut rows = Vec::new();
    for row in reader.get_row_iter(None)? {
        let cells = row?.into_columns().into_iter();
        rows.push(
            cells
                .map(|(_, field)| value(field))
                .collect::<Result<_, _>>()?,
        );
    }
    Ok(Table::new(
        path,
        columns,
        rows,
        Provenance::from_entries(&entries),
    ))
}

fn value(field: Field) -> Result<Value, ParquetError> {
    Ok(match field {
        Field::Null => Value::Missing,
        Field::Str(text) => Value::Text(text),
        Field::ULong(n) => Value::Integer(n),
        Field::Double(x) => Value::from(x),
        Field::Bool(is) => Value::Flag(is),
        other => {
            return Err(ParquetError::General(format!(
                "`{other}` is of no kind that results have"
            )));
        }
    })
}

pub(crate) fn error(path: &Path, action: &'static str, e: ParquetError) -> Error {
    match e {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(source) => Error::io(path, action)(*source),
            Err(other) => Error::malformed(path, None, other.to_string()),
        },
        other => Error::malformed(path, None, other.to_string()),
    }
}
