//! What `bentpipe compare` takes.

use super::question::{Asked, place};
use super::{On, OwnControls, Recorded, Threads};
use bentpipe::compare::Target;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Which transport for this link and its users, and behind which proxy?
///
/// Simulates the users with each setting, then says which one to switch on, what
/// it gains, whom it hurts and how certain that is, and prints the results of
/// all. Hosts run Linux, and names are those that Linux uses. The defaults
/// describe one user of a broadband terminal behind a geostationary satellite.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_long_help = "\
Examples:
  bentpipe compare
  bentpipe compare --rate 50Mbit/s --loss 0.01% --users 20 --pep none,split
  bentpipe compare --rate 512kbit/s --loss '5% in bursts of 8 packets' --size 1MB
  bentpipe compare --queue '0.25 BDP,1 BDP,codel,fq-codel,red' --users 5
  bentpipe compare --users 1,5,20 --csv rows.csv
  bentpipe compare --transport bbr --beside cubic --users 10
  bentpipe compare --traffic web --users 5 --background '20% in bursts'
  bentpipe compare --size 100kB,1MB,100MB --transport 'cubic,cubic + IW 32,bbr'
  bentpipe compare --orbit iridium --from Anchorage --to Oslo --over 24h --plot day.svg
  bentpipe compare --trace downlink.trace,delay.txt --users 3
  bentpipe compare --transport bp_hybla --on both --runs 8
  bentpipe compare --users 40 --traffic web --pep none,split,gateway --time 60s
  bentpipe compare --loss 1% --row bbr --sequence bbr.svg --qlog bbr.sqlog
  bentpipe compare --hosts rfc --loss 1% --details
  bentpipe compare --loss 1% --why
  bentpipe compare --pep none,split --scenario-of 'split bbr' row.toml
  bentpipe compare --loss 1% --transport cubic,bbr,hybla --why hybla,bbr
  bentpipe compare --users 8 --robust
  bentpipe compare capacity --until 'p95 page < 5 s' --rate 50Mbit/s --pep none,split
  bentpipe compare --json | jq '.rows[] | {pep, transport, times_s: [.cells[].time_s.mean]}'

A transport is a congestion control and, after plus signs, what is changed around
it: `IW 32` (initial window, segments), `clamp 1 BDP` (the window at most),
`buffers` (that hold what the link does), `k=4` (a parameter). `--transport all`
compares every name.

The first --queue is the one that the link has today; others are compared with it, and
the answer says what to type at the router. codel, fq-codel, pie and red are set for
the link: an interval of the round trip, a target of a twentieth of it. `codel 1000
packets target 5 ms` sets them otherwise.

A verdict is clear, with an error of at most 5% over all settings and looks at the
runs; borderline, if what decides lies near a threshold (a gain of 3%, or 5% for a
proxy; 20% that others lose); or open, if the runs do not tell.")]
pub(crate) struct Compare {
    #[command(subcommand)]
    pub(crate) command: Option<CompareCommand>,
    #[command(flatten)]
    pub(crate) asked: Asked,
    /// What runs it: the simulator, the TCP of this machine over emulated links
    /// in real time (needs root), or both, with the difference
    #[arg(long, value_name = "HOST", value_enum, default_value_t = On::Sim)]
    #[arg(display_order = place("runs") - 1)]
    pub(crate) on: On,
    #[command(flatten, next_display_order = place(""))]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) own: OwnControls,
    /// Draw the time of each setting as a bar with its 95% interval; with --over,
    /// the link and the times against the start time (.svg, .png or .pdf)
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Draw received bytes, rate and window against time: the median run of up
    /// to four settings, with a band of all runs
    #[arg(long, value_name = "FILE")]
    pub(crate) curves: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) recorded: Recorded,
    /// Row that --sequence, --packets and --qlog are about: its run of median time, with
    /// the largest size [default: the recommended row]
    #[arg(long, value_name = "ROW")]
    pub(crate) row: Option<String>,
    /// Write the answer as a page to share: one file that works offline, on a
    /// phone and on paper
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Explain the answer: where the time of a typical run went (handshake, slow
    /// start, recovery, timeouts, ...) and what its sender did, of ROW beside the
    /// default, or beside a second ROW, and why they differ. Rows as the table prints
    /// them [default: the recommended row]
    #[arg(long, value_name = "ROW", num_args = 0..=1, default_missing_value = "")]
    #[arg(value_delimiter = ',')]
    pub(crate) why: Option<Vec<String>>,
    /// Write the scenario of a row to FILE: the run of median time with the largest
    /// size, for `bentpipe run`, which then has the same result. Without FILE or with
    /// `-`, print the scenario instead of the answer
    #[arg(long, value_names = ["ROW", "FILE"], num_args = 1..=2)]
    pub(crate) scenario_of: Option<Vec<String>>,
    /// Write the table with all columns as comma-separated values, units in their names:
    /// a row for each transport, proxy, queue, size and number of users; - for standard
    /// output in the place of the answer
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Print more: all columns, what each transport is, and the settings that
    /// results must share to be comparable
    #[arg(long)]
    pub(crate) details: bool,
    /// Print one JSON document instead of text
    #[arg(long, conflicts_with = "details")]
    pub(crate) json: bool,
}

/// Other questions of the same link.
#[derive(Debug, Subcommand)]
pub(crate) enum CompareCommand {
    Capacity(Box<Capacity>),
}

/// How many users does the link carry with each setting until they are given too little?
///
/// Looks for the number of users at which a target breaks, with the same seeds at all
/// numbers, until its 95% interval is within 10% or the time is over. All users have the setting.
/// Then says which one to switch on.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A target is a statistic, what is measured, and its limit:

  mean, median, or a percentile such as p95 or p99.9
  download, page, object (small, beside pages), video (all that a viewer waits), startup
    and stall (of a video): times, which must be below the limit: <
  wait (at the link; p95 only: what packets of a call would wait): a time as well
  rate (of a user, over the time that the user waited): must be above the limit: >

Traffic is what is measured, web for pages and video for videos, unless --traffic says
mixed. A video has 1.5 Mbit/s, or what fits the link.

Examples:
  bentpipe compare capacity --until 'p95 page < 5 s' --rate 50Mbit/s
  bentpipe compare capacity --until 'mean download < 20 s' --size 5MB --transport cubic,bbr
  bentpipe compare capacity --until 'p5 rate > 1 Mbit/s' --pep none,split,gateway
  bentpipe compare capacity --until 'p95 wait < 150 ms' --queue '0.5 BDP' --time 60s")]
pub(crate) struct Capacity {
    /// What the users must be given: `p95 page < 5 s`, `mean download < 20 s`,
    /// `p5 rate > 1 Mbit/s`
    #[arg(long, value_name = "TARGET")]
    pub(crate) until: Target,
    #[command(flatten)]
    pub(crate) asked: Asked,
    #[command(flatten, next_display_order = place(""))]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) own: OwnControls,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
