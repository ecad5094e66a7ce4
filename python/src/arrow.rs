//! Tables: Arrow record batches, which other libraries take over without
//! copying through the Arrow PyCapsule interface.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, StructArray};
use arrow_schema::{ArrowError, DataType, Field};
use bentpipe::compare::record::Table;
use bentpipe::outcome::Document;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::sync::Arc;

/// An Arrow record batch.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Batch(pub(crate) RecordBatch);

fn failed(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Batch {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A request is a wish: the types are those of the results.
        let _ = requested_schema;
        let batches = vec![Ok(self.0.clone())];
        let reader = RecordBatchIterator::new(batches, self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let rows = StructArray::from(self.0.clone()).to_data();
        let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) = to_ffi(&rows).map_err(failed)?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// Name and description of each column.
    fn columns(&self) -> Vec<(String, String)> {
        let schema = self.0.schema();
        let of = |field: &Arc<Field>| {
            let about = field.metadata().get(ABOUT).cloned().unwrap_or_default();
            (field.name().clone(), about)
        };
        schema.fields().iter().map(of).collect()
    }

    /// A column as a list.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.0.column_by_name(name);
        let column = column.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        match column.data_type() {
            DataType::Utf8 => PyList::new(py, column.as_string::<i32>().iter()),
            DataType::UInt64 => PyList::new(py, column.as_primitive::<UInt64Type>().iter()),
            DataType::Boolean => PyList::new(py, column.as_boolean().iter()),
            _ => PyList::new(py, column.as_primitive::<Float64Type>().iter()),
        }
    }
}

/// The key under which a field says what it is.
const ABOUT: &str = "about";

/// A table with a row for each record.
///
/// # Errors
/// If it does not fit Arrow.
pub(crate) fn table<T: Document>(rows: impl Iterator<Item = T>) -> PyResult<Batch> {
    batch((T::columns(), rows.map(|row| row.cells()).collect()))
}

/// A table of these columns and rows.
///
/// # Errors
/// If it does not fit Arrow.
pub(crate) fn batch((columns, rows): Table) -> PyResult<Batch> {
    let made = bentpipe::arrow::batch(columns, &rows);
    Ok(Batch(
        made.map_err(|e| PyRuntimeError::new_err(e.to_string()))?,
    ))
}
