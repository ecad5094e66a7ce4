//! `bentpipe study`: sweeps, tables, figures, claims.

use crate::args;
use crate::exit::{Failure, Status, talk};
use crate::live::{self, Bench, Machine};
use crate::output::{self, Output};
use crate::outputs;
use crate::progress::Progress;
use crate::shards;
use crate::slurm;
use bentpipe::study::is_study;
use bentpipe::{ReproduceOptions, Reproduction, Study};
use bentpipe_present::study::{self as shown, print_spec};
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
    let figures = draw(made, results)?;
    if json {
        out.json(&document(made, &figures))?;
    } else {
        if !study.description.is_empty() {
            out.paragraph(0, &study.description)?;
            out.line("")?;
        }
        shown::print(made, out)?;
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

/// Draws the figures under `results` as SVG and PNG; returns the files.
pub(crate) fn draw(made: &Reproduction, results: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let made = made.kept.as_deref().unwrap_or(made);
    for (study, figure) in &made.figures {
        let folder = results.join(study).join("figures");
        std::fs::create_dir_all(&folder).map_err(|e| Failure::file("create", &folder, e))?;
        let chart = shown::chart(figure);
        for ending in ["svg", "png"] {
            let file = folder.join(format!("{}.{ending}", figure.slug));
            output::draw(&chart, &file)?;
            files.push(file);
        }
    }
    Ok(files)
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
        return Ok(out.json(&shown::document(study, runs))?);
    }
    Ok(print_spec(study, runs, out)?)
}
