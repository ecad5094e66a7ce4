//! What the command line takes. Names, help and defaults only; the work is in
//! the module of each subcommand.

use bentpipe_orbit::Place;
use bentpipe_units::{Bytes, Duration, ParseError, Rate, Ratio};
use clap::{ArgGroup, Args, Parser, Subcommand};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// TCP over satellite links: which transport to run, and what it will do
/// there.
#[derive(Debug, Parser)]
#[command(
    name = "bentpipe",
    bin_name = "bentpipe",
    version,
    max_term_width = 100,
    after_help = "Begin with `bentpipe compare`. Data goes to stdout, talk to stderr. \
                  Exit status: 0 done, 1 ran but a check changed for the worse or an emulator did \
                  not keep up, 2 could not run."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Compare(Compare),
    Run(Run),
    Check(Check),
    Map(Map),
    Study(Study),
    Reproduce(Reproduce),
    Trace(Trace),
    Emulate(Emulate),
    Transports(Transports),
    Kernel(Kernel),
    New(New),
    Doctor(Doctor),
    Completions(Completions),
    Man(Man),
}

/// Which transport for this link? Simulates a download with each of them.
///
/// Simulates one download over the link with each transport, recommends one in
/// plain words, and prints what every one did. Defaults describe a broadband
/// terminal under a geostationary satellite.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe compare
  bentpipe compare --rate 2Mbit/s --rtt 511ms --size 3MB --loss 0 --queue '100 packets'
  bentpipe compare --loss 1% --transport cubic,hybla,mtsi --runs 50 --plot lossy.svg
  bentpipe compare --pep split --server-rtt 80ms
  bentpipe compare --json | jq '.results[] | {transport, transfer_time_s}'
  bentpipe compare --orbit iridium --from 37.9,-122.3 --to 42.3,-71.1 --rate 1.5Mbit/s

`bentpipe transports` lists the names that --transport takes.")]
pub(crate) struct Compare {
    /// Rate of the satellite link towards the receiver
    #[arg(long, value_name = "RATE", default_value = "10 Mbit/s")]
    pub(crate) rate: Rate,
    /// Round-trip propagation time, without queueing
    #[arg(
        long,
        value_name = "TIME",
        default_value = "600 ms",
        conflicts_with = "orbit"
    )]
    pub(crate) rtt: Duration,
    /// Satellites to go over, instead of --rtt: geo, iridium, teledesic,
    /// starlink, or a file of TLE or OMM
    #[arg(long, value_name = "ORBIT", requires = "from", requires = "to")]
    pub(crate) orbit: Option<String>,
    /// Where the sender is, degrees north and east, such as 37.9,-122.3
    #[arg(
        long,
        value_name = "LAT,LON",
        requires = "orbit",
        allow_hyphen_values = true
    )]
    pub(crate) from: Option<Place>,
    /// Where the receiver is
    #[arg(
        long,
        value_name = "LAT,LON",
        requires = "orbit",
        allow_hyphen_values = true
    )]
    pub(crate) to: Option<Place>,
    /// Longitude of the geo satellite, degrees east [default: midway between
    /// the two places]
    #[arg(
        long,
        value_name = "LON",
        requires = "orbit",
        allow_hyphen_values = true
    )]
    pub(crate) slot: Option<f64>,
    /// Size of the download
    #[arg(long, value_name = "SIZE", default_value = "10 MB")]
    pub(crate) size: Bytes,
    /// Share of packets that the channel loses, each independently
    #[arg(long, value_name = "SHARE", default_value = "0.1%")]
    pub(crate) loss: Ratio,
    /// Queue before the link: `1 BDP`, `100 packets` or `64 kB`
    #[arg(long, value_name = "LENGTH", default_value = "1 BDP")]
    pub(crate) queue: QueueLength,
    /// Rate of the way back, for acknowledgements [default: a fifth of --rate]
    #[arg(long, value_name = "RATE")]
    pub(crate) return_rate: Option<Rate>,
    /// A proxy at the gateway before the link: none, split (the server's
    /// connection, with CUBIC, ends there and the transports run on from there)
    /// or snoop (it repairs losses of the link from a cache)
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Pep::None)]
    pub(crate) pep: Pep,
    /// Round trip between server and gateway. The downloads begin with their
    /// SYN then; those of `split` end when the receiver has all [default:
    /// 50 ms with a proxy; without one the server is at the link]
    #[arg(long, value_name = "TIME")]
    pub(crate) server_rtt: Option<Duration>,
    /// Transports to compare, by name; `all` for everything [default: a
    /// selection]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) transport: Vec<String>,
    /// Simulated downloads per transport, each with other losses [default: 50,
    /// or 1 without losses]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Seed of the first run; the same seed gives the same output
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Draw window, rate and received bytes against time (.svg or .png)
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// What stands at the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Pep {
    /// Nothing.
    None,
    /// A split-connection PEP.
    Split,
    /// A Snoop agent.
    Snoop,
}

