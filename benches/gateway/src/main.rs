//! The command: `gateway-bench serve` and `gateway-bench drive`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "results go to standard output, talk to standard error"
)]

use clap::{Parser, Subcommand, ValueEnum};
use gateway_bench::drive::Drive;
use gateway_bench::judge::Allowed;
use gateway_bench::plan::Kind;
use gateway_bench::proxy::Way;
use gateway_bench::serve::{Listen, Server};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Transfers that end in every way there is, checked at both ends.
#[derive(Parser)]
struct Command {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Serves until it is interrupted.
    Serve {
        /// Address; `::` is IPv4 too.
        #[arg(long, default_value = "::")]
        address: IpAddr,
        /// The first of its ports.
        #[arg(long, default_value_t = 7000)]
        port: u16,
        /// More ports for many short connections.
        #[arg(long, default_value_t = 0)]
        more: u16,
        /// Unix socket on which `drive` asks how the connections ended here.
        #[arg(long)]
        control: Option<PathBuf>,
    },
    /// Runs transfers; prints each violation and a summary as lines of JSON.
    /// Exit status 1 if there is a violation.
    Drive(Box<Flags>),
}

#[derive(Clone, Copy, ValueEnum)]
enum Via {
    Direct,
    Socks5,
    Connect,
}

#[derive(clap::Args)]
struct Flags {
    /// Address and first port of the server; repeatable.
    #[arg(long, required = true)]
    server: Vec<SocketAddr>,
    /// The server's Unix socket.
    #[arg(long)]
    control: Option<PathBuf>,
    /// How to reach the server; repeatable.
    #[arg(long, value_enum, default_value = "direct")]
    via: Vec<Via>,
    /// Address of the proxy.
    #[arg(long, required_if_eq_any = [("via", "socks5"), ("via", "connect")])]
    proxy: Option<SocketAddr>,
    /// Number of transfers.
    #[arg(long, default_value_t = 1000)]
    transfers: u64,
    /// Transfers at a time.
    #[arg(long, default_value_t = 64)]
    at_once: usize,
    /// New connections a second, at most.
    #[arg(long)]
    pace: Option<f64>,
    /// Seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these kinds, each with a weight of its own if need be:
    /// `duplex,refused=0.1`.
    #[arg(long, value_delimiter = ',', value_parser = weight)]
    kinds: Vec<(Kind, f64)>,
    /// Not these kinds.
    #[arg(long, value_delimiter = ',', value_parser = weight)]
    without: Vec<(Kind, f64)>,
    /// The largest ordinary transfer, bytes.
    #[arg(long, default_value_t = 256 << 10)]
    largest: u64,
    /// The large transfers, bytes.
    #[arg(long, default_value_t = 16 << 20)]
    big: u64,
    /// Bytes a second that slow readers read.
    #[arg(long, default_value_t = 50_000)]
    slow: u64,
    /// Seconds that an idle connection is kept.
    #[arg(long, default_value_t = 1.0)]
    hold: f64,
    /// Seconds after which a connection hangs.
    #[arg(long, default_value_t = 60.0)]
    patience: f64,
    /// Seconds after which a connection to the silent port is given up.
    #[arg(long, default_value_t = 5.0)]
    silence: f64,
    /// More ports of the server, as many as it was started with.
    #[arg(long, default_value_t = 0)]
    more: u16,
    /// Share of the transfers through a proxy that do not wait for its answer.
    #[arg(long, default_value_t = 0.0)]
    eager: f64,
    /// A refusal may be a reset before any byte.
    #[arg(long)]
    early: bool,
    /// Connections may be cut short, where both ends see it.
    #[arg(long)]
    cuts: bool,
}

fn weight(text: &str) -> Result<(Kind, f64), String> {
    let (name, weight) = text.split_once('=').unwrap_or((text, ""));
    let kind = Kind::from_words(name).ok_or_else(|| {
        let all: Vec<&str> = Kind::ALL.iter().map(|kind| kind.words()).collect();
        format!("the kinds are {}", all.join(", "))
    })?;
    if weight.is_empty() {
        return Ok((kind, kind.weight().max(1e-9)));
    }
    let weight = weight
        .parse()
        .map_err(|_| format!("`{weight}` is no number"))?;
    Ok((kind, weight))
}

impl Flags {
    fn drive(self) -> Drive {
        let named = self.kinds;
        let all = Kind::ALL.iter().map(|&kind| (kind, kind.weight()));
        let mut kinds = if named.is_empty() {
            all.collect()
        } else {
            named
        };
        kinds.retain(|&(kind, _)| self.without.iter().all(|&(other, _)| other != kind));
        let proxy = self.proxy.unwrap_or(self.server[0]);
        let ways = self.via.into_iter().map(|via| match via {
            Via::Direct => Way::Direct,
            Via::Socks5 => Way::Socks5(proxy),
            Via::Connect => Way::Connect(proxy),
        });
        Drive {
            ways: ways.collect(),
            servers: self.server,
            control: self.control,
            transfers: self.transfers,
            at_once: self.at_once,
            pace: self.pace,
            seed: self.seed,
            kinds,
            largest: self.largest,
            big: self.big,
            slow: self.slow,
            hold: Duration::from_secs_f64(self.hold),
            patience: Duration::from_secs_f64(self.patience),
            silence: Duration::from_secs_f64(self.silence),
            more: self.more,
            eager: self.eager,
            allowed: Allowed {
                cuts: self.cuts,
                early: self.early,
            },
        }
    }
}

async fn run(role: Role) -> io::Result<bool> {
    match role {
        Role::Serve {
            address,
            port,
            more,
            control,
        } => {
            let listen = Listen {
                address,
                port,
                more,
                control,
            };
            let server = Server::start(&listen).await?;
            println!("ready");
            tokio::signal::ctrl_c().await?;
            drop(server);
            Ok(true)
        }
        Role::Drive(flags) => {
            let tell = |fault: &_| println!("{}", serde_json::to_string(fault).unwrap_or_default());
            let summary = flags.drive().run(tell).await?;
            println!("{}", serde_json::to_string(&summary).unwrap_or_default());
            Ok(summary.violations == 0)
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Command::parse().role).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("gateway-bench: {error}");
            ExitCode::from(2)
        }
    }
}
