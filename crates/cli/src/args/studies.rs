//! What `bentpipe study` and `bentpipe reproduce` take.

use super::{On, OwnControls};
use clap::Args;
use std::path::PathBuf;

/// Where a study runs, and how much of it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Where {
    /// What runs it: the simulator, or the TCP of this machine over emulated
    /// links, in real time (needs root)
    #[arg(long, value_name = "HOST", default_value = "sim", value_parser = on_one)]
    pub(crate) on: On,
    /// Run only these points of an axis, such as transport=iw2,mtsi; repeatable
    #[arg(long, value_name = "AXIS=POINTS")]
    pub(crate) only: Vec<String>,
    /// Runs in parallel [default: one per core; one with --on linux].
    /// Simulated results do not depend on it; on linux too many delay packets
    #[arg(long, visible_alias = "jobs", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Replications of each cell: in the simulator at most N [default: as many
    /// as the study says], with --on linux exactly N [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    #[command(flatten)]
    pub(crate) own: OwnControls,
}

/// A study runs on one of them.
fn on_one(text: &str) -> Result<On, String> {
    match text {
        "sim" => Ok(On::Sim),
        "linux" => Ok(On::Linux),
        _ => Err("expected `sim` or `linux`".to_owned()),
    }
}

/// Runs a study: sweeps, tables, figures, claims.
///
/// Runs that are done are not repeated: a stopped study resumes. Where one machine is
/// not enough, each of several runs a shard, and `merge` makes the same files from
/// them as a single run would.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_long_help = "\
Examples:
  bentpipe check study.toml
  bentpipe study study.toml --runs 2 --out quick
  bentpipe study study.toml --on linux --jobs 4 --only transport=hybla,cubic
  bentpipe study study.toml --shard 3/40 --out /shared/results
  bentpipe study merge /shared/results
  bentpipe study study.toml --slurm --out /shared/results --dry-run"
)]
pub(crate) struct Study {
    #[command(subcommand)]
    pub(crate) command: Option<StudyCommand>,
    /// The study, a TOML file
    #[arg(required = true)]
    pub(crate) study: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Where,
    /// Folder for results, tables and figures, in a subfolder for the study
    /// [default: results; results-linux with --on linux]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Forget earlier results and run everything
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Run only shard K of N, which cost about the same. When all N have run, on any
    /// machines that share --out, `bentpipe study merge DIR` completes the study
    #[arg(long, value_name = "K/N", value_parser = shard, conflicts_with_all = ["fresh", "json"])]
    pub(crate) shard: Option<(usize, usize)>,
    #[command(flatten)]
    pub(crate) slurm: Slurm,
}

/// Running a study on a cluster.
#[derive(Clone, Debug, Args)]
pub(crate) struct Slurm {
    /// Submit the study to Slurm: an array job with a task per shard, then a job that
    /// merges them. Prints both scripts
    #[arg(long = "slurm", conflicts_with_all = ["shard", "fresh", "json"])]
    pub(crate) submit: bool,
    /// With --slurm: number of shards [default: enough for ten minutes each, at most
    /// 1000]
    #[arg(long, value_name = "N", requires = "submit", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) tasks: Option<u32>,
    /// With --slurm: the partition
    #[arg(long, value_name = "NAME", requires = "submit")]
    pub(crate) partition: Option<String>,
    /// With --slurm: the time limit of each task, as for sbatch [default: four times the
    /// estimate, at least ten minutes]
    #[arg(long, value_name = "TIME", requires = "submit")]
    pub(crate) time: Option<String>,
    /// With --slurm: another option of sbatch for both jobs, such as
    /// --sbatch=--account=leo; repeatable
    #[arg(
        long,
        value_name = "OPTION",
        requires = "submit",
        allow_hyphen_values = true
    )]
    pub(crate) sbatch: Vec<String>,
    /// With --slurm: write and print the scripts, submit nothing
    #[arg(long, requires = "submit")]
    pub(crate) dry_run: bool,
}

/// Subcommands of `bentpipe study`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum StudyCommand {
    /// Merges the shards of a study into its tables, figures and final files
    ///
    /// Checks that the shards are of one study and one version of bentpipe. If some are
    /// missing or incomplete, it names them and what to run.
    Merge(Merge),
}

/// What `bentpipe study merge` takes.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// The shards' --out folder, or the folder of the study in it
    pub(crate) dir: PathBuf,
    /// The study file, if it has moved since the shards ran
    #[arg(long, value_name = "FILE")]
    pub(crate) study: Option<PathBuf>,
    /// Print the numbers of the missing shards, such as 3,17-18, and merge nothing
    #[arg(long, conflicts_with = "json")]
    pub(crate) missing: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `3/40`.
fn shard(text: &str) -> Result<(usize, usize), String> {
    let expected = || "expected K/N, such as 3/40, with K from 1 to N".to_owned();
    let (k, n) = text.split_once('/').ok_or_else(expected)?;
    let (k, n) = (k.trim().parse(), n.trim().parse());
    match (k, n) {
        (Ok(k), Ok(n)) if (1..=n).contains(&k) && n <= 1_000_000 => Ok((k, n)),
        _ => Err(expected()),
    }
}

/// What to do with pages that quote results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Pages {
    /// Exit status 1 if a page does not match these results
    Check,
    /// Rewrite pages that do not match these results
    Write,
}

/// Compares published results with ours, paper by paper.
///
/// Runs the studies under papers/, prints published and simulated values side
/// by side and judges the papers' claims. Exit status 1 if the verdict on a value
/// or a claim differs from the recorded one.
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
    /// Keep results here, draw figures, and resume an earlier run
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the results as pages: an index, and for each paper its claims,
    /// its tables next to the printed ones and its figures. They work offline
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Forget earlier results in --out
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Check the pages that quote results (README.md next to papers/ and in
    /// each paper's folder) against them, or rewrite them
    #[arg(long, value_name = "HOW", value_enum, conflicts_with_all = ["item", "runs", "only", "on"])]
    pub(crate) pages: Option<Pages>,
    /// Print only what differs from the record, and a summary line
    #[arg(long, conflicts_with = "json")]
    pub(crate) brief: bool,
    /// Print one JSON array: an object per value and per claim
    #[arg(long)]
    pub(crate) json: bool,
}
