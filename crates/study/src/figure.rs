//! Computes a figure: curves, bars, boxes or cells as plain numbers, to be drawn.

mod label;
mod published;

use crate::catalogue::Catalogue;
use crate::expr::World;
use crate::record::StoredSeries;
use crate::reference::{ROW_JOIN, Reference};
use crate::study::{
    Axis, AxisSpec, FigureKind, FigureSpec, Labels, SeriesQuantity, Study, ValueSpec,
};
use crate::table::{Side, fixed, shown, sides};
use crate::unit::Unit;
use bentpipe_outcome::{WindowRate, window_rates};
use bentpipe_units::Duration;
pub use published::PublishedMark;
pub(crate) use published::check as check_published;
use serde::Serialize;

/// A computed figure as plain numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureData {
    /// Name of the item.
    pub slug: String,
    /// Title.
    pub title: String,
    /// How it is drawn.
    pub form: FigureForm,
    /// Label of the x axis, with its unit.
    pub x_label: String,
    /// Label of the y axis, with its unit; of a map, that of its colours.
    pub y_label: String,
    /// What the rows of a map are.
    pub row_label: String,
    /// How the x axis is drawn.
    pub x_axis: AxisSpec,
    /// How the y axis is drawn.
    pub y_axis: AxisSpec,
    /// Labels along the x axis, where it has no numbers.
    pub categories: Vec<String>,
    /// Titles of the panels; none where there is one panel.
    pub panels: Vec<String>,
    /// The curves, the bars or boxes of one colour, or the rows of a map.
    pub curves: Vec<Curve>,
    /// Numbers that a paper prints in its text.
    pub published: Vec<PublishedMark>,
    /// Digits after the point, where numbers are written out.
    pub decimals: u32,
    /// Items that could not be computed.
    pub notes: Vec<String>,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureForm {
    /// A line over time.
    Series,
    /// A line over the points of an axis.
    Line,
    /// Bars in groups.
    Bars,
    /// Boxes in groups.
    Box,
    /// Distributions: x is the value, y the share of the runs that do not exceed it.
    Cdf,
    /// A map of coloured cells; each curve is a row, from top to bottom.
    Heat,
}

/// A curve, a group of bars or a group of boxes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The title of its panel; empty where there is one panel.
    pub panel: String,
    /// Its name in the legend; may be empty.
    pub label: String,
    /// Its points, by x.
    pub points: Vec<CurvePoint>,
}

/// A point of a curve. For categories, `x` is the index.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Position on the x axis.
    pub x: f64,
    /// Value, in the unit of the y axis.
    pub y: f64,
    /// Half the width of its 95% interval.
    pub ci95: Option<f64>,
    /// Its ends, where it is not of the same width on both sides.
    #[serde(skip)]
    pub interval: Option<(f64, f64)>,
    /// The published number, if the paper prints one.
    pub published: Option<f64>,
    /// The value of each run, where a box is drawn of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<f64>,
}

impl CurvePoint {
    /// The ends of its 95% interval.
    #[must_use]
    pub fn limits(&self) -> Option<(f64, f64)> {
        let even = self.ci95.map(|half| (self.y - half, self.y + half));
        self.interval.or(even)
    }
}

/// Inputs for computing a figure.
pub(crate) struct Sources<'a> {
    pub(crate) home: &'a Study,
    pub(crate) reference: Option<&'a Reference>,
    pub(crate) studies: &'a dyn Catalogue,
    pub(crate) world: &'a dyn World,
}

/// One panel of a figure, or all of it.
struct Frame<'a> {
    title: String,
    at: Labels,
    /// The axis with one curve per point, and the labels of those.
    series: Option<&'a Axis>,
    labels: Vec<Option<&'a str>>,
}

/// The window of rates where a figure names none, at least.
const RATE_WINDOW: Duration = Duration::from_millis(500);

