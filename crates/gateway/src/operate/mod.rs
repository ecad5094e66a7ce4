//! What an operator sees and does: status, metrics, logs, reload, hand-over.

pub mod board;
pub mod client;
pub mod control;
pub mod log;
pub mod metrics;
pub mod notify;

pub use board::{Board, Finding, Path, Severity};
