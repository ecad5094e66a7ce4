//! Figures.

use super::table::{Axes, check_value, one_value, selection};
use super::{Section, home};
use crate::figure::check_published;
use crate::paper::Catalogue;
use crate::study::{AxisSpec, FigureKind, FigureSpec, PublishedSpec, SeriesQuantity, Study};
use crate::unit::Unit;
use bentpipe_document::names::list;
use bentpipe_document::{Diagnostic, Errors};
use bentpipe_units::Duration;

const KINDS: [&str; 6] = ["series", "line", "bars", "box", "cdf", "heat"];
const SCALES: [&str; 2] = ["linear", "log"];

pub(super) fn read(section: &Section<'_>) -> Option<FigureSpec> {
    let slug = section.slug("slug");
    let text = |key: &str| section.text(key).map(|t| t.value);
    let (title, from) = (text("title").unwrap_or_default(), text("from"));
    let (at, only) = selection(section);
    let series = text("series");
    let (x_label, y_label) = (text("x_label"), text("y_label"));
    let reference = text("reference");
    let facets = text("facets");
    let published = section.tables("published");
    let published = published.iter().filter_map(read_published).collect();
    let (x_axis, y_axis) = (axis(section, "x"), axis(section, "y"));
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
        published,
        facets,
        x_axis,
        y_axis,
        span,
    })
}

/// `x_scale = "log"` and `x_break = { from = 20, to = 180 }`.
fn axis(section: &Section<'_>, name: &str) -> AxisSpec {
    let key = format!("{name}_scale");
    let scale = section.text(&key);
    if let Some(scale) = scale.as_ref().filter(|s| !SCALES.contains(&&*s.value)) {
        section.error(
            Diagnostic::at(
                scale.span.clone(),
                format!("unknown scale `{}`", scale.value),
            )
            .label(format!("expected one of {}", list(SCALES)))
            .suggest_from(&scale.value, SCALES),
        );
    }
    let log = scale.is_some_and(|s| s.value == "log");
    let gap = section.table(&format!("{name}_break")).and_then(|gap| {
        let ends = gap.number("from").zip(gap.number("to"));
        gap.finish();
        if ends.is_none_or(|(from, to)| from >= to) {
            let message = "a break needs a `from` and a larger `to`";
            section.error(Diagnostic::at(gap.span.clone(), message));
            return None;
        }
        if log {
            let message = "a logarithmic axis is not broken";
            section.error(Diagnostic::at(gap.span.clone(), message));
        }
        ends
    });
    AxisSpec { log, gap }
}

/// `{ x, y, series, facet, text }`: a number that the paper prints.
fn read_published(section: &Section<'_>) -> Option<PublishedSpec> {
    let x = section.word("x");
    let y = section.number("y");
    let series = section.text("series").map(|t| t.value);
    let facet = section.text("facet").map(|t| t.value);
    let text = section.required_text("text");
    section.finish();
    if y.is_none() && !section.has("y") {
        let message = "`y` is missing";
        section.error(Diagnostic::at(section.span.clone(), message));
    }
    Some(PublishedSpec {
        x,
        y: y?,
        series,
        facet,
        text: text?.value,
        span: section.span.clone(),
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
            let quantity = quantity?.1;
            if let Some(unit) = &unit {
                check_rate_unit(section, quantity, unit);
            }
            Some(FigureKind::Series {
                y: quantity,
                flow,
                window,
                unit,
            })
        }
        "line" => {
            let x = section.required_text("x").map(|t| t.value);
            let y = one_value(section, "y", unit.as_ref(), 2);
            Some(FigureKind::Line { x: x?, y: y? })
        }
        "bars" | "box" => {
            let groups = section.texts("groups").into_iter();
            let groups = groups.map(|t| t.value).collect();
            let y = one_value(section, "y", unit.as_ref(), 2)?;
            Some(match kind.value.as_str() {
                "box" => FigureKind::Box { groups, y },
                _ => FigureKind::Bars { groups, y },
            })
        }
        "cdf" => {
            let y = one_value(section, "y", unit.as_ref(), 2);
            Some(FigureKind::Cdf { y: y? })
        }
        "heat" => {
            let x = section.required_text("x").map(|t| t.value);
            section.required_text("series");
            let decimals = section.integer("decimals", 0..=6).map_or(1, |n| n as u32);
            let y = one_value(section, "y", unit.as_ref(), decimals);
            Some(FigureKind::Heat { x: x?, y: y? })
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

/// Only rates are drawn in a unit of one's choice.
fn check_rate_unit(section: &Section<'_>, quantity: SeriesQuantity, unit: &str) {
    let span = section.span_of("unit");
    if !matches!(quantity, SeriesQuantity::Rate | SeriesQuantity::SentRate) {
        let message = "a time series has a `unit` only if it is a rate";
        section.error(Diagnostic::at(span, message));
    } else if Unit::BitRate.factor(unit).is_none() {
        section.error(
            Diagnostic::at(span, format!("`{unit}` is not a unit of a rate"))
                .label(format!("expected one of {}", list(Unit::BitRate.names())))
                .suggest_from(unit, Unit::BitRate.names()),
        );
    }
}

pub(super) fn check(study: &Study, studies: &dyn Catalogue, errors: &Errors) {
    for figure in &study.figures {
        let Some(home) = home(study, figure.from.as_deref(), studies, &figure.span, errors) else {
            continue;
        };
        let mut shown: Vec<&String> = figure.series.iter().chain(&figure.facets).collect();
        shown.extend(figure.kind.axes());
        let axes = Axes {
            home,
            span: &figure.span,
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
        match &figure.kind {
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
            FigureKind::Line { .. }
            | FigureKind::Bars { .. }
            | FigureKind::Box { .. }
            | FigureKind::Cdf { .. }
            | FigureKind::Heat { .. } => {}
        }
    }
}
