//! Congestion controls in the kernel of this machine: loaded, used by real
//! sockets and gone again. Without root, or on a kernel that cannot take them,
//! each test says so and does nothing.

#![cfg(all(target_os = "linux", feature = "kernel"))]
#![allow(
    clippy::disallowed_methods,
    reason = "these tests watch real sockets by the clock"
)]

mod common;
mod lifetime;
mod refusals;
mod simulator;
mod sockets;
mod sys;
