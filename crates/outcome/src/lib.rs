//! The schema of results and its files.
//!
//! The simulator and the test bed both yield an [`Outcome`], with the same
//! names and units in every form:
//!
//! - its parts ([`FlowOutcome`], [`LinkOutcome`], ...) are records: one line of
//!   a declaration is a field, its column, its JSON key, its difference between
//!   checkpoints and its metric ([`Part`]);
//! - metrics derived from several fields are methods with their definitions
//!   ([`Outcome::goodput`], [`jain_index`], ...);
//! - [`window_rates`] are the rates of a cumulative series over windows;
//! - [`Interval`] is an interval of a run: what flows got in it and how they
//!   shared links;
//! - [`TableWriter`] writes the tables `runs`, `links`, `crossings`,
//!   `middleboxes`, `legs` and `series` as CSV or Parquet, [`RowWriter`] any
//!   other, [`Table`] reads them back, [`ColumnFile`] single columns, [`rows`] yields them in memory,
//!   [`columns()`] lists their columns;
//! - [`Outcome`] is `Serialize` and `Deserialize` under the column names of
//!   the tables, which is what `--json` prints and a [`Journal`] keeps;
//! - [`Capture`] writes packets as pcapng, [`write_qlog`] a sender's state as
//!   qlog.
//!
//! Final files are whole or absent ([`WholeFile`]), and none holds a time of
//! day: the same outcome gives the same bytes.

mod axes;
mod cell;
mod column_file;
mod columns;
mod csv_file;
mod error;
mod interval;
mod journal;
mod json;
mod metrics;
mod model;
mod packet;
mod parquet_file;
mod pcapng;
mod provenance;
mod qlog;
mod rates;
mod record;
mod series;
mod table;
mod value;
mod whole_file;

pub use axes::{AxisColumn, AxisPoint, AxisUnit};
pub use column_file::ColumnFile;
pub use columns::{Column, TableKind, columns, run_columns};
pub use error::Error;
pub use interval::{Interval, NoCheckpoint};
pub use journal::{Journal, JournalBuffer, JournalError, JournalReader, Place, Record, Visit};
pub use metrics::jain_index;
pub use model::*;
pub use packet::{
    ACK, CWR, CapturedPacket, CongestionOption, ECE, FIN, MAX_HEADERS, PSH, RST, SYN, Sack,
    SnackOption, TcpHeader, Transport,
};
pub use pcapng::{Capture, CaptureError, Interface};
pub use provenance::{Provenance, SCHEMA};
pub use qlog::{QlogSettings, write_qlog};
pub use rates::{WindowRate, window_rates};
pub use record::{Metric, Part, Quantity, Together};
pub use table::{Format, Row, RowWriter, Table, TableWriter, rows, run_cells};
pub use value::{Kind, Value};
pub use whole_file::{WholeFile, remove_leftovers, write_whole};
