//! A study's file: what it would run, and its figures as questions about its runs.

use super::dataset::Dataset;
use crate::Problem;
use crate::server::App;
use bentpipe::Study;
use bentpipe_study::{Axis, FigureKind, FigureSpec, metric};
use serde_json::{Value, json};

/// Runs that the page runs itself, at most.
pub(super) const MOST_RUNS: usize = 20_000;

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
    Ok(Study::parse(files.resolve(file)?, &text)?)
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
