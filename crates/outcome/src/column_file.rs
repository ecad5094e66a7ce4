//! Reads the columns of a Parquet file of results one at a time, without rows in memory.

use crate::columns::Column;
use crate::parquet_file::{COLUMNS, error};
use crate::value::Kind;
use crate::{Error, Provenance};
use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::file::statistics::Statistics;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Cells that are decoded at once.
const BATCH: usize = 1 << 14;

/// A Parquet file of results of which only the footer has been read. It holds no file
/// open, so that a study of a thousand files is no trouble.
#[derive(Clone, Debug)]
pub struct ColumnFile {
    path: PathBuf,
    metadata: Arc<ParquetMetaData>,
    columns: Vec<Column>,
}

impl ColumnFile {
    /// Reads the footer.
    ///
    /// # Errors
    /// If the file cannot be read, is no Parquet, or has columns that results have not.
    pub fn open(path: &Path) -> Result<ColumnFile, Error> {
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        let read = || {
            let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
            check_rows(&metadata)?;
            let columns = columns(&metadata)?;
            Ok((metadata, columns))
        };
        let (metadata, columns) = guarded(path, read)?;
        Ok(ColumnFile {
            path: path.to_path_buf(),
            metadata: Arc::new(metadata),
            columns,
        })
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Rows of the file, by its footer.
    #[must_use]
    pub fn rows(&self) -> u64 {
        u64::try_from(self.metadata.file_metadata().num_rows()).unwrap_or(0)
    }

    /// The columns, in the order of the file.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Where the file says it comes from; `None` if it does not.
    #[must_use]
    pub fn provenance(&self) -> Option<Provenance> {
        Provenance::from_entries(&entries(&self.metadata))
    }

    /// The smallest number in a column of integers, by the footer; `None` if it does not
    /// say.
    #[must_use]
    pub fn least(&self, column: &str) -> Option<u64> {
        let at = self.position(column)?;
        let groups = self.metadata.row_groups().iter();
        let least = groups.filter_map(|group| match group.column(at).statistics()? {
            Statistics::Int64(of) => of.min_opt().map(|least| least.cast_unsigned()),
            _ => None,
        });
        least.min()
    }

    fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|known| known.name == column)
    }

    /// Calls `each` with every cell of a column of numbers or integers, in the order of
    /// the rows: `None` where the value is missing. No more than [`rows`](Self::rows) come.
    ///
    /// # Errors
    /// If there is no such column, or the file is damaged.
    pub fn numbers(&self, column: &str, each: &mut dyn FnMut(Option<f64>)) -> Result<(), Error> {
        self.read(column, &mut |reader, rows| match reader {
            ColumnReader::DoubleColumnReader(mut from) => {
                cells(rows, each, &|x: &f64| *x, &mut |n, levels, values| {
                    from.read_records(n, Some(levels), None, values)
                })
            }
            ColumnReader::Int64ColumnReader(mut from) => {
                let number = |x: &i64| x.cast_unsigned() as f64;
                cells(rows, each, &number, &mut |n, levels, values| {
                    from.read_records(n, Some(levels), None, values)
                })
            }
            _ => Err(ParquetError::General("it is no column of numbers".into())),
        })
    }

    /// Calls `each` with every cell of a column of texts, in the order of the rows:
    /// `None` where the value is missing.
    ///
    /// # Errors
    /// If there is no such column, or the file is damaged.
    pub fn texts(&self, column: &str, each: &mut dyn FnMut(Option<&str>)) -> Result<(), Error> {
        self.read(column, &mut |reader, rows| {
            let ColumnReader::ByteArrayColumnReader(mut from) = reader else {
                return Err(ParquetError::General("it is no column of texts".into()));
            };
            let mut left = rows;
            let (mut levels, mut values): (Vec<i16>, Vec<ByteArray>) = (Vec::new(), Vec::new());
            while left > 0 {
                levels.clear();
                values.clear();
                let wanted = left.min(BATCH);
                let (read, _, _) =
                    from.read_records(wanted, Some(&mut levels), None, &mut values)?;
                if read == 0 {
                    return Err(ParquetError::General("rows are missing".into()));
                }
                let mut values = values.iter();
                for level in &levels {
                    let value = values.next_if_there(*level);
                    each(value.map(ByteArray::as_utf8).transpose()?);
                }
                left -= read.min(left);
            }
            Ok(())
        })
    }

    /// Opens a column of each row group in turn.
    fn read(
        &self,
        column: &str,
        each: &mut dyn FnMut(ColumnReader, usize) -> Result<(), ParquetError>,
    ) -> Result<(), Error> {
        let Some(at) = self.position(column) else {
            let what = format!("there is no column `{column}`");
            return Err(Error::malformed(&self.path, None, what));
        };
        let file = File::open(&self.path).map_err(Error::io(&self.path, "open"))?;
        let file = Arc::new(file);
        guarded(&self.path, || {
            for group in self.metadata.row_groups() {
                let rows = usize::try_from(group.num_rows()).unwrap_or(0);
                let chunk = group.column(at);
                let pages = SerializedPageReader::new(Arc::clone(&file), chunk, rows, None)?;
                each(
                    get_column_reader(chunk.column_descr_ptr(), Box::new(pages)),
                    rows,
                )?;
            }
            Ok(())
        })
    }
}

