//! Sets up, runs, reports.

use super::capture::Recorder;
use super::status::StatusLine;
use super::{quick, report};
use crate::args;
use crate::exit::{Failure, Status, talk};
use crate::output::{self, Output};
use crate::{load, outputs};
use bentpipe_link::ChannelSettings;
use bentpipe_linux::emulator::{
    Emulator, Host, Options, Pair, Report, Stop, Tap, Watch, addresses,
};
use bentpipe_linux::namespace::terminate;
use bentpipe_report::table::{Column, Table};
use bentpipe_scenario::{Flow, Link, NodeId, Scenario};
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// How often it is looked whether something has ended.
const LOOK: Duration = Duration::from_millis(50);

/// The line of state is written this often.
const SHOW: Duration = Duration::from_secs(1);

/// A command that is to end has this long to do so by itself.
const PATIENCE: Duration = Duration::from_secs(3);

/// Runs until it is interrupted, or as long as it was told to.
pub(crate) fn main(args: &args::Emulate, out: &mut Output) -> Result<Status, Failure> {
    if args.duration.is_some_and(|time| time.is_zero()) {
        return Err(Failure::new(
            "--for 0 s runs nothing: say how long, such as --for '60 s'",
        ));
    }
    let scenario = scenario(args)?;
    let options = Options {
        seed: args.seed,
        duration: args.duration,
        mtu: args.mtu,
        gso: args.gso,
        namespaces: namespaces(&args.namespace)?,
        ..Options::default()
    };
    let failed = |e: &dyn std::fmt::Display| Failure::new(format!("{}: {e}", scenario.name));
    // Before anything is made, so that whatever is made is removed.
    let stop = Stop::new().map_err(|e| failed(&e))?;
    stop.on_signals().map_err(|e| failed(&e))?;
    let emulator = match args.between.as_slice() {
        [] => Emulator::new(&scenario, &options),
        [one, other] => Emulator::between(&scenario, &options, [one, other]),
        _ => {
            return Err(Failure::new(
                "--between takes two interfaces, such as eth1,eth2",
            ));
        }
    };
    let emulator = emulator.map_err(|e| failed(&e))?.stopped_by(&stop);
    let (hosts, pairs) = (emulator.hosts().to_vec(), emulator.pairs().to_vec());
    let seed = args.seed.unwrap_or(scenario.seed);
    let command = command(args, &hosts, &pairs)?;
    introduce(
        &scenario,
        seed,
        &emulator,
        command.is_none(),
        &mut output::stderr(out),
    )?;
    if let [one, other] = args.between.as_slice() {
        let name = &pairs[0].name;
        talk(format_args!(
            "From {one} to {other} and back goes what the scenario says of {name}.\n\
             Ctrl-C ends it; then nothing passes between them."
        ));
    }
    let run = Run {
        scenario: &scenario,
        stop: &stop,
        watch: emulator.watch(),
    };
    let (ran, status) = match &args.pcap {
        None => run.run(emulator, command, &mut ())?,
        Some(file) => {
            let mut recorder = Recorder::create(file, &scenario, (seed, &pairs), args.pcap_at)?;
            let ran = run.run(emulator, command, &mut recorder)?;
            let lost = recorder.finish()?;
            talk(format_args!("captured {}", file.display()));
            if lost > 0 {
                talk(format_args!(
                    "it lacks {lost} packets, which came faster than they were written"
                ));
            }
            ran
        }
    };
    let ran = ran.map_err(|e| failed(&e))?;
    if args.json {
        out.json(&report::json(&scenario.name, &ran))?;
        if !ran.kept_up() {
            talk(ran.verdict());
        }
    } else if status.is_some() {
        // stdout is the command's.
        report::print(&ran, &pairs, &mut output::stderr(out))?;
    } else {
        report::print(&ran, &pairs, out)?;
    }
    Ok(match status {
        Some(status) => Status::Of(code(status)),
        None if ran.kept_up() => Status::Done,
        None => Status::Worse,
    })
}

/// The scenario of the file or of the flags.
fn scenario(args: &args::Emulate) -> Result<Scenario, Failure> {
    let capture = args.pcap.iter().map(PathBuf::as_path);
    let Some(file) = &args.scenario else {
        outputs::check(&[], capture)?;
        return quick::scenario(args);
    };
    let source = load::file(file, &args.set)?;
    outputs::check(&source.inputs(), capture)?;
    load::checked(&source)
}

/// The status of a command as a shell has it.
fn code(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|signal| 128 + signal);
    let code = status.code().or(signal).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

/// `NODE=NAME`, each.
fn namespaces(given: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let split = |text: &String| match text.split_once('=') {
        Some((node, name)) if !node.is_empty() && !name.is_empty() => {
            Ok((node.to_owned(), name.to_owned()))
        }
        _ => Err(Failure::new(format!(
            "--namespace `{text}` is no NODE=NAME, such as client=blue"
        ))),
    };
    given.iter().map(split).collect()
}

