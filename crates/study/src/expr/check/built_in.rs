//! Built-in metrics and their arguments.

use super::points::{bind, fixed, moves};
use crate::expr::Fault;
use crate::expr::ast::{Argument, Expr, Kind};
use crate::expr::resolved::Number;
use crate::expr::scope::{Dimension, Scope};
use crate::metric::{Aggregation, Metric, Selection};
use crate::unit::Unit;
use bentpipe_document::names::list;
use bentpipe_units::{Duration, Time};
use std::ops::Range;

pub(super) fn built_in(
    metric: &'static Metric,
    arguments: &[Argument],
    span: &Range<usize>,
    scope: &Scope<'_>,
) -> Result<(Number, Dimension), Fault> {
    let mut selection = Selection::default();
    let mut given: Vec<Option<f64>> = metric.parameters().iter().map(|p| p.default).collect();
    let mut points = Vec::new();
    for argument in arguments {
        let name = argument.name.as_ref().map_or("", |n| n.text.as_str());
        if let Some(i) = metric.parameters().iter().position(|p| p.name == name) {
            given[i] = Some(parameter(metric.parameters()[i].unit, &argument.value)?);
        } else if name.is_empty() || scope.home.axis(name).is_some() {
            points.push(argument);
        } else if metric.arguments().any(|a| a == name) {
            let value = &argument.value;
            match name {
                "from" => selection.from = Some(mark(metric, value, name, scope)?),
                "to" => selection.to = Some(mark(metric, value, name, scope)?),
                "flow" => selection.flow = Some(word(value)?),
                "link" => selection.link = Some(word(value)?),
                _ => selection.of = Some(way(&word(value)?, &value.span)?),
            }
        } else {
            let mut known: Vec<&str> = scope.home.axes.iter().map(|a| a.name.as_str()).collect();
            for name in metric.arguments() {
                known.push(name);
            }
            let at = argument.name.as_ref().map_or(span, |n| &n.span).clone();
            return Err(
                Fault::new(at, format!("`{}` takes no `{name}`", metric.name))
                    .label(format!("it takes {}", list(known.clone())))
                    .suggest(name, known),
            );
        }
    }
    let (moved, inner) = moves(&points, scope)?;
    for axis in &scope.home.axes {
        fixed(axis, &inner, span)?;
    }
    let needs = |what: String| Fault::new(span.clone(), format!("`{}` needs {what}", metric.name));
    for (value, parameter) in given.into_iter().zip(metric.parameters()) {
        let value = value.ok_or_else(|| needs(format!("`{} = ...`", parameter.name)))?;
        selection.parameters.push(value);
    }
    if metric.needs_link() && selection.link.is_none() {
        return Err(needs("`link = \"...\"`".to_owned()));
    }
    if metric.needs_series() && scope.home.series.is_none() {
        let fault = needs(format!(
            "time series, and `{}` records none",
            scope.home.name
        ));
        return Err(fault.help("add `series = \"100 ms\"` to that study"));
    }
    long_enough(metric, &selection.parameters, span, scope)?;
    Ok((
        bind(moved, Number::Cell(metric, selection)),
        Some(metric.unit),
    ))
}

/// Refuses a rate over less than an interval of the series: what is known of it is
/// the mean over an interval.
fn long_enough(
    metric: &Metric,
    parameters: &[f64],
    span: &Range<usize>,
    scope: &Scope<'_>,
) -> Result<(), Fault> {
    let Some(interval) = scope.home.series.filter(|_| metric.needs_series()) else {
        return Ok(());
    };
    let value = |name: &str| {
        let at = metric.parameters().iter().position(|p| p.name == name)?;
        parameters.get(at).copied()
    };
    let length = match (value("window"), value("from"), value("to")) {
        (Some(window), ..) => window,
        (None, Some(from), Some(to)) => to - from,
        _ => return Ok(()),
    };
    // What ends before it begins has no rate, which is reported as that.
    if length < 0.0 || length >= interval.as_secs() {
        return Ok(());
    }
    let length = Duration::from_secs_f64(length);
    let message = format!(
        "`{}` over {length}, but `{}` records a sample every {interval}",
        metric.name, scope.home.name
    );
    Err(Fault::new(span.clone(), message)
        .label(format!("expected {interval} or more"))
        .help(format!("or record more often: `series = \"{length}\"`")))
}

/// A time at which the runs note their counts.
fn mark(metric: &Metric, value: &Expr, name: &str, scope: &Scope<'_>) -> Result<Time, Fault> {
    let seconds = parameter(Unit::Seconds, value)?;
    let at = Time::ZERO + Duration::from_secs_f64(seconds);
    if at == Time::ZERO || scope.home.marks.contains(&at) {
        return Ok(at);
    }
    let home = &scope.home.name;
    let at = at.since(Time::ZERO);
    let message = format!(
        "`{}` needs counts at {at}, and `{home}` notes none then",
        metric.name
    );
    Err(value
        .fault(message)
        .label(format!("`{name}` must be among the `marks` of the study"))
        .help(format!("add `marks = [\"{at}\"]` to that study")))
}

fn word(value: &Expr) -> Result<String, Fault> {
    let word = value.word().map(str::to_owned);
    word.ok_or_else(|| value.fault("expected a name"))
}

fn way(word: &str, span: &Range<usize>) -> Result<Aggregation, Fault> {
    let names = Aggregation::ALL.map(|(name, _)| name);
    Aggregation::ALL
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, of)| *of)
        .ok_or_else(|| {
            Fault::new(span.clone(), format!("unknown way `{word}`"))
                .label(format!("expected one of {}", list(names)))
                .suggest(word, names)
        })
}

fn parameter(unit: Unit, value: &Expr) -> Result<f64, Fault> {
    match &value.kind {
        Kind::Number(x, Some(given)) if *given == unit => Ok(*x),
        Kind::Number(0.0, None) => Ok(0.0),
        _ => Err(value.fault(format!("expected {} with its unit", unit.article()))),
    }
}
