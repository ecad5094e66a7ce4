//! The command line as its users meet it: the built binary, run in a folder of
//! its own.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that is skipped says so"
)]

mod cc;
mod common;
mod compare;
#[cfg(feature = "linux")]
mod corners;
mod data;
mod emulate;
mod explain;
mod files;
mod fit;
mod gateway;
mod guide;
mod help;
mod kernel;
mod live;
mod map;
mod orbits;
mod packetdrill;
mod report;
mod run;
mod study;
mod trace;
mod width;
