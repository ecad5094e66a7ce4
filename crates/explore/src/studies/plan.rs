//! A study's file: what it would run, and its figures as questions about its runs.

use super::dataset::Dataset;
use crate::Problem;
use crate::app::App;
use bentpipe::{ScenarioFile, Study};
use bentpipe_study::{Axis, FigureKind, FigureSpec, metric};
use serde_json::{Value, json};

/// Runs that the page runs itself, at most.
pub(super) const MOST_RUNS: usize = 20_000;

/// Cells of a study that are checked, at most: each makes a scenario, a minute for all.
const MOST_CELLS: usize = 100_000;

/// What a study would run.
///
/// # Errors
/// If the file is wrong.
pub(super) fn plan(app: &App, file: &str) -> Result<Value, Problem> {
    let study = load(app, file)?;
    let spec = study.spec();
    let runs = study.check()?;
    let axes = spec.axes.iter().map(|axis| {
        let points: Vec<&str> = axis.points.iter().map(|p| p.label.as_str()).collect();
        json!({ "name": axis.name, "points": points })
    });
    let item = |slug: &str, title: &str| json!({ "slug": slug, "title": title });
    let tables = spec.tables.iter().map(|of| item(&of.slug, &of.title));
    let figures = spec.figures.iter().map(|of| item(&of.slug, &of.title));
    let claims = spec.claims.iter().map(|of| item(&of.id, &of.statement));
    Ok(json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "scenario": spec.scenario,
        "axes": axes.collect::<Vec<_>>(),
        "cells": spec.cells(),
        "replications": spec.replications,
        "runs": runs,
        "most": MOST_RUNS,
        "tables": tables.collect::<Vec<_>>(),
        "figures": figures.collect::<Vec<_>>(),
        "claims": claims.collect::<Vec<_>>(),
    }))
}

/// The study of a file.
///
/// # Errors
/// If it cannot be read or is wrong.
pub(super) fn load(app: &App, file: &str) -> Result<Study, Problem> {
    let files = app.files()?;
    let text = files.text(file)?;
    let study = Study::parse(files.resolve(file)?, &text)?;
    without_programs(&study)?;
    let points = study.spec().axes.iter().map(|axis| axis.points.len());
    let cells = points.fold(1, usize::saturating_mul);
    if cells > MOST_CELLS {
        return Err(Problem::limit(format!(
            "{cells} cells are more than the {MOST_CELLS} that the page checks: run the study \
             with `bentpipe study`, and open the folder of results"
        )));
    }
    Ok(study)
}

/// Refuses a study that names congestion controls in files: these are programs, which a
/// check of the study loads.
///
/// # Errors
/// If it names one, in its file, in its scenario or in a value that it sets.
pub(super) fn without_programs(study: &Study) -> Result<(), Problem> {
    let names_some = study.studies().iter().any(|loaded| {
        let spec = &loaded.study;
        let points = spec.axes.iter().flat_map(|axis| &axis.points);
        let set = points.flat_map(|point| &point.settings);
        let sets_some = spec
            .settings
            .iter()
            .chain(set)
            .any(|of| is_control(&of.path));
        let scenario = loaded.scenario.as_ref().is_some_and(|(path, text)| {
            let file = ScenarioFile::parse(path, text.as_bytes());
            file.is_ok_and(|file| !file.named_controls().is_empty())
        });
        sets_some || scenario || !spec.controls.is_empty()
    });
    match names_some {
        true => Err(Problem::forbidden(
            "the explorer loads no congestion controls from files; `bentpipe study` does",
        )),
        false => Ok(()),
    }
}

/// True for a dotted path to a congestion control of one's own, or to all of them.
fn is_control(path: &str) -> bool {
    let path = path.trim();
    let path = path.strip_prefix(['"', '\'']).unwrap_or(path);
    path.split(['.', '"', '\'', ' ']).next() == Some("control")
}

