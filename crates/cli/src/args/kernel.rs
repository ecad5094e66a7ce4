//! What `bentpipe kernel` takes.

use clap::{ArgGroup, Args, Subcommand};

/// Loads congestion controls of the papers into the running kernel.
///
/// They are eBPF programs: no module, no reboot, nothing on disk. Programs
/// select one by name, as they would select cubic. Loading needs root and
/// Linux 6.4 or newer; `bentpipe doctor` says what is missing.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe kernel list
  sudo bentpipe kernel load hybla
  iperf3 --client HOST --congestion bp_hybla
  sudo bentpipe kernel load hybla --set rtt0=50ms --as bp_hybla_50
  sudo bentpipe kernel status
  sudo bentpipe kernel unload bp_hybla")]
pub(crate) struct Kernel {
    #[command(subcommand)]
    pub(crate) command: KernelCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    List(KernelList),
    Load(KernelLoad),
    Unload(KernelUnload),
    Status(KernelStatus),
}

/// Lists the congestion controls, with their parameters and defaults.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe kernel list
  bentpipe kernel list hybla
  bentpipe kernel list --json | jq '.controls[].name'")]
pub(crate) struct KernelList {
    /// Only this one
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Loads a congestion control into the kernel.
///
/// It stays until `bentpipe kernel unload` or a reboot. Existing connections
/// keep their congestion control.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sudo bentpipe kernel load hybla
  sudo bentpipe kernel load const --set k=4 --set initial_window=6
  sudo bentpipe kernel load hybla --set rtt0=50ms --as bp_hybla_50")]
pub(crate) struct KernelLoad {
    /// The control, with or without bp_ (see `bentpipe kernel list`)
    pub(crate) name: String,
    /// Set a parameter, such as initial_window=10; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Load it under this name, to have several with different parameters:
    /// bp_ and up to 12 more characters [default: its own]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) under: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Removes congestion controls that `load` put into the kernel.
///
/// Connections that use one keep it until they close.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").required(true).args(["names", "all"])))]
#[command(after_long_help = "\
Examples:
  sudo bentpipe kernel unload bp_hybla
  sudo bentpipe kernel unload --all")]
pub(crate) struct KernelUnload {
    /// Names, as `bentpipe kernel status` shows them
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Everything that `load` has loaded
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the congestion controls of bentpipe that are in the kernel now.
///
/// With their parameters, what keeps them loaded, and how many sockets and
/// namespaces (as their default) use them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sudo bentpipe kernel status
  sudo bentpipe kernel status --programs
  sudo bentpipe kernel status --json | jq '.loaded[] | {name, users}'")]
pub(crate) struct KernelStatus {
    /// Also list the programs of each, and what the verifier had to walk
    /// through
    #[arg(long)]
    pub(crate) programs: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
