//! What names a point of an axis, and which points a comparison keeps.

use super::{Dimension, Scope};
use crate::expr::Fault;
use crate::expr::ast::{Compare, Expr, Kind};
use crate::study::{Axis, Study};
use crate::unit::Unit;
use bentpipe_document::names::list;
use std::ops::Range;

/// True for what can name a point.
pub(super) fn is_point(expr: &Expr) -> bool {
    matches!(
        &expr.kind,
        Kind::Label(_)
            | Kind::Number(..)
            | Kind::Use {
                study: None,
                arguments: None,
                ..
            }
    )
}

/// The point of an axis that an expression names.
pub(super) fn point_of(axis: &Axis, expr: &Expr) -> Result<usize, Fault> {
    match &expr.kind {
        Kind::Label(text) => named_point(axis, text, &expr.span),
        Kind::Use {
            study: None,
            name,
            arguments: None,
        } => named_point(axis, &name.text, &expr.span),
        Kind::Number(x, unit) => {
            let equal = |value: &Option<(f64, Dimension)>| {
                value.is_some_and(|(v, u)| v == *x && (u == *unit || u.is_none() || unit.is_none()))
            };
            axis.points
                .iter()
                .position(|p| equal(&p.value))
                .ok_or_else(|| {
                    Fault::new(
                        expr.span.clone(),
                        format!("axis `{}` has no such point", axis.name),
                    )
                    .label(format!("points are {}", labels(axis)))
                })
        }
        _ => Err(Fault::new(
            expr.span.clone(),
            format!("expected a point of axis `{}`", axis.name),
        )
        .label(format!("points are {}", labels(axis)))),
    }
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
    let name = match &value.kind {
        Kind::Label(text) => text,
        Kind::Use {
            study: None,
            name,
            arguments: None,
        } => &name.text,
        _ => {
            return Err(
                Fault::new(value.span.clone(), "expected a point of an axis")
                    .label("an alias, or a label in quotes"),
            );
        }
    };
    any_point(scope.home, name, &value.span)?.ok_or_else(|| {
        let known = scope.home.axes.iter().flat_map(Axis::names);
        Fault::new(
            value.span.clone(),
            format!("no axis of `{}` has a point `{name}`", scope.home.name),
        )
        .suggest(name, known)
    })
}

/// The labels of the points of an axis that compare with a point as asked, by
/// their order.
pub(super) fn points_that(
    axis: &Axis,
    compare: Compare,
    right: &Expr,
) -> Result<Vec<String>, Fault> {
    let wanted = match &right.kind {
        Kind::Number(x, unit) if !matches!(unit, Some(Unit::Percent)) => {
            return by_value(axis, compare, *x, right);
        }
        _ => point_of(axis, right)?,
    };
    let keep = |i: usize| match compare {
        Compare::Less => Some(i < wanted),
        Compare::LessOrEqual => Some(i <= wanted),
        Compare::Greater => Some(i > wanted),
        Compare::GreaterOrEqual => Some(i >= wanted),
        Compare::Equal => Some(i == wanted),
        Compare::NotEqual => Some(i != wanted),
        Compare::Near(_) => None,
    };
    filtered(axis, right, |i, _| keep(i))
}

fn by_value(axis: &Axis, compare: Compare, x: f64, right: &Expr) -> Result<Vec<String>, Fault> {
    if let Some(point) = axis.points.iter().find(|p| p.value.is_none()) {
        return Err(Fault::new(
            right.span.clone(),
            format!(
                "point `{}` of axis `{}` has no number",
                point.label, axis.name
            ),
        )
        .help("compare with a label in quotes: points are in the order of the axis"));
    }
    filtered(axis, right, |_, value| match compare {
        Compare::Less => Some(value < x),
        Compare::LessOrEqual => Some(value <= x),
        Compare::Greater => Some(value > x),
        Compare::GreaterOrEqual => Some(value >= x),
        Compare::Equal => Some(value == x),
        Compare::NotEqual => Some(value != x),
        Compare::Near(_) => None,
    })
}

fn filtered(
    axis: &Axis,
    at: &Expr,
    keep: impl Fn(usize, f64) -> Option<bool>,
) -> Result<Vec<String>, Fault> {
    let mut labels = Vec::new();
    for (i, point) in axis.points.iter().enumerate() {
        match keep(i, point.value.map_or(0.0, |v| v.0)) {
            Some(true) => labels.push(point.label.clone()),
            Some(false) => {}
            None => return Err(Fault::new(at.span.clone(), "`~` cannot compare points")),
        }
    }
    Ok(labels)
}
