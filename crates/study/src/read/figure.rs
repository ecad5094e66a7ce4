//! Figures.

use super::table::{Axes, check_value, one_value, selection};
use super::{Section, home};
use crate::paper::Catalogue;
use crate::study::{FigureKind, FigureSpec, SeriesQuantity, Study};
use bentpipe_document::names::list;
use bentpipe_document::{Diagnostic, Errors};
use bentpipe_units::Duration;

const KINDS: [&str; 3] = ["series", "line", "bars"];

pub(super) fn read(section: &Section<'_>) -> Option<FigureSpec> {
    let slug = section.slug("slug");
    let text = |key: &str| section.text(key).map(|t| t.value);
    let (title, from) = (text("title").unwrap_or_default(), text("from"));
    let (at, only) = selection(section);
    let series = text("series");
    let (x_label, y_label) = (text("x_label"), text("y_label"));
    let reference = text("reference");
    let kind = kind(section);
    section.finish();
    let span = section.span.clone();
    Some(FigureSpec {
        slug,
        title,
        from,
        kind: kind?,
        series,
        at,
        only,
        x_label,
        y_label,
        reference,
        span,
    })
}

fn kind(section: &Section<'_>) -> Option<FigureKind> {
    let kind = section.required_text("kind")?;
    let unit = section.text("unit").map(|t| t.value);
    match kind.value.as_str() {
        "series" => {
            let y = section.required_text("y")?;
            let names = SeriesQuantity::ALL.map(|(name, ..)| name);
            let quantity = SeriesQuantity::ALL
                .iter()
                .find(|(name, ..)| *name == y.value);
            if quantity.is_none() {
                section.error(
                    Diagnostic::at(y.span, format!("unknown quantity `{}`", y.value))
                        .label(format!("expected one of {}", list(names)))
                        .suggest_from(&y.value, names),
                );
            }
            let flow = section.text("flow").map(|t| t.value);
            let window = section.text("window").and_then(|text| {
                let span = text.span.clone();
                section.parse(text).map(|window: Duration| (window, span))
            });
            if let Some((_, span)) = window.as_ref().filter(|(window, _)| window.is_zero()) {
                section.error(Diagnostic::at(
                    span.clone(),
                    "a window of no length has no rate",
                ));
            }
            Some(FigureKind::Series {
                y: quantity?.1,
                flow,
                window,
            })
        }
        "line" => {
            let x = section.required_text("x").map(|t| t.value);
            let y = one_value(section, "y", unit.as_ref(), 2);
            Some(FigureKind::Line { x: x?, y: y? })
        }
        "bars" => {
            let groups = section
                .texts("groups")
                .into_iter()
                .map(|t| t.value)
                .collect();
            let y = one_value(section, "y", unit.as_ref(), 2);
            Some(FigureKind::Bars { groups, y: y? })
        }
        other => {
            section.error(
                Diagnostic::at(kind.span, format!("unknown kind of figure `{other}`"))
                    .label(format!("expected one of {}", list(KINDS)))
                    .suggest_from(other, KINDS),
            );
            None
        }
    }
}

pub(super) fn check(study: &Study, studies: &dyn Catalogue, errors: &Errors) {
    for figure in &study.figures {
        let Some(home) = home(study, figure.from.as_deref(), studies, &figure.span, errors) else {
            continue;
        };
        let mut shown: Vec<&String> = figure.series.iter().collect();
        match &figure.kind {
            FigureKind::Series { .. } => {}
            FigureKind::Line { x, .. } => shown.push(x),
            FigureKind::Bars { groups, .. } => shown.extend(groups),
        }
        let axes = Axes {
            home,
            span: &figure.span,
            errors,
        };
        if !axes.check(&shown, &figure.at, &figure.only) {
            continue;
        }
        let fixed = axes.fixed(&shown, &figure.at);
        match &figure.kind {
            FigureKind::Line { y, .. } | FigureKind::Bars { y, .. } => {
                check_value(y, home, studies, &fixed, errors);
            }
            FigureKind::Series { window, .. } => {
                let error = |message: String| Diagnostic::at(figure.span.clone(), message);
                if let (Some(interval), Some((window, span))) = (home.series, window)
                    && *window < interval
                    && !window.is_zero()
                {
                    let message = format!(
                        "a rate over {window}, but `{}` records a sample every {interval}",
                        home.name
                    );
                    errors.report(
                        Diagnostic::at(span.clone(), message)
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
}
