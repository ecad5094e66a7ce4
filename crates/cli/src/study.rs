//! `bentpipe study`: sweeps, tables, figures, claims.

use crate::args;
use crate::exit::{Failure, Status, talk};
use crate::items;
use crate::live::{self, Bench, Machine};
use crate::output::{Output, stderr_colour};
use crate::progress::Progress;
use bentpipe_report::table::{Column, Table};
use bentpipe_study::{
    Collection, LoadError, LoadedStudy, Paper, Plan, ReproduceError, ReproduceOptions,
    Reproduction, Selection, Simulator, check_cells, reproduce,
};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Whether the text of a file looks like a study and not like a scenario.
pub(crate) fn is_study(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mut is_study = false;
    for line in text.lines().map(str::trim_start) {
        if ["[node", "[link", "[flow", "[[node", "[[link", "[[flow"]
            .iter()
            .any(|header| line.starts_with(header))
        {
            return false;
        }
        let headers = [
            "[axis", "[[axis", "[[table", "[[figure", "[[claim", "[[metric",
        ];
        let key = line.split('=').next().unwrap_or("").trim_end();
        is_study |= headers.iter().any(|header| line.starts_with(header))
            || ["scenario", "replications", "paper"].contains(&key);
    }
    is_study
}

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
        live::keep(studies, only)?;
        if self.bench.is_some() {
            live::adapt(studies, self.runs)?;
        }
        Ok(())
    }

    /// What there is to say of the machine.
    pub(crate) fn remarks(&self) -> Vec<String> {
        self.bench.as_ref().map_or_else(Vec::new, |b| b.remarks())
    }
}

/// Runs what `selection` needs, with progress on stderr.
pub(crate) fn execute(
    studies: &Collection,
    paper: &str,
    selection: &Selection,
    how: &How,
) -> Result<Reproduction, Failure> {
    let failed = |e: ReproduceError| match e {
        ReproduceError::Scenario(text) => Failure::Rendered(text),
        other => Failure::new(other.to_string()),
    };
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
        };
        let runner = |loaded: &LoadedStudy| bench.runner(loaded);
        return reproduce(studies, paper, selection, &runner, &options).map_err(failed);
    }
    let bar: Mutex<Option<(String, Progress)>> = Mutex::new(None);
    let watch = |progress: &bentpipe_study::Progress| {
        if let Ok(mut bar) = bar.lock() {
            let known = bar
                .as_ref()
                .is_some_and(|(study, _)| *study == progress.study);
            if !known {
                let new = Progress::new(&progress.study, progress.total as u64);
                *bar = Some((progress.study.clone(), new));
            }
            if let Some((_, shown)) = &*bar {
                shown.set(progress.done as u64, progress.total as u64);
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
    };
    reproduce(studies, paper, selection, &Simulator::of, &options).map_err(failed)
}

/// A load error as the failure that shows it.
pub(crate) fn not_loaded(error: &LoadError) -> Failure {
    Failure::Rendered(error.render(stderr_colour()))
}

/// Runs a study and says what came out.
pub(crate) fn main(args: &args::Study, out: &mut Output) -> Result<Status, Failure> {
    let (mut studies, loaded) = load(&args.study)?;
    let study = &loaded.study;
    let results = args.out.clone().unwrap_or_else(|| {
        PathBuf::from(match args.place.on {
            args::On::Linux => "results-linux",
            args::On::Sim | args::On::Both => "results",
        })
    });
    let how = How::new(&args.place, Some(results.clone()), args.fresh)?;
    how.adapt(&mut studies, &args.place.only)?;
    let selection = Selection::Study(study.name.clone());
    let made = execute(
        &studies,
        study.paper.as_deref().unwrap_or(""),
        &selection,
        &how,
    )?;
    let figures = items::draw(&made, &results)?;
    if args.json {
        out.json(&document(&made, &figures))?;
    } else {
        if !study.description.is_empty() {
            out.paragraph(0, &study.description)?;
            out.line("")?;
        }
        items::print(&made, out)?;
        for figure in &figures {
            out.line(format_args!("drew {}", figure.display()))?;
        }
    }
    for remark in how.remarks() {
        talk(remark);
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

/// The study in `file`, with those that it names: those of its paper where it
/// has one, else those beside it.
fn load(file: &Path) -> Result<(Collection, LoadedStudy), Failure> {
    let bytes = crate::load::bytes(file)?;
    if !is_study(&bytes) {
        return Err(Failure::new(format!(
            "`{0}` looks like a scenario, not a study; `bentpipe run {0}` runs it",
            file.display()
        )));
    }
    let loaded = LoadedStudy::load(file).map_err(|e| not_loaded(&e))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let name = &loaded.study.name;
    if folder.join("paper.toml").is_file() {
        let paper = Paper::load(folder).map_err(|e| not_loaded(&e))?;
        if let Some(found) = paper.studies.get(name).cloned() {
            return Ok((paper.studies, found));
        }
    }
    let studies = Collection::load_with_siblings(file).map_err(|e| not_loaded(&e))?;
    Ok((studies, loaded))
}

/// Says what a study would run.
pub(crate) fn check(file: &Path, as_json: bool, out: &mut Output) -> Result<(), Failure> {
    let (_, loaded) = load(file)?;
    let study = &loaded.study;
    let runs = if study.scenario.is_some() {
        let simulator = Simulator::of(&loaded).map_err(Failure::Rendered)?;
        check_cells(study, &*simulator).map_err(|e| Failure::new(e.to_string()))?;
        Plan::new(study, None).jobs.len()
    } else {
        0
    };
    let cells = study.cells();
    if as_json {
        let axes: Vec<Value> = study
            .axes
            .iter()
            .map(|axis| {
                let labels: Vec<&str> = axis.points.iter().map(|p| p.label.as_str()).collect();
                json!({ "name": axis.name, "points": labels })
            })
            .collect();
        return out.json(&json!({
            "kind": "study",
            "name": study.name,
            "title": study.title,
            "scenario": study.scenario,
            "axes": axes,
            "cells": cells,
            "replications": study.replications,
            "runs": runs,
            "tables": study.tables.iter().map(|t| t.slug.as_str()).collect::<Vec<_>>(),
            "figures": study.figures.iter().map(|f| f.slug.as_str()).collect::<Vec<_>>(),
            "claims": study.claims.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(),
        }));
    }
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
    out.line(format_args!("scenario      {scenario}"))?;
    let shared = cells * study.replications as usize;
    let fewer = if runs < shared {
        ", as cells that are the same share their runs"
    } else {
        ""
    };
    out.line(format_args!(
        "runs          {runs}: {cells} cells x {} replications{fewer}",
        study.replications
    ))?;
    for (what, names) in [
        (
            "tables",
            study
                .tables
                .iter()
                .map(|t| t.slug.as_str())
                .collect::<Vec<_>>(),
        ),
        (
            "figures",
            study.figures.iter().map(|f| f.slug.as_str()).collect(),
        ),
        (
            "claims",
            study.claims.iter().map(|c| c.id.as_str()).collect(),
        ),
    ] {
        if !names.is_empty() {
            out.line(format_args!("{what:12}  {}", names.join(", ")))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_study;

    #[test]
    fn studies_are_told_from_scenarios() {
        assert!(!is_study(bentpipe_scenario::template().as_bytes()));
        assert!(is_study(b"name = \"a\"\nscenario = \"geo.toml\"\n"));
        assert!(is_study(b"name = \"claims\"\n[[claim]]\nid = \"1\"\n"));
        assert!(!is_study(b"\xff\xfe"));
        assert!(!is_study(b""));
    }
}
