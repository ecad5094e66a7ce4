//! Outcomes as Arrow record batches.

use crate::Error;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use bentpipe_outcome::{Column, Kind, Outcome, TableKind, Value, columns, rows};
use std::collections::HashMap;
use std::sync::Arc;

/// A table of an outcome: `runs` has a row for each flow, `links` one for each
/// link, and so on. The columns are those of the Parquet files, with their
/// descriptions in the fields' metadata.
///
/// ```
/// use bentpipe::outcome::TableKind;
///
/// let scenario = bentpipe::parse(bentpipe::template())?;
/// let outcome = bentpipe::run(&scenario)?;
/// let flows = bentpipe::arrow::record_batch(&outcome, TableKind::Runs)?;
/// assert_eq!(flows.num_rows(), outcome.flows.len());
/// assert!(flows.column_by_name("goodput_bps").is_some());
/// # Ok::<(), bentpipe::Error>(())
/// ```
///
/// # Errors
/// If the table does not fit Arrow.
pub fn record_batch(outcome: &Outcome, table: TableKind) -> Result<RecordBatch, Error> {
    batch(columns(table), &rows(table, outcome))
}

/// A table of these columns, with their descriptions in the fields' metadata; `rows`
/// have their cells in the same order. What a row lacks is null.
///
/// # Errors
/// If the table does not fit Arrow.
pub fn batch(columns: Vec<Column>, rows: &[Vec<Value>]) -> Result<RecordBatch, Error> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (i, column) in columns.into_iter().enumerate() {
        let cells = rows.iter().map(|row| row.get(i).unwrap_or(&Value::Missing));
        let (kind, array): (DataType, ArrayRef) = match column.kind {
            Kind::Text => {
                let cells: StringArray = cells.map(Value::as_text).collect();
                (DataType::Utf8, Arc::new(cells))
            }
            Kind::Integer => {
                let cells: UInt64Array = cells.map(Value::as_integer).collect();
                (DataType::UInt64, Arc::new(cells))
            }
            Kind::Number => {
                let cells: Float64Array = cells.map(Value::as_number).collect();
                (DataType::Float64, Arc::new(cells))
            }
            Kind::Flag => {
                let cells: BooleanArray = cells.map(Value::as_flag).collect();
                (DataType::Boolean, Arc::new(cells))
            }
        };
        let about = HashMap::from([("about".to_owned(), column.about)]);
        fields.push(Field::new(column.name, kind, true).with_metadata(about));
        arrays.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}
