//! `bentpipe run`: one scenario, once.

mod job;

pub(crate) use job::Job;

use crate::args::{self, On};
use crate::capture::Tap;
use crate::exit::{Failure, Status, talk};
use crate::live::{self, Machine};
use crate::output::{Output, picture_kind};
use crate::{load, outputs, recorded};
use bentpipe::recording::PacketRecorder;
use bentpipe_outcome::Outcome;
use bentpipe_present::outcome;
use bentpipe_scenario::Scenario;
use bentpipe_sim::{Options, Unobserved};
use bentpipe_units::{Duration, Time};
use job::file_names;
use std::path::PathBuf;

/// Runs and says what came out.
pub(crate) fn main(args: &args::Run, out: &mut Output) -> Result<Status, Failure> {
    if args.all {
        out.show_all_rows();
    }
    if let Some(file) = &args.plot {
        picture_kind(file)?;
    }
    if args.flow.is_some() && !args.recorded.is_any() {
        return Err(Failure::new(
            "--flow says what --sequence, --packets or --qlog are about; give one of them",
        ));
    }
    // Before any thread is started: it takes the signals.
    let machine = match args.on {
        On::Sim => None,
        On::Linux | On::Both => Some(Machine::new()?),
    };
    recorded::check(&args.recorded)?;
    if args.on != On::Sim && args.recorded.is_any() {
        return Err(Failure::new(
            "--sequence, --packets and --qlog record runs of the simulator; with --on linux or \
             both there is --pcap",
        ));
    }
    let source = load::file(&args.scenario, &args.set)?;
    let named = [&args.pcap, &args.plot].into_iter().flatten();
    let named = named.chain(args.recorded.files());
    outputs::check(&source.inputs(), named.map(PathBuf::as_path))?;
    if let Some(folder) = &args.out {
        let parts = match args.on {
            On::Both => &["simulated", "measured"][..],
            On::Sim | On::Linux => &[""],
        };
        for part in parts {
            outputs::check_folder(&source.inputs(), &folder.join(part), &file_names())?;
        }
    }
    let scenario = &load::checked(&source)?;
    let (from, to) = interval_of_shares(args, scenario)?;
    let series = args.series || args.plot.is_some();
    let job = Job {
        args,
        scenario,
        options: Options {
            seed: args.seed.unwrap_or(scenario.seed),
            series: series.then(|| outcome::series_interval(scenario)),
            checkpoints: [from, to]
                .into_iter()
                .filter(|at| *at != Time::MAX)
                .collect(),
            ..Options::default()
        },
        of_shares: (from, to),
    };
    match machine {
        Some(machine) => live::run(&machine, &job, out),
        None => simulated(&job, out),
    }
}

/// Runs it in the simulator.
fn simulated(job: &Job<'_>, out: &mut Output) -> Result<Status, Failure> {
    let args = job.args;
    // Names of flows are looked at before the first run.
    let recorder = recorder(job)?;
    let outcome = execute(job)?;
    if let Some(recorder) = recorder {
        record(job, recorder)?;
    }
    if let Some(file) = &args.plot {
        job.draw(&[("", &outcome)], file)?;
    }
    let outcome = job.kept(outcome);
    let whole = job.whole(&outcome)?;
    if let Some(folder) = &args.out {
        job.write(&whole, None, folder)?;
    }
    if args.json {
        out.json(&whole)?;
    } else {
        outcome::print(&whole, None, job.scenario, out)?;
    }
    Ok(Status::Done)
}

fn execute(job: &Job<'_>) -> Result<Outcome, Failure> {
    let (args, scenario) = (job.args, job.scenario);
    let Some(file) = &args.pcap else {
        return job.simulate(scenario, &mut Unobserved);
    };
    let mut tap = Tap::create(file, scenario, job.options.seed, args.pcap_at)?;
    let outcome = job.simulate(scenario, &mut tap)?;
    tap.finish()?;
    talk(format_args!("captured {}", file.display()));
    Ok(outcome)
}

/// What records packets, if that was asked for.
fn recorder(job: &Job<'_>) -> Result<Option<PacketRecorder>, Failure> {
    let (args, scenario) = (job.args, job.scenario);
    if !args.recorded.is_any() {
        return Ok(None);
    }
    let all: Vec<String> = match (&args.flow, &args.recorded.packets) {
        (Some(flow), _) => vec![flow.clone()],
        (None, Some(_)) => Vec::new(),
        (None, None) => {
            let first = scenario.flows.iter().find(|flow| flow.transport.is_some());
            first.map(|flow| flow.name.clone()).into_iter().collect()
        }
    };
    let (from, to) = job.of_shares;
    Ok(Some(PacketRecorder::new(scenario, &all, [from, to])?))
}

/// Makes the same run again with every packet of it, and writes what was asked for. The
/// samples of the sender that this takes are closer than those of `--series`.
fn record(job: &Job<'_>, mut recorder: PacketRecorder) -> Result<(), Failure> {
    let job = Job {
        options: recorder.options(job.options.seed),
        ..*job
    };
    let outcome = job.simulate(job.scenario, &mut recorder)?;
    let traces = recorder.finish(&outcome)?;
    recorded::write(
        &job.args.recorded,
        &traces,
        &job.scenario.hash().to_string(),
    )
}

/// The part of the run that shares of links are taken over.
fn interval_of_shares(args: &args::Run, scenario: &Scenario) -> Result<(Time, Time), Failure> {
    let from = Time::ZERO + args.from.unwrap_or(Duration::ZERO);
    let to = args.to.map_or(Time::MAX, |to| Time::ZERO + to);
    let end = (Time::ZERO + scenario.duration).min(to);
    if from >= end {
        let end = end.since(Time::ZERO);
        let from = from.since(Time::ZERO);
        return Err(Failure::new(format!(
            "nothing lies between --from {from} and {}",
            match args.to {
                Some(to) if to == end => format!("--to {to}"),
                _ => format!("the end of the run, {end}"),
            }
        )));
    }
    Ok((from, to))
}