/// The command that is to run, on its host.
fn command(
    args: &args::Emulate,
    hosts: &[Host],
    pairs: &[Pair],
) -> Result<Option<std::process::Command>, Failure> {
    let [program, rest @ ..] = args.command.as_slice() else {
        return Ok(None);
    };
    let host = match &args.on {
        Some(name) => hosts.iter().find(|host| host.name == *name),
        None => hosts
            .iter()
            .find(|host| pairs.first().is_some_and(|pair| pair.ends[1] == host.node)),
    };
    let Some(host) = host else {
        let names: Vec<&str> = hosts.iter().map(|h| h.name.as_str()).collect();
        return Err(Failure::new(format!(
            "--on `{}` is no host of the scenario; its hosts are {}",
            args.on.as_deref().unwrap_or_default(),
            names.join(", ")
        )));
    };
    let failed = |e: bentpipe_linux::namespace::NamespaceError| Failure::new(e.to_string());
    let mut command = host.namespace.command(program).map_err(failed)?;
    command.args(rest);
    command.env("BENTPIPE_NAMESPACE", host.namespace.name());
    if let Some(&(pair, end)) = host.ends.first() {
        command.env("BENTPIPE_SELF", addresses(pair, end)[0].to_string());
        command.env("BENTPIPE_PEER", addresses(pair, 1 - end)[0].to_string());
        let peer = pairs.get(pair).map(|pair| pair.ends[1 - end]);
        if let Some(peer) = hosts.iter().find(|host| Some(host.node) == peer) {
            command.env("BENTPIPE_PEER_NAMESPACE", peer.namespace.name());
        }
    }
    Ok(Some(command))
}

/// A run with what goes on beside it.
struct Run<'a> {
    scenario: &'a Scenario,
    stop: &'a Stop,
    watch: Watch,
}

type Ran = Result<Report, bentpipe_linux::emulator::EmulatorError>;

impl Run<'_> {
    /// Runs the emulator, and the command if there is one, until either ends.
    fn run<T: Tap + Send>(
        &self,
        emulator: Emulator,
        command: Option<std::process::Command>,
        tap: &mut T,
    ) -> Result<(Ran, Option<ExitStatus>), Failure> {
        #[allow(clippy::disallowed_methods, reason = "the model's time zero")]
        let origin = Instant::now();
        std::thread::scope(|scope| {
            let running = scope.spawn(|| emulator.run(origin, tap));
            let started = command.map(|mut command| {
                command.spawn().map_err(|e| {
                    let program = command.get_program().to_string_lossy();
                    Failure::new(format!("cannot run `{program}`: {e}"))
                })
            });
            let waited = match started {
                Some(Err(failure)) => Err(failure),
                Some(Ok(mut child)) => self
                    .wait(|| running.is_finished(), Some(&mut child))
                    .map(Some),
                None => self.wait(|| running.is_finished(), None).map(|_| None),
            };
            self.stop.stop();
            let ran = match running.join() {
                Ok(ran) => ran,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            Ok((ran, waited?))
        })
    }

    /// Waits until the run or the command has ended, and shows how it goes.
    /// The status of the command is its own, or that with which it was ended.
    fn wait(
        &self,
        is_over: impl Fn() -> bool,
        mut child: Option<&mut Child>,
    ) -> Result<ExitStatus, Failure> {
        let mut line = StatusLine::new();
        let mut waited = Duration::ZERO;
        let failed = |e: std::io::Error| Failure::new(format!("cannot wait for the command: {e}"));
        loop {
            if let Some(child) = child.as_deref_mut()
                && let Some(status) = child.try_wait().map_err(failed)?
            {
                line.clear();
                return Ok(status);
            }
            if is_over() {
                line.clear();
                return match child {
                    Some(child) => terminate(child, PATIENCE).map_err(failed),
                    None => Ok(ExitStatus::default()),
                };
            }
            std::thread::sleep(LOOK);
            waited += LOOK;
            // A command has the terminal to itself.
            if child.is_none() && waited >= SHOW {
                waited = Duration::ZERO;
                line.show(self.scenario, self.watch.latest());
            }
        }
    }
}

/// Says what there is now and how to use it.
fn introduce(
    scenario: &Scenario,
    seed: u64,
    emulator: &Emulator,
    how: bool,
    err: &mut Output,
) -> Result<(), Failure> {
    for what in emulator.swept() {
        talk(format_args!("cleaned up after a killed run: {what}"));
    }
    talk(format_args!(
        "emulating {}, seed {seed}, MTU {} bytes",
        scenario.name,
        emulator.mtu()
    ));
    talk("");
    err.table(&links(scenario))?;
    err.line("")?;
    if !emulator.hosts().is_empty() {
        err.table(&hosts(emulator))?;
        err.line("")?;
    }
    err.flush()?;
    if !emulator.hosts().is_empty()
        && let Some(why) = apart(scenario, emulator)
    {
        talk(why);
    }
    let pair = emulator.pairs().first();
    let host = pair.and_then(|pair| emulator.hosts().iter().find(|h| h.node == pair.ends[1]));
    if let Some(host) = host
        && how
    {
        let name = host.namespace.name();
        let peer = addresses(0, 0)[0];
        let shell = format!("nsenter --net={} bash", host.namespace.path().display());
        err.line(format_args!("Programs on {}, or a shell:", host.name))?;
        err.command(4, &format!("ip netns exec {name} ping {peer}"))?;
        err.command(4, &shell)?;
        err.line("Ctrl-C ends it and removes everything.")?;
        err.flush()?;
    }
    Ok(())
}