/// The next value of a column, where there is one.
trait NextIfThere<'a, T> {
    fn next_if_there(&mut self, level: i16) -> Option<&'a T>;
}

impl<'a, T> NextIfThere<'a, T> for std::slice::Iter<'a, T> {
    fn next_if_there(&mut self, level: i16) -> Option<&'a T> {
        (level > 0).then(|| self.next()).flatten()
    }
}

/// Reader of records into levels and values.
type Take<'a, T> = dyn FnMut(usize, &mut Vec<i16>, &mut Vec<T>) -> Result<(usize, usize, usize), ParquetError>
    + 'a;

/// Hands on the cells of a column of one row group as numbers.
fn cells<T>(
    rows: usize,
    each: &mut dyn FnMut(Option<f64>),
    number: &dyn Fn(&T) -> f64,
    take: &mut Take<'_, T>,
) -> Result<(), ParquetError> {
    let mut left = rows;
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while left > 0 {
        levels.clear();
        values.clear();
        let (read, _, _) = take(left.min(BATCH), &mut levels, &mut values)?;
        if read == 0 {
            return Err(ParquetError::General("rows are missing".into()));
        }
        let mut values = values.iter();
        for level in &levels {
            each(values.next_if_there(*level).map(number));
        }
        left -= read.min(left);
    }
    Ok(())
}

/// Refuses a file whose row groups have other rows than the file says: callers make room
/// for, and bound, what the file says.
fn check_rows(metadata: &ParquetMetaData) -> Result<(), ParquetError> {
    let mut groups = metadata.row_groups().iter();
    let rows = groups.try_fold(0_i64, |rows, group| {
        let own = Some(group.num_rows()).filter(|own| *own >= 0)?;
        rows.checked_add(own)
    });
    match rows == Some(metadata.file_metadata().num_rows()) {
        true => Ok(()),
        false => {
            let what = "its row groups have other rows than the file says";
            Err(ParquetError::General(what.into()))
        }
    }
}

/// A file's metadata, except its columns.
fn entries(metadata: &ParquetMetaData) -> Vec<(String, String)> {
    let entries = metadata.file_metadata().key_value_metadata();
    let entries = entries.into_iter().flatten();
    entries
        .map(|entry| (entry.key.clone(), entry.value.clone().unwrap_or_default()))
        .collect()
}

