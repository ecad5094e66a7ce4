//! The schema of results and its files.
//!
//! The simulator and the test bed both yield an [`Outcome`], with the same
//! names and units in every form:
//!
//! - its parts ([`FlowOutcome`], [`LinkOutcome`], ...) are records: one line of
//!   a declaration is a field, its column, its JSON key, its difference between
//!   checkpoints and its metric ([`Part`]);
//! - what is computed from outcomes and shown as a [document] is declared in records
//!   as well: its keys in JSON and its columns in tables;
//! - metrics derived from several fields are methods with their definitions
//!   ([`Outcome::goodput`], [`jain_index`], ...);
//! - [`window_rates`] are the rates of a cumulative series over windows;
//! - [`Interval`] is an interval of a run: what flows got in it and how they
//!   shared links;
//! - [`RowWriter`] writes the tables `runs`, `links`, `crossings`,
//!   `middleboxes`, `legs` and `series` and any other as CSV or Parquet,
//!   [`Table`] reads them back, [`ColumnFile`] single columns, [`rows`] yields them in memory,
//!   [`columns()`] lists their columns;
//! - [`Outcome`] is `Serialize` and `Deserialize` under the column names of
//!   the tables, which is what `--json` prints and a [`Journal`] keeps;
//! - [`Capture`] writes packets as pcapng, [`write_qlog`] a sender's state as
//!   qlog.
//!
//! Final files are complete or absent ([`WholeFile`]), and none contains wall-clock time: the same
//! outcome gives the same bytes.

mod axes;
mod cell;
mod column_file;
mod columns;
mod csv_file;
pub mod document;
mod error;
mod fields;
mod interval;
mod journal;
mod json;
mod metrics;
mod model;
mod packet;
mod packet_record;
mod parquet_file;
mod pcapng;
mod provenance;
mod qlog;
mod rates;
mod record;
mod run;
mod series;
mod share;
mod table;
mod unit;
mod value;
mod whole_file;

pub use axes::{AxisColumn, AxisPoint, AxisUnit};
pub use column_file::ColumnFile;
pub use columns::{Column, TableKind, columns, run_columns};
pub use csv_file::csv_text;
pub use document::{Datum, Document, Key, Named, Rows, Shape};
pub use error::Error;
pub use interval::{Interval, NoCheckpoint};
pub use journal::{Journal, JournalBuffer, JournalError, JournalReader, Place, Record, Visit};
pub use metrics::jain_index;
pub use model::*;
pub use packet::{
    ACK, CWR, CapturedPacket, CongestionOption, ECE, FIN, MAX_HEADERS, PSH, RST, SYN, Sack,
    SnackOption, TcpHeader, Transport,
};
pub use packet_record::PacketRecord;
pub use pcapng::{Capture, CaptureError, Interface};
pub use provenance::{Provenance, SCHEMA};
pub use qlog::{QlogSettings, QlogWriter, write_qlog};
pub use rates::{WindowRate, window_rates};
pub use record::{Aggregation, Metric, Part};
pub use table::{Format, RowWriter, Table, rows};
pub use unit::Unit;
pub use value::{Kind, Value};
pub use whole_file::{WholeFile, make_folders, remove_leftovers, sync_folder, write_whole};
