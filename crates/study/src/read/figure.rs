//! Figures.

use super::lists::each;
use super::shown::{Axes, check_value, home, selection};
use crate::catalogue::Catalogue;
use crate::figure::check_published;
use crate::schema::{
    BreakKeys, FigureKeys, FigureKinds, GroupKeys, PublishedKeys, ShownKeys, given,
};
use crate::study::{
    AxisSpec, FigureKind, FigureSpec, PublishedSpec, SeriesQuantity, Study, ValueSpec,
};
use crate::unit::Unit;
use bentpipe_document::names::list;
use bentpipe_document::{Context, Diagnostic, Errors, Field, OptionalField, Placed, Reported};
use bentpipe_units::Duration;

pub(super) fn read(kinds: FigureKinds) -> Result<FigureSpec, Reported> {
    let (keys, kind) = kind(kinds);
    let x_axis = axis(&keys.context, keys.x_scale, keys.x_break);
    let y_axis = axis(&keys.context, keys.y_scale, keys.y_break);
    let published = each(keys.published, published);
    let (at, only) = selection(keys.at, keys.only)?;
    Ok(FigureSpec {
        slug: keys.slug?.value.0,
        title: given(keys.title)?.unwrap_or_default(),
        from: given(keys.from)?,
        kind: kind?,
        series: given(keys.series)?,
        at,
        only,
        x_label: given(keys.x_label)?,
        y_label: given(keys.y_label)?,
        reference: given(keys.reference)?,
        published: published?,
        facets: given(keys.facets)?,
        x_axis: x_axis?,
        y_axis: y_axis?,
        place: keys.context.at,
    })
}

/// The keys that all kinds have, and what its own make.
fn kind(kinds: FigureKinds) -> (FigureKeys, Result<FigureKind, Reported>) {
    match kinds {
        FigureKinds::Series {
            context,
            common,
            y,
            flow,
            window,
            unit,
        } => (common, series(&context, y, flow, window, unit)),
        FigureKinds::Line {
            common, shown, x, ..
        } => {
            let y = value(shown, 2);
            let kind = y.and_then(|y| Ok(FigureKind::Line { x: x?.value, y }));
            (common, kind)
        }
        FigureKinds::Bars {
            common,
            shown,
            groups,
            ..
        } => {
            let parts = grouped(groups, shown);
            (
                common,
                parts.map(|(groups, y)| FigureKind::Bars { groups, y }),
            )
        }
        FigureKinds::Box {
            common,
            shown,
            groups,
            ..
        } => {
            let parts = grouped(groups, shown);
            (
                common,
                parts.map(|(groups, y)| FigureKind::Box { groups, y }),
            )
        }
        FigureKinds::Cdf { common, shown, .. } => {
            (common, value(shown, 2).map(|y| FigureKind::Cdf { y }))
        }
        FigureKinds::Heat {
            context,
            common,
            shown,
            x,
            decimals,
        } => {
            let rows = common.series.clone();
            let rows = rows.and_then(|series| context.need("series", series));
            let y = rows.and_then(|_| value(shown, decimals?.value));
            let kind = y.and_then(|y| Ok(FigureKind::Heat { x: x?.value, y }));
            (common, kind)
        }
    }
}

fn value(shown: ShownKeys, decimals: u32) -> Result<ValueSpec, Reported> {
    Ok(ValueSpec {
        label: None,
        expression: shown.y?.value,
        unit: given(shown.unit)?,
        decimals,
    })
}

fn grouped(groups: GroupKeys, shown: ShownKeys) -> Result<(Vec<String>, ValueSpec), Reported> {
    let groups = given(groups.groups)?.unwrap_or_default().values();
    Ok((groups, value(shown, 2)?))
}

fn series(
    context: &Context,
    y: Field<SeriesQuantity>,
    flow: OptionalField<String>,
    window: OptionalField<Duration>,
    unit: OptionalField<String>,
) -> Result<FigureKind, Reported> {
    let (y, unit) = (y?.value, unit?);
    if let Some(unit) = &unit {
        check_rate_unit(context, y, unit);
    }
    Ok(FigureKind::Series {
        y,
        flow: given(flow)?,
        window: window?.map(|window| (window.value, window.place)),
        unit: unit.map(|unit| unit.value),
    })
}

