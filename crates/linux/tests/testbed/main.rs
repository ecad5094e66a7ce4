//! Scenarios on the TCP of this machine. They need root and TUN, and judge no
//! time closely: others may be using the processor.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "runs in real time are waited for by the clock"
)]

mod cleanup;
mod common;
mod flows;
mod refusals;
mod users;
