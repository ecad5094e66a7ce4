//! Scenarios on the TCP of this machine, for `--on linux`.

#[cfg(all(feature = "linux", target_os = "linux"))]
mod machine;

#[cfg(not(all(feature = "linux", target_os = "linux")))]
#[path = "no_machine.rs"]
mod machine;

mod adapt;
#[cfg(feature = "explore")]
pub(crate) mod beside;
mod ran;
mod run;
mod runner;

pub(crate) use adapt::{adapt, keep};
pub(crate) use machine::Machine;
pub(crate) use ran::{Facts, Ran, Wanted};
pub(crate) use run::run;
pub(crate) use runner::Bench;
