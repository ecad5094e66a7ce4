//! A build without what Linux needs says so.

use super::ran::{Ran, Wanted};
use crate::exit::Failure;
use bentpipe_scenario::Scenario;

/// There is none.
pub(crate) enum Machine {}

impl Machine {
    pub(crate) fn new() -> Result<Machine, Failure> {
        Err(Failure::new(if cfg!(target_os = "linux") {
            "this build cannot run on the machine's own TCP\n  build it with `make`, or with \
             `cargo build --release --features kernel` (needs clang, libelf and zlib)"
        } else {
            "--on linux needs Linux"
        }))
    }

    #[cfg(feature = "explore")]
    pub(crate) fn beside_others() -> Result<Machine, Failure> {
        Machine::new()
    }

    #[cfg(feature = "explore")]
    pub(crate) fn stop(&self) {
        match *self {}
    }

    pub(crate) fn kernel(&self) -> &str {
        match *self {}
    }

    pub(crate) fn is_stopped(&self) -> bool {
        match *self {}
    }

    pub(crate) fn refusals(&self, _: &Scenario) -> Vec<String> {
        match *self {}
    }

    pub(crate) fn run(&self, _: &Scenario, _: Wanted) -> Result<Ran, String> {
        match *self {}
    }

    pub(crate) fn as_run_on_linux(&self, _: &Scenario) -> Scenario {
        match *self {}
    }
}
