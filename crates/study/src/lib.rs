//! Studies: sweeps, replications, statistics, references and claims.
//!
//! A study is a file: a scenario, the axes to vary, replications, and the
//! tables, figures and claims to make of the results. [`Collection`] loads
//! studies with what they name, [`Paper`] those of a paper; [`reproduce`] runs
//! what a selection needs and computes it as plain data: [`TableData`],
//! [`FigureData`], [`ClaimResult`] and a [`ReproduceReport`]. Who draws is
//! above.
//!
//! Runs go through a [`Runner`]; [`Simulator`] is the one of virtual time.
//! Results are journalled as they come, so that a study that was killed goes
//! on where it stopped, and ends with the same bytes.
//!
#![doc = include_str!("../LANGUAGE.md")]

mod bar;
mod campaign;
mod claim;
mod collection;
mod columns;
mod cost;
mod data;
mod data_reference;
mod dataset;
mod execute;
mod expr;
mod figure;
pub mod input;
mod keys;
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
mod shards;
mod simulator;
pub mod stats;
mod store;
mod study;
mod table;
mod task;
mod unit;
mod work;

#[cfg(test)]
mod testing;

pub use bar::{CellVerdict, ErrorSummary, SHADES, relative_error, shade};
pub use bentpipe_document::{Diagnostic, Diagnostics};
pub use campaign::{Campaign, Collector, SharedMakeRunner};
pub use claim::{ClaimResult, PartResult, ReadingResult, Verdict, of_the_paper};
pub use collection::{Collection, LoadError, LoadedStudy};
pub use data::{ABOUT_RESULTS, RESULTS, results_columns, write_result};
pub use data_reference::{data_reference, data_schema};
pub use execute::{ExecuteError, ExecuteOptions, Progress, Watch, check_cells, execute};
pub use figure::{Curve, CurvePoint, FigureData, FigureForm, PublishedMark};
pub use keys::{STUDY_TABLES, StudyTable};
pub use layout::{Layout, Span, spans};
pub use metric::{METRICS, Metric, Of, metric};
pub use paper::{Highlight, Item, ItemKind, NamedPaper, Paper, papers};
pub use plan::{Job, Plan, hash, settings};
pub use precision::Reached;
pub use quote::fill;
pub use record::{RunData, RunResult, StoredSample, StoredSeries};
pub use reference::{Published, Reference};
pub use report::{CellRow, ClaimRow, ReportRow, ReproduceReport};
pub use reproduce::{
    MakeRunner, ReproduceError, ReproduceOptions, Reproduction, Selection, judged, needed,
    reproduce,
};
pub use results::StudyResults;
pub use runner::{Checked, Request, Runner};
pub use simulator::Simulator;
pub use stats::Central;
pub use store::{StoreError, write_claims_file, write_figure_file, write_runs, write_table_file};
pub use study::{
    Axis, AxisSpec, Bar, ClaimPart, ClaimSpec, DerivedMetric, Expression, FigureKind, FigureSpec,
    Labels, Limits, Point, Precision, PublishedSpec, SeriesQuantity, Setting, Shown, Study,
    TableSpec, ValueSpec,
};
pub use table::{COLUMN_JOIN, ROW_JOIN, TableCell, TableData};
pub use task::{Task, TaskResult};
pub use unit::{Unit, quantity};

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
