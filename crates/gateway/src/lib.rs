//! The split-TCP gateway: a performance-enhancing proxy (RFC 3135) for
//! satellite links that loses nothing.
//!
//! It stands in the path in one of three roles ([`config::Role`]):
//! - *single*: one box; the kernel's TCP on both sides, with a congestion
//!   control of its own on the satellite side, and data moved by splice;
//! - *terminal* and *hub*: two boxes with one long-lived QUIC association over
//!   the satellite between them, and one stream for each TCP connection.
//!
//! Connections reach it by interception ([`intercept`], nftables TPROXY), or
//! through its SOCKS5 and HTTP CONNECT listeners, which need no root.
//!
//! - [`config`] is the configuration file and what it stands for.
//! - [`relay`] moves the bytes of a connection and carries its end: a
//!   half-close as a half-close, a reset as a reset, a refusal as a refusal.
//! - [`tunnel`] is the association, its congestion control, and what replaces it
//!   where UDP does not pass.
//! - [`operate`] is what an operator sees and does: status, metrics, logs,
//!   reload, hand-over.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "this crate is a real-time host: it reads the clock"
)]

pub mod config;
pub mod counters;
pub mod cut;
pub mod destination;
pub mod entry;
pub mod gateway;
pub mod hub;
pub mod intercept;
pub mod open;
pub mod operate;
pub mod policy;
pub mod relay;
pub mod single;
mod sys;
pub mod terminal;
pub mod tunnel;

pub use counters::Counters;
pub use cut::Cut;
pub use destination::Destination;
pub use open::Open;