impl Pep {
    /// As the command line writes it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Pep::None => "none",
            Pep::Split => "split",
            Pep::Snoop => "snoop",
        }
    }
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Threads {
    /// Runs at the same time; does not change results [default: one per core]
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
    /// One after the other, and the difference.
    Both,
}

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

/// Where a capture listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PcapAt {
    /// At the `from` end, which sends the data, as tcpdump there would.
    From,
    /// At the `to` end.
    To,
    /// At both: every packet that arrives is in the file twice.
    Both,
}

/// Runs a scenario file once.
///
/// Prints what each flow and each link did. The same file and seed give the
/// same output. On the TCP of this machine the exit status is 1 if the emulator
/// did not keep up.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe run geo.toml
  bentpipe run geo.toml --seed 7 --plot geo.svg --pcap geo.pcapng
  bentpipe run geo.toml --set link.satellite.rate='5 Mbit/s'
  bentpipe run geo.toml --out results/geo --series
  bentpipe run geo.toml --on both")]
pub(crate) struct Run {
    /// The scenario, a TOML file (see `bentpipe new`)
    pub(crate) scenario: PathBuf,
    /// Set a value of the file, such as link.satellite.rate='5 Mbit/s'; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// What runs it: the simulator, the TCP of this machine over emulated links
    /// in real time (needs root), or both, with the difference
    #[arg(long, value_name = "HOST", value_enum, default_value_t = On::Sim)]
    pub(crate) on: On,
    /// Seed of the run [default: the scenario's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Begin shares of links then, after a warm-up [default: 0 s]
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Duration>,
    /// End shares of links then [default: the end of the run]
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Duration>,
    /// Capture the packets at the flows' ends as pcapng, for Wireshark
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Which end of the flows --pcap listens at
    #[arg(long, value_name = "END", default_value = "from")]
    pub(crate) pcap_at: PcapAt,
    /// Write the tables as CSV and Parquet into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Record time series: into --out, and into the JSON
    #[arg(long)]
    pub(crate) series: bool,
    /// Draw window, rate and received bytes against time (.svg or .png)
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Says what a scenario or study file would run, or what is wrong with it.
///
/// Runs nothing. Mistakes are shown with their line.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// A scenario or a study, a TOML file
    pub(crate) file: PathBuf,
    /// Set a value of a scenario, as in `bentpipe run`; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Writes a link that changes with time as a trace for an emulator.
///
/// Prints the trace. mahimahi traces are delivery opportunities: rate only.
/// TheaterQ traces have delay, rate and loss; the simple format cannot keep
/// the order of packets when the delay falls.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe trace fade.toml satellite --format mahimahi > down.trace
  bentpipe trace handover.toml satellite.reverse --format theaterq > up.csv")]
pub(crate) struct Trace {
    /// The scenario, a TOML file
    pub(crate) scenario: PathBuf,
    /// The link, by its name; NAME.reverse for the way back
    pub(crate) link: String,
    /// Format of the trace
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: TraceFormat,
    /// Length of the trace [default: the link's period, or else the scenario's duration]
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Duration>,
    /// How long a line holds while the delay goes in a straight line
    #[arg(long, value_name = "TIME", default_value_t = crate::trace::STEP)]
    pub(crate) step: Duration,
    /// Set a value of the file, as in `bentpipe run`; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Formats of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TraceFormat {
    /// A line per 1500 bytes: the millisecond at which they may leave.
    Mahimahi,
    /// KEEP,LATENCY,JITTER,RATE,LOSS,LIMIT,DUP_PROB,DUP_DELAY,ROUTE_ID
    Theaterq,
    /// KEEP,LATENCY,RATE,LOSS,LIMIT
    TheaterqSimple,
}

/// Emulates the links of a scenario live, for traffic of your own.
///
/// Each host of the scenario gets a network namespace; what programs there send
/// to each other goes over the emulated links: rate, delay, queues, losses and
/// their changes, decided as the simulator decides them. Without a scenario the
/// flags describe one link as those of `bentpipe compare` do, which predicts
/// what will happen. Needs root. Everything is removed at the end; Ctrl-C ends
/// it. Exit status 1 if the emulator did not keep up; with a command that of
/// the command.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe emulate --rate 2Mbit/s --rtt 511ms --loss 0 --queue '100 packets'
  bentpipe emulate geo.toml --for '60 s' --json > report.json
  bentpipe emulate geo.toml --pcap geo.pcapng -- ping -c 5 10.0.1.1
  bentpipe emulate geo.toml --namespace server=red --namespace client=blue
  bentpipe emulate geo.toml --between eth1,eth2

A command sees BENTPIPE_SELF and BENTPIPE_PEER (addresses), BENTPIPE_NAMESPACE,
BENTPIPE_PEER_NAMESPACE.")]
pub(crate) struct Emulate {
    /// The scenario, a TOML file; without one, a link by the flags
    #[arg(conflicts_with_all = ["rate", "rtt", "loss", "queue", "return_rate"])]
    pub(crate) scenario: Option<PathBuf>,
    /// Set a value of the file, as in `bentpipe run`; repeatable
    #[arg(long, value_name = "PATH=VALUE", requires = "scenario")]
    pub(crate) set: Vec<String>,
    /// Rate of the link from `sender` to `receiver` [default: 10 Mbit/s]
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<Rate>,
    /// Round-trip propagation time [default: 600 ms]
    #[arg(long, value_name = "TIME")]
    pub(crate) rtt: Option<Duration>,
    /// Share of packets to `receiver` that the channel loses [default: 0.1%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) loss: Option<Ratio>,
    /// Queue before the link: `1 BDP`, `100 packets` or `64 kB` [default: 1 BDP]
    #[arg(long, value_name = "LENGTH")]
    pub(crate) queue: Option<QueueLength>,
    /// Rate of the way back [default: a fifth of --rate]
    #[arg(long, value_name = "RATE")]
    pub(crate) return_rate: Option<Rate>,
    /// Seed of the losses [default: the scenario's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// End after this time [default: when it is interrupted]
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) duration: Option<Duration>,
    /// Two interfaces of a gateway to emulate between, in place of namespaces:
    /// `eth1,eth2`, the side of the scenario's first flow's sender first
    #[arg(
        long,
        value_name = "INTERFACES",
        value_delimiter = ',',
        conflicts_with_all = ["namespace", "mtu", "gso", "command"]
    )]
    pub(crate) between: Vec<String>,
    /// Name the namespace of a host; one that exists is used, and stays; repeatable
    #[arg(long, value_name = "NODE=NAME")]
    pub(crate) namespace: Vec<String>,
    /// MTU of the hosts' devices [default: 1500, or what the transports need]
    #[arg(long, value_name = "BYTES")]
    pub(crate) mtu: Option<u16>,
    /// Pass segments of up to 64 kB whole, for more than some Gbit/s: losses
    /// come in bursts, and fewer acknowledgements are sent
    #[arg(long)]
    pub(crate) gso: bool,
    /// Capture the packets of each pair of hosts as pcapng, with the model's times
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Which end of the pairs --pcap listens at
    #[arg(long, value_name = "END", default_value = "from", requires = "pcap")]
    pub(crate) pcap_at: PcapAt,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Host that the command runs on [default: the `to` end of the first pair]
    #[arg(long, value_name = "NODE", requires = "command")]
    pub(crate) on: Option<String>,
    /// Run this command on a host and end with it; its report goes to stderr
    /// unless --json is given
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// What `bentpipe map` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MapFormat {
    /// A page with the animation, the network and the plot.
    Html,
    /// The map and the network at one time.
    Svg,
    /// The same in pixels.
    Png,
}