/// Says that not all hosts are connected, where only the flows' are: with many
/// hosts, or where routes change.
fn apart(scenario: &Scenario, emulator: &Emulator) -> Option<String> {
    let mut neighbours = vec![BTreeSet::new(); scenario.nodes.len()];
    for link in &scenario.links {
        neighbours[link.from.0 as usize].insert(link.to);
        neighbours[link.to.0 as usize].insert(link.from);
    }
    let leaves = (0..).map(NodeId).zip(&neighbours);
    let leaves = leaves.filter_map(|(node, n)| (n.len() == 1).then_some(node));
    let ends = scenario.flows.iter().flat_map(|flow| [flow.from, flow.to]);
    let hosts = leaves.chain(ends).collect::<BTreeSet<NodeId>>().len();
    let of_flow = |f: &Flow| (f.from.min(f.to), f.from.max(f.to));
    let flows: BTreeSet<_> = scenario.flows.iter().map(of_flow).collect();
    let pairs = emulator.pairs().len();
    let all = hosts * hosts.saturating_sub(1) / 2;
    (pairs == flows.len() && pairs < all).then(|| {
        let changes = scenario.flows.iter().any(|flow| !flow.changes.is_empty());
        let why = match changes {
            true => "routes change with time",
            false => "there are many",
        };
        format!("Of {hosts} hosts only those between which flows run are connected: {why}.")
    })
}

fn links(scenario: &Scenario) -> Table {
    let mut table = Table::new([
        Column::text("link"),
        Column::text("from").optional(2),
        Column::text("to").optional(1),
        Column::text("rate"),
        Column::text("one-way delay"),
        Column::text("queue").optional(3),
        Column::prose("channel"),
    ]);
    let name = |node: bentpipe_scenario::NodeId| scenario.nodes[node.0 as usize].name.clone();
    for link in &scenario.links {
        let settings = &link.settings;
        let changes = link.timeline.is_some();
        let (rate, delay) = match changes {
            true => ("by its timeline".to_owned(), "by its timeline".to_owned()),
            false => (
                settings.rate.to_string(),
                settings.one_way_delay.to_string(),
            ),
        };
        table.row([
            link.name.clone(),
            name(link.from),
            name(link.to),
            rate,
            delay,
            bentpipe_present::scenario::queue(&settings.queue),
            channel(link),
        ]);
    }
    table
}

fn channel(link: &Link) -> String {
    let arq = if link.arq.is_some() {
        ", sent again"
    } else {
        ""
    };
    match link.settings.channel {
        ChannelSettings::Perfect => "no losses".to_owned(),
        ChannelSettings::Uniform { packet_error_rate } => {
            format!("{packet_error_rate} of packets lost{arq}")
        }
        ChannelSettings::BitErrors { bit_error_rate } => {
            format!("bit error rate {bit_error_rate}{arq}")
        }
        ChannelSettings::GilbertElliott {
            packet_error_rate,
            mean_burst,
        } => format!("{packet_error_rate} lost in bursts of {mean_burst}{arq}"),
        ChannelSettings::Bursts {
            packet_error_rate,
            mean_burst,
        } => format!("{packet_error_rate} lost in bursts of {mean_burst}{arq}"),
    }
}

fn hosts(emulator: &Emulator) -> Table {
    let mut table = Table::new([
        Column::text("host"),
        Column::text("namespace"),
        Column::text("device").optional(2),
        Column::text("address"),
        Column::text("and").optional(3),
        Column::text("talks to").optional(1),
    ]);
    for host in emulator.hosts() {
        for (i, &(pair, end)) in host.ends.iter().enumerate() {
            let first = |text: &str| {
                if i == 0 {
                    text.to_owned()
                } else {
                    String::new()
                }
            };
            let [v4, v6] = addresses(pair, end);
            let peer = emulator.pairs().get(pair).map(|p| p.ends[1 - end]);
            let peer = emulator.hosts().iter().find(|h| Some(h.node) == peer);
            table.row([
                first(&host.name),
                first(host.namespace.name()),
                first(&host.interface),
                v4.to_string(),
                v6.to_string(),
                peer.map_or_else(String::new, |peer| peer.name.clone()),
            ]);
        }
    }
    table
}
