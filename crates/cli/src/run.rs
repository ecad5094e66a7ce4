//! `bentpipe run`: one scenario, once.

mod job;

pub(crate) use job::Job;

use crate::args::{self, On};
use crate::capture::Tap;
use crate::exit::{Failure, Status, talk};
use crate::live::{self, Machine};
use crate::output::{Output, picture_kind};
use crate::{load, outputs};
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
    // Before any thread is started: it takes the signals.
    let machine = match args.on {
        On::Sim => None,
        On::Linux | On::Both => Some(Machine::new()?),
    };
    let source = load::file(&args.scenario, &args.set)?;
    let named = [&args.pcap, &args.plot].into_iter().flatten();
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
    let outcome = execute(job)?;
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

/// The part of the run that shares of links are taken over.
fn interval_of_shares(args: &args::Run, scenario: &Scenario) -> Result<(Time, Time), Failure> {
    let from = Time::ZERO + args.from.unwrap_or(Duration::ZERO);
    let to = args.to.map_or(Time::MAX, |to| Time::ZERO + to);
    let end = (Time::ZERO + scenario.duration).min(to);
    if from >= end {
        let end = end.since(Time::ZERO);
        let from = from.since(Time::ZERO);
        return Err(Failure::new(format!(
            "nothing lies between --from {from} and {end}"
        )));
    }
    Ok((from, to))
}
