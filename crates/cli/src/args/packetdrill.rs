//! What `bentpipe packetdrill` takes.

use clap::Args;
use std::path::PathBuf;

/// Runs packetdrill scripts against a simulated TCP, in virtual time.
///
/// Needs no root, no device and no waiting. Prints for each script whether it passes, where it
/// fails first, or what of it is not modelled, and the sums. Exit status: 0 all pass, 1 some do
/// not, 2 one cannot be read.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe packetdrill slow-start.pkt
  bentpipe packetdrill gtests/net/tcp/fast_recovery --profile linux
  bentpipe packetdrill scripts --json | jq .counts")]
pub(crate) struct Packetdrill {
    /// A script, or a folder, whose files *.pkt run; `-` is standard input
    #[arg(required = true, value_name = "SCRIPT")]
    pub(crate) scripts: Vec<PathBuf>,
    /// Host profile: linux, linux-2.4, linux-2.2 or rfc
    #[arg(long, value_name = "PROFILE", default_value = "linux")]
    pub(crate) profile: String,
    /// Ticks of the kernel's clock in a second (CONFIG_HZ), 100 to 1000
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) hz: u32,
    /// Print every row of long tables
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
