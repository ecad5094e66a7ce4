//! `bentpipe kernel`: congestion controls for the kernel of this machine.

mod list;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod manage;

#[cfg(not(all(feature = "linux", target_os = "linux")))]
mod manage {
    //! A build without what Linux needs says so.

    use crate::exit::{Failure, Status};
    use crate::output::Output;

    pub(super) fn loaded() -> Vec<(String, &'static str)> {
        Vec::new()
    }

    pub(super) fn main(_: &crate::args::KernelCommand, _: &mut Output) -> Result<Status, Failure> {
        Err(Failure::new(if cfg!(target_os = "linux") {
            "this build has no kernel congestion controls\n  build it with `make`, or with \
             `cargo build --release --features kernel` (needs clang, libelf and zlib)"
        } else {
            "kernel congestion controls need Linux"
        }))
    }
}

use crate::args::KernelCommand;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_bpf::{Control, find, nearest};

/// Lists, loads, unloads or looks.
pub(crate) fn main(command: &KernelCommand, out: &mut Output) -> Result<Status, Failure> {
    match command {
        KernelCommand::List(args) => list::main(args, out),
        _ => manage::main(command, out),
    }
}

/// The control of that name, with or without `bp_`.
fn control(name: &str) -> Result<&'static Control, Failure> {
    let full = format!("bp_{}", name.strip_prefix("bp_").unwrap_or(name));
    find(&full).ok_or_else(|| {
        let hint =
            nearest(&full).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        Failure::new(format!(
            "there is no kernel congestion control `{name}`{hint}\n  `bentpipe kernel list` shows \
             them"
        ))
    })
}