/// Computes a figure over results.
pub(crate) fn compute(spec: &FigureSpec, sources: &Sources<'_>) -> FigureData {
    let home = sources.home;
    let mut figure = FigureData {
        slug: spec.slug.clone(),
        title: spec.title.clone(),
        form: FigureForm::Series,
        x_label: String::new(),
        y_label: String::new(),
        row_label: String::new(),
        x_axis: spec.x_axis,
        y_axis: spec.y_axis,
        categories: Vec::new(),
        panels: Vec::new(),
        curves: Vec::new(),
        published: Vec::new(),
        decimals: spec.kind.value().map_or(2, |y| y.decimals),
        notes: Vec::new(),
    };
    let at = fixed(&spec.at, home);
    let series = spec.series.as_deref().and_then(|name| home.axis(name));
    let labels: Vec<Option<&str>> = match series {
        Some(axis) => axis
            .shown(&spec.only)
            .iter()
            .map(|p| Some(p.label.as_str()))
            .collect(),
        None => vec![None],
    };
    let facets = spec.facets.as_deref().and_then(|name| home.axis(name));
    let titles = facets.map_or_else(
        || vec![None],
        |axis| {
            let points = axis.shown(&spec.only).into_iter();
            points.map(|p| Some(p.label.as_str())).collect()
        },
    );
    if facets.is_some() {
        figure.panels = titles.iter().flatten().map(|t| (*t).to_owned()).collect();
    }
    for title in titles {
        let frame = Frame {
            title: title.unwrap_or_default().to_owned(),
            at: moved(&at, facets, title),
            series,
            labels: labels.clone(),
        };
        panel(spec, sources, &frame, &mut figure);
    }
    if let Some(label) = &spec.x_label {
        figure.x_label.clone_from(label);
    }
    if let Some(label) = &spec.y_label {
        figure.y_label.clone_from(label);
    }
    figure.published = published::marks(spec, home);
    figure.notes.dedup();
    figure
}

/// Computes what one panel shows.
fn panel(spec: &FigureSpec, sources: &Sources<'_>, frame: &Frame<'_>, figure: &mut FigureData) {
    let home = sources.home;
    match &spec.kind {
        FigureKind::Series {
            y,
            flow,
            window,
            unit,
        } => {
            let asked = window.as_ref().map_or(RATE_WINDOW, |(window, _)| *window);
            let length = home.series.map_or(asked, |interval| asked.max(interval));
            let (label, factor) = label::of_series(*y, unit.as_deref());
            figure.x_label = label::time();
            figure.y_label = label;
            for label in &frame.labels {
                let at = moved(&frame.at, frame.series, *label);
                match stored(sources, &at, flow.as_deref()) {
                    Ok(stored) => figure.curves.push(Curve {
                        panel: frame.title.clone(),
                        label: label.unwrap_or(&home.title).to_owned(),
                        points: sampled(&stored, *y, length.as_nanos(), factor),
                    }),
                    Err(why) => figure.notes.push(why),
                }
            }
        }
        FigureKind::Line { x, y } => {
            figure.form = FigureForm::Line;
            let places = along(x, spec, home, figure);
            curves(figure, sources, y, frame, &places);
        }
        kind @ (FigureKind::Heat { y, .. }
        | FigureKind::Bars { y, .. }
        | FigureKind::Box { y, .. }) => {
            figure.form = match kind {
                FigureKind::Box { .. } => FigureForm::Box,
                FigureKind::Heat { .. } => FigureForm::Heat,
                _ => FigureForm::Bars,
            };
            if figure.form == FigureForm::Heat {
                let rows = spec.series.as_deref();
                figure.row_label = rows.map_or_else(String::new, label::words);
            }
            let places = grouped(kind.axes(), spec, home, figure);
            curves(figure, sources, y, frame, &places);
        }
        FigureKind::Cdf { y } => {
            figure.form = FigureForm::Cdf;
            distributions(figure, sources, y, frame);
        }
    }
}

