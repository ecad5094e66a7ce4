//! `bentpipe run`: one scenario, once.

#[cfg(feature = "explore")]
pub(crate) mod spread;
mod tables;

pub(crate) use tables::{print, rtt, title};

use crate::args::{self, On};
use crate::capture::Tap;
use crate::curves::{self, Curve, Words};
use crate::exit::{Failure, Status, talk};
use crate::live::{self, Facts, Machine};
use crate::output::{self, Output, picture_kind};
use crate::progress::Progress;
use crate::shares::{self, WithShares};
use crate::{load, outputs};
use bentpipe::Run;
use bentpipe_outcome::{Outcome, Provenance, RunKey, TableKind, TableWriter, write_whole};
use bentpipe_report::plot::Chart;
use bentpipe_scenario::Scenario;
use bentpipe_sim::{Observer, Options, Unobserved, ideal};
use bentpipe_study::{RESULTS, RunData, write_result};
use bentpipe_units::{Duration, Time};
use std::path::{Path, PathBuf};

/// Samples of a flow's time series at most.
const SAMPLES: u64 = 50_000;

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
            series: series.then(|| interval(scenario)),
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

/// A run that was asked for.
pub(crate) struct Job<'a> {
    pub(crate) args: &'a args::Run,
    pub(crate) scenario: &'a Scenario,
    pub(crate) options: Options,
    /// Where shares of links begin and end.
    of_shares: (Time, Time),
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
        print(&whole, None, job.scenario, out)?;
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

impl Job<'_> {
    /// Simulates `scenario` with an observer of its packets, and shows how far it
    /// is.
    pub(crate) fn simulate<O: Observer>(
        &self,
        scenario: &Scenario,
        observer: &mut O,
    ) -> Result<Outcome, Failure> {
        let progress = Progress::of_run(&scenario.name);
        let total = scenario.duration.as_secs() as u64;
        Run::new(scenario)
            .options(self.options.clone())
            .on_progress(|at| progress.set(at.as_secs() as u64, total))
            .observe(observer)
            .map_err(|e| Failure::new(format!("{}: {e}", self.args.scenario.display())))
    }

    /// An outcome without what was recorded for a picture only.
    pub(crate) fn kept(&self, outcome: Outcome) -> Outcome {
        match self.args.series {
            true => outcome,
            false => outcome.without_series(),
        }
    }

    /// An outcome with the links that its flows share.
    pub(crate) fn whole<'o>(&self, outcome: &'o Outcome) -> Result<WithShares<'o>, Failure> {
        let (from, to) = self.of_shares;
        let interval = outcome
            .interval(from, to)
            .map_err(|e| Failure::new(e.to_string()))?;
        Ok(WithShares {
            outcome,
            bottlenecks: shares::bottlenecks(outcome, self.scenario, &interval),
        })
    }

    /// Draws the series of outcomes, each with what its curves are called beside the
    /// flow.
    pub(crate) fn draw(&self, outcomes: &[(&str, &Outcome)], file: &Path) -> Result<(), Failure> {
        let Some(chart) = chart(self.scenario, outcomes) else {
            return Ok(());
        };
        output::draw(&chart, file)?;
        talk(format_args!("drew {}", file.display()));
        Ok(())
    }

    /// The tables as CSV and Parquet, and the outcome as JSON.
    pub(crate) fn write(
        &self,
        whole: &WithShares<'_>,
        facts: Option<&Facts>,
        folder: &Path,
    ) -> Result<(), Failure> {
        let outcome = whole.outcome;
        let failed = |e: bentpipe_outcome::Error| Failure::new(e.to_string());
        std::fs::create_dir_all(folder).map_err(|e| Failure::file("create", folder, e))?;
        let mut provenance = Provenance::new(
            &outcome.scenario,
            &self.scenario.hash().to_string(),
            &[outcome.seed],
        );
        if let Some(facts) = facts {
            provenance = provenance
                .with("ran on", &facts.kernel)
                .with("emulator", &facts.verdict);
        }
        for table in TableKind::ALL.into_iter().filter(|t| t.is_of(outcome)) {
            for ending in FORMATS {
                let path = folder.join(format!("{}.{ending}", table.name()));
                let mut file =
                    TableWriter::create(&path, table, &[], &provenance).map_err(failed)?;
                file.push(&RunKey::default(), outcome, &[])
                    .map_err(failed)?;
                file.finish().map_err(failed)?;
            }
        }
        let path = folder.join(format!("{RESULTS}.parquet"));
        let data = RunData::new(outcome.clone().without_series());
        write_result(&path, data, &provenance.scenario_hash, &provenance).map_err(failed)?;
        let mut json = serde_json::to_vec_pretty(whole)
            .map_err(|e| Failure::new(format!("cannot write the outcome: {e}")))?;
        json.push(b'\n');
        write_whole(&folder.join("outcome.json"), &json).map_err(failed)?;
        talk(format_args!("wrote {}", folder.display()));
        Ok(())
    }
}

/// The series of outcomes of a scenario as a figure, each with what its curves are
/// called beside the flow; `None` without outcomes.
pub(crate) fn chart(scenario: &Scenario, outcomes: &[(&str, &Outcome)]) -> Option<Chart> {
    let (_, first) = outcomes.first()?;
    let all = outcomes
        .iter()
        .flat_map(|(of, outcome)| outcome.series.iter().map(move |series| (of, series)));
    let ends = |of: &str, flow: &str| {
        let (_, outcome) = outcomes.iter().find(|(name, _)| *name == of)?;
        let flow = outcome.flows.iter().find(|f| f.name == flow)?;
        let end = flow.last_delivery_at.filter(|_| flow.is_finished());
        end.map(|at| at.as_secs())
    };
    let curves: Vec<Curve> = all
        .map(|(of, series)| Curve {
            name: format!("{}{of}", series.flow),
            end: ends(of, &series.flow),
            series: series.clone(),
            others: Vec::new(),
        })
        .collect();
    // Rates are means over about a round trip of the longest path.
    let round_trip = round_trips(scenario)
        .max()
        .unwrap_or(Duration::from_millis(100));
    let words = Words {
        title: first.scenario.clone(),
        subtitle: String::new(),
        note: format!(
            "Rates: received in order, means over {round_trip}. Seed {}.",
            first.seed
        ),
        band: String::new(),
    };
    Some(curves::chart(words, &curves, round_trip, None))
}

/// The formats of the tables, by the endings of the files.
const FORMATS: [&str; 2] = ["csv", "parquet"];

/// The files that `--out` may write.
fn file_names() -> Vec<String> {
    let endings = FORMATS.into_iter().chain(["csv.json"]);
    let tables = TableKind::ALL.into_iter().flat_map(|table| {
        endings
            .clone()
            .map(move |ending| format!("{}.{ending}", table.name()))
    });
    let others = [format!("{RESULTS}.parquet"), "outcome.json".to_owned()];
    tables.chain(others).collect()
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

fn round_trips(scenario: &Scenario) -> impl Iterator<Item = Duration> {
    scenario
        .flows
        .iter()
        .map(|flow| ideal::round_trip(scenario, flow))
}

/// Interval of the time series: fifty samples a round trip, where that is not
/// too many.
pub(crate) fn interval(scenario: &Scenario) -> Duration {
    let shortest = round_trips(scenario).min().unwrap_or(Duration::ZERO);
    (shortest / 50).max(scenario.duration / SAMPLES)
}
