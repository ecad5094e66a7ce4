//! `--on linux` and `--on both`: the same question to the TCP of this machine.

use crate::exit::{Failure, talk};
use crate::live::{Machine, Wanted};
use crate::output::Output;
use bentpipe::Error;
use bentpipe::compare::{Answer, Pep, Runner};
use bentpipe_outcome::Outcome;
use bentpipe_report::table::{Cell, Column, Table, Tone};
use bentpipe_report::text::digits3;
use bentpipe_scenario::Scenario;
use bentpipe_sim::Options;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs of each setting in real time, unless `--runs` says otherwise.
pub(super) const RUNS: u32 = 4;

/// Hosts in namespaces of this machine, and how often the emulator was late.
pub(super) struct Hosts {
    machine: Machine,
    runs: AtomicUsize,
    late: AtomicUsize,
}

impl Hosts {
    pub(super) fn new() -> Result<Arc<Hosts>, Failure> {
        let machine = Machine::new()?;
        talk(format_args!(
            "running on {} in real time; --transport and --runs bound how long it takes",
            machine.kernel()
        ));
        Ok(Arc::new(Hosts {
            machine,
            runs: AtomicUsize::new(0),
            late: AtomicUsize::new(0),
        }))
    }

    /// What there is to say at the end.
    pub(super) fn remark(&self) -> String {
        let (runs, late) = (
            self.runs.load(Ordering::Relaxed),
            self.late.load(Ordering::Relaxed),
        );
        let kernel = self.machine.kernel();
        match late {
            0 => format!("measured on {kernel}: the emulator kept up in all of {runs} runs"),
            _ => format!(
                "measured on {kernel}: THE EMULATOR DID NOT KEEP UP in {late} of {runs} runs"
            ),
        }
    }
}

impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.machine.kernel())
    }
}

impl Runner for Hosts {
    fn run(&self, scenario: &Scenario, options: &Options) -> Result<Outcome, Error> {
        let refused = self.machine.refusals(scenario);
        if !refused.is_empty() {
            return Err(Error::Runner(format!(
                "cannot run on Linux: {}",
                refused.join("; ")
            )));
        }
        let wanted = Wanted {
            seed: options.seed,
            series: options.series,
            checkpoints: Vec::new(),
            start_jitter: options.start_jitter,
            pcap: None,
        };
        let ran = self.machine.run(scenario, wanted).map_err(Error::Runner)?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        if !ran.facts.kept_up {
            self.late.fetch_add(1, Ordering::Relaxed);
        }
        Ok(ran.outcome)
    }
}

/// Both answers, row by row: mean times and what they differ by.
pub(super) fn beside(
    simulated: &Answer,
    measured: &Answer,
    out: &mut Output,
) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::text("transport"),
        Column::text("proxy").optional(3),
        Column::text("size").optional(2),
        Column::number("simulated [s]"),
        Column::number("measured [s]"),
        Column::number("difference"),
    ]);
    for (ours, theirs) in simulated.rows.iter().zip(&measured.rows) {
        for (a, b) in ours.cells.iter().zip(&theirs.cells) {
            let mean = |cell: &bentpipe::compare::Cell| cell.time().map(|t| t.mean);
            let (a_s, b_s) = (mean(a), mean(b));
            let shown = |s: Option<f64>| s.map_or_else(|| "no end".to_owned(), digits3);
            let difference = a_s.zip(b_s).map(|(a, b)| 100.0 * (a / b - 1.0));
            let picked = pick(simulated) == Some((ours.pep, ours.name.as_str()));
            let tone = if picked { Tone::Strong } else { Tone::Plain };
            let cells = [
                ours.name.clone(),
                ours.pep.name().to_owned(),
                a.size.to_string(),
                shown(a_s),
                shown(b_s),
                difference.map_or_else(String::new, |d| format!("{d:+.1}%")),
            ];
            table.row(cells.map(|text| Cell::new(text).tone(tone)));
        }
    }
    out.line("")?;
    out.line("The same seeds on the TCP of this machine:")?;
    out.line("")?;
    out.table(&table)?;
    out.line("")?;
    let there = measured.headline();
    Ok(out.paragraph(
        0,
        &match pick(simulated) == pick(measured) {
            true => "The verdict of the measured runs is the same.".to_owned(),
            false => format!("The verdict of the measured runs is another: {there}"),
        },
    )?)
}

/// What an answer recommends.
fn pick(answer: &Answer) -> Option<(Pep, &str)> {
    let row = answer.recommended()?;
    Some((row.pep, row.name.as_str()))
}
