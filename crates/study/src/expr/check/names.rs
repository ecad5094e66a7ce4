//! Resolves a name in an expression: a function, an axis, a metric.

use super::built_in::built_in;
use super::functions::function;
use super::number;
use super::points::{any_point, bind, fixed, moves, without_number};
use crate::expr::Fault;
use crate::expr::ast::{Argument, Expr, Name};
use crate::expr::resolved::Number;
use crate::expr::scope::{Dimension, Scope};
use crate::metric::{METRICS, metric};
use crate::study::Axis;
use std::ops::Range;

const FUNCTIONS: [&str; 7] = ["gain", "difference", "abs", "max", "min", "mean", "sum"];

/// Metrics inside metrics, at most.
const DEPTH: usize = 8;

/// Resolves a name with its arguments.
pub(super) fn usage(
    study: Option<&Name>,
    name: &Name,
    arguments: Option<&[Argument]>,
    span: &Range<usize>,
    scope: &Scope<'_>,
) -> Result<(Number, Dimension), Fault> {
    if let Some(other) = study {
        if other.text == scope.home.name {
            return usage(None, name, arguments, span, scope);
        }
        let Some(home) = scope.studies.study(&other.text) else {
            if !scope.studies.is_complete() {
                return Ok((
                    Number::Enter(other.text.clone(), Box::new(Number::Constant(0.0))),
                    None,
                ));
            }
            let fault = other.fault(format!("unknown study `{}`", other.text));
            return Err(fault.suggest(&other.text, scope.studies.names()));
        };
        let inner = Scope {
            home,
            metrics: home.metrics.len(),
            ..scope.clone()
        };
        let (number, unit) = usage(None, name, arguments, span, &inner)?;
        return Ok((Number::Enter(other.text.clone(), Box::new(number)), unit));
    }
    if let Some(arguments) = arguments
        && FUNCTIONS.contains(&name.text.as_str())
    {
        return function(name, arguments, span, scope);
    }
    if arguments.is_none()
        && let Some(axis) = scope.home.axis(&name.text)
    {
        return axis_number(axis, name, scope);
    }
    let arguments = arguments.unwrap_or(&[]);
    if let Some((index, derived)) = scope.home.derived(&name.text)
        && index < scope.metrics
    {
        return derived_metric(index, &derived.expression.expr, arguments, span, scope);
    }
    match metric(&name.text) {
        Some(metric) => built_in(metric, arguments, span, scope),
        None => Err(unknown(name, scope)),
    }
}

fn unknown(name: &Name, scope: &Scope<'_>) -> Fault {
    if let Ok(Some((axis, _))) = any_point(scope.home, &name.text, &name.span) {
        let (name_of, axis) = (&name.text, &axis.name);
        let fault = name.fault(format!(
            "`{name_of}` is a point of axis `{axis}`, not a number"
        ));
        return fault.help(format!("a metric at that point is `time({name_of})`"));
    }
    let known = METRICS
        .iter()
        .flat_map(|m| [m.name, m.alias])
        .chain(FUNCTIONS)
        .chain(scope.home.axes.iter().map(|a| a.name.as_str()))
        .chain(scope.home.metrics.iter().map(|m| m.name.as_str()))
        .chain(scope.home.axes.iter().flat_map(Axis::names));
    let fault = name.fault(format!("unknown metric `{}`", name.text));
    fault.suggest(&name.text, known)
}

fn axis_number(axis: &Axis, name: &Name, scope: &Scope<'_>) -> Result<(Number, Dimension), Fault> {
    if let Some(missing) = without_number(axis, &name.span) {
        return Err(missing);
    }
    fixed(axis, scope, &name.span)?;
    let unit = axis.points.first().and_then(|p| p.value).and_then(|v| v.1);
    let same = axis
        .points
        .iter()
        .all(|p| p.value.and_then(|v| v.1) == unit);
    Ok((
        Number::Axis(axis.name.clone()),
        if same { unit } else { None },
    ))
}

fn derived_metric(
    index: usize,
    expr: &Expr,
    arguments: &[Argument],
    span: &Range<usize>,
    scope: &Scope<'_>,
) -> Result<(Number, Dimension), Fault> {
    if scope.depth >= DEPTH {
        return Err(Fault::new(span.clone(), "metrics are nested too deeply"));
    }
    let (moved, mut inner) = moves(&arguments.iter().collect::<Vec<_>>(), scope)?;
    inner.metrics = index;
    inner.depth += 1;
    inner.text = "";
    // A fault inside is a fault of this use: the axis that it leaves open.
    let (number, unit) = number(expr, &inner).map_err(|e| Fault {
        span: span.clone(),
        ..e
    })?;
    Ok((bind(moved, number), unit))
}