/// Draws the network of a scenario, and its satellites as they move.
///
/// Writes one page that works offline: nodes, links, middleboxes and flows;
/// with a constellation also a map of satellites, links between them, coverage
/// and the path of each flow, with a slider for the time, and delay, hops and
/// handovers against time. Nothing is simulated.
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
    /// File to write [default: NAME-map.html, by the scenario's name]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// What to write [default: as the name of --out ends, or html]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<MapFormat>,
    /// Time of the picture, and where the page begins [default: 0 s]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<Duration>,
    /// Draw this flow only
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// Draw delay, hops and handovers against time as well (.svg or .png)
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print paths, delay, hops and handovers as JSON; draws only into --out
    #[arg(long)]
    pub(crate) json: bool,
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

/// Holds published results against ours, paper by paper.
///
/// Runs the studies under papers/, prints published and simulated values side
/// by side and judges the papers' claims. Exit status 1 if a value left its
/// bar or a claim's verdict changed for the worse.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe reproduce --list
  bentpipe reproduce marchese-2006 table-3
  bentpipe reproduce --runs 5 --json > verdicts.json
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
    /// Forget earlier results in --out
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Print one JSON array: an object per value and per claim
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the transports, or explains one.
#[derive(Debug, Args)]
pub(crate) struct Transports {
    /// The transport or congestion control to explain
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Puts congestion controls of the papers into the running kernel.
///
/// They are loaded as eBPF: no module, no reboot, nothing on disk. Programs
/// choose one by its name, as they would choose cubic. Loading needs root and
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
/// It stays until `bentpipe kernel unload` or a restart of the machine.
/// Connections that exist already keep what they have.
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

/// Removes congestion controls that `load` has put into the kernel.
///
/// Connections that have one keep it until they close.
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

/// Says which congestion controls of bentpipe are in the kernel now.
///
/// With their parameters, what keeps them there, and how many users they have:
/// sockets of all network namespaces, and namespaces whose default they are.
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

/// Writes a commented scenario file to begin with.
#[derive(Debug, Args)]
pub(crate) struct New {
    /// Where to write it
    #[arg(default_value = "scenario.toml")]
    pub(crate) file: PathBuf,
    /// Replace the file if there is one
    #[arg(long)]
    pub(crate) force: bool,
}

/// Says what this machine can do.
///
/// Never fails: what is missing is said, with what it would enable.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Writes a completion script for a shell to stdout.
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

/// How much may wait before a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum QueueLength {
    /// Multiples of the bandwidth-delay product.
    Bdp(f64),
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(Bytes),
}

