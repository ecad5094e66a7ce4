//! What `bentpipe emulate` takes.

use super::PcapAt;
use bentpipe::compare::{Jitter, Loss, Queue};
use bentpipe_units::{Duration, Rate};
use clap::Args;
use std::path::PathBuf;

/// Emulates the links of a scenario live, for your own traffic.
///
/// Each host of the scenario gets a network namespace; what programs there send
/// to each other goes over the emulated links: rate, delay, queues, losses and
/// their changes, decided as the simulator decides them. Without a scenario the
/// flags describe one link as those of `bentpipe compare` do, which predicts
/// what will happen; only losses are off unless given. Needs root. Ctrl-C ends it,
/// and everything is removed. Exit status 1 if the emulator did not keep up; with
/// a command, the status of the command.
#[derive(Debug, Args)]
#[command(override_usage = "\
bentpipe emulate [OPTIONS] [SCENARIO]
       bentpipe emulate [OPTIONS] [SCENARIO] -- <COMMAND>...")]
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
    #[arg(conflicts_with_all = ["rate", "rtt", "loss", "jitter", "queue", "return_rate"])]
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
    /// Share of packets to `receiver` that the channel loses: `0.1%`, or
    /// `5% in bursts of 8 packets` [default: none]
    #[arg(long, value_name = "LOSS")]
    pub(crate) loss: Option<Loss>,
    /// Deviation of the one-way delay, each way: `5 ms`, with a shape, as in
    /// `pareto 5 ms` or `uniform 5 ms`, and how long a draw holds, as in
    /// `5 ms held 15 ms`; packets keep their order [default: none]
    #[arg(long, value_name = "JITTER")]
    pub(crate) jitter: Option<Jitter>,
    /// Queue before the link: `1 BDP`, `100 packets`, `64 kB`, `100 ms`, or codel,
    /// fq-codel, pie or red, set for the link [default: 1 BDP]
    #[arg(long, value_name = "QUEUE")]
    pub(crate) queue: Option<Queue>,
    /// Rate of the way back [default: a fifth of --rate]
    #[arg(long, value_name = "RATE")]
    pub(crate) return_rate: Option<Rate>,
    /// Seed of the losses [default: the scenario's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// End after this time [default: on interrupt]
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
    /// Name the namespace of a host; an existing one is used and kept; repeatable
    #[arg(long, value_name = "NODE=NAME")]
    pub(crate) namespace: Vec<String>,
    /// MTU of the hosts' devices [default: 1500, or what the transports need]
    #[arg(long, value_name = "BYTES")]
    pub(crate) mtu: Option<u16>,
    /// Pass segments of up to 64 kB whole, for several Gbit/s: losses come in
    /// bursts, and fewer acknowledgements are sent
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
    /// Run this command on a host and end with it; the report goes to stderr
    /// unless --json is given
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}
