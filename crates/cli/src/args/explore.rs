//! What `bentpipe explore` takes.

use clap::Args;
use std::path::PathBuf;

/// Opens the laboratory as a page in the browser.
///
/// A link is dragged into shape and the answer moves with it; a scenario is written beside
/// its picture; satellites turn; a study's runs are filtered by hand. The server answers to
/// this machine alone, to who has the address that it prints, and asks nothing of any other.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe explore
  bentpipe explore geo.toml
  bentpipe explore results/")]
pub(crate) struct Explore {
    /// What to open: a scenario, a study, or a folder with them or with results
    #[arg(value_name = "FILE|DIR")]
    pub(crate) open: Option<PathBuf>,
    /// Port on 127.0.0.1 [default: one that is free]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Serve the page from this folder, for work on the page itself
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) page: Option<PathBuf>,
}