const QUEUE: &str = "a length with its unit, such as `1 BDP`, `100 packets` or `64 kB`";

impl FromStr for QueueLength {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<QueueLength, ParseError> {
        let text = text.trim();
        let wrong = |found: String| ParseError {
            found,
            expected: QUEUE,
        };
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
            .unwrap_or(text.len());
        let (number, unit) = (text[..end].replace('_', ""), text[end..].trim());
        match unit.to_lowercase().as_str() {
            "bdp" => match number.parse::<f64>() {
                Ok(x) if x > 0.0 && x <= 1000.0 => Ok(QueueLength::Bdp(x)),
                _ => Err(wrong(format!(
                    "`{text}` is not a BDP multiple above 0 and up to 1000"
                ))),
            },
            "packet" | "packets" | "pkt" | "pkts" | "p" => match number.parse::<u32>() {
                Ok(n) if n > 0 => Ok(QueueLength::Packets(n)),
                _ => Err(wrong(format!("`{text}` is not a whole number of packets"))),
            },
            "" => Err(wrong(format!("`{text}` has no unit"))),
            _ => text
                .parse()
                .map(QueueLength::Bytes)
                .map_err(|e: ParseError| wrong(e.found)),
        }
    }
}

impl fmt::Display for QueueLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLength::Bdp(x) => write!(f, "{x} BDP"),
            QueueLength::Packets(1) => f.write_str("1 packet"),
            QueueLength::Packets(n) => write!(f, "{n} packets"),
            QueueLength::Bytes(n) => write!(f, "{n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn queues_are_read_in_three_units() {
        let read = |text: &str| text.parse::<QueueLength>();
        assert_eq!(read("1 BDP"), Ok(QueueLength::Bdp(1.0)));
        assert_eq!(read("0.5bdp"), Ok(QueueLength::Bdp(0.5)));
        assert_eq!(read("100 packets"), Ok(QueueLength::Packets(100)));
        assert_eq!(read("64 kB"), Ok(QueueLength::Bytes(Bytes::new(64_000))));
        for wrong in [
            "",
            "100",
            "-1 BDP",
            "0 BDP",
            "1.5 packets",
            "3 fish",
            "1e9 BDP",
            "é BDP",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
