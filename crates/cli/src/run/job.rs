//! A run that was asked for: how it is simulated, and what is written of it.

use crate::args;
use crate::exit::{Failure, talk};
use crate::live::Facts;
use crate::output;
use crate::progress::Progress;
use bentpipe::Run;
use bentpipe_outcome::{Outcome, Provenance, RowWriter, RunKey, TableKind, columns, write_whole};
use bentpipe_present::outcome::{self, WithShares};
use bentpipe_scenario::Scenario;
use bentpipe_sim::{Observer, OneThread, Options, Steady, Threads};
use bentpipe_study::{RESULTS, RunData, write_result};
use bentpipe_units::Time;
use std::path::Path;

/// A run that was asked for.
pub(crate) struct Job<'a> {
    pub(crate) args: &'a args::Run,
    pub(crate) scenario: &'a Scenario,
    pub(crate) options: Options,
    /// Where shares of links begin and end.
    pub(crate) of_shares: (Time, Time),
}

impl Job<'_> {
    /// Simulates `scenario` with an observer of its packets, and shows how far it
    /// is.
    pub(crate) fn simulate(
        &self,
        scenario: &Scenario,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Failure> {
        let progress = Progress::of_run(&scenario.name);
        let total = scenario.duration.as_secs() as u64;
        let mut run = Run::new(scenario)
            .options(self.options.clone())
            .on_progress(|at| progress.set(at.as_secs() as u64, total));
        run = match self.args.threads {
            Some(threads) => run.threads(threads.into(), say_threads),
            None => run.cores(say_cores),
        };
        if self.args.skip_steady {
            run = run.skip_steady(say_steady);
        }
        run.observe(observer)
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
        outcome::whole(outcome, self.scenario, self.of_shares)
            .map_err(|e| Failure::new(e.to_string()))
    }

    /// Draws the series of outcomes, each with what its curves are called beside the
    /// flow.
    pub(crate) fn draw(&self, outcomes: &[(&str, &Outcome)], file: &Path) -> Result<(), Failure> {
        let Some(chart) = outcome::chart(self.scenario, outcomes) else {
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
                    RowWriter::create(&path, &[], columns(table), &provenance).map_err(failed)?;
                file.run(table, &RunKey::default(), outcome, &[])
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

/// The formats of the tables, by the endings of the files.
const FORMATS: [&str; 2] = ["csv", "parquet"];

/// The files that `--out` may write.
pub(super) fn file_names() -> Vec<String> {
    let endings = FORMATS.into_iter().chain(["csv.json"]);
    let tables = TableKind::ALL.into_iter().flat_map(|table| {
        endings
            .clone()
            .map(move |ending| format!("{}.{ending}", table.name()))
    });
    let others = [format!("{RESULTS}.parquet"), "outcome.json".to_owned()];
    tables.chain(others).collect()
}

/// Says what was skipped of a run.
fn say_steady(steady: &Steady) {
    match steady {
        Steady::Skipped {
            from,
            period,
            times,
        } => talk(format_args!(
            "simulated {}, and counted {times} periods of {period} that are the same",
            from.since(Time::ZERO)
        )),
        Steady::Refused(why) => talk(format_args!("simulates all of the run: {why}")),
    }
}

/// Says on how many threads a run takes place that nobody asked for.
fn say_cores(threads: &Threads) {
    if matches!(threads, Threads::Many { .. }) {
        say_threads(threads);
    }
}

/// Says on how many threads a run takes place.
fn say_threads(threads: &Threads) {
    match threads {
        Threads::One(OneThread::Wanted) => {}
        Threads::One(why) => talk(format_args!("runs on one thread: {why}")),
        Threads::Many {
            threads,
            window: Some(window),
        } => talk(format_args!(
            "runs on {threads} threads, which meet every {window}"
        )),
        Threads::Many { threads, .. } => talk(format_args!(
            "runs on {threads} threads, which never meet: nothing goes from one to another"
        )),
    }
}
