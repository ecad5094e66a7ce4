//! What a name in an expression means: a function, an axis, a metric.

use super::{Dimension, Scope, number, selector};
use crate::expr::Fault;
use crate::expr::ast::{Argument, Expr, Kind, Name};
use crate::expr::resolved::Number;
use crate::metric::{METRICS, Metric, Of, Selection, metric};
use crate::nearest::list;
use crate::study::{Axis, Study};
use crate::unit::Unit;
use std::ops::Range;

const FUNCTIONS: [&str; 7] = ["gain", "difference", "abs", "max", "min", "mean", "sum"];

/// Metrics inside metrics, at most.
const DEPTH: usize = 8;

/// True for what can name a point.
pub(super) fn is_point(expr: &Expr) -> bool {
    matches!(
        &expr.kind,
        Kind::Label(_) | Kind::Number(..) | Kind::Use { study: None, arguments: None, .. }
    )
}

/// The point of an axis that an expression names.
pub(super) fn point_of(axis: &Axis, expr: &Expr) -> Result<usize, Fault> {
    match &expr.kind {
        Kind::Label(text) => named_point(axis, text, &expr.span),
        Kind::Use { study: None, name, arguments: None } => {
            named_point(axis, &name.text, &expr.span)
        }
        Kind::Number(x, unit) => {
            let equal = |value: &Option<(f64, Dimension)>| {
                value.is_some_and(|(v, u)| v == *x && (u == *unit || u.is_none() || unit.is_none()))
            };
            axis.points.iter().position(|p| equal(&p.value)).ok_or_else(|| {
                Fault::new(expr.span.clone(), format!("axis `{}` has no such point", axis.name))
                    .label(format!("points are {}", labels(axis)))
            })
        }
        _ => Err(Fault::new(expr.span.clone(), format!("expected a point of axis `{}`", axis.name))
            .label(format!("points are {}", labels(axis)))),
    }
}

pub(super) fn named_point(axis: &Axis, name: &str, span: &Range<usize>) -> Result<usize, Fault> {
    axis.point(name).ok_or_else(|| {
        Fault::new(span.clone(), format!("axis `{}` has no point `{name}`", axis.name))
            .label(format!("points are {}", labels(axis)))
            .suggest(name, axis.names())
    })
}

fn labels(axis: &Axis) -> String {
    list(axis.points.iter().map(|p| p.alias.as_deref().unwrap_or(&p.label)))
}

/// The axis and point that a name alone means; `None` if it is no point.
fn any_point<'a>(
    study: &'a Study,
    name: &str,
    span: &Range<usize>,
) -> Result<Option<(&'a Axis, usize)>, Fault> {
    let mut found = study.axes.iter().filter_map(|a| a.point(name).map(|p| (a, p)));
    let first = found.next();
    if let (Some((a, _)), Some((b, _))) = (first, found.next()) {
        return Err(Fault::new(
            span.clone(),
            format!("`{name}` is a point of `{}` and of `{}`", a.name, b.name),
        )
        .help(format!("say which: `{} = \"{name}\"`", a.name)));
    }
    Ok(first)
}

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
                return Ok((Number::Enter(other.text.clone(), Box::new(Number::Constant(0.0))), None));
            }
            return Err(Fault::new(other.span.clone(), format!("unknown study `{}`", other.text))
                .suggest(&other.text, scope.studies.names()));
        };
        let inner = Scope { home, metrics: home.metrics.len(), ..scope.clone() };
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
        return Fault::new(
            name.span.clone(),
            format!("`{}` is a point of axis `{}`, not a number", name.text, axis.name),
        )
        .help(format!("a metric at that point is `time({})`", name.text));
    }
    let known = METRICS
        .iter()
        .flat_map(|m| [m.name, m.alias])
        .chain(FUNCTIONS)
        .chain(scope.home.axes.iter().map(|a| a.name.as_str()))
        .chain(scope.home.metrics.iter().map(|m| m.name.as_str()))
        .chain(scope.home.axes.iter().flat_map(Axis::names));
    Fault::new(name.span.clone(), format!("unknown metric `{}`", name.text))
        .suggest(&name.text, known)
}

fn axis_number(axis: &Axis, name: &Name, scope: &Scope<'_>) -> Result<(Number, Dimension), Fault> {
    if let Some(point) = axis.points.iter().find(|p| p.value.is_none()) {
        return Err(Fault::new(
            name.span.clone(),
            format!("point `{}` of axis `{}` has no number", point.label, axis.name),
        ));
    }
    fixed(axis, scope, &name.span)?;
    let unit = axis.points.first().and_then(|p| p.value).and_then(|v| v.1);
    let same = axis.points.iter().all(|p| p.value.and_then(|v| v.1) == unit);
    Ok((Number::Axis(axis.name.clone()), if same { unit } else { None }))
}

