//! What the command line takes. Names, help and defaults only; the work is in
//! the module of each subcommand.

mod cc;
mod compare;
mod emulate;
pub(crate) mod explore;
mod fit;
pub(crate) mod gateway;
pub(crate) mod kernel;
mod packetdrill;
mod question;
mod recorded;
mod studies;
mod trace;

pub(crate) use cc::{Cc, CcCheck, CcCommand, CcNew, OwnControls};
pub(crate) use compare::{Capacity, Compare, CompareCommand};
pub(crate) use emulate::Emulate;
pub(crate) use explore::Explore;
pub(crate) use fit::Fit;
pub(crate) use gateway::Gateway;
pub(crate) use kernel::{Kernel, KernelCommand, KernelList};
pub(crate) use packetdrill::Packetdrill;
pub(crate) use recorded::Recorded;
pub(crate) use studies::{Merge, Pages, Reproduce, Slurm, Study, StudyCommand, Where};
pub(crate) use trace::{Trace, TraceCommand, TraceFit, TraceFormat};

use bentpipe_report::table::{break_line, command_lines, wrap};
use bentpipe_units::Duration;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches as _, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// TCP over satellite links: which transport to run, and how it will
/// perform there.
#[derive(Debug, Parser)]
#[command(
    name = "bentpipe",
    bin_name = "bentpipe",
    version,
    disable_help_subcommand = true,
    after_help = "Begin with `bentpipe compare`. `bentpipe help TOPIC` explains a part of the language of \
                  scenarios and studies, such as `bentpipe help queue`; `bentpipe help topics` \
                  lists them. Data goes to stdout, talk to stderr. \
                  Exit status: 0 done, 1 ran but a check changed for the worse, an emulator did not \
                  keep up, no download ended, `diff` found differences or a script did not pass, 2 could not run."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print every column of tables, even if wider than the terminal
    #[arg(long, global = true)]
    pub(crate) wide: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Compare(Box<Compare>),
    Fit(Fit),
    Run(Run),
    Check(Check),
    Diff(Diff),
    Map(Map),
    Study(Study),
    Reproduce(Reproduce),
    Explore(Explore),
    Trace(Trace),
    Packetdrill(Packetdrill),
    Emulate(Emulate),
    Gateway(Gateway),
    Transports(Transports),
    Kernel(Kernel),
    Cc(Cc),
    New(New),
    Schema(Schema),
    Doctor(Doctor),
    Completions(Completions),
    Man(Man),
    Help(Help),
}