/// One distribution per label: the runs of a cell, in ascending order.
fn distributions(figure: &mut FigureData, sources: &Sources<'_>, y: &ValueSpec, frame: &Frame<'_>) {
    figure.y_label = "Share of runs".to_owned();
    for label in &frame.labels {
        let at = moved(&frame.at, frame.series, *label);
        let shown = shown(y, sources.home, &at, sources.studies, sources.world);
        figure.x_label = label::of_value(&y.expression.text, &shown.unit);
        if let Err(why) = shown.value {
            figure.notes.push(why);
        }
        let mut sorted: Vec<f64> = shown.samples;
        sorted.retain(|x| x.is_finite());
        sorted.sort_by(f64::total_cmp);
        let all = sorted.len() as f64;
        let point = |x: f64, y: f64| CurvePoint {
            x,
            y,
            ..CurvePoint::default()
        };
        let first = sorted.first().map(|x| point(*x, 0.0));
        let shares = sorted.iter().enumerate();
        let shares = shares.map(|(i, x)| point(*x, (i as f64 + 1.0) / all));
        figure.curves.push(Curve {
            panel: frame.title.clone(),
            label: label.unwrap_or("").to_owned(),
            points: first.into_iter().chain(shares).collect(),
        });
    }
}

/// The places of a line's points along the axis `x`.
fn along(x: &str, spec: &FigureSpec, home: &Study, figure: &mut FigureData) -> Vec<Place> {
    let axis = home.axis(x);
    let along: Vec<_> = axis.map_or_else(Vec::new, |axis| axis.shown(&spec.only));
    let scale = axis_scale(x, spec, home);
    figure.x_label = label::of_axis(x, scale.map_or("", |(unit, _)| unit));
    if scale.is_none() {
        figure.categories = along.iter().map(|p| p.label.clone()).collect();
    }
    along
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let factor = scale.map(|(_, factor)| factor);
            let place = factor.zip(p.value).map_or(i as f64, |(f, v)| v.0 * f);
            (
                place,
                p.label.clone(),
                vec![(x.to_owned(), p.label.clone())],
            )
        })
        .collect()
}

/// The unit in which a numeric axis is shown, and the factor from the base unit;
/// `None` if it has no numbers.
fn axis_scale(x: &str, spec: &FigureSpec, home: &Study) -> Option<(&'static str, f64)> {
    let along = home.axis(x)?.shown(&spec.only);
    let values: Option<Vec<(f64, Option<Unit>)>> = along.iter().map(|p| p.value).collect();
    let values = values?;
    let largest = values.iter().map(|v| v.0.abs()).fold(0.0, f64::max);
    let unit = values.first()?.1;
    Some(unit.map_or(("", 1.0), |unit| unit.readable(largest)))
}

/// The places of bars in groups.
fn grouped(
    groups: &[String],
    spec: &FigureSpec,
    home: &Study,
    figure: &mut FigureData,
) -> Vec<Place> {
    let places = sides(groups, &spec.only, home);
    let joined = |place: &Side| place.labels.join(ROW_JOIN);
    figure.categories = places.iter().map(joined).collect();
    let names: Vec<String> = groups.iter().map(|name| label::words(name)).collect();
    figure.x_label = names.join(", ");
    let places = places.into_iter().enumerate();
    places
        .map(|(i, place)| (i as f64, joined(&place), place.at))
        .collect()
}

fn moved(
    at: &[(String, String)],
    axis: Option<&Axis>,
    label: Option<&str>,
) -> Vec<(String, String)> {
    let mut at = at.to_vec();
    at.extend(
        axis.zip(label)
            .map(|(axis, label)| (axis.name.clone(), label.to_owned())),
    );
    at
}

/// The position of a point of a curve: its x, its row in a reference, its labels.
type Place = (f64, String, Labels);

