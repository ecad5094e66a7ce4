//! What `bentpipe fit` takes.

use clap::Args;
use std::path::PathBuf;

/// Estimates the link behind a captured connection, and what its sender runs.
///
/// Reads a capture (pcap or pcapng) made at the sender, such as by tcpdump, and prints the
/// link's rate, round trip, loss and queue, each with its 95% interval, and the sender's
/// congestion control. With --out it writes them as a scenario, which `bentpipe run` runs;
/// `bentpipe compare --capture FILE` compares transports on the same link.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  tcpdump -i eth0 -s 128 -w transfer.pcap tcp port 443
  bentpipe fit transfer.pcap
  bentpipe fit transfer.pcap --flow 192.0.2.1:443 --out fitted.toml
  bentpipe compare --capture transfer.pcap
  bentpipe fit transfer.pcap --json | jq '.rate_bps'

What a connection does not show is said so: a rate that the sender, its application or
the receive window never reached is a lower bound, and so is a queue that dropped nothing.
The control is named where its course on the fitted link is clearly the nearest to the
capture's; otherwise it is unknown.")]
pub(crate) struct Fit {
    /// The capture, made at the sender; 100 bytes of each packet suffice
    pub(crate) capture: PathBuf,
    /// The connection: a number, by the payload that connections carried, or an
    /// end such as 192.0.2.1:443 [default: the one with the most payload]
    #[arg(long, value_name = "FLOW")]
    pub(crate) flow: Option<String>,
    /// Write the link and the transfer as a scenario (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
