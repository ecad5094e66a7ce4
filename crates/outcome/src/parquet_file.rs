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

pub(crate) struct ParquetWriter {
    path: PathBuf,
    writer: SerializedFileWriter<WholeFile>,
    kinds: Vec<Kind>,
    rows: Vec<Vec<Value>>,
}

impl ParquetWriter {
    pub(crate) fn create(
        path: &Path,
        columns: &[Column],
        provenance: &Provenance,
    ) -> Result<ParquetWriter, Error> {
        let entries = provenance.to_entries();
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
            kinds: columns.iter().map(|c| c.kind).collect(),
            rows: Vec::new(),
        })
    }

    pub(crate) fn row(&mut self, row: Vec<Value>) -> Result<(), Error> {
        self.rows.push(row);
        if self.rows.len() >= GROUP {
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
        if self.rows.is_empty() {
            return Ok(());
        }
        write_group(&mut self.writer, &self.kinds, &self.rows)
            .map_err(|e| error(&self.path, "write", e))?;
        self.rows.clear();
        Ok(())
    }
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let mut fields = Vec::with_capacity(columns.len());
    for column in columns {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Integer => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Number => (Physical::DOUBLE, None),
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
    kinds: &[Kind],
    rows: &[Vec<Value>],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (i, kind) in kinds.iter().enumerate() {
        let Some(mut column) = group.next_column()? else {
            break;
        };
        let cells = || rows.iter().filter_map(|row| row.get(i));
        // 1 where there is a value, 0 where it is missing.
        let levels: Vec<i16> = cells().map(|v| i16::from(fits(v, *kind))).collect();
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(w) => {
                let values: Vec<ByteArray> = cells()
                    .filter_map(Value::as_text)
                    .filter(|t| !t.is_empty())
                    .map(Into::into)
                    .collect();
                w.write_batch(&values, Some(&levels), None)?;
            }
            ColumnWriter::Int64ColumnWriter(w) => {
                let values: Vec<i64> = cells()
                    .filter_map(Value::as_integer)
                    .map(u64::cast_signed)
                    .collect();
                w.write_batch(&values, Some(&levels), None)?;
            }
            ColumnWriter::DoubleColumnWriter(w) => {
                let values: Vec<f64> = cells().filter_map(Value::as_number).collect();
                w.write_batch(&values, Some(&levels), None)?;
            }
            _ => {
                return Err(ParquetError::General(
                    "a column of no known kind".to_owned(),
                ));
            }
        }
        column.close()?;
    }
    group.close().map(|_| ())
}

/// True if a column of this kind holds the value; what does not fit is null.
fn fits(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::Text => value.as_text().is_some_and(|t| !t.is_empty()),
        Kind::Integer => value.as_integer().is_some(),
        Kind::Number => value.as_number().is_some(),
    }
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
        other => {
            return Err(ParquetError::General(format!(
                "`{other}` is of no kind that results have"
            )));
        }
    })
}

fn error(path: &Path, action: &'static str, e: ParquetError) -> Error {
    match e {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(source) => Error::io(path, action)(*source),
            Err(other) => Error::malformed(path, None, other.to_string()),
        },
        other => Error::malformed(path, None, other.to_string()),
    }
}
