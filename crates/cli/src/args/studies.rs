//! What `bentpipe study` and `bentpipe reproduce` take.

use super::On;
use clap::Args;
use std::path::PathBuf;

/// What runs a study, and how much of it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Where {
    /// What runs it: the simulator, or the TCP of this machine over emulated
    /// links, in real time (needs root)
    #[arg(long, value_name = "HOST", default_value = "sim", value_parser = on_one)]
    pub(crate) on: On,
    /// Run only these points of an axis, such as transport=iw2,mtsi; repeatable
    #[arg(long, value_name = "AXIS=POINTS")]
    pub(crate) only: Vec<String>,
    /// Runs at the same time [default: one per core; one with --on linux].
    /// Simulated results do not change with it; on linux too many make packets
    /// late
    #[arg(long, visible_alias = "jobs", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Replications of each cell: in the simulator at most N [default: as many
    /// as the study says], with --on linux exactly N [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
}

/// A study runs in one place.
fn on_one(text: &str) -> Result<On, String> {
    match text {
        "sim" => Ok(On::Sim),
        "linux" => Ok(On::Linux),
        _ => Err("expected `sim` or `linux`".to_owned()),
    }
}

/// Runs a study: sweeps, tables, figures, claims.
///
/// What was run before is not run again: a study that was stopped goes on.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe check study.toml
  bentpipe study study.toml --runs 2 --out quick
  bentpipe study study.toml --on linux --jobs 4 --only transport=hybla,cubic")]
pub(crate) struct Study {
    /// The study, a TOML file
    pub(crate) study: PathBuf,
    #[command(flatten)]
    pub(crate) place: Where,
    /// Folder that gets a folder of results, tables and figures [default:
    /// results; results-linux with --on linux]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Forget earlier results and run everything
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with the pages that quote results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Pages {
    /// Exit status 1 if a page is not of these results
    Check,
    /// Write what is not of these results anew
    Write,
}

/// Holds published results against ours, paper by paper.
///
/// Runs the studies under papers/, prints published and simulated values side
/// by side and judges the papers' claims. Exit status 1 if the verdict on a value
/// or a claim is not the recorded one.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe reproduce --list
  bentpipe reproduce marchese-2006 table-3
  bentpipe reproduce --runs 5 --json > verdicts.json
  bentpipe reproduce marchese-2006 --report pages
  bentpipe reproduce marchese-2006 table-3 --on linux --only transport=iw2,iw6,mtsi")]
pub(crate) struct Reproduce {
    /// The paper, such as `marchese-2006` [default: all]
    pub(crate) paper: Option<String>,
    /// One table, figure, claim or study of it [default: all]
    pub(crate) item: Option<String>,
    /// List papers, items and claims; run nothing
    #[arg(long)]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) place: Where,
    /// Keep results here, draw figures, and go on where an earlier run stopped
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write what came out as pages: an index, and for each paper its claims,
    /// its tables beside the print and its figures. They work offline
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Forget earlier results in --out
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Compare the pages that quote results (README.md beside papers/ and in
    /// each paper's folder) with them, or write them anew
    #[arg(long, value_name = "HOW", value_enum, conflicts_with_all = ["item", "runs", "only", "on"])]
    pub(crate) pages: Option<Pages>,
    /// Print only what is not as recorded, and a line in sum
    #[arg(long, conflicts_with = "json")]
    pub(crate) brief: bool,
    /// Print one JSON array: an object per value and per claim
    #[arg(long)]
    pub(crate) json: bool,
}