/// The columns, each with what the file says of it.
fn columns(metadata: &ParquetMetaData) -> Result<Vec<Column>, ParquetError> {
    let entries = entries(metadata);
    let described = entries.iter().find(|(name, _)| name == COLUMNS);
    let described: serde_json::Value = described
        .and_then(|(_, text)| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let fields = metadata.file_metadata().schema_descr().columns().iter();
    let column = |field: &Arc<parquet::schema::types::ColumnDescriptor>| {
        let kind = match field.physical_type() {
            Physical::BYTE_ARRAY => Kind::Text,
            Physical::INT64 => Kind::Integer,
            Physical::DOUBLE => Kind::Number,
            other => {
                let what = format!("`{}` is {other}, which results have not", field.name());
                return Err(ParquetError::General(what));
            }
        };
        // Levels are read as those of optional columns of a flat table.
        if field.max_def_level() != 1 || field.max_rep_level() != 0 {
            let what = format!("`{}` is no column of a table of results", field.name());
            return Err(ParquetError::General(what));
        }
        let about = described[field.name()]["about"].as_str().unwrap_or("");
        Ok(Column::new(field.name(), kind, about))
    };
    fields.map(column).collect()
}

/// Reads of a file whose decoders assert where they should report damage. Nothing
/// outlives the closure, so nothing can be left half done.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(read))
        .map_err(|_| Error::malformed(path, None, "the file is damaged"))?
        .map_err(|e| error(path, "read", e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AxisColumn, AxisPoint, AxisUnit, RowWriter, Value};

    fn written(path: &Path, rows: u64) {
        let axes = [AxisColumn {
            unit: Some(AxisUnit::Seconds),
            ..AxisColumn::text("delay")
        }];
        let columns = vec![
            Column::new("run", Kind::Integer, "number"),
            Column::new("goodput_bps", Kind::Number, "rate"),
        ];
        let provenance = Provenance::new("sweep", "abc", &[1]);
        let mut file = RowWriter::create(path, &axes, columns, &provenance).unwrap();
        for run in 0..rows {
            let point = AxisPoint {
                label: format!("{} s", run % 3),
                number: Some((run % 3) as f64),
            };
            let mut row = file.axes(&[point]).unwrap();
            let rate = (!run.is_multiple_of(5)).then_some(run as f64 / 7.0);
            row.extend([Value::from(run + 10), rate.into()]);
            file.row(&row).unwrap();
        }
        file.finish().unwrap();
    }

    #[test]
    fn columns_are_those_of_the_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.parquet");
        // More than one row group.
        written(&path, 40_000);
        let file = ColumnFile::open(&path).unwrap();
        assert_eq!(file.rows(), 40_000);
        assert_eq!(file.least("run"), Some(10));
        assert_eq!(file.provenance().unwrap().scenario, "sweep");
        let names: Vec<&str> = file.columns().iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["delay", "delay_s", "run", "goodput_bps"]);
        assert_eq!(file.columns()[1].about, "axis delay: seconds");
        let mut rates = Vec::new();
        file.numbers("goodput_bps", &mut |x| rates.push(x)).unwrap();
        let expected: Vec<Option<f64>> = (0..40_000_u64)
            .map(|run| (!run.is_multiple_of(5)).then_some(run as f64 / 7.0))
            .collect();
        assert_eq!(rates, expected);
        let mut labels = Vec::new();
        let mut put = |text: Option<&str>| labels.push(text.unwrap_or("").to_owned());
        file.texts("delay", &mut put).unwrap();
        assert_eq!(labels.len(), 40_000);
        assert_eq!(labels[39_999], "0 s");
        let mut runs = Vec::new();
        file.numbers("run", &mut |x| runs.push(x)).unwrap();
        assert_eq!(runs[20_000], Some(20_010.0));
    }

    #[test]
    fn what_is_damaged_or_asked_wrong_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.parquet");
        written(&path, 1000);
        let file = ColumnFile::open(&path).unwrap();
        assert!(file.numbers("delay", &mut |_| ()).is_err());
        assert!(file.texts("run", &mut |_| ()).is_err());
        assert!(file.numbers("fish", &mut |_| ()).is_err());
        let bytes = std::fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(97) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x5a;
            std::fs::write(&path, &damaged).unwrap();
            // Whatever comes of it, it ends, with no more rows than the file says.
            if let Ok(file) = ColumnFile::open(&path) {
                let mut cells = 0;
                let _ = file.numbers("goodput_bps", &mut |_| cells += 1);
                assert!(cells <= 2 * file.rows().max(1000));
            }
        }
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(ColumnFile::open(&path).is_err());
    }
}