/// `x_scale = "log"` and `x_break = { from = 20, to = 180 }`.
fn axis(
    context: &Context,
    log: Field<bool>,
    gap: OptionalField<BreakKeys>,
) -> Result<AxisSpec, Reported> {
    let log = log?.value;
    let ends = match given(gap)? {
        None => None,
        Some(gap) => {
            let (from, to, at) = (gap.from?.value, gap.to?.value, gap.context.at);
            if from >= to {
                let message = "a break needs a `from` and a larger `to`";
                context.report(Diagnostic::new(at, message));
            }
            if log {
                let message = "a logarithmic axis is not broken";
                context.report(Diagnostic::new(at, message));
            }
            Some((from, to))
        }
    };
    Ok(AxisSpec { log, gap: ends })
}

fn published(keys: PublishedKeys) -> Result<PublishedSpec, Reported> {
    Ok(PublishedSpec {
        x: given(keys.x)?.map(|x| x.0),
        y: keys.y?.value,
        series: given(keys.series)?,
        facet: given(keys.facet)?,
        text: keys.text?.value,
        place: keys.context.at,
    })
}

/// Only rates are drawn in a unit of one's choice.
fn check_rate_unit(context: &Context, quantity: SeriesQuantity, unit: &Placed<String>) {
    if !matches!(quantity, SeriesQuantity::Rate | SeriesQuantity::SentRate) {
        let message = "a time series has a `unit` only if it is a rate";
        context.report(Diagnostic::new(unit.place, message));
    } else if Unit::BitRate.factor(&unit.value).is_none() {
        let message = format!("`{}` is not a unit of a rate", unit.value);
        context.report(
            Diagnostic::new(unit.place, message)
                .label(format!("expected one of {}", list(Unit::BitRate.names())))
                .suggest_from(&unit.value, Unit::BitRate.names()),
        );
    }
}

pub(super) fn check(study: &Study, studies: &dyn Catalogue, errors: &Errors) {
    for figure in &study.figures {
        let Some(home) = home(study, figure.from.as_deref(), studies, figure.place, errors) else {
            continue;
        };
        let mut shown: Vec<&String> = figure.series.iter().chain(&figure.facets).collect();
        shown.extend(figure.kind.axes());
        let axes = Axes {
            home,
            place: figure.place,
            errors,
        };
        if !axes.check(&shown, &figure.at, &figure.only) {
            continue;
        }
        let fixed = axes.fixed(&shown, &figure.at);
        check_published(figure, home, errors);
        if let Some(y) = figure.kind.value() {
            check_value(y, home, studies, &fixed, errors);
        }
        if let FigureKind::Series { window, .. } = &figure.kind {
            let error = |message: String| Diagnostic::new(figure.place, message);
            if let (Some(interval), Some((window, place))) = (home.series, window)
                && *window < interval
                && !window.is_zero()
            {
                let message = format!(
                    "a rate over {window}, but `{}` records a sample every {interval}",
                    home.name
                );
                errors.report(
                    Diagnostic::new(*place, message)
                        .label(format!("expected {interval} or more"))
                        .help(format!("or record more often: `series = \"{window}\"`")),
                );
            }
            if home.series.is_none() {
                let message = format!("study `{}` records no time series", home.name);
                errors.report(error(message).help("add `series = \"100 ms\"` to it"));
            }
            for axis in &home.axes {
                if axis.points.len() > 1 && !fixed.contains(&axis.name.as_str()) {
                    let help = format!(
                        "make it the `series`, or fix it with `at = {{ {} = ... }}`",
                        axis.name
                    );
                    errors.report(
                        error(format!("axis `{}` is not fixed here", axis.name)).help(help),
                    );
                }
            }
        }
    }
}
