//! `bentpipe study`: sweeps, tables, figures, claims.

use crate::args;
use crate::exit::{Failure, Status, talk};
use crate::items;
use crate::live::{self, Bench, Machine};
use crate::output::Output;
use crate::outputs;
use crate::progress::Progress;
use crate::shards;
use crate::slurm;
use bentpipe::study::is_study;
use bentpipe::{ReproduceOptions, Reproduction, Study};
use bentpipe_report::table::{Column, Table};
use bentpipe_study::{Collection, LoadedStudy, MakeRunner, Simulator};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// How a selection is run.
pub(crate) struct How {
    pub(crate) threads: Option<u16>,
    pub(crate) runs: Option<u32>,
    /// Folder for results; `None` keeps them in memory.
    pub(crate) results: Option<PathBuf>,
    pub(crate) fresh: bool,
    /// The machine that runs it; the simulator, where `None`.
    pub(crate) bench: Option<Arc<Bench>>,
}

impl How {
    /// What the user said, with `results` for the results.
    pub(crate) fn new(
        place: &args::Where,
        results: Option<PathBuf>,
        fresh: bool,
    ) -> Result<How, Failure> {
        let bench = match place.on {
            args::On::Linux => {
                let jobs = place.threads.map_or(1, usize::from);
                Some(Bench::new(Machine::new()?, jobs))
            }
            args::On::Sim | args::On::Both => None,
        };
        Ok(How {
            threads: place.threads,
            runs: place.runs,
            results,
            fresh,
            bench,
        })
    }

    /// Changes studies to what the user has chosen of them, and for the machine.
    pub(crate) fn adapt(&self, studies: &mut Collection, only: &[String]) -> Result<(), Failure> {
        if self.bench.is_some() {
            live::adapt(studies, self.runs)?;
        }
        live::keep(studies, only)
    }

    /// What there is to say of the machine.
    pub(crate) fn remarks(&self) -> Vec<String> {
        self.bench.as_ref().map_or_else(Vec::new, |b| b.remarks())
    }
}

/// For more runs than this, stopping and going on is worth a line.
const MANY: usize = 200;

/// What runs the studies, given how and where.
type Work<'a> =
    dyn Fn(&MakeRunner<'_>, &ReproduceOptions<'_>) -> Result<Reproduction, bentpipe::Error> + 'a;

/// Does `work`, with progress on stderr.
pub(crate) fn execute(how: &How, work: &Work<'_>) -> Result<Reproduction, Failure> {
    if let Some(bench) = &how.bench {
        let stopped = |_: &bentpipe_study::Progress| match bench.is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = ReproduceOptions {
            threads: bench.jobs(),
            runs: how.runs,
            results: how.results.clone(),
            fresh: how.fresh,
            watch: &stopped,
            ..ReproduceOptions::default()
        };
        let runner = |loaded: &LoadedStudy| bench.runner(loaded);
        return Ok(work(&runner, &options)?);
    }
    let bar: Mutex<Option<(String, Progress)>> = Mutex::new(None);
    let watch = |progress: &bentpipe_study::Progress| {
        if let Ok(mut bar) = bar.lock() {
            let known = bar
                .as_ref()
                .is_some_and(|(study, _)| *study == progress.study);
            if !known {
                let new = Progress::of_runs(&progress.study);
                if how.results.is_some() && progress.total - progress.done > MANY {
                    talk("Ctrl-C stops it; the same command goes on from there");
                }
                *bar = Some((progress.study.clone(), new));
            }
            if let Some((_, shown)) = &*bar {
                shown.runs(progress);
            }
        }
        ControlFlow::Continue(())
    };
    let options = ReproduceOptions {
        threads: how.threads.map_or(0, usize::from),
        runs: how.runs,
        results: how.results.clone(),
        fresh: how.fresh,
        watch: &watch,
        ..ReproduceOptions::default()
    };
    Ok(work(&Simulator::of, &options)?)
}

/// Runs a study, or a part of it, and says what came out.
pub(crate) fn main(args: &args::Study, out: &mut Output) -> Result<Status, Failure> {
    let file = match (&args.command, &args.study) {
        (Some(args::StudyCommand::Merge(merge)), _) => return shards::merge(merge, out),
        (None, Some(file)) => file,
        (None, None) => return Err(Failure::new("which study? a TOML file is missing")),
    };
    let mut study = load(file)?;
    let results = args.out.clone().unwrap_or_else(|| {
        PathBuf::from(match args.place.on {
            args::On::Linux => "results-linux",
            args::On::Sim | args::On::Both => "results",
        })
    });
    if args.shard.is_some() || args.slurm.submit {
        if args.place.on == args::On::Linux {
            return Err(Failure::new(
                "shards are simulated; --on linux runs a study on this machine as a whole",
            ));
        }
        live::keep(study.studies_mut(), &args.place.only)?;
        outputs::check_results(study.studies(), &results)?;
        let part = shards::Part::new(file, &study, &args.place, &results)?;
        return match args.shard {
            Some(shard) => part.run(shard, args.place.threads),
            None => slurm::main(&part, &args.slurm, args.place.threads, out),
        };
    }
    let how = How::new(&args.place, Some(results.clone()), args.fresh)?;
    how.adapt(study.studies_mut(), &args.place.only)?;
    outputs::check_results(study.studies(), &results)?;
    let made = execute(&how, &|runner, options| study.run_on(runner, options))?;
    let status = present(&study, &made, &results, args.json, out)?;
    for remark in how.remarks() {
        talk(remark);
    }
    Ok(status)
}

