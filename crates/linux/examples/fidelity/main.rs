//! How true the emulator is to its model, and how much it can carry, on this
//! machine: prints a table. Needs root and an otherwise idle machine.
//!
//! ```sh
//! cargo run --release -p bentpipe-linux --example fidelity -- [CASE...]
//! ```
//!
//! Cases: `model` (a saturated link of 2 Mbit/s), `loss` (100,000 packets),
//! `rate` (1 Gbit/s and more), `gso` (segments passed whole), `soak` (50,000
//! changes of a timeline). All of them if none is named. With a number of
//! seconds first, each run of `rate` and `gso` takes so long.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement by the clock, for people"
)]

#[cfg(target_os = "linux")]
mod measure;

#[cfg(target_os = "linux")]
fn main() -> measure::Done<()> {
    measure::main()
}

/// Elsewhere there is nothing to measure.
#[cfg(not(target_os = "linux"))]
fn main() {}
