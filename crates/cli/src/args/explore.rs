//! What `bentpipe explore` takes.

use clap::Args;
use std::path::PathBuf;

/// The port to try first.
#[cfg_attr(
    not(feature = "explore"),
    expect(dead_code, reason = "there is no server")
)]
pub(crate) const PORT: u16 = 8740;

/// Opens the explorer in the browser.
///
/// Change a link with sliders and watch the answer follow; edit a scenario next to its
/// picture; watch satellites and handovers; filter the runs of a study. The server listens on
/// this machine only, answers only to the address that it prints, and contacts no other host.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe explore
  bentpipe explore geo.toml
  bentpipe explore results/

The page reads files in DIR, or in the folder of FILE, and nothing else of the disk.
A tab goes on where it was when the command is started again on the same port.")]
pub(crate) struct Explore {
    /// What to open: a scenario, a study, or a folder with them or with results
    #[arg(value_name = "FILE|DIR")]
    pub(crate) open: Option<PathBuf>,
    /// Port on 127.0.0.1 [default: 8740, or the next free one]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Print the address and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Serve the page from this folder, for work on the page itself
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) page: Option<PathBuf>,
}
