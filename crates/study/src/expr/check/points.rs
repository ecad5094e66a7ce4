//! Names of points of an axis, and the points that a comparison keeps.

use crate::expr::Fault;
use crate::expr::ast::{Argument, Compare, Expr, Kind};
use crate::expr::resolved::Number;
use crate::expr::scope::{Dimension, Scope};
use crate::study::{Axis, Study};
use crate::unit::Unit;
use bentpipe_document::names::list;
use std::ops::Range;

/// True for what can name a point.
pub(super) fn is_point(expr: &Expr) -> bool {
    matches!(expr.kind, Kind::Number(..)) || expr.word().is_some()
}

/// The point of an axis that an expression names.
pub(super) fn point_of(axis: &Axis, expr: &Expr) -> Result<usize, Fault> {
    if let Some(name) = expr.word() {
        return named_point(axis, name, &expr.span);
    }
    let points = || format!("points are {}", labels(axis));
    let Kind::Number(x, unit) = expr.kind else {
        let fault = expr.fault(format!("expected a point of axis `{}`", axis.name));
        return Err(fault.label(points()));
    };
    let is_it = |(v, u): (f64, Dimension)| v == x && (u == unit || u.is_none() || unit.is_none());
    let found = axis.points.iter().position(|p| p.value.is_some_and(is_it));
    found.ok_or_else(|| {
        let fault = expr.fault(format!("axis `{}` has no such point", axis.name));
        fault.label(points())
    })
}

pub(super) fn named_point(axis: &Axis, name: &str, span: &Range<usize>) -> Result<usize, Fault> {
    axis.point(name).ok_or_else(|| {
        Fault::new(
            span.clone(),
            format!("axis `{}` has no point `{name}`", axis.name),
        )
        .label(format!("points are {}", labels(axis)))
        .suggest(name, axis.names())
    })
}

fn labels(axis: &Axis) -> String {
    list(
        axis.points
            .iter()
            .map(|p| p.alias.as_deref().unwrap_or(&p.label)),
    )
}

/// The axis and point that a name alone means; `None` if it is no point.
pub(super) fn any_point<'a>(
    study: &'a Study,
    name: &str,
    span: &Range<usize>,
) -> Result<Option<(&'a Axis, usize)>, Fault> {
    let mut found = study
        .axes
        .iter()
        .filter_map(|a| a.point(name).map(|p| (a, p)));
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

/// An error unless the axis is fixed here or has one point only.
pub(super) fn fixed(axis: &Axis, scope: &Scope<'_>, span: &Range<usize>) -> Result<(), Fault> {
    if axis.points.len() <= 1 || scope.bound.contains(&axis.name) {
        return Ok(());
    }
    let name = &axis.name;
    let first = axis.points.first().map_or("", |p| p.label.as_str());
    Err(
        Fault::new(span.clone(), format!("axis `{name}` is not fixed here")).help(format!(
            "run over it with `for all {name}: ...`, or name a point: `{name} = \"{first}\"`"
        )),
    )
}

/// A point given without its axis.
pub(super) fn alone<'a>(value: &Expr, scope: &Scope<'a>) -> Result<(&'a Axis, usize), Fault> {
    let Some(name) = value.word() else {
        let fault = value.fault("expected a point of an axis");
        return Err(fault.label("an alias, or a label in quotes"));
    };
    any_point(scope.home, name, &value.span)?.ok_or_else(|| {
        let known = scope.home.axes.iter().flat_map(Axis::names);
        let home = &scope.home.name;
        let fault = value.fault(format!("no axis of `{home}` has a point `{name}`"));
        fault.suggest(name, known)
    })
}

/// The labels of the points of an axis that compare with a point as asked: by their numbers
/// with a number, else by their order.
pub(super) fn points_that(
    axis: &Axis,
    compare: Compare,
    right: &Expr,
) -> Result<Vec<String>, Fault> {
    let by_value = match right.kind {
        Kind::Number(x, unit) if unit != Some(Unit::Percent) => Some(x),
        _ => None,
    };
    let wanted = match by_value {
        Some(x) => {
            if let Some(missing) = without_number(axis, &right.span) {
                return Err(missing
                    .help("compare with a label in quotes: points are in the order of the axis"));
            }
            x
        }
        None => point_of(axis, right)? as f64,
    };
    let mut labels = Vec::new();
    for (i, point) in axis.points.iter().enumerate() {
        let here = match by_value {
            Some(_) => point.value.map_or(0.0, |v| v.0),
            None => i as f64,
        };
        let holds = compare.holds(here, wanted);
        if holds.ok_or_else(|| right.fault("`~` cannot compare points"))? {
            labels.push(point.label.clone());
        }
    }
    Ok(labels)
}

/// What is wrong with an axis that has a point without a number.
pub(super) fn without_number(axis: &Axis, at: &Range<usize>) -> Option<Fault> {
    let point = axis.points.iter().find(|p| p.value.is_none())?;
    let (label, name) = (&point.label, &axis.name);
    let message = format!("point `{label}` of axis `{name}` has no number");
    Some(Fault::new(at.clone(), message))
}

/// The axes that arguments move, and the scope in which they are fixed.
pub(super) fn moves<'a>(
    arguments: &[&Argument],
    scope: &Scope<'a>,
) -> Result<(Vec<(String, String)>, Scope<'a>), Fault> {
    let mut moved: Vec<(String, String)> = Vec::new();
    let mut inner = scope.clone();
    for argument in arguments {
        if let Some(over) = &argument.over {
            let message = "`over` belongs to `max`, `min`, `mean` and `sum`";
            let first = over.axes.first().map(|binder| binder.axis.fault(message));
            return Err(first.unwrap_or_else(|| argument.value.fault(message)));
        }
        let (axis, point) = match &argument.name {
            Some(name) => {
                let axis = scope.axis(name)?;
                (axis, point_of(axis, &argument.value)?)
            }
            None => alone(&argument.value, scope)?,
        };
        if moved.iter().any(|(name, _)| *name == axis.name) {
            let message = format!("axis `{}` is given twice", axis.name);
            return Err(argument.value.fault(message));
        }
        moved.push((axis.name.clone(), axis.points[point].label.clone()));
        inner.bound.push(axis.name.clone());
    }
    Ok((moved, inner))
}

pub(super) fn bind(moved: Vec<(String, String)>, number: Number) -> Number {
    if moved.is_empty() {
        number
    } else {
        Number::Bind(moved, Box::new(number))
    }
}