/// An error unless the axis is fixed here or has one point only.
pub(super) fn fixed(axis: &Axis, scope: &Scope<'_>, span: &Range<usize>) -> Result<(), Fault> {
    if axis.points.len() <= 1 || scope.bound.contains(&axis.name) {
        return Ok(());
    }
    let name = &axis.name;
    let first = axis.points.first().map_or("", |p| p.label.as_str());
    Err(Fault::new(span.clone(), format!("axis `{name}` is not fixed here")).help(format!(
        "run over it with `for all {name}: ...`, or name a point: `{name} = \"{first}\"`"
    )))
}

/// A metric at a point: `gain(mtsi, iw2)` is about transfer times.
fn operand(expr: &Expr, scope: &Scope<'_>) -> Result<(Number, Dimension), Fault> {
    let name = match &expr.kind {
        Kind::Label(text) => Some(text),
        Kind::Use { study: None, name, arguments: None }
            if scope.home.axis(&name.text).is_none() =>
        {
            Some(&name.text)
        }
        _ => None,
    };
    if let Some(name) = name
        && let Some((axis, point)) = any_point(scope.home, name, &expr.span)?
    {
        let bound = vec![(axis.name.clone(), axis.points[point].label.clone())];
        let inner = scope.clone().with_bound([axis.name.as_str()]);
        let time = metric("transfer_time").ok_or_else(|| unreachable_metric(&expr.span))?;
        let (time, unit) = built_in(time, &[], &expr.span, &inner)?;
        return Ok((Number::Bind(bound, Box::new(time)), unit));
    }
    number(expr, scope)
}

fn unreachable_metric(span: &Range<usize>) -> Fault {
    Fault::new(span.clone(), "there is no metric `transfer_time`")
}

fn function(
    name: &Name,
    arguments: &[Argument],
    span: &Range<usize>,
    scope: &Scope<'_>,
) -> Result<(Number, Dimension), Fault> {
    let wrong = |what: &str| Fault::new(span.clone(), format!("`{}` takes {what}", name.text));
    match name.text.as_str() {
        "gain" | "difference" => {
            let (given, named): (Vec<&Argument>, Vec<&Argument>) =
                arguments.iter().partition(|a| a.name.is_none());
            let [a, b] = given.as_slice() else {
                return Err(wrong("two points or numbers"));
            };
            let (moves, inner) = moves(&named, scope)?;
            let ((a, _), (b, _)) = (operand(&a.value, &inner)?, operand(&b.value, &inner)?);
            // The difference is the gain with the roles exchanged.
            let number = if name.text == "gain" {
                Number::Gain(Box::new(a), Box::new(b))
            } else {
                Number::Gain(Box::new(b), Box::new(a))
            };
            Ok((bind(moves, number), Some(Unit::Percent)))
        }
        "abs" => match arguments {
            [Argument { name: None, value, over: None }] => {
                let (number, unit) = number(value, scope)?;
                Ok((Number::Absolute(Box::new(number)), unit))
            }
            _ => Err(wrong("one number")),
        },
        other => {
            let of = Of::ALL.iter().find(|(n, _)| *n == other).map_or(Of::Mean, |(_, of)| *of);
            match arguments {
                [Argument { name: None, value, over: Some(binders) }] => {
                    let (over, inner) = selector(binders, scope)?;
                    let (number, unit) = number(value, &inner)?;
                    Ok((Number::Over(of, over, Box::new(number)), unit))
                }
                [] => Err(wrong("numbers, or one number `over` an axis")),
                several => {
                    let mut unit = None;
                    let mut numbers = Vec::with_capacity(several.len());
                    for argument in several {
                        if argument.name.is_some() || argument.over.is_some() {
                            return Err(wrong("numbers, or one number `over` an axis"));
                        }
                        let (number, this) = operand(&argument.value, scope)?;
                        unit = unit.or(this);
                        numbers.push(number);
                    }
                    Ok((Number::Choice(of, numbers), unit))
                }
            }
        }
    }
}