/// Draws the figures of a study and prints what came out.
pub(crate) fn present(
    study: &Study,
    made: &Reproduction,
    results: &Path,
    json: bool,
    out: &mut Output,
) -> Result<Status, Failure> {
    let study = study.spec();
    let figures = items::draw(made, results)?;
    if json {
        out.json(&document(made, &figures))?;
    } else {
        if !study.description.is_empty() {
            out.paragraph(0, &study.description)?;
            out.line("")?;
        }
        items::print(made, out)?;
        for figure in &figures {
            out.line(format_args!("drew {}", figure.display()))?;
        }
    }
    talk(format_args!(
        "results are in {}",
        results.join(&study.name).display()
    ));
    Ok(if made.report.regression {
        Status::Worse
    } else {
        Status::Done
    })
}

fn document(made: &Reproduction, figures: &[PathBuf]) -> Value {
    let tables: Vec<_> = made.tables.iter().map(|(_, table)| table).collect();
    json!({
        "tables": tables,
        "figures": made.figures.iter().map(|(_, figure)| figure).collect::<Vec<_>>(),
        "claims": made.claims,
        "regression": made.report.regression,
        "files": figures.iter().map(|f| f.display().to_string()).collect::<Vec<_>>(),
    })
}

/// The study in `file`, with those that it names.
pub(crate) fn load(file: &Path) -> Result<Study, Failure> {
    let content = crate::load::bytes(file)?;
    if !is_study(&content) {
        return Err(Failure::new(format!(
            "`{0}` looks like a scenario, not a study; `bentpipe run {0}` runs it",
            file.display()
        )));
    }
    parse(file, content)
}

fn parse(file: &Path, content: Vec<u8>) -> Result<Study, Failure> {
    let text =
        String::from_utf8(content).map_err(|_| Failure::file("read", file, "it is not UTF-8"))?;
    Ok(Study::parse(crate::load::name(file), &text)?)
}

/// Says what the study in `file`, which holds `content`, would run.
pub(crate) fn check(
    file: &Path,
    content: Vec<u8>,
    as_json: bool,
    out: &mut Output,
) -> Result<(), Failure> {
    let study = parse(file, content)?;
    let runs = study.check()?;
    let study = study.spec();
    if as_json {
        return out.json(&described(study, runs));
    }
    describe(study, runs, out)
}

/// What a study would run, as JSON.
fn described(study: &bentpipe_study::Study, runs: usize) -> Value {
    let axes: Vec<Value> = study
        .axes
        .iter()
        .map(|axis| {
            let labels: Vec<&str> = axis.points.iter().map(|p| p.label.as_str()).collect();
            json!({ "name": axis.name, "points": labels })
        })
        .collect();
    json!({
        "kind": "study",
        "name": study.name,
        "title": study.title,
        "scenario": study.scenario,
        "axes": axes,
        "cells": study.cells(),
        "replications": study.replications,
        "runs": runs,
        "tables": study.tables.iter().map(|t| t.slug.as_str()).collect::<Vec<_>>(),
        "figures": study.figures.iter().map(|f| f.slug.as_str()).collect::<Vec<_>>(),
        "claims": study.claims.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(),
    })
}

/// The same as text.
fn describe(study: &bentpipe_study::Study, runs: usize, out: &mut Output) -> Result<(), Failure> {
    out.strong(format_args!("{}: this study is valid", study.name))?;
    out.paragraph(0, &study.title)?;
    out.line("")?;
    let mut table = Table::new([
        Column::text("axis"),
        Column::number("points"),
        Column::text("from ... to"),
    ]);
    for axis in &study.axes {
        let labels: Vec<&str> = axis.points.iter().map(|p| p.label.as_str()).collect();
        let span = match labels.as_slice() {
            [first, .., last] => format!("{first} ... {last}"),
            few => few.concat(),
        };
        table.row([axis.name.clone(), axis.points.len().to_string(), span]);
    }
    if !table.is_empty() {
        out.table(&table)?;
        out.line("")?;
    }
    let scenario = study
        .scenario
        .as_deref()
        .unwrap_or("none: it looks at other studies");
    out.entry(0, "scenario", 12, scenario)?;
    let cells = study.cells();
    let shared = cells * study.replications as usize;
    let fewer = if runs < shared {
        ", as cells that are the same share their runs"
    } else {
        ""
    };
    let most = if study.precision.is_some() {
        "at most "
    } else {
        ""
    };
    let all = format!(
        "{most}{runs}: {cells} cells x {most}{} replications{fewer}",
        study.replications
    );
    out.entry(0, "runs", 12, &all)?;
    let tables = study.tables.iter().map(|t| t.slug.as_str());
    let figures = study.figures.iter().map(|f| f.slug.as_str());
    let claims = study.claims.iter().map(|c| c.id.as_str());
    let listed: [(&str, Vec<&str>); 3] = [
        ("tables", tables.collect()),
        ("figures", figures.collect()),
        ("claims", claims.collect()),
    ];
    for (what, names) in listed {
        if !names.is_empty() {
            out.entry(0, what, 12, &names.join(", "))?;
        }
    }
    Ok(())
}
