//! What `bentpipe trace` takes.

use bentpipe_units::Duration;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Exports a time-varying link as a trace for an emulator.
///
/// Prints the trace. mahimahi traces are delivery opportunities: rate only.
/// TheaterQ traces have delay, rate and loss; the simple format cannot keep
/// the order of packets when the delay falls.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(override_usage = "\
bentpipe trace --format <FORMAT> <SCENARIO> <LINK>
       bentpipe trace fit [OPTIONS] <PINGS>")]
#[command(after_long_help = "\
Examples:
  bentpipe trace fade.toml satellite --format mahimahi > down.trace
  bentpipe trace handover.toml satellite.reverse --format theaterq > up.csv
  bentpipe trace fit pings.txt --down iperf3.json > starlink.toml")]
pub(crate) struct Trace {
    #[command(subcommand)]
    pub(crate) command: Option<TraceCommand>,
    /// The scenario, a TOML file
    #[arg(required = true)]
    pub(crate) scenario: Option<PathBuf>,
    /// The name of the link; NAME.reverse for the way back
    #[arg(required = true)]
    pub(crate) link: Option<String>,
    /// Format of the trace
    #[arg(long, value_name = "FORMAT", value_enum, required = true)]
    pub(crate) format: Option<TraceFormat>,
    /// Length of the trace [default: the link's period, or else the scenario's duration]
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Duration>,
    /// Time step of lines while the delay changes linearly
    #[arg(long, value_name = "TIME", default_value_t = crate::trace::STEP)]
    pub(crate) step: Duration,
    /// Set a value of the file, as in `bentpipe run`; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
}

/// What else `bentpipe trace` does.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    Fit(TraceFit),
}

/// Fits slots, such as Starlink's of 15 s, to pings.
///
/// Prints a scenario with a link of these slots: their delays and interruptions, and the
/// jitter within them, and bursts of losses where lost pings follow each other. Pings are what
/// `ping -D` prints, or lines of a time in seconds since 1970, a number and a round trip in ms
/// (-1 if lost). Of iperf3, which --down and --up read as JSON or as a table, comes the
/// capacity: what 95% of the seconds stay below, and how it varies from slot to slot.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ping -D -O -i 0.2 100.64.0.1 > pings.txt
  bentpipe trace fit pings.txt > starlink.toml
  bentpipe trace fit pings.txt --down down.json --up up.json --offset 12s")]
pub(crate) struct TraceFit {
    /// The pings
    pub(crate) pings: PathBuf,
    /// What iperf3 --json printed of a download
    #[arg(long, value_name = "FILE")]
    pub(crate) down: Option<PathBuf>,
    /// What iperf3 --json printed of an upload
    #[arg(long, value_name = "FILE")]
    pub(crate) up: Option<PathBuf>,
    /// How long a slot lasts
    #[arg(long, value_name = "TIME", default_value_t = Duration::from_secs(15))]
    pub(crate) every: Duration,
    /// When slots begin after a full minute [default: where pings deviate least]
    #[arg(long, value_name = "TIME")]
    pub(crate) offset: Option<Duration>,
}

/// Formats of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// A line per 1500 bytes: the millisecond at which they may be sent.
    Mahimahi,
    /// KEEP, LATENCY, JITTER, RATE, LOSS, LIMIT, DUP_PROB, DUP_DELAY, ROUTE_ID
    Theaterq,
    /// KEEP, LATENCY, RATE, LOSS, LIMIT
    TheaterqSimple,
}
