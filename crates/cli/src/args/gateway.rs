//! What `bentpipe gateway` takes.

use bentpipe_units::{Duration, Rate};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Runs a split-TCP gateway at the edge of a satellite link.
///
/// Terminates the users' TCP connections and carries them over the satellite with a
/// transport made for it: in one box, or between two boxes over one association.
/// A close stays a close, a reset a reset, a refusal a refusal. SIGHUP reads the file
/// again, SIGTERM lets connections finish. Interception needs root; SOCKS5 and HTTP
/// CONNECT do not. docs/gateway.md has configurations to copy.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_long_help = "\
Examples:
  bentpipe gateway new --hub 203.0.113.7 --rate 20Mbit/s --return-rate 2Mbit/s
  bentpipe gateway keys ship.key
  bentpipe gateway check ship.toml
  sudo bentpipe gateway ship.toml
  sudo bentpipe gateway status
  sudo bentpipe gateway doctor ship.toml
  sudo bentpipe gateway rate '18 Mbit/s'"
)]
pub(crate) struct Gateway {
    #[command(subcommand)]
    pub(crate) command: Option<GatewayCommand>,
    #[command(flatten)]
    pub(crate) run: GatewayRun,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GatewayCommand {
    New(GatewayNew),
    Run(GatewayRun),
    Check(GatewayCheck),
    Keys(GatewayKeys),
    Status(GatewayStatus),
    Doctor(GatewayDoctor),
    Rules(GatewayRules),
    Rate(GatewayRate),
    Schema(GatewaySchema),
}

/// Writes the configurations and keys of two boxes that know each other.
///
/// The hub is the box on the Internet's side of the satellite, the terminal that on the users'
/// side. Writes hub.toml, hub.key, terminal.toml and terminal.key, with comments. A key that
/// exists is kept. The private keys are readable by their owner only: take each to its box, and
/// nowhere else.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe gateway new --hub 203.0.113.7 --rate 20Mbit/s --return-rate 2Mbit/s
  bentpipe gateway new boxes --hub 203.0.113.7 --rate 20Mbit/s --interface lan0
  bentpipe gateway new --hub 203.0.113.7 --rate 20Mbit/s --interface lan0 --wan 5g=wwan0
  bentpipe gateway new --hub '[2001:db8::7]:443' --rate 20Mbit/s --socks")]
pub(crate) struct GatewayNew {
    /// The folder to write them into
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The hub's address, as the terminal reaches it; with a port unless it is 4433
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) hub: String,
    /// Rate of the link towards the users
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Rate,
    /// Rate of the link back [default: a fifth of --rate]
    #[arg(long, value_name = "RATE")]
    pub(crate) return_rate: Option<Rate>,
    /// Round trip over the link without queues
    #[arg(long, value_name = "TIME", default_value = "600 ms")]
    pub(crate) rtt: Duration,
    /// Network interface of the terminal at which users' connections arrive; repeatable [default:
    /// all but those that lead to the hub]
    #[arg(long, value_name = "NAME", conflicts_with = "socks")]
    pub(crate) interface: Vec<String>,
    /// Users reach the terminal by SOCKS5, which needs no root, in place of interception
    #[arg(long)]
    pub(crate) socks: bool,
    /// A further WAN, over which connections are bonded with the link: its name, and the
    /// interface or the address of the terminal by which it leaves; repeatable
    #[arg(long, value_name = "NAME=BIND")]
    pub(crate) wan: Vec<String>,
    /// Replace existing configurations; keys stay
    #[arg(long)]
    pub(crate) force: bool,
}

/// Runs the gateway until a signal ends it; short form: `bentpipe gateway FILE`.
#[derive(Clone, Debug, Args)]
pub(crate) struct GatewayRun {
    /// The configuration, a TOML file
    #[arg(required = true)]
    pub(crate) file: Option<PathBuf>,
    /// Take over the sockets of the running gateway of this name; its connections may
    /// finish, for up to 1 h
    #[arg(long)]
    pub(crate) take_over: bool,
}

/// Explains a configuration, or what is wrong with it.
///
/// Runs nothing. Errors are shown with their line. The exit status is 1 where the box's key is missing
/// or the other box's is none.
#[derive(Debug, Args)]
pub(crate) struct GatewayCheck {
    /// The configuration, a TOML file
    pub(crate) file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Creates the key of a box, and prints its public key.
///
/// The other box lists the public key in its `peers`. An existing file is kept, and
/// only its public key is printed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  bentpipe gateway keys ship.key
  bentpipe gateway keys ship.key --show")]
pub(crate) struct GatewayKeys {
    /// The file of the private key
    pub(crate) file: PathBuf,
    /// Create nothing: print the public key of an existing file
    #[arg(long)]
    pub(crate) show: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows the state of a running gateway: association, rate, connections, findings.
///
/// In a terminal it refreshes until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sudo bentpipe gateway status
  sudo bentpipe gateway status ship --once
  sudo bentpipe gateway status --json | jq .associations")]
pub(crate) struct GatewayStatus {
    /// Which one: its configuration file, its name or its control socket [default:
    /// the only one running]
    pub(crate) which: Option<PathBuf>,
    /// Print it once
    #[arg(long)]
    pub(crate) once: bool,
    /// Print JSON, once
    #[arg(long)]
    pub(crate) json: bool,
}

/// Examines this machine and the gateway: what is wrong, and how to fix it.
///
/// Changes nothing. The exit status is 1 if something does not work.
#[derive(Debug, Args)]
pub(crate) struct GatewayDoctor {
    /// The configuration, a TOML file
    pub(crate) file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Actions on the rules of interception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RulesAction {
    /// Removes rules left behind by a killed gateway.
    Remove,
    /// Prints them, as `nft` and `ip` take them.
    Print,
}

/// Prints the rules of interception, or removes those a gateway left behind.
///
/// A gateway installs its rules when it starts and removes them when it ends. After a
/// kill they remain, and let every connection pass.
#[derive(Debug, Args)]
pub(crate) struct GatewayRules {
    /// The configuration, a TOML file
    pub(crate) file: PathBuf,
    /// What to do
    pub(crate) action: RulesAction,
}

/// Sets the rate of the link of a running gateway, as its modem would.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sudo bentpipe gateway rate '18 Mbit/s'
  sudo bentpipe gateway rate 18Mbit/s ship
  sudo bentpipe gateway rate measured")]
pub(crate) struct GatewayRate {
    /// The rate with its unit, or `measured`
    pub(crate) rate: String,
    /// Which one, as in `bentpipe gateway status`
    pub(crate) which: Option<PathBuf>,
}

/// Prints the keys of the configuration with their meanings and defaults.
#[derive(Debug, Args)]
pub(crate) struct GatewaySchema {
    /// Print a JSON Schema, for completion and checks in editors
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}
