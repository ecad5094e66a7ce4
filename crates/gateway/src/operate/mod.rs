//! What an operator sees and does: status, metrics, logs, reload, hand-over.

pub mod board;
pub mod check;
pub mod client;
pub mod control;
pub mod handover;
pub mod log;
pub mod metrics;
pub mod notify;
pub mod qlog;
pub mod reload;

pub use board::{Board, Finding, Path, Severity};