/// The figures of a study whose value is a column of its runs, as questions of the page.
pub(super) fn presets(study: &Study, dataset: &Dataset) -> Vec<Value> {
    let spec = study.spec();
    let column = |axis: &str| {
        let mut axes = dataset.axes().iter();
        axes.find(|of| of.name == axis).map(|of| of.column.clone())
    };
    let filter = |axis: &str, labels: &[&str]| {
        let of = spec.axis(axis)?;
        let label = |name: &&str| Some(of.points[of.point(name)?].label.clone());
        let only: Vec<String> = labels.iter().filter_map(label).collect();
        Some(json!({ "column": column(axis)?, "only": only }))
    };
    let preset = |figure: &FigureSpec| {
        let (x, y) = match &figure.kind {
            FigureKind::Line { x, y } | FigureKind::Heat { x, y } => (x.as_str(), y),
            FigureKind::Bars { groups, y } | FigureKind::Box { groups, y } => {
                (groups.last()?.as_str(), y)
            }
            FigureKind::Series { .. } | FigureKind::Cdf { .. } => return None,
        };
        if figure.from.as_ref().is_some_and(|from| *from != spec.name) {
            return None;
        }
        let at = figure
            .at
            .iter()
            .map(|(axis, point)| (axis.as_str(), vec![point.as_str()]));
        let only = figure
            .only
            .iter()
            .map(|(axis, points)| (axis.as_str(), points.iter().map(String::as_str).collect()));
        let filters = at.chain(only);
        let filters = filters.filter_map(|(axis, labels): (&str, Vec<&str>)| filter(axis, &labels));
        let place = |axis: &Option<String>| axis.as_deref().and_then(column).unwrap_or_default();
        let log = [(figure.x_axis.log, "x"), (figure.y_axis.log, "y")];
        let log = log.iter().filter(|(is_log, _)| *is_log);
        Some(json!({
            "slug": figure.slug,
            "title": figure.title,
            "x": column(x)?,
            "series": place(&figure.series),
            "facet": place(&figure.facets),
            "metric": measured(dataset, &y.expression.text)?,
            "log": log.map(|(_, axis)| *axis).collect::<String>(),
            "filters": filters.collect::<Vec<_>>(),
        }))
    };
    spec.figures.iter().filter_map(preset).collect()
}

/// The column of what an expression names, if it names no more than one.
fn measured(dataset: &Dataset, expression: &str) -> Option<String> {
    let name = expression.trim();
    let name = metric(name).map_or(name, |metric| metric.name);
    let mut metrics = dataset.metrics().map(|of| of.name.as_str());
    let is_it = |column: &str| {
        let own = column.strip_prefix("metric_").unwrap_or(column);
        let rest = own.strip_prefix(name);
        rest.is_some_and(|rest| ["", "_s", "_bps", "_bytes", "_segments"].contains(&rest))
    };
    metrics.find(|column| is_it(column)).map(str::to_owned)
}

/// True if every point of the axes that results have is one of the study's.
pub(super) fn fits(study: &Study, dataset: &Dataset) -> bool {
    let known = |axis: &Axis, point: &String| axis.points.iter().any(|of| of.label == *point);
    dataset.axes().iter().all(|axis| {
        let of = study.spec().axis(&axis.name);
        of.is_some_and(|of| axis.points.iter().all(|point| known(of, point)))
    })
}

#[cfg(test)]
mod tests {
    use super::{is_control, without_programs};
    use bentpipe::Study;

    #[test]
    fn paths_to_programs_are_known_however_they_are_quoted() {
        for path in [
            "control",
            "control.own.file",
            " \"control\".own.file",
            "'control' . own.file",
        ] {
            assert!(is_control(path), "{path}");
        }
        for path in ["link.control.rate", "controls.a", "transport.own.control"] {
            assert!(!is_control(path), "{path}");
        }
    }

    #[test]
    fn a_study_that_names_programs_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sweep.toml");
        let plain = "name = \"sweep\"\nscenario = \"link.toml\"\n[[axis]]\nname = \"rate\"\n\
                     path = \"link.l.rate\"\nvalues = [\"1 Mbit/s\"]\n";
        let own = "[control.own]\nfile = \"own.c\"\n";
        let set = plain.replace("link.l.rate", "control.own.file");
        for (study, scenario, is_refused) in [
            (plain.to_owned(), "", false),
            (format!("{plain}{own}"), "", true),
            (plain.to_owned(), own, true),
            (set, "", true),
        ] {
            std::fs::write(folder.path().join("link.toml"), scenario).unwrap();
            let study = Study::parse(&path, &study);
            let study = study.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(without_programs(&study).is_err(), is_refused);
        }
    }
}