/// The axes that arguments move, and the scope in which they are fixed.
fn moves<'a>(
    arguments: &[&Argument],
    scope: &Scope<'a>,
) -> Result<(Vec<(String, String)>, Scope<'a>), Fault> {
    let mut moved: Vec<(String, String)> = Vec::new();
    let mut inner = scope.clone();
    for argument in arguments {
        if let Some(over) = &argument.over {
            let span = over.axes.first().map_or(argument.value.span.clone(), |a| a.axis.span.clone());
            return Err(Fault::new(span, "`over` belongs to `max`, `min`, `mean` and `sum`"));
        }
        let (axis, point) = match &argument.name {
            Some(name) => {
                let axis = scope.axis(name)?;
                (axis, point_of(axis, &argument.value)?)
            }
            None => alone(&argument.value, scope)?,
        };
        if moved.iter().any(|(name, _)| *name == axis.name) {
            return Err(Fault::new(
                argument.value.span.clone(),
                format!("axis `{}` is given twice", axis.name),
            ));
        }
        moved.push((axis.name.clone(), axis.points[point].label.clone()));
        inner.bound.push(axis.name.clone());
    }
    Ok((moved, inner))
}

/// A point given without its axis.
fn alone<'a>(value: &Expr, scope: &Scope<'a>) -> Result<(&'a Axis, usize), Fault> {
    let name = match &value.kind {
        Kind::Label(text) => text,
        Kind::Use { study: None, name, arguments: None } => &name.text,
        _ => {
            return Err(Fault::new(value.span.clone(), "expected a point of an axis")
                .label("an alias, or a label in quotes"));
        }
    };
    any_point(scope.home, name, &value.span)?.ok_or_else(|| {
        let known = scope.home.axes.iter().flat_map(Axis::names);
        Fault::new(value.span.clone(), format!("no axis of `{}` has a point `{name}`", scope.home.name))
            .suggest(name, known)
    })
}

fn bind(moved: Vec<(String, String)>, number: Number) -> Number {
    if moved.is_empty() { number } else { Number::Bind(moved, Box::new(number)) }
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
    let (number, unit) = number(expr, &inner).map_err(|e| Fault { span: span.clone(), ..e })?;
    Ok((bind(moved, number), unit))
}

fn built_in(
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
            let word = word(&argument.value)?;
            match name {
                "flow" => selection.flow = Some(word),
                "link" => selection.link = Some(word),
                _ => selection.of = Some(way(&word, &argument.value.span)?),
            }
        } else {
            let mut known: Vec<&str> = scope.home.axes.iter().map(|a| a.name.as_str()).collect();
            for name in metric.arguments() {
                known.push(name);
            }
            let at = argument.name.as_ref().map_or(span, |n| &n.span).clone();
            return Err(Fault::new(at, format!("`{}` takes no `{name}`", metric.name))
                .label(format!("it takes {}", list(known.clone())))
                .suggest(name, known));
        }
    }
    let (moved, inner) = moves(&points, scope)?;
    for axis in &scope.home.axes {
        fixed(axis, &inner, span)?;
    }
    for (value, parameter) in given.into_iter().zip(metric.parameters()) {
        selection.parameters.push(value.ok_or_else(|| {
            Fault::new(span.clone(), format!("`{}` needs `{} = ...`", metric.name, parameter.name))
        })?);
    }
    if metric.needs_link() && selection.link.is_none() {
        return Err(Fault::new(span.clone(), format!("`{}` needs `link = \"...\"`", metric.name)));
    }
    if metric.needs_series() && scope.home.series.is_none() {
        return Err(Fault::new(
            span.clone(),
            format!("`{}` needs time series, and `{}` records none", metric.name, scope.home.name),
        )
        .help("add `series = \"100 ms\"` to that study"));
    }
    Ok((bind(moved, Number::Cell(metric, selection)), Some(metric.unit)))
}

fn word(value: &Expr) -> Result<String, Fault> {
    match &value.kind {
        Kind::Label(text) => Ok(text.clone()),
        Kind::Use { study: None, name, arguments: None } => Ok(name.text.clone()),
        _ => Err(Fault::new(value.span.clone(), "expected a name")),
    }
}

fn way(word: &str, span: &Range<usize>) -> Result<Of, Fault> {
    let names = Of::ALL.map(|(name, _)| name);
    Of::ALL.iter().find(|(name, _)| *name == word).map(|(_, of)| *of).ok_or_else(|| {
        Fault::new(span.clone(), format!("unknown way `{word}`"))
            .label(format!("expected one of {}", list(names)))
            .suggest(word, names)
    })
}

fn parameter(unit: Unit, value: &Expr) -> Result<f64, Fault> {
    match &value.kind {
        Kind::Number(x, Some(given)) if *given == unit => Ok(*x),
        Kind::Number(0.0, None) => Ok(0.0),
        _ => Err(Fault::new(value.span.clone(), format!("expected {} with its unit", unit.article()))),
    }
}
