//! Tables that studies stored.

use crate::arrow::Batch;
use crate::errors::{self, Kind};
use bentpipe::outcome::{Column, Kind as Holds, Table, Value};
use bentpipe_study::results_columns;
use pyo3::prelude::*;
use std::path::PathBuf;

/// The table `results` of a study's folder: a row for each run.
#[pyfunction]
pub(crate) fn stored_results(py: Python<'_>, path: PathBuf) -> PyResult<Batch> {
    let made = py.detach(|| {
        let table = Table::read(&path).map_err(|e| e.to_string())?;
        let known = results_columns();
        let column = |(index, name): (usize, &String)| {
            let known = known.iter().find(|column| column.name == *name);
            known.cloned().unwrap_or_else(|| {
                let about = if index < table.axes { "axis" } else { "" };
                Column::new(name, holds(table.rows.iter().map(|row| &row[index])), about)
            })
        };
        let columns = table.columns.iter().enumerate().map(column).collect();
        bentpipe::arrow::batch(columns, &table.rows).map_err(|e| e.to_string())
    });
    let made = made.map_err(|text| errors::exception(py, Kind::Input, &text))?;
    Ok(Batch(made))
}

/// What a column holds that is known by its values only.
fn holds<'a>(mut values: impl Iterator<Item = &'a Value>) -> Holds {
    let kind = values.find_map(|value| match value {
        Value::Missing => None,
        Value::Text(_) => Some(Holds::Text),
        Value::Integer(_) => Some(Holds::Integer),
        Value::Number(_) => Some(Holds::Number),
        Value::Flag(_) => Some(Holds::Flag),
    });
    kind.unwrap_or(Holds::Text)
}
