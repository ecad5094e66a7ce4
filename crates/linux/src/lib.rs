//! Real time: what the simulator predicts, on the Linux of this machine.
//!
//! The emulator drives the links of `bentpipe-link` by the wall clock, and the
//! test bed runs the flows of a scenario on real sockets over it.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "this crate is the real-time host: it reads the clock"
)]

pub mod emulator;
pub mod kernel;
pub mod namespace;
mod port;
mod release;
mod sys;
pub mod testbed;
#[cfg(test)]
mod testing;
pub mod tun;
