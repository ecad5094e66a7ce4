//! The split-TCP gateway: a performance-enhancing proxy (RFC 3135) for
//! satellite links that loses nothing.
//!
//! It runs in the path in one of three roles ([`config::Role`]):
//! - *single*: one box; the kernel's TCP on both sides, with a separate congestion control on the
//!   satellite side, and data moved by splice;
//! - *terminal* and *hub*: two boxes with one long-lived QUIC association over
//!   the satellite between them, and one stream for each TCP connection.
//!
//! Connections reach it by interception ([`intercept`], nftables TPROXY), or
//! through its SOCKS5 and HTTP CONNECT listeners, which need no root.
//!
//! - [`config`] is the configuration file and its meaning.
//! - [`relay`] moves the bytes of a connection and preserves how it ends: a half-close as a
//!   half-close, a reset as a reset, a refusal as a refusal.
//! - [`tunnel`] is the association, its congestion control, and what replaces it
//!   where UDP does not pass.
//! - [`operate`] is what an operator sees and does: status, metrics, logs,
//!   reload, hand-over.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "this crate is a real-time host: it reads the clock"
)]

pub mod close_reason;
pub mod config;
pub mod counters;
mod descriptors;
pub mod destination;
pub mod entry;
pub mod gateway;
pub mod hub;
pub mod intercept;
pub mod open;
pub mod operate;
pub mod policy;
pub mod relay;
mod shares;
pub mod single;
mod sys;
pub mod terminal;
pub mod tunnel;
pub mod udp;
mod usage;

pub use close_reason::CloseReason;
pub use counters::Counters;
pub use destination::Destination;
pub use open::Open;