impl Command {
    /// The congestion controls that it adds.
    pub(crate) fn own_controls(&self) -> Option<&OwnControls> {
        match self {
            Command::Compare(args) => Some(match &args.command {
                Some(CompareCommand::Capacity(args)) => &args.own,
                None => &args.own,
            }),
            Command::Run(args) => Some(&args.own),
            Command::Check(args) => Some(&args.own),
            Command::Diff(args) => Some(&args.own),
            Command::Study(args) => Some(&args.place.own),
            Command::Reproduce(args) => Some(&args.place.own),
            Command::Transports(args) => Some(&args.own),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Threads {
    /// Runs in parallel; does not change results [default: one per core]
    #[arg(long, visible_alias = "jobs", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// What runs a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum On {
    /// The simulator.
    Sim,
    /// The TCP of this machine, over emulated links, in real time.
    Linux,
    /// Both, one after the other, with the difference.
    Both,
}

/// Where a capture listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PcapAt {
    /// At the `from` end, which sends the data, like tcpdump there.
    From,
    /// At the `to` end.
    To,
    /// At both: each delivered packet is in the file twice.
    Both,
}

/// Runs a scenario file once.
///
/// Prints the results of each flow and each link. The same file and seed give the
/// same output. On the TCP of this machine the exit status is 1 if the emulator
/// did not keep up.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe run geo.toml
  bentpipe run geo.toml --seed 7 --plot geo.svg --pcap geo.pcapng
  bentpipe run geo.toml --set link.satellite.rate='5 Mbit/s'
  bentpipe run geo.toml --out results/geo --series
  bentpipe run geo.toml --sequence geo.svg --packets geo.csv --qlog geo.sqlog
  bentpipe run geo.toml --flow download --sequence start.svg --to '5 s'
  bentpipe run geo.toml --on both")]
pub(crate) struct Run {
    /// The scenario, a TOML file (see `bentpipe new`); `-` is standard input
    pub(crate) scenario: PathBuf,
    /// Set a value of the file, such as link.satellite.rate='5 Mbit/s'; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) own: OwnControls,
    /// What runs it: the simulator, the TCP of this machine over emulated links
    /// in real time (needs root), or both, with the difference
    #[arg(long, value_name = "HOST", value_enum, default_value_t = On::Sim)]
    pub(crate) on: On,
    /// Seed of the run [default: the scenario's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Run the simulator on up to so many threads, where the network can be divided at links with
    /// a delay; the results are the same [default: one per core where that pays, which a run of less
    /// than a second does not]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) threads: Option<u8>,
    /// Simulate until the packets repeat exactly and count the rest in such periods, where nothing
    /// else is to happen; figures are within 0.1%, and where that is not sure the run is simulated
    /// to its end
    #[arg(long)]
    pub(crate) skip_steady: bool,
    /// Start of the interval for shares of links, after a warm-up, and for --sequence,
    /// --packets and --qlog [default: 0 s]
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Duration>,
    /// End of that interval [default: the end of the run]
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Duration>,
    /// Capture the packets at the flows' ends as pcapng, for Wireshark
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Which end of the flows --pcap listens at
    #[arg(long, value_name = "END", default_value = "from", requires = "pcap")]
    pub(crate) pcap_at: PcapAt,
    #[command(flatten)]
    pub(crate) recorded: Recorded,
    /// Flow that --sequence, --packets and --qlog are about, FLOW/PROXY behind a
    /// split-connection proxy [default: the first; for --packets all]
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// Write the tables as CSV and Parquet into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Record time series, in --out and in the JSON
    #[arg(long)]
    pub(crate) series: bool,
    /// Draw window, rate and received bytes against time (.svg, .png or .pdf)
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print every row of long tables
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Explains what a scenario or study file would run, or what is wrong with it.
///
/// Runs nothing. Errors are shown with their line.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// A scenario or a study, a TOML file; `-` is standard input
    pub(crate) file: PathBuf,
    /// Set a value of a scenario, as in `bentpipe run`; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) own: OwnControls,
    /// Print every row of long tables, and every link of constellations
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows what differs between two answers, two outcomes or two scenarios.
///
/// Prints first what was asked or set otherwise, then what came out otherwise, the
/// largest difference first, with 95% intervals where a result has them. Scenarios are
/// compared by what they mean: defaults are resolved, and `2 Mbit/s` is `2000 kbit/s`.
/// Exit status: 0 the same, 1 they differ, 2 could not compare.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe diff before.toml after.toml
  bentpipe compare --json > a.json; bentpipe compare --loss 1% --json > b.json
  bentpipe diff a.json b.json
  bentpipe run geo.toml --out one; bentpipe run geo.toml --seed 2 --out two
  bentpipe diff one two")]
pub(crate) struct Diff {
    /// The JSON of `compare` or `run`, a folder of `run --out`, or a scenario; `-` is
    /// standard input
    pub(crate) before: PathBuf,
    /// Another of the same kind
    pub(crate) after: PathBuf,
    #[command(flatten)]
    pub(crate) own: OwnControls,
    /// Print every row of long tables
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Output formats of `bentpipe map`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MapFormat {
    /// A page with the animation, the network and the plot.
    Html,
    /// The map and the network at one moment.
    Svg,
    /// The same as pixels.
    Png,
}

/// Draws the network of a scenario, and its satellites as they move.
///
/// Writes one page that works offline: nodes, links, middleboxes and flows;
/// with a constellation also a map of satellites, inter-satellite links, coverage
/// and the path of each flow, with a time slider, and delay, hops and handovers
/// against time. Simulates nothing.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe map iridium.toml
  bentpipe map iridium.toml --set duration='24 h' --out day.html
  bentpipe map iridium.toml --at '5 min' --out map.svg --plot delay.svg
  bentpipe map iridium.toml --json | jq '.ways[0].handovers'")]
pub(crate) struct Map {
    /// The scenario, a TOML file
    pub(crate) scenario: PathBuf,
    /// Set a value of the file, as in `bentpipe run`; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// File to write [default: NAME-map.html, after the scenario's name]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Format [default: by the extension of --out, or html]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<MapFormat>,
    /// Time that the picture shows, and the page at first [default: 0 s]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<Duration>,
    /// Draw this flow only
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// Also draw delay, hops and handovers against time (.svg, .png or .pdf)
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print paths, delay, hops and handovers as JSON; draw only with --out
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the transports, or explains one.
#[derive(Debug, Args)]
pub(crate) struct Transports {
    /// The transport or congestion control to explain
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) own: OwnControls,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Writes a commented scenario file to start from.
#[derive(Debug, Args)]
pub(crate) struct New {
    /// Where to write it; `-` is standard output
    #[arg(default_value = "scenario.toml")]
    pub(crate) file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Prints the reference of scenario or study files: every table and key.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe schema | less
  bentpipe schema --json > scenario.schema.json

With `#:schema ./scenario.schema.json` as the first line of a scenario, editors
that use taplo complete and check it; `--study` prints the schema of studies.")]
pub(crate) struct Schema {
    /// Print a JSON Schema, for editors
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print the reference as Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
    /// The reference of study files instead
    #[arg(long, conflicts_with = "results")]
    pub(crate) study: bool,
    /// The tables and columns of results instead, as Markdown or, with --json,
    /// as JSON
    #[arg(long)]
    pub(crate) results: bool,
}

/// Shows what this machine can do.
///
/// Never fails: lists what is missing and what it would enable.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe completions bash > ~/.local/share/bash-completion/completions/bentpipe
  bentpipe completions zsh > ~/.zfunc/_bentpipe")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Writes the manual pages.
///
/// With a folder, one page per command; without, bentpipe(1) to stdout.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder for the pages
    pub(crate) dir: Option<PathBuf>,
}

/// Explains a command, or a part of scenario and study files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe help run
  bentpipe help queue
  bentpipe help queue codel
  bentpipe help topics")]
pub(crate) struct Help {
    /// A command, or a topic such as link, queue, channel, flow, units or study;
    /// `topics` lists them
    pub(crate) topic: Vec<String>,
}

/// The names of all commands.
pub(crate) fn commands() -> Vec<String> {
    let cli = Cli::command();
    let names = cli.get_subcommands().map(|sub| sub.get_name().to_owned());
    names.collect()
}

/// The help of the command that `words` name one after the other, for a terminal of
/// `width` characters; of all, where there are none.
pub(crate) fn help_of(words: &[&str], width: usize, colour: bool) -> Option<String> {
    let width = width.min(HELP_WIDTH);
    let mut command = fitted(Cli::command(), "bentpipe", width).term_width(width);
    command.build();
    let mut found = &mut command;
    for word in words {
        found = found.find_subcommand_mut(word)?;
    }
    let help = match words.is_empty() {
        true => found.render_help(),
        false => found.render_long_help(),
    };
    Some(match colour {
        true => help.ansi().to_string(),
        false => help.to_string(),
    })
}

/// Reads the command line `arguments`; help is for a terminal of `width` characters.
pub(crate) fn parse(arguments: &[OsString], width: usize) -> Result<Cli, clap::Error> {
    let command = fitted(Cli::command(), "bentpipe", width.min(HELP_WIDTH));
    let matches = command.term_width(width.min(HELP_WIDTH));
    let matches = matches.try_get_matches_from(arguments);
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    cli.map_err(|error| suggest(error, arguments))
}

/// What stands before the usage of a command.
const USAGE: &str = "Usage: ";

/// Characters of a line of help at most.
const HELP_WIDTH: usize = 100;

/// A command, called `name` with what comes before it, and its subcommands: with examples
/// that fit `width` and can be pasted, and usage in several lines where one is too wide.
fn fitted(command: clap::Command, name: &str, width: usize) -> clap::Command {
    let examples = command.get_after_long_help().map(ToString::to_string);
    let command = match examples {
        Some(text) => command.after_long_help(fitted_examples(&text, width)),
        None => command,
    };
    let mut named = command.clone().bin_name(name);
    let usage = named.render_usage().to_string();
    let command = match usage.strip_prefix(USAGE) {
        Some(usage) if !usage.contains('\n') && USAGE.len() + usage.len() > width => {
            let lines = wrap(usage, width.saturating_sub(USAGE.len() + 4));
            command.override_usage(lines.join("\n           "))
        }
        _ => command,
    };
    command.mut_subcommands(|sub| {
        let name = format!("{name} {}", sub.get_name());
        fitted(sub, &name, width)
    })
}

fn fitted_examples(text: &str, width: usize) -> String {
    let lines = text.lines().flat_map(|line| match line.strip_prefix("  ") {
        Some(example) => command_lines(example, 2, width),
        None => break_line(line, width),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The error with the nearest option of the subcommand, by letters to change.
/// clap takes the last of those that are about as near: `--plot` for `--lost`.
fn suggest(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let unknown = error.kind() == ErrorKind::UnknownArgument;
    let (true, Some(ContextValue::String(wrong))) = (unknown, error.get(ContextKind::InvalidArg))
    else {
        return error;
    };
    let cli = Cli::command();
    let named = arguments.get(1).and_then(|name| name.to_str());
    let Some(command) = named.and_then(|name| cli.find_subcommand(name)) else {
        return error;
    };
    let options = command.get_arguments().filter_map(|a| a.get_long());
    if let Some(near) = bentpipe::units::nearest(wrong.trim_start_matches('-'), options) {
        let near = ContextValue::String(format!("--{near}"));
        error.insert(ContextKind::SuggestedArg, near);
        // It was made of the other suggestion.
        error.remove(ContextKind::Usage);
    }
    error
}

#[cfg(test)]
mod gallery_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
