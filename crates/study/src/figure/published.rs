//! Numbers that a paper prints in its text, at their places in a figure.

use super::axis_scale;
use crate::reference::ROW_JOIN;
use crate::study::{FigureKind, FigureSpec, PublishedSpec, Study};
use crate::unit::{Unit, quantity};
use bentpipe_document::names::list;
use bentpipe_document::{Diagnostic, Errors};
use serde::Serialize;

/// A number that a paper prints in its text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedMark {
    /// Where, as the points of curves say it; `None` is a line across the panel.
    pub x: Option<f64>,
    /// The published number, in the unit of the y axis.
    pub y: f64,
    /// The label of the curve that it is of.
    pub series: Option<String>,
    /// The title of the panel that it is in; `None` is every panel.
    pub panel: Option<String>,
    /// Quotation from the paper, and its place.
    pub text: String,
}

/// The marks of a figure; what its check has refused is left out.
pub(super) fn marks(spec: &FigureSpec, home: &Study) -> Vec<PublishedMark> {
    let label = |axis: Option<&String>, point: &String| {
        let axis = home.axis(axis?)?;
        Some(axis.points[axis.point(point)?].label.clone())
    };
    let mark = |p: &PublishedSpec| {
        Some(PublishedMark {
            x: match &p.x {
                Some(x) => Some(place(x, spec, home).ok()?),
                None => None,
            },
            y: p.y,
            series: p
                .series
                .as_ref()
                .and_then(|s| label(spec.series.as_ref(), s)),
            panel: p
                .facet
                .as_ref()
                .and_then(|f| label(spec.facets.as_ref(), f)),
            text: p.text.clone(),
        })
    };
    spec.published.iter().filter_map(mark).collect()
}

/// Reports marks that have no place in the figure.
pub(crate) fn check(spec: &FigureSpec, home: &Study, errors: &Errors) {
    for mark in &spec.published {
        let error = |message: String| {
            errors.report(Diagnostic::new(mark.place, message));
        };
        if matches!(spec.kind, FigureKind::Cdf { .. } | FigureKind::Heat { .. }) {
            error("this kind of figure shows no published points".to_owned());
            continue;
        }
        if let Some(Err(why)) = mark.x.as_ref().map(|x| place(x, spec, home)) {
            error(why);
        }
        let points = [
            ("series", &spec.series, &mark.series),
            ("facets", &spec.facets, &mark.facet),
        ];
        for (key, axis, point) in points {
            let Some(point) = point else { continue };
            match axis.as_ref().and_then(|name| home.axis(name)) {
                None => error(format!(
                    "the figure has no `{key}` that `{point}` is a point of"
                )),
                Some(axis) if axis.point(point).is_none() => error(format!(
                    "axis `{}` has no point `{point}`; it has {}",
                    axis.name,
                    list(axis.points.iter().map(|p| p.label.as_str()))
                )),
                Some(_) => {}
            }
        }
    }
}

/// Where `x` is on the x axis of a figure.
fn place(x: &str, spec: &FigureSpec, home: &Study) -> Result<f64, String> {
    let of_unit = |unit: Option<Unit>, factor: f64| match quantity(x) {
        Some((value, given)) if given == unit => Ok(value * factor),
        Some((0.0, None)) => Ok(0.0),
        _ => Err(match unit {
            Some(unit) => format!(
                "`{x}` is not on the x axis: expected {} with its unit",
                unit.article()
            ),
            None => format!("`{x}` is not on the x axis: expected a number"),
        }),
    };
    if let FigureKind::Series { .. } = spec.kind {
        return of_unit(Some(Unit::Seconds), 1.0);
    }
    if let FigureKind::Line { x: axis, .. } = &spec.kind
        && let Some((_, factor)) = axis_scale(axis, spec, home)
    {
        let first = home.axis(axis).and_then(|axis| axis.points.first());
        return of_unit(first.and_then(|p| p.value?.1), factor);
    }
    let mut labels: Vec<String> = vec![String::new()];
    for axis in spec.kind.axes().iter().filter_map(|name| home.axis(name)) {
        let longer = |before: &String, label: &str| {
            if before.is_empty() {
                label.to_owned()
            } else {
                format!("{before}{ROW_JOIN}{label}")
            }
        };
        labels = labels
            .iter()
            .flat_map(|before| {
                let all = axis.shown(&spec.only).into_iter();
                all.map(move |p| longer(before, &p.label))
            })
            .collect();
    }
    let found = labels.iter().position(|label| label == x);
    found.map(|i| i as f64).ok_or_else(|| {
        let known = list(labels.iter().map(String::as_str));
        format!("`{x}` is not on the x axis: expected one of {known}")
    })
}
