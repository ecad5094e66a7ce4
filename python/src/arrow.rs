//! Tables: Arrow record batches, which other libraries take over without
//! copying through the Arrow PyCapsule interface.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray,
    StructArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::collections::HashMap;
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

/// Columns of a table that is built here.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn push(mut self, name: &str, about: &str, array: ArrayRef) -> Columns {
        let about = HashMap::from([(ABOUT.to_owned(), about.to_owned())]);
        let field = Field::new(name, array.data_type().clone(), true);
        self.fields.push(field.with_metadata(about));
        self.arrays.push(array);
        self
    }

    /// A column of texts.
    pub(crate) fn text<'a, T: Into<Option<&'a str>>>(
        self,
        name: &str,
        about: &str,
        cells: impl Iterator<Item = T>,
    ) -> Columns {
        let cells: StringArray = cells.map(Into::into).collect();
        self.push(name, about, Arc::new(cells))
    }

    /// A column of whole numbers.
    pub(crate) fn integer(
        self,
        name: &str,
        about: &str,
        cells: impl Iterator<Item = u64>,
    ) -> Columns {
        let cells: UInt64Array = cells.map(Some).collect();
        self.push(name, about, Arc::new(cells))
    }

    /// A column of numbers, which may be missing.
    pub(crate) fn number<T: Into<Option<f64>>>(
        self,
        name: &str,
        about: &str,
        cells: impl Iterator<Item = T>,
    ) -> Columns {
        let finite = |cell: T| -> Option<f64> { cell.into().filter(|x: &f64| x.is_finite()) };
        let cells: Float64Array = cells.map(finite).collect();
        self.push(name, about, Arc::new(cells))
    }

    /// A column of yes and no.
    pub(crate) fn flag(
        self,
        name: &str,
        about: &str,
        cells: impl Iterator<Item = bool>,
    ) -> Columns {
        let cells: BooleanArray = cells.map(Some).collect();
        self.push(name, about, Arc::new(cells))
    }

    /// The table.
    ///
    /// # Errors
    /// If the columns are not of one length.
    pub(crate) fn batch(self) -> PyResult<Batch> {
        let schema = Arc::new(Schema::new(self.fields));
        Ok(Batch(
            RecordBatch::try_new(schema, self.arrays).map_err(failed)?,
        ))
    }
}
