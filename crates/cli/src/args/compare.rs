//! What `bentpipe compare` takes.

use super::{On, OwnControls, Threads};
use bentpipe::compare::{Background, Hosts, Loss, Pep, QueueLength, Traffic};
use bentpipe_orbit::Site;
use bentpipe_units::{Bytes, Duration, Rate};
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Which transport for this link and its users, and behind which proxy?
///
/// Simulates the users with each setting, says in plain words which one to
/// switch on, what it gives, whom it hurts and how sure that is, and prints
/// what every one did. Hosts run Linux: a name is what one types there. The
/// defaults describe one user of a broadband terminal under a geostationary
/// satellite.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe compare
  bentpipe compare --rate 50Mbit/s --loss 0.01% --users 20 --pep none,split
  bentpipe compare --rate 512kbit/s --loss '5% in bursts of 8 packets' --size 1MB
  bentpipe compare --transport bbr --beside cubic --users 10
  bentpipe compare --traffic web --users 5 --background '20% in bursts'
  bentpipe compare --size 100kB,1MB,100MB --transport 'cubic,cubic + IW 32,bbr'
  bentpipe compare --orbit iridium --from Anchorage --to Oslo --over 24h --plot day.svg
  bentpipe compare --trace downlink.trace,delay.txt --users 3
  bentpipe compare --transport bp_hybla --on both --runs 8
  bentpipe compare --hosts rfc --loss 1% --details
  bentpipe compare --json | jq '.rows[] | {pep, transport, times_s: [.cells[].time_s.mean]}'

