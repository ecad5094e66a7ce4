//! What `bentpipe gateway` takes.

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
    Run(GatewayRun),
    Check(GatewayCheck),
    Keys(GatewayKeys),
    Status(GatewayStatus),
    Doctor(GatewayDoctor),
    Rules(GatewayRules),
    Rate(GatewayRate),
    Schema(GatewaySchema),
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
/// Runs nothing. Errors are shown with their line.
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
