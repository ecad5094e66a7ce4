//! Transfers that end in every way there is, checked at both ends: what a
//! gateway, or anything else in the path, may not change.
//!
//! The client draws a [`plan::Plan`] for each connection and sends it as the
//! first bytes; both ends then do their [`party::Step`]s, compare every byte that
//! comes with what was sent, and [`judge`] how the connection ended.

#![allow(
    clippy::disallowed_methods,
    reason = "this is a real-time host: it reads the clock"
)]

pub mod content;
pub mod drive;
pub mod judge;
pub mod party;
pub mod plan;
pub mod proxy;
pub mod report;
pub mod serve;