A transport is a congestion control and, after plus signs, what is changed around
it: `IW 32` (initial window, segments), `clamp 1 BDP` (the window at most),
`buffers` (that hold what the link does), `k=4` (a parameter). `--transport all`
compares every name.")]
pub(crate) struct Compare {
    /// Rate of the satellite link towards the users [default: 10 Mbit/s, or
    /// what a terminal of the constellation has]
    #[arg(long, value_name = "RATE", conflicts_with = "trace")]
    pub(crate) rate: Option<Rate>,
    /// Round-trip propagation time, without queueing [default: 600 ms]
    #[arg(long, value_name = "TIME", conflicts_with = "orbit")]
    pub(crate) rtt: Option<Duration>,
    /// Satellites to go over, instead of --rtt: geo, iridium, teledesic,
    /// starlink, or a file of TLE or OMM
    #[arg(long, value_name = "ORBIT", requires = "from", requires = "to")]
    pub(crate) orbit: Option<String>,
    /// Where the server is: a city, such as Berlin, `Portland, Oregon` or
    /// `London, Canada`, or degrees north and east, such as 37.9,-122.3
    #[arg(
        long,
        value_name = "PLACE",
        requires = "orbit",
        allow_hyphen_values = true
    )]
    pub(crate) from: Option<Site>,
    /// Where the users are
    #[arg(
        long,
        value_name = "PLACE",
        requires = "orbit",
        allow_hyphen_values = true
    )]
    pub(crate) to: Option<Site>,
    /// A trace of the link, instead of --rate: a file of mahimahi or TheaterQ,
    /// or LeoReplayer's two, `RATE,DELAYS`
    #[arg(
        long,
        value_name = "FILES",
        value_delimiter = ',',
        conflicts_with = "orbit"
    )]
    pub(crate) trace: Vec<PathBuf>,
    /// Begin at even distances within this time of the orbit or the trace, such
    /// as 24h, and show rate, delay and times by the time of the beginning
    #[arg(long, value_name = "TIME")]
    pub(crate) over: Option<Duration>,
    /// Longitude of the geo satellite, degrees east [default: midway between
    /// the two places]
    #[arg(
        long,
        value_name = "LON",
        requires = "orbit",
        allow_hyphen_values = true
    )]
    pub(crate) slot: Option<f64>,
    /// Packets that the channel loses: `0.1%`, each independently, or `5% in
    /// bursts of 8 packets` on the mean [default: 0.1%; of a trace 0]
    #[arg(long, value_name = "LOSS")]
    pub(crate) loss: Option<Loss>,
    /// Queue before the link: `1 BDP`, `100 packets` or `64 kB`
    #[arg(long, value_name = "LENGTH", default_value = "1 BDP")]
    pub(crate) queue: QueueLength,
    /// Rate of the way back, for acknowledgements [default: a fifth of --rate]
    #[arg(long, value_name = "RATE")]
    pub(crate) return_rate: Option<Rate>,
    /// Users that share the link [default: 1; 3 with mixed traffic]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) users: Option<u32>,
    /// What each user does: download, web (reads pages), video (watches a
    /// minute), or mixed (a third each)
    #[arg(long, value_name = "KIND", default_value = "download", value_parser = Named(&Traffic::ALL), hide_possible_values = true)]
    pub(crate) traffic: Traffic,
    /// Size of a download, or of a page on the mean; several to see where the
    /// advice changes [default: 10 MB; a page 2 MB]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    pub(crate) size: Vec<Bytes>,
    /// The time over which the users begin [default: half of what the link
    /// needs for all downloads; 10 s for web and video]
    #[arg(long, value_name = "TIME")]
    pub(crate) stagger: Option<Duration>,
    /// What others run: half of the users have it, and the compared transport
    /// is that of the other half
    #[arg(long, value_name = "NAME")]
    pub(crate) beside: Option<String>,
    /// Other traffic that no transport controls: `20%` of the rate, `2 Mbit/s`,
    /// or `20% in bursts`
    #[arg(long, value_name = "LOAD")]
    pub(crate) background: Option<Background>,
    /// Transports to compare, as they are shown; `all` for every name [default:
    /// a selection]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) transport: Vec<String>,
    /// Whose TCP: linux, or rfc for the papers' variants on idealised hosts,
    /// which cannot be switched on
    #[arg(long, value_name = "KIND", default_value = "linux", value_parser = Named(&Hosts::ALL), hide_possible_values = true)]
    pub(crate) hosts: Hosts,
    /// Proxies at the gateway to compare: none, split (the transports run from
    /// it to the users), snoop (it repairs losses of the link), gateway (one on
    /// each side of the satellite; a prediction)
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "none", value_parser = Named(&Pep::ALL), hide_possible_values = true)]
    pub(crate) pep: Vec<Pep>,
    /// Round trip between server and gateway [default: 50 ms where proxies are
    /// compared; else the server is at the link]
    #[arg(long, value_name = "TIME")]
    pub(crate) server_rtt: Option<Duration>,
    /// What runs it: the simulator, the TCP of this machine over emulated links
    /// in real time (needs root), or both, with the difference
    #[arg(long, value_name = "HOST", value_enum, default_value_t = On::Sim)]
    pub(crate) on: On,
    /// Runs of each transport, each with other losses [default: as many as the
    /// decision needs; 4 in real time]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Seed of the first run; the same seed gives the same output
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) own: OwnControls,
    /// Draw the time of each setting as a bar with its 95% interval; with --over
    /// the link and the times by the time of the beginning (.svg, .png or .pdf)
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Draw received bytes, rate and window against time: the run of median
    /// time of up to four settings, with a band of all runs
    #[arg(long, value_name = "FILE")]
    pub(crate) curves: Option<PathBuf>,
    /// Write the answer as a page to hand on: one file that works offline, on a
    /// phone and on paper
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print the rest as well: more columns, what each transport is, and what
    /// must be the same in numbers to compare these with
    #[arg(long)]
    pub(crate) details: bool,
    /// Print one JSON document instead of text
    #[arg(long, conflicts_with = "details")]
    pub(crate) json: bool,
}

/// Reads the name of one of these; the help says what they are.
#[derive(Clone)]
struct Named<T: 'static>(&'static [(&'static str, T)]);

impl<T: Copy + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let all = self.0;
        let read = move |text: &str| named(text.trim(), all);
        read.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = self.0.iter().map(|(name, _)| PossibleValue::new(*name));
        Some(Box::new(names))
    }
}

/// The value of that name.
fn named<T: Copy>(text: &str, all: &[(&'static str, T)]) -> Result<T, String> {
    if let Some((_, value)) = all.iter().find(|(name, _)| *name == text) {
        return Ok(*value);
    }
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let near = bentpipe_cc::nearest(text, names.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(format!("expected {}{near}", names.join(", ")))
}
