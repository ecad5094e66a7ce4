//! Studies: sweeps, replications, statistics, references and claims.
//!
//! A study is a file: a scenario, the axes to vary, replications, and the tables, figures and
//! claims to derive from the results. [`Collection`] loads studies with the files that they name,
//! [`Paper`] those of a paper; [`reproduce`] runs what a selection needs and computes it as plain
//! data: [`TableData`], [`FigureData`], [`ClaimResult`] and a [`ReproduceReport`]. Drawing is left
//! to the crates above.
//!
//! A [`Runner`] executes the runs; [`Simulator`] is the one for virtual time. Results are
//! journalled as they arrive, so that a killed study resumes where it stopped, and ends with the
//! same bytes.
//!
#![doc = include_str!("../LANGUAGE.md")]

mod bar;
mod campaign;
mod catalogue;
mod claim;
mod collection;
mod columns;
mod data;
mod data_reference;
mod dataset;
mod error;
mod execute;
mod expr;
mod figure;
mod folder;
mod header;
pub mod input;
mod layout;
mod metric;
mod paper;
mod plan;
mod precision;
mod quote;
mod read;
mod record;
mod reference;
mod report;
mod reproduce;
mod results;
mod runner;
mod runs;
mod schema;
mod shards;
mod simulator;
pub mod stats;
mod store;
mod study;
mod table;
mod task;
mod unit;
mod verdict;
mod work;

#[cfg(test)]
mod testing;

pub use bar::{CellVerdict, ErrorSummary, SHADES, relative_error, shade};
pub use bentpipe_document::{Diagnostic, Diagnostics};
pub use campaign::{Campaign, Collector, SharedMakeRunner};
pub use claim::{ClaimResult, PartResult, ReadingResult, of_the_paper};
pub use collection::{Collection, LoadError, LoadedStudy};
pub use data::{ABOUT_RESULTS, RESULTS, results_columns, write_result};
pub use data_reference::{data_reference, data_schema};
pub use error::{ExecuteError, ReproduceError, StoreError};
pub use execute::{ExecuteOptions, check_cells, execute};
pub use figure::{Curve, CurvePoint, FigureData, FigureForm, PublishedMark};
pub use layout::{Layout, Span, spans};
pub use metric::{Aggregation, METRICS, Metric, metric};
pub use paper::{Highlight, Item, ItemKind, NamedPaper, Paper, papers};
pub use plan::{Job, Plan, hash, settings};
pub use precision::Reached;
pub use quote::fill;
pub use record::{RunData, RunResult, StoredSample, StoredSeries};
pub use reference::{COLUMN_JOIN, Published, ROW_JOIN, Reference};
pub use report::{CellRow, ClaimRow, ReportRow, ReproduceReport};
pub use reproduce::{
    MakeRunner, ReproduceOptions, Reproduction, Selection, judged, needed, reproduce,
};
pub use results::StudyResults;
pub use runner::{Checked, Progress, Request, Runner, Watch};
pub use schema::{schema, study_reference};
pub use simulator::Simulator;
pub use stats::Central;
pub use store::{write_claims_file, write_figure_file, write_runs, write_table_file};
pub use study::{
    Axis, AxisSpec, Banded, Bar, ClaimPart, ClaimSpec, DerivedMetric, Expression, FigureKind,
    FigureSpec, Labels, Limits, Point, Precision, PublishedSpec, Recorded, SeriesQuantity, Setting,
    Shown, Study, TableSpec, ValueSpec,
};
pub use table::{TableCell, TableData};
pub use task::{Task, TaskResult};
pub use unit::{Unit, quantity};
pub use verdict::Verdict;

/// Puts bytes together as a collector puts the results of tasks: the body of a fuzz target.
///
/// Whole, they are a result. Their lines, each a number of a run and what came out of it as JSON,
/// are made a result of runs of the right study, since no chance finds checksums.
#[doc(hidden)]
pub fn fuzz_task(bytes: &[u8], folder: &std::path::Path) {
    task::fuzz::put(bytes, folder);
}

/// Reads any bytes as a study and as an expression: the body of a fuzz target.
#[doc(hidden)]
pub fn fuzz_study(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(diagnostics) = Study::parse("fuzz.toml", &text) {
        let _ = diagnostics.render(false);
    }
    let _ = expr::parse(&text);
    let _ = Reference::parse(&text);
}
