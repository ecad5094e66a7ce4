//! What `bentpipe cc` takes, and the option that brings controls along.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Congestion controls of one's own.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OwnControls {
    /// Bring a congestion control of your own along: a .c file of the kernel's
    /// form, the folder of a crate that `bentpipe cc new` made, or the shared
    /// library of one; NAME= in front gives it another name; repeatable
    #[arg(long = "cc", value_name = "[NAME=]FILE")]
    pub(crate) files: Vec<String>,
}

/// Makes and checks congestion controls of one's own.
///
/// A congestion control is a Rust crate without dependencies, a C file of the form
/// that the kernel takes, or, in Python, a class. `--cc FILE` of compare, run,
/// study, reproduce, check and transports brings one along, and so does
/// `[control.NAME]` with `file = "FILE"` in a scenario or study. From then on its
/// name stands wherever that of a built-in transport does: in `--transport`, in
/// flows, in `base` of transports, on axes and in figures. Its parameters are keys
/// of its transport.
///
/// It runs on the host profiles `rfc` and `linux`, and on the real kernel where it
/// is C and clang compiles it as eBPF. A control that panics or sets a window that
/// no transport can use (not a number, below 1 segment) ends its run with an error
/// that has its name, the flow and the time. Results carry the hash of its source:
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

/// Writes a congestion control that works, to be changed.
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
    /// Its name: small letters, digits, `-` and `_`
    pub(crate) name: String,
    /// In C, in one file of the kernel's form
    #[arg(long)]
    pub(crate) c: bool,
    /// Folder to write into [default: this one]
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// Runs a congestion control over a short battery, beside CUBIC.
///
/// A download over a geostationary link without losses and with 1% of them, and
/// over low orbits with a handover every 15 s, on both host profiles. Exit status 1
/// if the control fails, never ends a download or never grows.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe cc check mine
  bentpipe cc check mine.c --json")]
pub(crate) struct CcCheck {
    /// The congestion control, as --cc takes it
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
