//! What an operator sees and does: status, metrics, logs, reload, hand-over.

mod associations;
pub mod check;
pub mod client;
pub mod control;
pub mod handover;
pub mod log;
pub mod metrics;
pub mod notify;
mod pages;
pub mod qlog;
pub(crate) mod records;
pub mod reload;
pub mod state;

pub use state::{Finding, Path, Severity, SharedState};