/// One curve per label, one point per place.
fn curves(
    figure: &mut FigureData,
    sources: &Sources<'_>,
    y: &ValueSpec,
    frame: &Frame<'_>,
    places: &[Place],
) {
    for label in &frame.labels {
        let mut curve = Curve {
            panel: frame.title.clone(),
            label: label.unwrap_or("").to_owned(),
            points: Vec::new(),
        };
        for (x, row, place) in places {
            let mut at = moved(&frame.at, frame.series, *label);
            at.extend(place.iter().cloned());
            let shown = shown(y, sources.home, &at, sources.studies, sources.world);
            figure.y_label = label::of_value(&y.expression.text, &shown.unit);
            match shown.value {
                Ok((value, ci95, _)) => {
                    // Panels are rows of their own in a file of published numbers.
                    let row = if frame.title.is_empty() {
                        row.clone()
                    } else {
                        format!("{}{ROW_JOIN}{row}", frame.title)
                    };
                    let published = sources
                        .reference
                        .and_then(|r| r.get(&row, &curve.label))
                        .map(|p| p.value);
                    let samples = match figure.form {
                        FigureForm::Box => shown.samples,
                        _ => Vec::new(),
                    };
                    curve.points.push(CurvePoint {
                        x: *x,
                        y: value,
                        ci95,
                        published,
                        samples,
                        interval: None,
                    });
                }
                Err(why) => figure.notes.push(why),
            }
        }
        figure.curves.push(curve);
    }
}

/// The series of the first replication at some labels.
fn stored(
    sources: &Sources<'_>,
    at: &[(String, String)],
    flow: Option<&str>,
) -> Result<StoredSeries, String> {
    let name = &sources.home.name;
    let results = sources
        .world
        .results(name)
        .ok_or_else(|| format!("study `{name}` was not run"))?;
    let label = |axis: &str| at.iter().find(|(a, _)| a == axis).map(|(_, l)| l.as_str());
    let cell = results.cell(label)?;
    let run = results.runs_of(cell).next().ok_or("there are no runs")?;
    let data = run.data().ok_or_else(|| {
        format!(
            "{}: {}",
            results.place(cell),
            run.failure().unwrap_or("it did not run")
        )
    })?;
    let mut series = data.series.iter();
    series
        .find(|s| flow.is_none_or(|name| s.flow == name))
        .cloned()
        .ok_or_else(|| format!("{}: there is no such series", results.place(cell)))
}

/// The points of a series; `factor` is that from the usual unit of rates to the one
/// that is shown.
fn sampled(
    series: &StoredSeries,
    quantity: SeriesQuantity,
    window: u64,
    factor: f64,
) -> Vec<CurvePoint> {
    let point = |at: u64, y: f64| CurvePoint {
        x: at as f64 / 1e9,
        y,
        ..CurvePoint::default()
    };
    let sender = |get: fn(&crate::record::StoredSample) -> Option<f64>| {
        let samples = series.sender.iter();
        samples
            .filter_map(|s| Some(point(s.at_ns, get(s)?)))
            .collect()
    };
    let kilobytes = |steps: &[(u64, u64)]| {
        steps
            .iter()
            .map(|(at, n)| point(*at, *n as f64 / 1e3))
            .collect()
    };
    // A rate holds over its window, so that a pause has edges.
    let rates = |steps: &[(u64, u64)]| {
        let windows = window_rates(steps, window).into_iter();
        let ends = |r: WindowRate| {
            let rate = r.bytes_per_second / 1e3 * factor;
            [point(r.from_ns, rate), point(r.to_ns, rate)]
        };
        windows.flat_map(ends).collect()
    };
    match quantity {
        SeriesQuantity::Cwnd => sender(|s| Some(s.cwnd)),
        SeriesQuantity::Ssthresh => sender(|s| s.ssthresh),
        SeriesQuantity::Flight => sender(|s| Some(s.flight)),
        SeriesQuantity::Rtt => sender(|s| (s.rtt_ns > 0).then(|| s.rtt_ns as f64 / 1e9)),
        SeriesQuantity::Received => kilobytes(&series.delivered),
        SeriesQuantity::Sent => kilobytes(&series.sent),
        SeriesQuantity::Rate => rates(&series.delivered),
        SeriesQuantity::SentRate => rates(&series.sent),
    }
}

#[cfg(test)]
#[path = "figure_tests.rs"]
mod tests;
