//! What `bentpipe cc` takes, and the option that brings controls along.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The user's own congestion controls.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OwnControls {
    /// Add your own congestion control: a .c file in the kernel's form, the
    /// folder of a crate made by `bentpipe cc new`, or a crate's shared
    /// library; NAME= in front renames it; repeatable
    #[arg(long = "cc", value_name = "[NAME=]FILE")]
    pub(crate) files: Vec<String>,
}

/// Creates and checks your own congestion controls.
///
/// A congestion control is a Rust crate without dependencies, a C file of the form
/// that the kernel takes, or, in Python, a class. `--cc FILE` of compare, run,
/// study, reproduce, check and transports adds one, and so does
/// `[control.NAME]` with `file = "FILE"` in a scenario or study. Its name
/// is then valid wherever that of a built-in transport is: in `--transport`, in
/// flows, in `base` of transports, on axes and in figures. Its parameters are keys
/// of its transport.
///
/// It runs on the host profiles `rfc` and `linux`, and on the real kernel where it
/// is C and clang compiles it as eBPF. A control that panics or sets an
/// unusable window (not a number, below 1 segment) ends its run with an error that
/// gives its name, the flow and the time. A version of it that this machine has not
/// run yet is first tried on short downloads in a process of its own, and refused if it
/// crashes or hangs there; what it does only in other situations still ends the whole
/// command. Results carry the hash of its source, so
/// those of two versions never mix.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe cc new mine
  bentpipe cc check mine
  bentpipe compare --cc mine --transport mine,cubic --loss 0.1%
  bentpipe cc new mine --c
  bentpipe run geo.toml --cc mine.c --set flow.download.transport=mine
  bentpipe transports mine --cc mine.c")]
pub(crate) struct Cc {
    #[command(subcommand)]
    pub(crate) command: CcCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CcCommand {
    New(CcNew),
    Check(CcCheck),
}

/// Creates a working congestion control as a starting point.
///
/// A Rust crate in a folder of its name, which builds anywhere and offline, or with
/// --c one C file, which the simulator and the kernel run.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe cc new mine
  bentpipe cc new mine --c
  bentpipe cc new mine --in ~/controls")]
pub(crate) struct CcNew {
    /// Its name: lower-case letters, digits, `-` and `_`
    pub(crate) name: String,
    /// In C, in one file of the kernel's form
    #[arg(long)]
    pub(crate) c: bool,
    /// Folder to write into [default: this one]
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// Runs a congestion control through a short test battery, next to CUBIC.
///
/// A download over a geostationary link without losses and with 1% of them, and
/// over low orbits with a handover every 15 s, on both host profiles. It runs in a
/// process of its own, so one that divides by zero, follows a wild pointer or loops
/// for ever is reported with the call that it was in. Exit status 1 if the control
/// crashes, fails, never completes a download or never grows its window.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe cc check mine
  bentpipe cc check mine.c --json")]
pub(crate) struct CcCheck {
    /// The congestion control, as --cc takes it
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Time that one call of it may take before it counts as one that never returns
    #[arg(long, value_name = "SECONDS", default_value_t = crate::cc::PATIENCE,
        value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) patience: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
